"""The Laplace distribution of a number."""

from collections.abc import Mapping
from math import log
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.random import uniform
from tractable.arrays.saddle_point import deviance
from tractable.distributions.checks import check_finite, check_positive
from tractable.distributions.columns import as_columns, like_columns
from tractable.distributions.medians import coordinate_medians
from tractable.distributions.univariate import Univariate
from tractable.value import value

__all__ = ["Laplace"]


@value
class Laplace(Univariate):
    """Lap(x | μ, b) = exp(-|x - μ| / b) / 2b.

    Parameters
    ----------
    location : array (*batch,)
        μ: mean, median and mode.
    scale : array (*batch,)
        b, the mean distance from μ; the variance is 2b².

    Examples
    --------
    >>> d = Laplace(location=1.0, scale=2.0)
    >>> float(d.variance), float(d.cdf(1.0)), float(d.prob(1.0))
    (8.0, 0.5, 0.25)
    >>> Laplace.fit([1.0, 2.0, 9.0]).location
    array(2.)
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"location": 0, "scale": 0}

    location: Array
    scale: Array

    def __post_init__(self) -> None:
        self._settle(location=check_finite, scale=check_positive)

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None) -> Self:
        """Return the maximum likelihood estimate: the median, and the mean distance from it.

        Where half the weight lies on either side of a gap every point of it is likeliest, as between the
        middle two of an even number of observations; its middle is given.

        Parameters
        ----------
        X : array (n, *batch)
            Observations on the first axis, not all the same.
        sample_weight : array (n,), optional
            How often each observation counts.
        """
        X, columns, weights = as_columns(X, sample_weight)
        xp = namespace_of(X)
        weights = xp.ones(X.shape[0], dtype=X.dtype, device=device(X)) if weights is None else weights
        weights = xp.astype(weights / xp.sum(weights), X.dtype)
        location = coordinate_medians(columns, weights) if columns.shape[1] else columns[0, :]
        scale = weights @ xp.abs(columns - location)
        if not bool(xp.all(scale > 0.0)):
            raise ValueError("X must vary: the likelihood of observations that are all the same is unbounded")
        return like_columns(cls(location=location, scale=scale), X)

    @property
    def mean(self) -> Array:
        """See `Distribution.mean`."""
        return self.location

    @property
    def variance(self) -> Array:
        """See `Distribution.variance`: 2b²."""
        return 2.0 * self.scale * self.scale

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`."""
        return self.location

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`."""
        xp = namespace_of(self.scale)
        return -xp.abs(self._standardized(x)) - (xp.log(self.scale) + log(2.0))

    def cdf(self, x: Any) -> Array:
        """See `Univariate.cdf`: all its digits in the lower tail."""
        return _lower(self._standardized(x))

    def survival(self, x: Any) -> Array:
        """See `Univariate.survival`: all its digits in the upper tail."""
        return _lower(-self._standardized(x))

    def icdf(self, q: Any) -> Array:
        """See `Univariate.icdf`."""
        q = self._quantile(q)
        xp = namespace_of(q)
        with np.errstate(divide="ignore"):
            tail = xp.log(2.0 * xp.minimum(q, 1.0 - q))
        return self.location + self.scale * xp.where(q < 0.5, tail, -tail)

    def entropy(self) -> Array:
        """See `Distribution.entropy`: 1 + log 2b."""
        return 1.0 + log(2.0) + namespace_of(self.scale).log(self.scale)

    def kl_divergence(self, other: "Laplace") -> Array:
        """See `Distribution.kl_divergence`.

        It is r - 1 - log r + r (δ - 1 + exp(-δ)), with r = b₁/b₂ and δ = |μ₁ - μ₂|/b₁.
        """
        if not isinstance(other, Laplace):
            raise TypeError(f"other must be a Laplace, got {type(other).__name__}")
        xp = namespace_of(self.scale)
        ratio = self.scale / other.scale
        shift = xp.abs(self.location - other.location) / self.scale
        return deviance(xp.ones_like(ratio), ratio) + ratio * (shift + xp.expm1(-shift))

    def _sample(self, n: int, rng: Any) -> Array:
        # The difference of two exponentials.
        u = uniform(rng, (2, n, *self.batch_shape), like=self.location)
        e = namespace_of(u).log1p(-u)
        return self.location + self.scale * (e[0, ...] - e[1, ...])

    def _standardized(self, x: Any) -> Array:
        with np.errstate(over="ignore"):
            return (self._event(x) - self.location) / self.scale


def _lower(z: Array) -> Array:
    """Return ½ eᶻ below zero and 1 - ½ e⁻ᶻ above."""
    xp = namespace_of(z)
    tail = 0.5 * xp.exp(-xp.abs(z))
    return xp.where(z > 0.0, 1.0 - tail, tail)
