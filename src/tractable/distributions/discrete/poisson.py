"""Poisson counts, and geometric and negative binomial ones that vary more."""

from collections.abc import Mapping
from math import inf
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.gamma import stirling_error
from tractable.arrays.incomplete import betainc, betaincc, gammainc, gammaincc
from tractable.arrays.log_space import LOG_2PI, log1m_exp
from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.arrays.saddle_point import count_deviance, deviance, factorial_rest
from tractable.distributions.checks import check_nonnegative, check_positive, check_probability, exactly_one
from tractable.distributions.discrete.counting import FittedCounting, as_counts
from tractable.distributions.distribution import as_parameters
from tractable.statistics.counts import Counts, Totals
from tractable.value import set_fields, value


@value
class Poisson(FittedCounting):
    """The Poisson distribution of a count.

    Poisson(k | λ) = λᵏ e^-λ / k!: how many events there are where λ are expected.

    Mean and variance are λ. Where λ is a whole number there are two modes, λ - 1 and λ, and the smaller is
    given. At λ = 0 there are no events.

    Parameters
    ----------
    rate : array (*batch,)
        λ, not negative.

    Examples
    --------
    >>> d = Poisson(rate=2.5)
    >>> d.prob([0, 1, 2, 2.5]).round(4)
    array([0.0821, 0.2052, 0.2565, 0.    ])
    >>> float(d.mode), float(d.icdf(0.99))
    (2.0, 7.0)
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"rate": 0}
    support = (0.0, inf)
    statistic: ClassVar[type] = Totals

    rate: Array

    def __post_init__(self) -> None:
        self._settle(rate=check_nonnegative)

    @classmethod
    def from_statistic(cls, statistic: Totals) -> Self:
        """Return the maximum likelihood estimate from the totals of counts."""
        return cls(rate=statistic.mean)

    @property
    def mean(self) -> Array:
        return self.rate

    @property
    def variance(self) -> Array:
        return self.rate

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: ⌈λ⌉ - 1, at least 0."""
        xp = namespace_of(self.rate)
        mode = xp.ceil(self.rate) - 1.0
        return xp.where(mode > 0, mode, xp.zeros_like(mode))

    def _divergence(self, other: "Poisson") -> Array:
        """Return λ log λ/λ' + λ' - λ."""
        return count_deviance(self.rate, other.rate)

    def __add__(self, other: Any) -> "Poisson":
        """Return the distribution of the sum of two independent counts."""
        if not isinstance(other, Poisson):
            return NotImplemented
        return Poisson(rate=self.rate + other.rate)

    def _log_mass(self, k: Array) -> Array:
        return -factorial_rest(k) - count_deviance(k, self.rate)

    def _cdf(self, k: Array) -> Array:
        """Γ(k + 1, λ) / k!, the regularised upper incomplete gamma function."""
        return gammaincc(k + 1.0, self.rate)

    def _survival(self, k: Array) -> Array:
        return gammainc(k + 1.0, self.rate)

    def _sample(self, n: int, rng: Any) -> Array:
        rate = to_numpy(self.rate)
        if np.any(rate > 9.2e18):
            raise ValueError(f"rate must be at most 9.2e18 to draw from, got {float(rate.max())!r}")
        return as_counts(rng.poisson(rate, size=(n, *rate.shape)), like=self.rate)


