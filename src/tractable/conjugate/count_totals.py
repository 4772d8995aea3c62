"""Totals of counts, and the number of ways in which they can come about."""

from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.special import gammaln
from tractable.statistics.rows import as_weights, counts
from tractable.statistics.totals import Totals
from tractable.value import value

__all__ = ["CountTotals", "log_factorial"]


@value
class CountTotals:
    """Weight and sums of rows of counts, with Σ w log h(x) of the base measure h of their likelihood.

    A posterior needs the totals alone; the probability of the rows needs also how many orders of single
    events make each row, such as n! / (x! (n - x)!) for a binomial.

    Parameters
    ----------
    totals : Totals
    log_base : float
        Weighted sum of the logarithms of the base measure.
    """

    totals: Totals
    log_base: Any

    @classmethod
    def of(cls, X: Array, weights: Any, log_base: Array) -> "CountTotals":
        """Summarise a block of counts, given log h of each row."""
        one = counts(as_weights(weights, X), X)
        return cls(totals=Totals.of(X, weights), log_base=namespace_of(X).sum(one * log_base))

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
        """Merge: everything adds up."""
        if not isinstance(other, CountTotals):
            return NotImplemented
        return CountTotals(totals=self.totals + other.totals, log_base=self.log_base + other.log_base)

    def discount(self, rate: float) -> "CountTotals":
        """Forget: the same means, believed `rate` times as strongly."""
        return CountTotals(totals=self.totals.discount(rate), log_base=self.log_base * rate)


def log_factorial(x: Array) -> Array:
    """Return log x!."""
    return gammaln(x + 1.0)
