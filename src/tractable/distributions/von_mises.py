"""The von Mises distribution of an angle."""

from collections.abc import Mapping
from math import log, pi
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.namespace import Array, namespace_of, to_numpy
from tractable.arrays.random import moved
from tractable.distributions.checks import check_finite, check_nonnegative, check_varies
from tractable.distributions.distribution import ScalarFamily
from tractable.distributions.tails import log_rest
from tractable.engines.quadrature import gauss_legendre
from tractable.engines.roots import increasing_root
from tractable.statistics.directions import Directions
from tractable.value import value

_N_NODES = 64
_DECAY = 44.0  # the integrand is followed until it has fallen by exp(-44)


@value
class VonMises(ScalarFamily):
    """The von Mises distribution of an angle, the normal distribution of the circle.

    VM(x | μ, κ) = exp(κ cos(x - μ)) / (2π I₀(κ)), in radians. The density has period 2π. As a number, for the
    cdf, the quantiles, the mean and the draws, the angle is the one within π of the location.

    Parameters
    ----------
    location : array (*batch,)
        μ, the mean direction.
    concentration : array (*batch,)
        κ, not negative: with 0 all angles are as likely, and for large κ it is N(μ, 1/κ).

    Examples
    --------
    >>> d = VonMises(location=0.0, concentration=4.0)
    >>> float(d.prob(0.0).round(4)), float(d.prob(2 * np.pi).round(4)), float(d.resultant_length.round(4))
    (0.7689, 0.7689, 0.8635)
    >>> fit = VonMises.fit([6.2, 0.1, 0.3, 0.0])
    >>> float(fit.location.round(3)), float(fit.concentration.round(2))
    (0.079, 49.29)
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"location": 0, "concentration": 0}
    statistic: ClassVar[type[Directions]] = Directions

    location: Array
    concentration: Array

    def __post_init__(self) -> None:
        self._settle(location=check_finite, concentration=check_nonnegative)

    @classmethod
    def from_statistic(cls, statistic: Directions) -> Self:
        """Return the maximum likelihood estimate of each column: the mean direction, and κ with A(κ) = R."""
        check_varies(statistic.variance > 0.0)
        return cls(location=statistic.direction, concentration=_concentration(statistic.variance))

    @property
    def support(self) -> tuple[Array, Array]:
        """The angles within π of the location; the density is repeated with period 2π."""
        return self.location - pi, self.location + pi

    @property
    def mean(self) -> Array:
        return self.location

    @property
    def mode(self) -> Array:
        """The location; with concentration 0 every other angle is as likely."""
        return self.location

    @property
    def variance(self) -> Array:
        """Variance of the angle as a number within π of the location; `circular_variance` is 1 - A(κ)."""
        t, mass = self._circle()
        return self._expected(t * t, mass)

    @property
    def resultant_length(self) -> Array:
        """A(κ) = I₁(κ) / I₀(κ), the mean of cos(x - μ), (*batch,)."""
        return 1.0 - self.circular_variance

    @property
    def circular_variance(self) -> Array:
        """1 - A(κ), the mean of 1 - cos(x - μ), (*batch,)."""
        t, mass = self._circle()
        return self._expected(2.0 * namespace_of(t).sin(0.5 * t) ** 2, mass)

    def log_prob(self, x: Any) -> Array:
        x = self._event(x)
        xp = namespace_of(x)
        finite = xp.isfinite(x)
        gap = xp.where(finite, x, xp.zeros_like(x)) - self.location
        found = -2.0 * self.concentration * xp.sin(0.5 * gap) ** 2 - self._log_volume
        return xp.where(finite, found, xp.where(xp.isnan(x), x, xp.full_like(x, -xp.inf)))

    def _cdf(self, x: Array) -> Array:
        return namespace_of(x).exp(self._log_cdf(x))

    def _survival(self, x: Array) -> Array:
        return namespace_of(x).exp(self._log_survival(x))

    def _log_cdf(self, x: Array) -> Array:
        """See `Univariate.log_cdf`: of the angle that is within π of the location."""
        return self._log_below(x - self.location, x - self.support[0], self.support[1] - x)

    def _log_survival(self, x: Array) -> Array:
        """See `Univariate.log_survival`: of the angle that is within π of the location."""
        return self._log_below(self.location - x, self.support[1] - x, x - self.support[0])

    def _icdf(self, q: Array) -> Array:
        return self._placed(namespace_of(q).minimum(q, 1.0 - q), q <= 0.5)

    def _isf(self, q: Array) -> Array:
        return self._placed(namespace_of(q).minimum(q, 1.0 - q), q > 0.5)

    def entropy(self) -> Array:
        """See `Distribution.entropy`: log(2π I₀(κ)) - κ A(κ)."""
        return self._log_volume + self.concentration * self.circular_variance

    def _divergence(self, other: "VonMises") -> Array:
        """Return log(I₀(κ₂)/I₀(κ₁)) + A(κ₁) (κ₁ - κ₂ cos(μ₁ - μ₂))."""
        xp = namespace_of(self.location)
        turned = 2.0 * xp.sin(0.5 * (self.location - other.location)) ** 2
        spread = self.circular_variance
        length = other.concentration * (spread + (1.0 - spread) * turned)
        volumes = other._log_volume - self._log_volume  # noqa: SLF001
        return volumes + length - self.concentration * spread

    def _sample(self, n: int, rng: Any) -> Array:
        kappa = to_numpy(self.concentration)
        angle = rng.vonmises(np.zeros_like(kappa), kappa, size=(n, *self.batch_shape))
        return self.location + moved(np.asarray(angle), like=self.location)

    @property
    def _log_volume(self) -> Array:
        """The logarithm of 2π I₀(κ) e^-κ: minus the greatest log density, (*batch,)."""
        none = namespace_of(self.concentration).zeros_like(self.concentration)
        return log(2.0) + _log_tail(none, none + pi, self.concentration)

    def _log_below(self, z: Array, w: Array, rest: Array) -> Array:
        """Return log P(X - μ ≤ z) by the lesser tail; w and `rest` are the distances from the ends."""
        xp = namespace_of(z)
        upper = z > 0.0
        tail = self._log_lower(xp.clip(-xp.abs(z), -pi, 0.0), xp.clip(xp.where(upper, rest, w), 0.0, pi))
        return xp.where(upper, log_rest(xp.where(upper, tail, xp.full_like(tail, -1.0))), tail)

    def _log_lower(self, z: Array, w: Array) -> Array:
        """Return log P(X - μ ≤ z) for z ≤ 0, and w = z + π."""
        top = -2.0 * self.concentration * namespace_of(z).sin(0.5 * z) ** 2 - self._log_volume
        return top + _log_tail(z, w, self.concentration + 0.0 * z)

    def _placed(self, tail: Array, lower: Array) -> Array:
        """Return the angle with so much probability below it, or above, at most ½.

        By Newton's method on the logarithm of the tail: in the distance from the location or, beyond π/2 of
        it, from the end.
        """
        xp = namespace_of(tail)
        shape = np.broadcast_shapes(tuple(tail.shape), self.batch_shape)
        tail, lower = xp.broadcast_to(tail, shape), xp.broadcast_to(lower, shape)
        inner = (tail > 0.0) & (tail < 0.5)
        log_q = xp.log(xp.where(inner, tail, xp.full_like(tail, 0.25)))
        kappa = self.concentration + 0.0 * tail
        quarter = xp.full_like(tail, 0.5 * pi)
        log_quarter = self._log_lower(-quarter, quarter)

        def excess(z: Array, w: Array, level: Array) -> tuple[Array, Array]:
            return self._log_lower(z, w) - level, xp.exp(-_log_tail(z, w, kappa))

        near = log_q > log_quarter
        z = increasing_root(
            lambda z: excess(z, z + pi, xp.where(near, log_q, log_quarter)), -quarter, 0.0 * quarter
        )
        w = increasing_root(
            lambda w: excess(w - pi, w, xp.where(near, log_quarter, log_q)), 0.0 * quarter, quarter
        )
        z = xp.where(inner, z, xp.zeros_like(z))
        near, w = near & (tail > 0.0) | (tail >= 0.5), xp.where(tail > 0.0, w, xp.zeros_like(w))
        low, high = self.support
        from_low = xp.where(near, self.location + z, low + w)
        return xp.where(lower, from_low, xp.where(near, self.location - z, high - w))

    def _circle(self) -> tuple[Array, Array]:
        """Return angles (n, *batch) from the location, on one side, and their probabilities."""
        none = namespace_of(self.concentration).zeros_like(self.concentration)
        s, mass = _half_rule(none, none + pi, self.concentration)
        return s, mass / namespace_of(mass).sum(mass, axis=0)

    def _expected(self, f: Array, mass: Array) -> Array:
        return namespace_of(f).sum(f * mass, axis=0)


def _half_rule(z: Array, w: Array, kappa: Array) -> tuple[Array, Array]:
    """Return distances s below z ≤ 0, (n, *z.shape), and weights e^(κ cos(z - s) - κ cos z) ds.

    Gauss-Legendre between z and where the density has fallen by exp(-44), or -π, at a distance w.
    """
    xp = namespace_of(z)
    # cos(z - s) = cos z - 44/κ, in half angles: sin²((s - z)/2) = sin²(z/2) + 22/κ.
    some = xp.where(kappa > 0.0, kappa, xp.ones_like(kappa))
    reach = xp.sin(0.5 * z) ** 2 + xp.where(kappa > 0.0, 0.5 * _DECAY / some, xp.ones_like(kappa))
    end = 2.0 * xp.asin(xp.sqrt(xp.minimum(reach, xp.ones_like(reach))))
    s, measure = (
        xp.moveaxis(part, -1, 0)
        for part in gauss_legendre(xp.zeros_like(z), xp.where(reach < 1.0, z + end, w), _N_NODES)
    )
    # cos z - cos(z - s) = -2 sin(z - s/2) sin(s/2)
    fall = -2.0 * kappa * xp.sin(z - 0.5 * s) * xp.sin(0.5 * s)
    return s, measure * xp.exp(-fall)


def _log_tail(z: Array, w: Array, kappa: Array) -> Array:
    """Return log ∫ e^(κ cos t - κ cos z) dt from -π to z, for z ≤ 0 and w = z + π."""
    xp = namespace_of(z)
    total = xp.sum(_half_rule(z, w, kappa)[1], axis=0)
    with np.errstate(divide="ignore"):
        return xp.log(total)


def _concentration(variance: Array) -> Array:
    """Return κ with 1 - A(κ) = v, the circular variance, by Newton's method; 0 for v = 1."""
    xp = namespace_of(variance)
    some = variance < 1.0
    v = xp.where(some, variance, xp.full_like(variance, 0.5))

    def excess(kappa: Array) -> tuple[Array, Array]:
        s, mass = _half_rule(xp.zeros_like(kappa), xp.full_like(kappa, pi), kappa)
        mass, lack = mass / xp.sum(mass, axis=0), 2.0 * xp.sin(0.5 * s) ** 2
        mean = xp.sum(lack * mass, axis=0)
        return v - mean, xp.sum((lack - mean) ** 2 * mass, axis=0)

    length = 1.0 - v
    start = length * (2.0 - length**2) / (v * (1.0 + length))  # within some per cent, and below 1/v
    start = xp.minimum(start, 1.0 / v)
    found = increasing_root(excess, xp.zeros_like(v), 1.0 / v, start=start)
    return xp.where(some, found, xp.zeros_like(found))
