"""Exponential, log-normal, Weibull and Pareto distributions of a positive number."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import zeta

from tractable.arrays.gamma import gammaln
from tractable.arrays.log_space import log1m_exp
from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.native import horner
from tractable.arrays.random import uniform
from tractable.arrays.saddle_point import deviance
from tractable.distributions.checks import (
    check_finite,
    check_positive,
    check_varies,
    exactly_one,
    row_weights,
)
from tractable.distributions.distribution import (
    ScalarFamily,
    as_columns,
    as_parameters,
    like_columns,
)
from tractable.distributions.gamma import reciprocal, reciprocal_excess
from tractable.distributions.normal import Normal, squared
from tractable.distributions.transformed import Transformed
from tractable.engines.roots import increasing_root
from tractable.statistics.log_moments import LogExcess, MomentsOfLogarithms, NonnegativeMeans
from tractable.value import set_fields, value


@value
class Exponential(ScalarFamily):
    """The exponential distribution of a number that is not negative.

    Exp(x | b) = b exp(-bx) for x ≥ 0: the waiting time for the next event of a Poisson process, and the Gamma
    distribution of shape 1.

    Parameters
    ----------
    rate : array (*batch,)
        b, positive; give this or `scale`.
    scale : array (*batch,)
        1/b, the mean.

    Examples
    --------
    >>> d = Exponential(scale=2.0)
    >>> float(d.mean), float(d.variance), float(d.icdf(0.5).round(4))
    (2.0, 4.0, 1.3863)
    >>> Exponential.fit([0.0, 1.0, 5.0])
    Exponential(rate=array(0.5))
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"rate": 0}
    support = (0.0, np.inf)
    statistic: ClassVar[type[NonnegativeMeans]] = NonnegativeMeans

    rate: Array

    def __init__(self, *, rate: Any = None, scale: Any = None) -> None:
        name, x = exactly_one(rate=rate, scale=scale)
        given = as_parameters({name: 0}, **{name: x})[name]
        check_positive(name, given)
        set_fields(self, rate=given if name == "rate" else reciprocal(name, given))
        self._settle(rate=check_positive)

    @classmethod
    def from_statistic(cls, statistic: NonnegativeMeans) -> Self:
        """Return the maximum likelihood estimate of each column: one over the mean."""
        if not bool(namespace_of(statistic.mean).all(statistic.mean > 0.0)):
            raise ValueError("X must have an entry above 0 in each column")
        return cls(scale=statistic.mean)

    @property
    def scale(self) -> Array:
        """1 / rate."""
        return 1.0 / self.rate

    @property
    def mean(self) -> Array:
        return 1.0 / self.rate

    @property
    def variance(self) -> Array:
        return 1.0 / self.rate / self.rate

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: 0."""
        return namespace_of(self.rate).zeros_like(self.rate)

    def _log_density(self, x: Array) -> Array:
        return namespace_of(x).log(self.rate) - self.rate * x

    def _cdf(self, x: Array) -> Array:
        return -namespace_of(x).expm1(-self.rate * x)

    def _survival(self, x: Array) -> Array:
        return namespace_of(x).exp(-self.rate * x)

    def _log_cdf(self, x: Array) -> Array:
        return log1m_exp(-self.rate * x)

    def _log_survival(self, x: Array) -> Array:
        return -self.rate * x

    def _icdf(self, q: Array) -> Array:
        return -namespace_of(q).log1p(-q) / self.rate

    def _isf(self, q: Array) -> Array:
        return -namespace_of(q).log(q) / self.rate

    def entropy(self) -> Array:
        return 1.0 - namespace_of(self.rate).log(self.rate)

    def _divergence(self, other: "Exponential") -> Array:
        """Return r - 1 - log r with r = b₂/b₁."""
        ratio = other.rate / self.rate
        return deviance(namespace_of(ratio).ones_like(ratio), ratio)

    def _sample(self, n: int, rng: Any) -> Array:
        return self._icdf(uniform(rng, (n, *self.batch_shape), like=self.rate))


@value
class LogNormal(Transformed, ScalarFamily):
    """The log-normal distribution of a positive number whose logarithm is normal.

    LN(x | μ, σ²) = N(log x | μ, σ²) / x for x > 0. The median is exp μ and the mean exp(μ + σ²/2).

    Parameters
    ----------
    log_mean : array (*batch,)
        μ, the mean of log x.
    log_variance : array (*batch,)
        σ², the variance of log x; give this or `log_stddev`.
    log_stddev : array (*batch,)
        σ.

    Examples
    --------
    >>> d = LogNormal(log_mean=0.0, log_stddev=1.0)
    >>> float(d.icdf(0.5)), float(d.mean.round(4)), float(d.mode.round(4))
    (1.0, 1.6487, 0.3679)
    >>> float(LogNormal.fit([1.0, 10.0, 100.0]).median.round(12))
    10.0
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"log_mean": 0, "log_variance": 0}
    support = (0.0, np.inf)
    statistic: ClassVar[type[MomentsOfLogarithms]] = MomentsOfLogarithms

    log_mean: Array
    log_variance: Array

    def __init__(self, *, log_mean: Any, log_variance: Any = None, log_stddev: Any = None) -> None:
        name, scale = exactly_one(log_variance=log_variance, log_stddev=log_stddev)
        given = as_parameters({"log_mean": 0, name: 0}, **{"log_mean": log_mean, name: scale})
        check_positive(name, given[name])
        variance = given[name] if name == "log_variance" else squared(name, given[name])
        set_fields(self, log_mean=given["log_mean"], log_variance=variance)
        self._settle(log_mean=check_finite)

    @classmethod
    def from_statistic(cls, statistic: MomentsOfLogarithms) -> Self:
        """Return the maximum likelihood estimate of each column: mean and variance of the logarithms."""
        check_varies(statistic.scatter > 0.0)
        return cls(log_mean=statistic.mean, log_variance=statistic.scatter / statistic.weight)

    @property
    def logarithm(self) -> Normal:
        """The normal distribution of log x."""
        return Normal(mean=self.log_mean, variance=self.log_variance)

    @property
    def median(self) -> Array:
        """Return exp μ, (*batch,)."""
        return namespace_of(self.log_mean).exp(self.log_mean)

    @property
    def mean(self) -> Array:
        with np.errstate(over="ignore"):
            return namespace_of(self.log_mean).exp(self.log_mean + 0.5 * self.log_variance)

    @property
    def variance(self) -> Array:
        """See `Distribution.variance`: (exp σ² - 1) exp(2μ + σ²)."""
        xp = namespace_of(self.log_mean)
        with np.errstate(over="ignore"):
            return xp.expm1(self.log_variance) * self.mean * self.mean

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: exp(μ - σ²)."""
        return namespace_of(self.log_mean).exp(self.log_mean - self.log_variance)

    def entropy(self) -> Array:
        return self.log_mean + self.logarithm.entropy()

    def _divergence(self, other: "LogNormal") -> Array:
        """Return the divergence of the normal distributions of log x."""
        return self.logarithm.kl_divergence(other.logarithm)

    _base = logarithm

    def _to_base(self, x: Array) -> Array:
        return namespace_of(x).log(x)

    def _from_base(self, z: Array) -> Array:
        return namespace_of(z).exp(z)

    def _log_slope(self, x: Array, z: Array) -> Array:
        return -z


@value
class Weibull(Transformed):
    """The Weibull distribution of a number that is not negative.

    Wei(x | k, λ) = (k/λ) (x/λ)^(k-1) exp(-(x/λ)^k) for x ≥ 0: a life whose hazard k/λ (x/λ)^(k-1) falls with
    age for k < 1, is constant for k = 1 (the exponential distribution) and rises for k > 1.

    Parameters
    ----------
    shape : array (*batch,)
        k, positive.
    scale : array (*batch,)
        λ, positive: the quantile of 1 - 1/e.

    Examples
    --------
    >>> d = Weibull(shape=2.0, scale=3.0)
    >>> float(d.mean.round(4)), float(d.mode.round(4)), float(d.survival(3.0).round(4))
    (2.6587, 2.1213, 0.3679)
    >>> fit = Weibull.fit([1.0, 2.0, 3.0, 4.0])
    >>> float(fit.shape.round(3)), float(fit.scale.round(3))
    (2.453, 2.829)
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"shape": 0, "scale": 0}
    support = (0.0, np.inf)

    shape: Array
    scale: Array

    def __post_init__(self) -> None:
        self._settle(shape=check_positive, scale=check_positive)

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None) -> Self:
        """Return the maximum likelihood estimate from positive numbers X (n, *batch).

        The shape solves Σ w xᵏ log x / Σ w xᵏ - 1/k = mean of log x, whose left side rises with k; then
        λᵏ = mean of xᵏ. No statistic smaller than the rows suffices for it.

        Parameters
        ----------
        X : array (n, *batch)
            Observations on the first axis, positive and not all the same.
        sample_weight : array (n,), optional
            How often each observation counts.
        """
        X, columns, weights = as_columns(X, sample_weight)
        xp = namespace_of(X)
        if not bool(xp.all(columns > 0.0)):
            raise ValueError(f"X must be positive, got {float(xp.min(columns))!r}")
        one = row_weights(weights, X)
        one = xp.astype(one / xp.sum(one), X.dtype)
        seen = (one > 0.0)[:, None]
        logs = xp.log(columns)
        top = xp.max(xp.where(seen, logs, xp.full_like(logs, -xp.inf)), axis=0)
        logs = xp.where(seen, logs - top, xp.zeros_like(logs))  # at most 0: no power overflows
        shape = _weibull_shape(logs, one)
        log_scale = top + xp.log(one @ xp.exp(shape * logs)) / shape
        return like_columns(cls(shape=shape, scale=xp.exp(log_scale)), X)

    @property
    def mean(self) -> Array:
        """See `Distribution.mean`: λ Γ(1 + 1/k)."""
        with np.errstate(over="ignore"):
            return self.scale * namespace_of(self.shape).exp(gammaln(1.0 + 1.0 / self.shape))

    @property
    def variance(self) -> Array:
        """See `Distribution.variance`: λ² (Γ(1 + 2/k) - Γ(1 + 1/k)²)."""
        with np.errstate(over="ignore"):
            relative = namespace_of(self.shape).expm1(_log_gamma_of_double(1.0 / self.shape))
            return self.mean * (self.mean * relative)

    @property
    def mode(self) -> Array:
        """λ (1 - 1/k)^(1/k) for k > 1; 0 below, where the density falls from the start."""
        xp = namespace_of(self.shape)
        above = self.shape > 1.0
        k = xp.where(above, self.shape, 2.0 * xp.ones_like(self.shape))
        return xp.where(above, self.scale * xp.exp(xp.log1p(-1.0 / k) / k), xp.zeros_like(self.shape))

    def _log_density(self, x: Array) -> Array:
        xp, z = namespace_of(x), self._log_ratio(x)
        slope = (self.shape - 1.0) * xp.where(xp.isfinite(z), z, xp.zeros_like(z))
        found = xp.log(self.shape) - xp.log(self.scale) + slope - xp.exp(self.shape * z)
        # At 0 the density is that of (x/λ)^(k-1): infinite, k/λ or 0.
        rising, falling = self.shape > 1.0, self.shape < 1.0
        edge = xp.where(
            rising, xp.full_like(found, -xp.inf), xp.where(falling, xp.full_like(found, xp.inf), found)
        )
        return xp.where(z == -xp.inf, edge, found)

    def _log_cdf(self, x: Array) -> Array:
        xp, power = namespace_of(x), self.shape * self._log_ratio(x)
        # log(1 - e^-t) is log t where t underflows.
        low = power < -30.0
        return xp.where(low, power, log1m_exp(-xp.exp(xp.where(low, xp.zeros_like(power), power))))

    def entropy(self) -> Array:
        """See `Distribution.entropy`: γ (1 - 1/k) + log(λ/k) + 1, γ the constant of Euler and Mascheroni."""
        xp = namespace_of(self.shape)
        return np.euler_gamma * (1.0 - 1.0 / self.shape) + xp.log(self.scale / self.shape) + 1.0

    def _divergence(self, other: "Weibull") -> Array:
        """Return log(k₁/k₂) + k₂ log(λ₂/λ₁) - γ (k₁ - k₂)/k₁ + (λ₁/λ₂)^k₂ Γ(1 + k₂/k₁) - 1."""
        xp = namespace_of(self.shape)
        ratio, log_scales = other.shape / self.shape, xp.log(self.scale / other.scale)
        with np.errstate(over="ignore"):
            # With t the logarithm of the last product, it is e^t - 1 - t and what is left of the logarithms.
            t = other.shape * log_scales + gammaln(1.0 + ratio)
            rest = gammaln(1.0 + ratio) - np.euler_gamma * (1.0 - ratio) - xp.log(ratio)
            return xp.where(t < xp.inf, xp.expm1(t) - t, t) + rest

    @property
    def _base(self) -> Exponential:
        """The distribution of (x/λ)^k."""
        return Exponential(rate=namespace_of(self.scale).ones_like(self.scale))

    def _to_base(self, x: Array) -> Array:
        return namespace_of(x).exp(self.shape * self._log_ratio(x))

    def _from_base(self, z: Array) -> Array:
        xp = namespace_of(z)
        return self.scale * xp.exp(xp.log(z) / self.shape)

    def _log_ratio(self, x: Array) -> Array:
        """Return log(x/λ)."""
        return _log_quotient(x, self.scale)


