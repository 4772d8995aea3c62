"""Distributions of numbers: quantiles and intervals."""

from abc import abstractmethod
from typing import Any

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.distributions.checks import check_coverage, check_probability
from tractable.distributions.distribution import Distribution

__all__ = ["Univariate"]

_TAIL = (1e-30, 1e-20, 1e-14, 1e-10, 1e-7, 1e-5, 1e-3, 0.01, 0.05, 0.15, 0.3)
_LEVELS = (*_TAIL, 0.5, *(1.0 - q for q in _TAIL if q > 1e-16))


class Univariate(Distribution):
    """A distribution of numbers, which has a cumulative distribution function and its inverse."""

    @abstractmethod
    def cdf(self, x: Any) -> Array:
        """Return P(X ≤ x)."""

    @abstractmethod
    def icdf(self, q: Any) -> Array:
        """Return the quantile: the least x with P(X ≤ x) ≥ q."""

    def survival(self, x: Any) -> Array:
        """Return P(X > x); families keep its digits in the upper tail where they can."""
        return 1.0 - self.cdf(x)

    def probability_between(self, low: Any, high: Any) -> Array:
        """Return P(low < X ≤ high), by the tail that holds less."""
        below = self.cdf(low)
        xp = namespace_of(below)
        return xp.where(below > 0.5, self.survival(low) - self.survival(high), self.cdf(high) - below)

    def interval(self, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return the equal-tailed interval (low, high) that holds X with probability `coverage`."""
        tail = 0.5 * (1.0 - check_coverage(coverage))
        return self.icdf(tail), self.icdf(1.0 - tail)

    def _landmarks(self) -> Array:
        """Return where densities of the batch change, (m,): where quadrature parts the line."""
        xp = namespace_of(self.mean)
        levels = xp.asarray(_LEVELS, dtype=self.mean.dtype, device=device(self.mean))
        return xp.reshape(self.icdf(xp.reshape(levels, (-1, *(1,) * len(self.batch_shape)))), (-1,))

    def _quantile(self, q: Any) -> Array:
        """Return probabilities as an array of the parameters' library."""
        q = self._event(q, "q")
        check_probability("q", q)
        return q
