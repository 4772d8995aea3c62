"""The multinomial distribution of counts of several categories."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.namespace import Array, device, freeze, namespace_of, to_numpy
from tractable.arrays.saddle_point import count_deviance, factorial_rest
from tractable.distributions.checks import check_probabilities
from tractable.distributions.discrete.binomial import Binomial
from tractable.distributions.discrete.categorical import Categorical
from tractable.distributions.discrete.counting import CountVectors, as_counts, check_whole, one_total
from tractable.distributions.probabilities import as_probabilities
from tractable.statistics.counts import Totals
from tractable.value import set_fields, value

__all__ = ["Multinomial", "apportioned"]


@value
class Multinomial(CountVectors):
    """Mult(n | N, μ) = N! / Π n_k! · Π μ_k^(n_k): how often each of K categories comes up in N trials.

    An event is a vector of K counts that add up to N; one label, or its one-of-K code, is the business of
    :class:`Categorical`. The mean is N μ and the covariance N (diag μ - μ μᵀ). Of several modes the one that
    favours the first categories is given.

    Parameters
    ----------
    n_trials : array (*batch,) of whole numbers
        N.
    probabilities : array (*batch, K)
        μ, not negative, one in sum.

    Examples
    --------
    >>> d = Multinomial(n_trials=5, probabilities=[0.5, 0.3, 0.2])
    >>> float(d.prob([2, 2, 1]).round(4))
    0.135
    >>> d.mean, d.mode
    (array([2.5, 1.5, 1. ]), array([3., 1., 1.]))
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"n_trials": 0, "probabilities": 1}
    statistic: ClassVar[type] = Totals

    n_trials: Array
    probabilities: Array

    def __post_init__(self) -> None:
        self._settle(n_trials=check_whole, probabilities=check_probabilities)
        set_fields(self, probabilities=freeze(as_probabilities(self.probabilities)))

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None, *, n_trials: Any = None) -> Self:
        """Return the maximum likelihood estimate: relative frequencies, Σ n_k / Σ N.

        Parameters
        ----------
        X : array (n, *batch, K)
            Rows of counts that add up to the same N.
        sample_weight : array (n,), optional
            How often each row counts.
        n_trials : int, optional
            N; what rows add up to when not given.
        """
        statistic = Totals.of(X, sample_weight)
        check_row_totals(X, one_total(statistic, n_trials))
        return cls.from_statistic(statistic, n_trials=n_trials)

    @classmethod
    def from_statistic(cls, statistic: Totals, *, n_trials: Any = None) -> Self:
        """Return the maximum likelihood estimate from the totals of rows."""
        n = one_total(statistic, n_trials)
        total = statistic.total
        return cls(n_trials=n, probabilities=total / namespace_of(total).sum(total, axis=-1, keepdims=True))

    @property
    def expected_probabilities(self) -> Array:
        return self.probabilities

    @property
    def marginals(self) -> Binomial:
        """The distribution of each count by itself: binomial, a batch (*batch, K)."""
        return Binomial(n_trials=self.n_trials[..., None], probability=self.probabilities)

    @property
    def mode(self) -> Array:
        return apportioned(self.n_trials, self.probabilities)

    def entropy(self) -> Array:
        """See `Distribution.entropy`: sums over the counts of each category."""
        each = self._summed(lambda x: factorial_rest(x) + count_deviance(x, self.mean))
        return each - factorial_rest(self.n_trials)

    def _divergence(self, other: "Multinomial") -> Array:
        """Return N Σ μ_k log μ_k/μ'_k, and infinite where N differs."""
        one = Categorical(probabilities=self.probabilities).kl_divergence(
            Categorical(probabilities=other.probabilities)
        )
        xp = namespace_of(one)
        n = self.n_trials + 0.0 * other.n_trials
        found = n * xp.where(n > 0, one, xp.zeros_like(one))
        return xp.where(self.n_trials == other.n_trials, found, xp.full_like(found, xp.inf))

    def _log_mass(self, x: Array) -> Array:
        xp = namespace_of(x)
        terms = factorial_rest(x) + count_deviance(x, self.mean)
        return factorial_rest(self.n_trials) - xp.sum(terms, axis=-1)

    def _sample(self, n: int, rng: Any) -> Array:
        p = to_numpy(self.probabilities).astype(np.float64)
        rest = np.flip(np.cumsum(np.flip(p, -1), -1), -1)
        among_rest = p / np.where(rest > 0, rest, 1.0)
        trials = np.broadcast_to(to_numpy(self.n_trials).astype(np.int64), (n, *self.batch_shape))
        return as_counts(
            drawn_in_turn(rng, trials, lambda k: among_rest[..., k], self.n_classes), self.probabilities
        )


def drawn_in_turn(
    rng: np.random.Generator, trials: np.ndarray, probability: Any, n_classes: int
) -> np.ndarray:
    """Draw the counts of one category after another: binomial, with its probability in what is left."""
    counts, left = np.empty((*trials.shape, n_classes), dtype=np.int64), trials
    for k in range(n_classes - 1):
        counts[..., k] = rng.binomial(left, probability(k), size=trials.shape)
        left = left - counts[..., k]
    counts[..., -1] = left
    return counts


def check_row_totals(X: Any, n_trials: Array) -> None:
    """Refuse rows of counts that do not add up to n."""
    xp = namespace_of(X)
    if not bool(xp.all(xp.sum(xp.asarray(X), axis=-1) == n_trials)):
        raise ValueError("X must have rows that add up to one and the same n_trials")


def apportioned(n: Array, weights: Array) -> Array:
    """Return whole numbers that add up to n and make Π w_k^(n_k) / n_k! greatest (D'Hondt's rule).

    Every next seat goes to the greatest w_k / (n_k + 1), of equals to the first; all but a few are given at
    once, since the most probable count of a category is above n p_k - 1.

    Parameters
    ----------
    n : array (*batch,) of whole numbers
    weights : array (*batch, K)
        Not negative, with one above 0.

    Examples
    --------
    >>> import numpy as np
    >>> apportioned(np.array(10.0), np.array([0.5, 0.3, 0.2]))
    array([5., 3., 2.])
    """
    xp: Any = namespace_of(weights)
    p = weights / xp.sum(weights, axis=-1, keepdims=True)
    # A little less than the probability, so that rounding gives no seat too many.
    counts = xp.floor(n[..., None] * p * (1.0 - 16.0 * xp.finfo(weights.dtype).eps))
    left = n - xp.sum(counts, axis=-1)
    positions = xp.arange(weights.shape[-1], dtype=xp.int64, device=device(weights))
    while bool(xp.any(left > 0)):
        best = xp.argmax(weights / (counts + 1.0), axis=-1)
        chosen = (positions == best[..., None]) & (left > 0)[..., None]
        counts = counts + xp.astype(chosen, counts.dtype)
        left = left - 1.0
    return counts
