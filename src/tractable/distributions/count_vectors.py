"""Distributions of count vectors with a fixed total."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.batched import diagonal_matrix
from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.counting import Counting, only_where
from tractable.distributions.distribution import Distribution
from tractable.statistics.totals import Totals

__all__ = ["CountVectors", "one_total"]


class CountVectors(Distribution):
    """A distribution of K counts that add up to `n_trials`.

    A family writes `_log_mass` for vectors of the support, the expected `shares`, how much larger than a
    multinomial's its covariance is, and the distribution of each count by itself.
    """

    discrete: ClassVar[bool] = True

    n_trials: Array

    @property
    @abstractmethod
    def shares(self) -> Array:
        """Expected share of each category in the trials, (*batch, K)."""

    @property
    @abstractmethod
    def marginals(self) -> Counting:
        """The distribution of each count by itself: a batch (*batch, K) of distributions of numbers."""

    @abstractmethod
    def _log_mass(self, x: Array) -> Array:
        """Return the log probability of counts that add up to n."""

    @property
    def n_classes(self) -> int:
        """Number of categories K."""
        return int(self.shares.shape[-1])

    @property
    def event_shape(self) -> tuple[int, ...]:
        """See `Distribution.event_shape`."""
        return (self.n_classes,)

    @property
    def support(self) -> tuple[float, Array]:
        """Least and greatest count; of such vectors, those whose entries add up to n."""
        return 0.0, self.n_trials

    @property
    def mean(self) -> Array:
        """See `Distribution.mean`: n times the shares."""
        return self.n_trials[..., None] * self.shares

    @property
    def variance(self) -> Array:
        """See `Distribution.variance`."""
        return self.marginals.variance

    @property
    def covariance(self) -> Array:
        """Covariance of the counts, (*batch, K, K); they add up to n, so its rows add up to 0."""
        p = self.shares
        xp = namespace_of(p)
        across = -(self.n_trials * self._inflation)[..., None, None] * p[..., :, None] * p[..., None, :]
        eye = diagonal_matrix(xp.ones_like(p))
        return xp.where(eye > 0, diagonal_matrix(self.variance), across)

    @property
    def _inflation(self) -> Array:
        """How many times the covariance of a multinomial of the same shares."""
        return namespace_of(self.n_trials).ones_like(self.n_trials)

    def interval(self, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return the equal-tailed interval (low, high) of each count by itself, (*batch, K) both."""
        return self.marginals.interval(coverage)

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`; -inf for what are not whole numbers that add up to n."""
        x = self._event(x)
        xp = namespace_of(x)
        whole = xp.all((x >= 0) & (x == xp.floor(x)) & xp.isfinite(x), axis=-1)
        total = xp.sum(xp.where(whole[..., None], x, xp.zeros_like(x)), axis=-1)
        possible = whole & (total == self.n_trials)
        first = xp.where(self._first, self.n_trials[..., None], xp.zeros_like(self.shares))
        found = self._log_mass(xp.where(possible[..., None], x, first))
        return only_where(possible, found, -np.inf, xp.any(xp.isnan(x), axis=-1))

    def _summed(self, f: Callable[[Array], Array]) -> Array:
        """Return Σ_k E[f(x)_k], where f treats every count by itself."""
        found = self.marginals._expected(f)  # noqa: SLF001
        return namespace_of(found).sum(found, axis=-1)

    @property
    def _first(self) -> Array:
        """Where the first category is."""
        xp = namespace_of(self.shares)
        return xp.cumulative_sum(xp.ones_like(self.shares), axis=-1) == 1.0


def one_total(statistic: Totals, n_trials: Any) -> Array:
    """Return how many counts there are in every row, as far as the totals can tell."""
    xp = namespace_of(statistic.total)
    mean = xp.sum(statistic.mean, axis=-1)
    n = xp.round(mean) if n_trials is None else xp.asarray(n_trials, dtype=mean.dtype)
    if not bool(xp.all((xp.abs(mean - n) <= 1e-9 * (1.0 + n)) & (n > 0))):
        raise ValueError("X must have rows that add up to one and the same n_trials, at least 1")
    return n
