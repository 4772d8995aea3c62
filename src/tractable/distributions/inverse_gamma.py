"""The inverse Gamma distribution: of a number whose reciprocal is Gamma."""

from collections.abc import Mapping
from math import log, pi
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.double_double import two_product
from tractable.arrays.gamma import log_minus_digamma, stirling_error
from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.random import standard_gamma
from tractable.arrays.saddle_point import log_gamma_kernel
from tractable.arrays.special import gammainc, gammaincc, gammainccinv, gammaln
from tractable.distributions.checks import check_positive
from tractable.distributions.distribution import ScalarFamily
from tractable.distributions.gamma import gamma_divergence, gamma_shape
from tractable.statistics.log_moments import ReciprocalLogMoments
from tractable.value import value

__all__ = ["InverseGamma"]


@value
class InverseGamma(ScalarFamily):
    """IG(x | a, b) = b^a / Γ(a) x^(-a-1) exp(-b/x) for x > 0: 1/x is Gamma with shape a and rate b.

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
        """See `Distribution.mean`: b / (a - 1) for a > 1, else infinite."""
        return self.scale * self._beyond(1.0)

    @property
    def variance(self) -> Array:
        """b² / ((a - 1)² (a - 2)) for a > 2; infinite for 1 < a ≤ 2, NaN where the mean is infinite."""
        xp = namespace_of(self.shape)
        mean = self.mean
        known = xp.isfinite(mean)
        spread = xp.where(known, mean, xp.ones_like(mean)) ** 2 * self._beyond(2.0)
        return xp.where(known, spread, xp.full_like(mean, xp.nan))

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: b / (a + 1)."""
        return self.scale / (self.shape + 1.0)

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`."""
        x = self._event(x)
        xp = namespace_of(x)
        one = xp.ones_like(x)
        safe = xp.where((x > 0.0) & (x < xp.inf), x, one)
        with np.errstate(over="ignore", under="ignore"):
            y = self.scale / safe
            back, lost = two_product(y, safe)
        finite = xp.isfinite(y) & xp.isfinite(back)
        rest = xp.where(finite, ((self.scale - xp.where(finite, back, one)) - lost) / safe, 0.0 * one)
        found = log_gamma_kernel(self.shape, y, rest)
        # Where b/x underflows, e^-b/x is 1 and the logarithm of b/x a difference.
        gone = y < xp.finfo(y.dtype).smallest_normal
        small = self.shape * (xp.log(self.scale) - xp.log(safe)) - gammaln(self.shape)
        found = xp.where(gone, small, found) - xp.log(safe)
        inside = (x > 0.0) & (x < xp.inf)
        return xp.where(inside, found, xp.where(xp.isnan(x), x, -xp.inf * one))

    def cdf(self, x: Any) -> Array:
        """See `Univariate.cdf`: Q(a, b/x)."""
        return gammaincc(self.shape, self._inverted(x))

    def survival(self, x: Any) -> Array:
        """See `Univariate.survival`: all its digits in the upper tail."""
        return gammainc(self.shape, self._inverted(x))

    def icdf(self, q: Any) -> Array:
        """See `Univariate.icdf`."""
        with np.errstate(divide="ignore"):
            return self.scale / gammainccinv(self.shape, self._quantile(q))

    def entropy(self) -> Array:
        """See `Distribution.entropy`: a + log b Γ(a) - (1 + a) ψ(a), with Stirling's terms cancelled."""
        xp = namespace_of(self.shape)
        rest = stirling_error(self.shape) + (self.shape + 1.0) * log_minus_digamma(self.shape)
        return xp.log(self.scale) - 1.5 * xp.log(self.shape) + 0.5 * log(2.0 * pi) + rest

    def kl_divergence(self, other: "InverseGamma") -> Array:
        """See `Distribution.kl_divergence`: that of the Gammas of 1/x."""
        self._check_family(other)
        return gamma_divergence(self.shape, other.shape, other.scale / self.scale)

    def _sample(self, n: int, rng: Any) -> Array:
        with np.errstate(divide="ignore"):
            return self.scale / standard_gamma(rng, self.shape, n)

    def _beyond(self, n: float) -> Array:
        """Return 1 / (a - n), infinite unless a > n."""
        xp = namespace_of(self.shape)
        one = xp.ones_like(self.shape)
        return xp.where(self.shape > n, 1.0 / xp.where(self.shape > n, self.shape - n, one), xp.inf * one)

    def _inverted(self, x: Any) -> Array:
        """Return b/x, infinite at 0 and below."""
        x = self._event(x)
        xp = namespace_of(x)
        inside = x > 0.0
        with np.errstate(over="ignore"):
            found = self.scale / xp.where(inside, x, xp.ones_like(x))
        return xp.where(inside, found, xp.where(xp.isnan(x), x, xp.full_like(found, xp.inf)))
