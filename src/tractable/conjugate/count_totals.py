"""Totals of counts, and how probable the rows are at best."""

from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.saddle_point import count_deviance, factorial_rest
from tractable.statistics.counts import Totals
from tractable.statistics.rows import as_weights, counts, or_one
from tractable.value import value

__all__ = ["CountTotals", "log_best_probability"]


@value
class CountTotals:
    """Weight and sums of rows of counts, with the log probability of the rows at their most probable.

    A posterior needs the totals alone; the probability of the rows needs also how many orders of single
    events make each row, such as n! / (x! (n - x)!) for a binomial. Both that number and the probability of
    one order are extreme where counts are large; their product is stored. With
    D(x, m) = Σ_k x_k log(x_k / m_k) + m_k - x_k the log probability of rows given their expected counts m is
    Σ w log p(x | x) - Σ w D(x, x̄) - W D(x̄, m), a sum of negative terms.

    Parameters
    ----------
    totals : Totals
        Of every category: of a binomial, successes and failures.
    log_base : float
        Σ w (log p(x | x) - D(x, x̄)): the log probability of the rows where their mean is expected.
    """

    totals: Totals
    log_base: Any

    @classmethod
    def of(cls, X: Array, weights: Any, log_best: Array) -> "CountTotals":
        """Summarise a block of counts (n, K), given log p(x | x) of each row."""
        xp = namespace_of(X)
        one = counts(as_weights(weights, X), X)
        totals = Totals.of(X, weights)
        each = log_best - xp.sum(count_deviance(X, _mean(totals)), axis=1)
        # What a row without weight is away from the mean may be infinite.
        return cls(totals=totals, log_base=xp.sum(one * xp.where(one > 0.0, each, 0.0 * one)))

    @property
    def weight(self) -> Any:
        """Weight of the rows."""
        return self.totals.weight

    @property
    def total(self) -> Array:
        """Weighted sum of each column."""
        return self.totals.total

    @property
    def dim(self) -> int:
        """Number of columns."""
        return self.totals.dim

    def __add__(self, other: "CountTotals") -> "CountTotals":
        """Merge: sums add up, and each part is as much less probable as its mean is from the common one."""
        if not isinstance(other, CountTotals):
            return NotImplemented
        totals = self.totals + other.totals
        parts = [part.log_base - part.weight * _distance(part.totals, totals) for part in (self, other)]
        return CountTotals(totals=totals, log_base=parts[0] + parts[1])

    def discount(self, rate: float) -> "CountTotals":
        """Forget: the same means, with `rate` times the weight."""
        return CountTotals(totals=self.totals.discount(rate), log_base=self.log_base * rate)


def log_best_probability(X: Array) -> Array:
    """Return log n! / Π x_k! Π (x_k / n)^x_k of rows x: log p of counts at their own frequencies."""
    xp = namespace_of(X)
    return factorial_rest(xp.sum(X, axis=1)) - xp.sum(factorial_rest(X), axis=1)


def _mean(totals: Totals) -> Array:
    """Return the mean of each column, and zeros where there are no rows."""
    return totals.total / or_one(totals.weight, namespace_of(totals.total))


def _distance(part: Totals, whole: Totals) -> Array:
    """Return D of the mean of a part from the mean of all."""
    return namespace_of(part.total).sum(count_deviance(_mean(part), _mean(whole)))