@value
class Pareto(Transformed, ScalarFamily):
    """The Pareto distribution of a number beyond a threshold, by a power law.

    Par(x | α, m) = α mᵅ / x^(α+1) for x ≥ m: log(x/m) is exponential of rate α.

    Parameters
    ----------
    shape : array (*batch,)
        α, positive; the mean is finite for α > 1 only, the variance for α > 2.
    scale : array (*batch,)
        m, positive: the least value, which is the mode.

    Examples
    --------
    >>> d = Pareto(shape=3.0, scale=2.0)
    >>> float(d.mean), float(d.variance), float(d.survival(4.0).round(12))
    (3.0, 3.0, 0.125)
    >>> Pareto.fit([1.0, 2.0, 4.0]).scale
    array(1.)
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"shape": 0, "scale": 0}
    statistic: ClassVar[type[LogExcess]] = LogExcess

    shape: Array
    scale: Array

    def __post_init__(self) -> None:
        self._settle(shape=check_positive, scale=check_positive)

    @classmethod
    def from_statistic(cls, statistic: LogExcess) -> Self:
        """Return the maximum likelihood estimate of each column: m the least, 1/α the mean of log(x/m)."""
        check_varies(statistic.mean > 0.0)
        return cls(shape=1.0 / statistic.mean, scale=statistic.low)

    @property
    def support(self) -> tuple[Array, float]:
        return self.scale, np.inf

    @property
    def mean(self) -> Array:
        """See `Distribution.mean`: α m / (α - 1), infinite for α ≤ 1."""
        return self.scale * (self.shape * reciprocal_excess(self.shape, 1.0))

    @property
    def variance(self) -> Array:
        """m² α / ((α - 1)² (α - 2)) for α > 2; infinite for 1 < α ≤ 2, NaN where the mean is infinite."""
        xp = namespace_of(self.shape)
        known = self.shape > 1.0
        spread = self.scale * xp.where(known, reciprocal_excess(self.shape, 1.0), xp.ones_like(self.shape))
        with np.errstate(over="ignore"):
            found = spread * spread * (self.shape * reciprocal_excess(self.shape, 2.0))
        return xp.where(known, found, xp.full_like(found, xp.nan))

    @property
    def mode(self) -> Array:
        return self.scale

    def entropy(self) -> Array:
        """See `Distribution.entropy`: log(m/α) + 1/α + 1."""
        xp = namespace_of(self.shape)
        return xp.log(self.scale) - xp.log(self.shape) + 1.0 / self.shape + 1.0

    def _divergence(self, other: "Pareto") -> Array:
        """Return r - 1 - log r + α₂ log(m₁/m₂) with r = α₂/α₁, if the other's support holds this one's."""
        ratio = other.shape / self.shape
        xp = namespace_of(ratio)
        held = other.scale <= self.scale
        found = deviance(xp.ones_like(ratio), ratio) + other.shape * _log_quotient(self.scale, other.scale)
        return xp.where(held, found, xp.full_like(found, xp.inf))

    @property
    def _base(self) -> Exponential:
        """The distribution of log(x/m)."""
        return Exponential(rate=self.shape)

    def _to_base(self, x: Array) -> Array:
        return _log_quotient(x, self.scale)

    def _from_base(self, z: Array) -> Array:
        return self.scale * namespace_of(z).exp(z)

    def _log_slope(self, x: Array, z: Array) -> Array:
        return -namespace_of(z).log(self.scale) - z


def _log_quotient(a: Array, b: Array) -> Array:
    """Return log(a/b); of logarithms where the quotient overflows, underflows or loses digits."""
    xp = namespace_of(a, b)
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        quotient, apart = a / b, xp.log(a) - xp.log(b)
        least = float(xp.finfo(quotient.dtype).smallest_normal)
        precise = (quotient > least) & (quotient < 1.0 / least)
        # a - b is exact where they are near.
        near = xp.abs(quotient - 1.0) < 0.25
        one = xp.ones_like(quotient)
        found = xp.where(
            near, xp.log1p(xp.where(near, (a - b) / b, one)), xp.log(xp.where(precise, quotient, one))
        )
    return xp.where(precise, found, apart)


#: log Γ(1 + 2t) - 2 log Γ(1 + t) = t² Σ c_n tⁿ, c_n = (-1)ⁿ ζ(n + 2) (2ⁿ⁺² - 2) / (n + 2).
_DOUBLE_SERIES = tuple((-1) ** n * float(zeta(n + 2)) * (2.0 ** (n + 2) - 2.0) / (n + 2) for n in range(18))
_SMALL = 0.05  # up to here the series reaches the last digit


def _log_gamma_of_double(t: Array) -> Array:
    """Return log Γ(1 + 2t) - 2 log Γ(1 + t), accurate where t is small and the two almost cancel."""
    xp = namespace_of(t)
    small = t < _SMALL
    s = xp.where(small, t, xp.zeros_like(t))
    u = xp.where(small, xp.ones_like(t), t)
    return xp.where(small, s * s * horner(_DOUBLE_SERIES, s), gammaln(1.0 + 2.0 * u) - 2.0 * gammaln(1.0 + u))


def _weibull_shape(logs: Array, weights: Array) -> Array:
    """Return the shape of greatest likelihood of each column of log x ≤ 0, its greatest 0."""
    xp = namespace_of(logs)
    mean = weights @ logs
    spread = xp.sqrt(weights @ (logs - mean) ** 2)
    check_varies(spread > 0.0)

    def slope(shape: Array) -> tuple[Array, Array]:
        powers = weights[:, None] * xp.exp(shape * logs)
        total = xp.sum(powers, axis=0)
        first = xp.sum(powers * logs, axis=0) / total
        second = xp.sum(powers * (logs - first) ** 2, axis=0) / total
        return first - mean - 1.0 / shape, second + 1.0 / shape**2

    # The left side is at most -mean - 1/k, and at k = 1/spread of the order of the spread.
    low = -1.0 / mean
    high = 2.0 / spread
    for _ in range(200):
        value, _slope = slope(high)
        if bool(xp.all(value >= 0.0)):
            break
        high = xp.where(value >= 0.0, high, 2.0 * high)
    return increasing_root(slope, 0.5 * low, high, start=xp.clip(1.28 / spread, 0.5 * low, high))
