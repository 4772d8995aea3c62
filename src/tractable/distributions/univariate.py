"""Distributions of numbers: quantiles and intervals."""

from abc import abstractmethod
from typing import Any

from tractable.arrays.namespace import Array
from tractable.distributions.checks import check_coverage, check_probability
from tractable.distributions.distribution import Distribution

__all__ = ["Univariate"]


class Univariate(Distribution):
    """A distribution of numbers, which has a cumulative distribution function and its inverse."""

    @abstractmethod
    def cdf(self, x: Any) -> Array:
        """Return P(X ≤ x)."""

    @abstractmethod
    def icdf(self, q: Any) -> Array:
        """Return the quantile: the least x with P(X ≤ x) ≥ q."""

    def probability(self, low: Any, high: Any) -> Array:
        """Return P(low < X ≤ high)."""
        return self.cdf(high) - self.cdf(low)

    def interval(self, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return the equal-tailed interval (low, high) that holds X with probability `coverage`."""
        tail = 0.5 * (1.0 - check_coverage(coverage))
        return self.icdf(tail), self.icdf(1.0 - tail)

    def _quantile(self, q: Any) -> Array:
        """Return probabilities as an array of the parameters' library."""
        q = self._event(q, "q")
        check_probability("q", q)
        return q
