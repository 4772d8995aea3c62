"""The normal distribution of a number."""

from collections.abc import Mapping
from functools import cached_property
from math import e, log, pi, sqrt
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.log_space import HALF_LOG_2PI
from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.arrays.random import standard_normal
from tractable.arrays.special import erfc, ndtri
from tractable.data.blocks import BLOCK_ENTRIES, map_entries
from tractable.distributions.checks import check_finite, check_positive, exactly_one
from tractable.distributions.distribution import ScalarFamily, as_parameters
from tractable.statistics.moments import DiagonalMoments
from tractable.value import set_fields, value

__all__ = ["Normal"]


@value
class Normal(ScalarFamily):
    """N(x | μ, σ²) = (2πσ²)^(-1/2) exp(-(x - μ)² / 2σ²).

    The scale is given by name, as a variance or as a standard deviation, so that one cannot be taken for the
    other. The variance is stored; the standard deviation comes back to the last bit.

    Parameters
    ----------
    mean : array (*batch,)
    variance : array (*batch,)
        σ²; give this or `stddev`.
    stddev : array (*batch,)
        σ.

    Examples
    --------
    >>> d = Normal(mean=1.0, stddev=2.0)
    >>> float(d.variance), float(d.cdf(1.0))
    (4.0, 0.5)
    >>> low, high = d.interval(0.95)
    >>> float(low.round(2)), float(high.round(2))
    (-2.92, 4.92)
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"mean": 0, "variance": 0}
    statistic: ClassVar[type[DiagonalMoments]] = DiagonalMoments

    mean: Array
    variance: Array

    def __init__(self, *, mean: Any, variance: Any = None, stddev: Any = None) -> None:
        name, scale = exactly_one(variance=variance, stddev=stddev)
        given = as_parameters({"mean": 0, name: 0}, **{"mean": mean, name: scale})
        check_positive(name, given[name])
        set_fields(
            self, mean=given["mean"], variance=given[name] if name == "variance" else _squared(given[name])
        )
        self._settle(mean=check_finite)

    @classmethod
    def from_statistic(cls, statistic: DiagonalMoments, *, ddof: float = 0.0) -> Self:
        """Return the maximum likelihood estimate of each column: mean, and scatter / (weight - ddof).

        ddof=1 makes the variance unbiased (Bessel); 0 is maximum likelihood.
        """
        rest = statistic.weight - ddof
        if not bool(namespace_of(rest).all(rest > 0.0)):
            raise ValueError(f"X must have a weight above ddof={ddof}, got {statistic.weight}")
        return cls(mean=statistic.mean, variance=statistic.scatter / rest)

    @property
    def mode(self) -> Array:
        return self.mean

    def log_prob(self, x: Any) -> Array:
        x = self._event(x)
        if is_numpy_array(x) and max(x.size, self.mean.size) > BLOCK_ENTRIES:
            return map_entries(_fill_log_density, x, self.mean, self.variance, self._log_peak)
        with np.errstate(over="ignore"):
            gap = x - self.mean
            # One factor is divided first: neither square nor quotient overflows before its time.
            return -0.5 * (gap * (gap / self.variance)) + self._log_peak

    def cdf(self, x: Any) -> Array:
        """Return P(X ≤ x) = ½ erfc(-(x - μ) / σ√2): all its digits in the lower tail."""
        return 0.5 * erfc(self._standardized(x) / -sqrt(2.0))

    def icdf(self, q: Any) -> Array:
        return self.mean + self.stddev * ndtri(self._quantile(q))

    def survival(self, x: Any) -> Array:
        """Return P(X > x) = ½ erfc((x - μ) / σ√2): all its digits in the upper tail."""
        return 0.5 * erfc(self._standardized(x) / sqrt(2.0))

    def probability_between(self, low: Any, high: Any) -> Array:
        """See `Univariate.probability_between`; exact in both tails."""
        xp = namespace_of(self.mean)
        a, b = self._standardized(low), self._standardized(high)
        flip = xp.where(a + b > 0, -xp.ones_like(a + b), xp.ones_like(a + b))
        return flip * 0.5 * (erfc(flip * b / -sqrt(2.0)) - erfc(flip * a / -sqrt(2.0)))

    def entropy(self) -> Array:
        return 0.5 * (namespace_of(self.variance).log(self.variance) + log(2.0 * pi * e))

    def _divergence(self, other: "Normal") -> Array:
        """Return ½ (r - 1 - log r + (μ₁ - μ₂)²/σ₂²) with r = σ₁²/σ₂²."""
        xp = namespace_of(self.mean)
        with np.errstate(over="ignore", invalid="ignore"):
            excess = (self.variance - other.variance) / other.variance
            shift = (self.mean - other.mean) / other.stddev
            spread = xp.where(xp.isinf(excess), excess, excess - xp.log1p(excess))
            return 0.5 * (spread + shift * shift)

    def __add__(self, other: Any) -> "Normal":
        """Return the distribution of the sum of two independent variables."""
        if not isinstance(other, Normal):
            return NotImplemented
        return Normal(mean=self.mean + other.mean, variance=self.variance + other.variance)

    def _sample(self, n: int, rng: Any) -> Array:
        noise = standard_normal(rng, (n, *self.batch_shape), like=self.mean)
        return self.mean + self.stddev * noise

    @cached_property
    def _log_peak(self) -> Array:
        """The greatest log density, log p(μ)."""
        return -0.5 * namespace_of(self.variance).log(self.variance) - HALF_LOG_2PI

    def _standardized(self, x: Any) -> Array:
        with np.errstate(over="ignore"):
            return (self._event(x) - self.mean) / self.stddev


def _fill_log_density(
    x: np.ndarray, mean: np.ndarray, variance: np.ndarray, log_peak: np.ndarray, out: np.ndarray
) -> None:
    gap = x - mean
    np.divide(gap, variance, out=out)
    out *= gap
    out *= -0.5
    out += log_peak


def _squared(stddev: Array) -> Array:
    xp = namespace_of(stddev)
    with np.errstate(over="ignore", under="ignore"):
        variance = stddev * stddev
    if not bool(xp.all((variance > 0) & xp.isfinite(variance))):
        raise ValueError("stddev must have a square that is neither zero nor infinite in floating point")
    return variance
