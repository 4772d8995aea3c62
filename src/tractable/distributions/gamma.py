"""The Gamma distribution of a positive number, and the inverse Gamma distribution of its reciprocal."""

from collections.abc import Mapping
from functools import cached_property
from math import log, pi
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.double_double import two_product
from tractable.arrays.gamma import digamma, gammaln, log_minus_digamma, stirling_error
from tractable.arrays.incomplete import gammainc, gammaincc, gammainccinv, gammaincinv
from tractable.arrays.namespace import Array, namespace_of, to_numpy
from tractable.arrays.random import moved, standard_gamma
from tractable.arrays.saddle_point import deviance, log_gamma_constant, log_gamma_kernel
from tractable.data.blocks import map_draws
from tractable.distributions.checks import check_positive, check_varies, exactly_one
from tractable.distributions.distribution import ScalarFamily, as_parameters
from tractable.engines.roots import log_minus_digamma_root
from tractable.statistics.log_moments import LogMoments, ReciprocalLogMoments
from tractable.value import set_fields, value


@value
class Gamma(ScalarFamily):
    """The Gamma distribution of a positive number.

    Gam(x | a, b) = b^a / Γ(a) x^(a-1) exp(-bx) for x > 0.

    The second parameter is given by name, as a rate or as a scale, so that one cannot be taken for the other.

    Parameters
    ----------
    shape : array (*batch,)
        a, positive.
    rate : array (*batch,)
        b, positive; give this or `scale`.
    scale : array (*batch,)
        1/b.

    Examples
    --------
    >>> d = Gamma(shape=3.0, rate=2.0)
    >>> float(d.mean), float(d.variance), float(d.mode)
    (1.5, 0.75, 1.0)
    >>> float(d.cdf(d.icdf(0.9)).round(12))
    0.9
    >>> Gamma.from_mean_variance(mean=1.5, variance=0.75)
    Gamma(shape=array(3.), rate=array(2.))
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"shape": 0, "rate": 0}
    support = (0.0, np.inf)
    statistic: ClassVar[type[LogMoments]] = LogMoments

    shape: Array
    rate: Array

    def __init__(self, *, shape: Any, rate: Any = None, scale: Any = None) -> None:
        name, second = exactly_one(rate=rate, scale=scale)
        given = as_parameters({"shape": 0, name: 0}, **{"shape": shape, name: second})
        check_positive(name, given[name])
        set_fields(
            self, shape=given["shape"], rate=given[name] if name == "rate" else reciprocal(name, given[name])
        )
        self._settle(shape=check_positive)

    @classmethod
    def from_mean_strength(cls, mean: Any, strength: Any) -> Self:
        """Return the distribution with a given mean and rate = strength; the shape is their product.

        It is the posterior of a Poisson rate after `strength` rows with that mean.

        Examples
        --------
        >>> Gamma.from_mean_strength(mean=3.0, strength=2.0)
        Gamma(shape=array(6.), rate=array(2.))
        """
        given = _positive(mean=mean, strength=strength)
        return cls(shape=given["mean"] * given["strength"], rate=given["strength"])

    @classmethod
    def from_mean_variance(cls, mean: Any, variance: Any) -> Self:
        """Return the distribution with a mean m and a variance v: rate = m / v, shape = m² / v."""
        given = _positive(mean=mean, variance=variance)
        rate = given["mean"] / given["variance"]
        return cls(shape=given["mean"] * rate, rate=rate)

    @classmethod
    def from_statistic(cls, statistic: LogMoments) -> Self:
        """Return the maximum likelihood estimate of each column: log a - ψ(a) = log gap, b = a / mean."""
        shape = gamma_shape(statistic.gap)
        return cls(shape=shape, rate=shape / statistic.mean)

    @property
    def scale(self) -> Array:
        """1 / rate."""
        return 1.0 / self.rate

    @property
    def mean(self) -> Array:
        return self.shape / self.rate

    @property
    def mean_log(self) -> Array:
        """E log x = ψ(a) - log b."""
        return digamma(self.shape) - namespace_of(self.rate).log(self.rate)

    @property
    def variance(self) -> Array:
        return self.shape / self.rate / self.rate

    @property
    def mode(self) -> Array:
        """(a - 1) / b for a ≥ 1; 0 below, where the density grows without bound."""
        xp = namespace_of(self.shape)
        return xp.where(self.shape > 1.0, self.shape - 1.0, xp.zeros_like(self.shape)) / self.rate

    @cached_property
    def _log_constant(self) -> Array:
        return log_gamma_constant(self.shape)

    def _log_density(self, x: Array) -> Array:
        xp = namespace_of(x)
        one = xp.ones_like(x)
        safe = xp.where(x > 0.0, x, one)
        y, rest = two_product(self.rate, safe)
        found = log_gamma_kernel(self.shape, y, rest, self._log_constant)
        # Where bx underflows, e^-bx is 1 and the logarithm of bx a sum.
        gone = y < xp.finfo(y.dtype).smallest_normal
        small = self.shape * (xp.log(safe) + xp.log(self.rate)) - gammaln(self.shape)
        found = xp.where(gone, small, found) - xp.log(safe)
        edge = xp.where(self.shape < 1.0, xp.inf * one, xp.where(self.shape > 1.0, -xp.inf * one, one))
        edge = xp.where(self.shape == 1.0, xp.log(self.rate) * one, edge)
        return xp.where(x > 0.0, found, edge)

    def _cdf(self, x: Array) -> Array:
        return gammainc(self.shape, self.rate * x)

    def _survival(self, x: Array) -> Array:
        return gammaincc(self.shape, self.rate * x)

    def _icdf(self, q: Array) -> Array:
        return gammaincinv(self.shape, q) / self.rate

    def _isf(self, q: Array) -> Array:
        return gammainccinv(self.shape, q) / self.rate

    def entropy(self) -> Array:
        return gamma_entropy(self.shape) - namespace_of(self.rate).log(self.rate)

    def _divergence(self, other: "Gamma") -> Array:
        return gamma_divergence(self.shape, other.shape, other.rate / self.rate)

    def _sample(self, n: int, rng: Any) -> Array:
        shape, rate = to_numpy(self.shape), to_numpy(self.rate)

        def fill(generator: np.random.Generator, out: np.ndarray) -> None:
            generator.standard_gamma(shape, size=out.shape, out=out)
            with np.errstate(over="ignore"):
                np.divide(out, rate, out=out)

        return moved(map_draws(fill, (n, *self.batch_shape), rng), like=self.shape)


@value
class InverseGamma(ScalarFamily):
    """The inverse Gamma distribution of a positive number whose reciprocal is Gamma.

    IG(x | a, b) = b^a / Γ(a) x^(-a-1) exp(-b/x) for x > 0: 1/x is Gamma with shape a and rate b.

    Parameters
    ----------
    shape : array (*batch,)
        a, positive; the mean is finite for a > 1 only, the variance for a > 2.
    scale : array (*batch,)
        b, positive.

    Examples
    --------
    >>> d = InverseGamma(shape=3.0, scale=4.0)
    >>> float(d.mean), float(d.variance), float(d.mode)
    (2.0, 4.0, 1.0)
    >>> float(InverseGamma(shape=0.5, scale=1.0).mean)
    inf
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"shape": 0, "scale": 0}
    support = (0.0, np.inf)
    statistic: ClassVar[type[ReciprocalLogMoments]] = ReciprocalLogMoments

    shape: Array
    scale: Array

    def __post_init__(self) -> None:
        self._settle(shape=check_positive, scale=check_positive)

    @classmethod
    def from_statistic(cls, statistic: ReciprocalLogMoments) -> Self:
        """Return the maximum likelihood estimate of each column: that of a Gamma for 1/x."""
        shape = gamma_shape(statistic.gap)
        return cls(shape=shape, scale=shape / statistic.mean)

    @property
    def mean(self) -> Array:
        return self.scale * reciprocal_excess(self.shape, 1.0)

    @property
    def variance(self) -> Array:
        """b² / ((a - 1)² (a - 2)) for a > 2; infinite for 1 < a ≤ 2, NaN where the mean is infinite."""
        xp = namespace_of(self.shape)
        mean = self.mean
        known = xp.isfinite(mean)
        spread = xp.where(known, mean, xp.ones_like(mean)) ** 2 * reciprocal_excess(self.shape, 2.0)
        return xp.where(known, spread, xp.full_like(mean, xp.nan))

    @property
    def mode(self) -> Array:
        return self.scale / (self.shape + 1.0)

    @cached_property
    def _log_constant(self) -> Array:
        return log_gamma_constant(self.shape)

    def _log_density(self, x: Array) -> Array:
        xp = namespace_of(x)
        one = xp.ones_like(x)
        inside = (x > 0.0) & (x < xp.inf)
        safe = xp.where(inside, x, one)
        y = self.scale / safe
        back, lost = two_product(y, safe)
        finite = xp.isfinite(y) & xp.isfinite(back)
        rest = xp.where(finite, ((self.scale - xp.where(finite, back, one)) - lost) / safe, 0.0 * one)
        found = log_gamma_kernel(self.shape, y, rest, self._log_constant)
        # Where b/x underflows, e^-b/x is 1 and the logarithm of b/x a difference.
        gone = y < xp.finfo(y.dtype).smallest_normal
        small = self.shape * (xp.log(self.scale) - xp.log(safe)) - gammaln(self.shape)
        found = xp.where(gone, small, found) - xp.log(safe)
        return xp.where(inside, found, -xp.inf * one)

    def _cdf(self, x: Array) -> Array:
        return gammaincc(self.shape, self.scale / x)

    def _survival(self, x: Array) -> Array:
        return gammainc(self.shape, self.scale / x)

    def _icdf(self, q: Array) -> Array:
        return self.scale / gammainccinv(self.shape, q)

    def _isf(self, q: Array) -> Array:
        return self.scale / gammaincinv(self.shape, q)

    def entropy(self) -> Array:
        """See `Distribution.entropy`: a + log b Γ(a) - (1 + a) ψ(a), with Stirling's terms cancelled."""
        xp = namespace_of(self.shape)
        rest = stirling_error(self.shape) + (self.shape + 1.0) * log_minus_digamma(self.shape)
        return xp.log(self.scale) - 1.5 * xp.log(self.shape) + 0.5 * log(2.0 * pi) + rest

    def _divergence(self, other: "InverseGamma") -> Array:
        """Return the divergence of the Gammas of 1/x."""
        return gamma_divergence(self.shape, other.shape, other.scale / self.scale)

    def _sample(self, n: int, rng: Any) -> Array:
        with np.errstate(divide="ignore"):
            return self.scale / standard_gamma(rng, self.shape, n)