@value
class NegativeBinomial(FittedCounting):
    """The negative binomial distribution of a count, a Poisson count whose rate is Gamma.

    NB(k | a, m) = Γ(k + a) / (k! Γ(a)) pᵃ (1 - p)ᵏ with p = a / (a + m).

    A Poisson count whose rate is Gamma with shape a and mean m; for whole a the number of failures before the
    a-th success, each trial succeeding with probability p. The mean is m and the variance m + m²/a: a Poisson
    distribution for a → ∞.

    Parameters
    ----------
    shape : array (*batch,)
        a, positive.
    mean : array (*batch,)
        m, positive; give this or `probability`.
    probability : array (*batch,)
        p, strictly between 0 and 1; m = a (1 - p) / p.

    Examples
    --------
    >>> d = NegativeBinomial(shape=2.0, mean=3.0)
    >>> float(d.variance), float(d.mode), float(d.probability_of_success)
    (7.5, 1.0, 0.4)
    >>> d.prob([0, 1, 2]).round(4)
    array([0.16  , 0.192 , 0.1728])
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"shape": 0, "mean": 0}
    support = (0.0, inf)
    statistic: ClassVar[type] = Counts

    shape: Array
    mean: Array

    def __init__(self, *, shape: Any, mean: Any = None, probability: Any = None) -> None:
        name, x = exactly_one(mean=mean, probability=probability)
        given = as_parameters({"shape": 0, name: 0}, **{"shape": shape, name: x})
        if name == "probability":
            _check_success("probability", given[name])
            given["mean"] = given["shape"] * (1.0 - given[name]) / given[name]
            check_positive("1 - probability", 1.0 - given[name])
        set_fields(self, shape=given["shape"], mean=given["mean"])
        self._settle(shape=check_positive, mean=check_positive)

    @classmethod
    def from_statistic(cls, statistic: Counts) -> Self:
        """Return the maximum likelihood estimate from how often 0, 1, 2, … were seen.

        Counts that vary no more than Poisson ones are best explained by an infinite shape; the shape is then
        10⁸ times the mean.
        """
        xp, where = namespace_of(statistic.counts), device(statistic.counts)
        shape, mean = (xp.asarray(x, dtype=xp.float64, device=where) for x in fitted_shape(statistic))
        return cls(shape=shape, mean=mean)

    @property
    def probability_of_success(self) -> Array:
        """Return p = a / (a + m), (*batch,)."""
        return self.shape / (self.shape + self.mean)

    @property
    def variance(self) -> Array:
        return self.mean + self.mean * (self.mean / self.shape)

    @property
    def stddev(self) -> Array:
        """Square root of the variance, (*batch,), also where that overflows."""
        xp = namespace_of(self.mean)
        return xp.sqrt(self.mean) * xp.sqrt(1.0 + self.mean / self.shape)

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: ⌈m (a - 1) / a⌉ - 1, at least 0; of two modes, the smaller."""
        xp = namespace_of(self.mean)
        mode = xp.ceil(self.mean * ((self.shape - 1.0) / self.shape)) - 1.0
        return xp.where(mode > 0, mode, xp.zeros_like(mode))

    def _divergence(self, other: "NegativeBinomial") -> Array:
        """Return the divergence as a sum over the counts."""
        zero = 0.0 * (other.mean + self.mean)
        wide = NegativeBinomial(shape=self.shape + zero, mean=self.mean + zero)
        return wide._expected(lambda k: wide._log_mass(k) - other._log_mass(k))  # noqa: SLF001

    def _log_mass(self, k: Array) -> Array:
        """Return log P(X = k), by Stirling's formula with the large terms of three factorials cancelled."""
        xp = namespace_of(k)
        a, m = self.shape, self.mean
        some = k > 0
        x = xp.where(some, k, xp.ones_like(k))
        ratio = (a + x) / (a + m)
        # With n = a + x, n p - a and n (1 - p) - x differ in sign alone.
        gap = (x - m) * (a / (a + m))
        successes, failures = a * ratio, m * ratio
        divergence = deviance(a + 0.0 * x, successes, gap - (successes - a))
        divergence = divergence + deviance(x, failures, -gap - (failures - x))
        rests = stirling_error(a + x) - stirling_error(a) - stirling_error(x)
        scale = -0.5 * (LOG_2PI + xp.log(x) + xp.log1p(x / a))
        none = -a * xp.log1p(m / a)
        return xp.where(some, scale + rests - divergence, none + 0.0 * x)

    def _cdf(self, k: Array) -> Array:
        """I_p(a, k + 1), the regularised incomplete beta function."""
        low, p, q = self._sides()
        return namespace_of(k).where(low, betainc(self.shape, k + 1.0, p), betaincc(k + 1.0, self.shape, q))

    def _survival(self, k: Array) -> Array:
        low, p, q = self._sides()
        return namespace_of(k).where(low, betaincc(self.shape, k + 1.0, p), betainc(k + 1.0, self.shape, q))

    def _sides(self) -> tuple[Array, Array, Array]:
        """Return whether p is the smaller of p and 1 - p, which then has more digits, and both."""
        total = self.shape + self.mean
        return self.shape < self.mean, self.shape / total, self.mean / total

    def _bulk(self) -> tuple[Array, Array]:
        """The upper tail falls like (1 - p)ᵏ, however small the shape."""
        low, high = super()._bulk()
        xp = namespace_of(self.mean)
        return low, xp.ceil(high + 50.0 / xp.log1p(self.shape / self.mean))

    def _sample(self, n: int, rng: Any) -> Array:
        shape, mean = to_numpy(self.shape), to_numpy(self.mean)
        rates = rng.standard_gamma(shape, size=(n, *shape.shape)) * (mean / shape)
        return as_counts(rng.poisson(rates), like=self.mean)


