"""The beta-binomial distribution of successes when their probability is uncertain."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.distributions.checks import check_positive
from tractable.distributions.discrete.counting import (
    Counting,
    as_counts,
    check_whole,
    looked_up,
)
from tractable.distributions.discrete.polya import category_term, fitted_concentrations, whole_term
from tractable.distributions.distribution import as_parameters
from tractable.statistics.rows import as_whole_numbers
from tractable.value import value

__all__ = ["BetaBinomial"]

_LARGEST_TABLE = 2**20


@value
class BetaBinomial(Counting):
    """BB(k | n, α, β) = C(n, k) B(α + k, β + n - k) / B(α, β): successes in n trials, μ ~ Beta(α, β).

    The predictive distribution of binomial trials under a Beta prior. With m = α / (α + β) the mean is n m
    and the variance n m (1 - m) (α + β + n) / (α + β + 1). Of several modes the smallest is given.

    Parameters
    ----------
    n_trials : array (*batch,) of whole numbers
    alpha, beta : array (*batch,)
        Positive.

    Examples
    --------
    >>> d = BetaBinomial(n_trials=4, alpha=1.0, beta=1.0)
    >>> d.prob([0, 1, 2, 3, 4]).round(4)
    array([0.2, 0.2, 0.2, 0.2, 0.2])
    >>> float(BetaBinomial(n_trials=10, alpha=3.0, beta=9.0).variance.round(4))
    3.1731
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"n_trials": 0, "alpha": 0, "beta": 0}
    known: ClassVar[tuple[str, ...]] = ("n_trials",)

    n_trials: Array
    alpha: Array
    beta: Array

    def __post_init__(self) -> None:
        self._settle(n_trials=check_whole, alpha=check_positive, beta=check_positive)

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None, *, n_trials: Any) -> Self:
        """Return the maximum likelihood estimate of α and β, by Newton's method on their logarithms.

        There is none where X is no more spread out than binomial counts, or never between 0 and n.

        Parameters
        ----------
        X : array (n, *batch)
            Numbers of successes.
        sample_weight : array (n,), optional
            How often each row counts.
        n_trials : int or array (*batch,)
            Trials behind each entry of a row.
        """
        X = as_whole_numbers(X)
        xp = namespace_of(X)
        trials = as_parameters({"n_trials": 0}, n_trials=n_trials)["n_trials"]
        check_whole("n_trials", trials)
        trials = xp.broadcast_to(xp.asarray(trials, dtype=X.dtype, device=device(X)), tuple(X.shape[1:]))
        if bool(xp.any(trials < X)):
            raise ValueError("X must not have more successes than n_trials")
        found = fitted_concentrations(xp.stack([X, trials - X], axis=-1), sample_weight)
        return cls(n_trials=trials, alpha=found[..., 0], beta=found[..., 1])

    @property
    def support(self) -> tuple[float, Array]:
        """See `Distribution.support`."""
        return 0.0, self.n_trials

    @property
    def mean(self) -> Array:
        """See `Distribution.mean`: n α / (α + β)."""
        return self.n_trials * (self.alpha / self._strength)

    @property
    def variance(self) -> Array:
        """See `Distribution.variance`."""
        m, A = self.alpha / self._strength, self._strength
        return self.n_trials * m * (self.beta / A) * ((A + self.n_trials) / (A + 1.0))

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: the end where the probability rises to, or the top in between.

        From k to k + 1 it rises while k (α + β - 2) < n (α - 1) + 1 - β. With α + β < 2 it falls first, and
        the greater end wins.
        """
        xp = namespace_of(self.alpha)
        n, bend = self.n_trials, self._strength - 2.0
        top = xp.ceil((n * (self.alpha - 1.0) + 1.0 - self.beta) / xp.where(bend > 0, bend, 1.0 + 0.0 * bend))
        inner = xp.clip(top, 0.0 * n, n)
        ends = xp.where(self.alpha > self.beta, n, xp.zeros_like(n))
        return xp.where(bend > 0, inner, ends)

    def kl_divergence(self, other: "BetaBinomial") -> Array:
        """See `Distribution.kl_divergence`: a sum over the support, infinite from fewer trials."""
        self._check_family(other)
        xp = namespace_of(self.alpha)
        more = self.n_trials > other.n_trials
        n = xp.where(more, xp.zeros_like(self.n_trials), self.n_trials + 0.0 * other.n_trials)
        zero = xp.zeros_like(n)
        own = BetaBinomial(n_trials=n, alpha=self.alpha + zero, beta=self.beta + zero)
        found = own._expected(lambda k: own._log_mass(k) - other._log_mass(k))  # noqa: SLF001
        return xp.where(more, xp.full_like(found, xp.inf), found)

    @property
    def _strength(self) -> Array:
        return self.alpha + self.beta

    def _log_mass(self, k: Array) -> Array:
        n, A = self.n_trials, self._strength
        successes = category_term(k, self.alpha, n, A)
        return successes + category_term(n - k, self.beta, n, A) - whole_term(n, A)

    def _bulk(self) -> tuple[Array, Array]:
        """Return the whole support, for the tails may be as heavy as powers."""
        return 0.0 * self.n_trials, self.n_trials

    def _last(self, k: Array) -> Array:
        return self.n_trials + 0.0 * k

    @cached_property
    def _tables(self) -> tuple[Array, Array] | None:
        """P(X ≤ k) and P(X ≥ k) for every k, (*batch, n + 1); None where that is too long a table."""
        xp = namespace_of(self.n_trials)
        longest = float(xp.max(self.n_trials)) + 1.0 if 0 not in self.batch_shape else 1.0
        if longest * np.prod(self.batch_shape) > _LARGEST_TABLE:
            return None
        k = xp.arange(int(longest), dtype=self.alpha.dtype, device=device(self.alpha))
        k = xp.reshape(k, (-1,) + (1,) * len(self.batch_shape))
        inside = k <= self.n_trials
        mass = self._mass(xp.where(inside, k, 0.0 * k))
        mass = xp.moveaxis(xp.where(inside, mass, xp.zeros_like(mass)), 0, -1)
        above = xp.flip(xp.cumulative_sum(xp.flip(mass, axis=-1), axis=-1), axis=-1)
        return xp.cumulative_sum(mass, axis=-1), above

    def _cdf(self, k: Array) -> Array:
        return super()._cdf(k) if self._tables is None else looked_up(self._tables[0], k)

    def _survival(self, k: Array) -> Array:
        if self._tables is None:
            return super()._survival(k)
        xp = namespace_of(k)
        return looked_up(self._tables[1], xp.minimum(k + 1.0, self.n_trials + 0.0 * k))

    def _sample(self, n: int, rng: Any) -> Array:
        trials = to_numpy(self.n_trials).astype(np.int64)
        a, b = (to_numpy(x).astype(np.float64) for x in (self.alpha, self.beta))
        p = rng.beta(a, b, size=(n, *self.batch_shape))
        return as_counts(rng.binomial(trials, p, size=p.shape), like=self.alpha)
