"""Distributions of an increasing function of a variable whose distribution is known."""

from abc import abstractmethod
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.distribution import Univariate


class Transformed(Univariate):
    """The distribution of x, of which an increasing function z = g(x) has a known distribution.

    A family writes the distribution of z, g, its inverse and log g'(x). Probabilities and quantiles of x
    are those of z, and log p(x) = log p(z) + log g'(x).
    """

    @property
    @abstractmethod
    def _base(self) -> Univariate:
        """The distribution of z."""

    @abstractmethod
    def _to_base(self, x: Array) -> Array:
        """Return z = g(x) inside the support."""

    @abstractmethod
    def _from_base(self, z: Array) -> Array:
        """Return the x with g(x) = z."""

    def _log_slope(self, x: Array, z: Array) -> Array:
        """Return log g'(x) at x and z = g(x)."""
        raise NotImplementedError(f"{type(self).__name__} writes its density itself")

    def _log_density(self, x: Array) -> Array:
        z = self._to_base(x)
        xp, log_density = namespace_of(z), self._base.log_prob(z)
        return xp.where(xp.isfinite(z), log_density + self._log_slope(x, z), log_density)

    def _cdf(self, x: Array) -> Array:
        return self._base.cdf(self._to_base(x))

    def _survival(self, x: Array) -> Array:
        return self._base.survival(self._to_base(x))

    def _log_cdf(self, x: Array) -> Array:
        return self._base.log_cdf(self._to_base(x))

    def _log_survival(self, x: Array) -> Array:
        return self._base.log_survival(self._to_base(x))

    def _icdf(self, q: Array) -> Array:
        return self._from_base(self._base.icdf(q))

    def _isf(self, q: Array) -> Array:
        return self._from_base(self._base.isf(q))

    def _sample(self, n: int, rng: Any) -> Array:
        with np.errstate(over="ignore", divide="ignore"):
            return self._from_base(self._base.sample(n, rng=rng))