@value
class Geometric(FittedCounting):
    """The geometric distribution of the number of failures before the first success.

    Geom(k | p) = p (1 - p)ᵏ for k = 0, 1, …: the negative binomial distribution of shape 1. The number of
    trials, success included, is k + 1.

    Parameters
    ----------
    probability : array (*batch,)
        p, above 0 and at most 1: of success in a trial.

    Examples
    --------
    >>> d = Geometric(probability=0.25)
    >>> float(d.mean), float(d.variance), d.prob([0, 1, 2])
    (3.0, 12.0, array([0.25    , 0.1875  , 0.140625]))
    >>> Geometric.fit([0, 2, 4]).probability
    array(0.33333333)
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"probability": 0}
    support = (0.0, inf)
    statistic: ClassVar[type] = Totals

    probability: Array

    def __post_init__(self) -> None:
        self._settle(probability=_check_success)

    @classmethod
    def from_statistic(cls, statistic: Totals) -> Self:
        """Return the maximum likelihood estimate from the totals of counts: 1 / (1 + mean)."""
        return cls(probability=1.0 / (1.0 + statistic.mean))

    @property
    def mean(self) -> Array:
        return (1.0 - self.probability) / self.probability

    @property
    def variance(self) -> Array:
        return self.mean / self.probability

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: 0."""
        return namespace_of(self.probability).zeros_like(self.probability)

    def entropy(self) -> Array:
        """See `Distribution.entropy`: -log p - (1 - p)/p log(1 - p)."""
        return -namespace_of(self.probability).log(self.probability) - self._log_failures(self.mean)

    def _divergence(self, other: "Geometric") -> Array:
        """Return log p/p' + (1 - p)/p log (1 - p)/(1 - p')."""
        xp = namespace_of(self.probability)
        mean = self.mean
        rest = self._log_failures(mean) - other._log_failures(mean)  # noqa: SLF001
        return xp.log(self.probability / other.probability) + rest

    def _log_mass(self, k: Array) -> Array:
        return namespace_of(k).log(self.probability) + self._log_failures(k)

    def _cdf(self, k: Array) -> Array:
        return -namespace_of(k).expm1(self._log_failures(k + 1.0))

    def _survival(self, k: Array) -> Array:
        return namespace_of(k).exp(self._log_failures(k + 1.0))

    def _log_cdf(self, k: Array) -> Array:
        return log1m_exp(self._log_failures(k + 1.0))

    def _log_survival(self, k: Array) -> Array:
        return self._log_failures(k + 1.0)

    def _sample(self, n: int, rng: Any) -> Array:
        p = to_numpy(self.probability)
        with np.errstate(divide="ignore"):
            rate = -np.log1p(-p)  # the whole part of an exponential variable of this rate
        return as_counts(np.floor(rng.standard_exponential((n, *p.shape)) / rate), like=self.probability)

    def _log_failures(self, k: Array) -> Array:
        """Return k log(1 - p), 0 for k = 0 whatever p."""
        xp = namespace_of(k)
        with np.errstate(divide="ignore"):
            one = xp.log1p(-self.probability)
        some = k > 0.0
        return xp.where(some, xp.where(some, k, xp.ones_like(k)) * one, xp.zeros_like(k))


def _check_success(name: str, x: Array) -> None:
    """Refuse what is not above 0 and at most 1."""
    check_probability(name, x)
    check_positive(name, x)


_LARGEST = 1e8


def fitted_shape(statistic: Counts) -> tuple[float, float]:
    """Return the shape and the mean that make the counts most probable.

    The mean is the sample's, m. The slope of the log likelihood in the shape is
    Σ_j N_j / (a + j) - n log(1 + m/a), N_j the weight of counts above j, and changes sign at most once: from
    plus to minus where the counts vary more than Poisson ones. The root is searched in log a.
    """
    from scipy.optimize import brentq

    seen = to_numpy(statistic.counts)
    if seen.ndim != 1:
        raise ValueError(f"X must have shape (n,), got counts of shape {seen.shape}")
    total, k = seen.sum(), np.arange(len(seen))
    if not total > 0 or not seen[1:].any():
        raise ValueError("X must have a count above 0")
    mean = float(seen @ k / total)
    above = total - np.cumsum(seen)[:-1]

    def slope(log_shape: float) -> float:
        # Less m/a on both sides: near the limit of large shapes the two almost cancel.
        shape = float(np.exp(log_shape))
        left = np.sum(above * (-k[:-1] / (shape * (shape + k[:-1]))))
        t = mean / shape
        right = float(deviance(np.array(1.0), np.array(1.0 + t), t - ((1.0 + t) - 1.0)))
        return float(left) + float(total) * right

    low, high = np.log(1e-8 * mean), np.log(_LARGEST * mean)
    best = high if slope(high) > 0.0 else brentq(slope, low, high, xtol=1e-14) if slope(low) > 0.0 else low
    return float(np.exp(best)), mean