def _positive(**given: Any) -> dict[str, Array]:
    found = as_parameters(dict.fromkeys(given, 0), **given)
    for name, x in found.items():
        check_positive(name, x)
    return found


_LEAST_GAP = 1e-29  # a relative spread of some 1e-14: of numbers that differ by rounding alone


def gamma_entropy(shape: Array) -> Array:
    """Return the entropy of Gamma(a, 1), a + log Γ(a) + (1 - a) ψ(a), with Stirling's terms cancelled."""
    xp = namespace_of(shape)
    rest = stirling_error(shape) + (shape - 1.0) * log_minus_digamma(shape)
    return 0.5 * (xp.log(shape) + log(2.0 * pi)) + rest


def gamma_divergence(shape: Array, other_shape: Array, rate_ratio: Array) -> Array:
    """Return KL(Gamma(a, b), Gamma(c, d)) where the ratio is d / b.

    It is (a - c) ψ(a) - log Γ(a)/Γ(c) - c log(d/b) + a (d/b - 1), with Stirling's terms cancelled.
    """
    return deviance(other_shape, shape * rate_ratio) + log_gamma_bregman(other_shape, shape)


def log_gamma_bregman(c: Array, a: Array) -> Array:
    """Return log Γ(c) - log Γ(a) - (c - a) ψ(a), less its leading term c log(c/a) + a - c."""
    xp = namespace_of(a, c)
    errors = stirling_error(xp.stack(xp.broadcast_arrays(c, a)))
    return errors[0, ...] - errors[1, ...] - 0.5 * xp.log(c / a) + (c - a) * log_minus_digamma(a)


def gamma_shape(gap: Array) -> Array:
    """Return the a with log a - ψ(a) = gap, by Newton's method in a bracket."""
    xp = namespace_of(gap)
    check_varies(gap > _LEAST_GAP)
    if not bool(xp.all(xp.isfinite(gap))):
        raise ValueError("X must spread less: an observation is zero beside the mean in floating point")
    return log_minus_digamma_root(gap)


def reciprocal(name: str, x: Array) -> Array:
    """Return 1 / x, or raise ValueError that names what overflows."""
    xp = namespace_of(x)
    with np.errstate(over="ignore"):
        found = 1.0 / x
    if not bool(xp.all(xp.isfinite(found) & (found > 0.0))):
        raise ValueError(f"{name} must have a reciprocal that is neither zero nor infinite in floating point")
    return found


def reciprocal_excess(shape: Array, n: float) -> Array:
    """Return 1 / (a - n), infinite unless a > n: in the moments of families with a tail of power a."""
    xp = namespace_of(shape)
    one = xp.ones_like(shape)
    return xp.where(shape > n, 1.0 / xp.where(shape > n, shape - n, one), xp.inf * one)
