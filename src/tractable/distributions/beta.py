"""The Beta distribution of a probability."""

from collections.abc import Mapping
from math import log, pi
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.gamma import log_minus_digamma, stirling_error, trigamma_excess
from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.random import log_standard_gamma
from tractable.arrays.saddle_point import deviance, log_beta_kernel
from tractable.arrays.special import betainc, betaincc, betaincinv, betaln, sigmoid
from tractable.distributions.checks import check_positive, check_probability
from tractable.distributions.distribution import ScalarFamily, as_parameters
from tractable.distributions.gamma import log_gamma_bregman
from tractable.statistics.log_moments import UnitLogMoments
from tractable.value import value

__all__ = ["Beta"]


@value
class Beta(ScalarFamily):
    """Beta(x | α, β) = Γ(α + β) / (Γ(α) Γ(β)) x^(α-1) (1 - x)^(β-1) for x from 0 to 1.

    The mean is α / (α + β), and α + β how concentrated x is about it: as a prior of a probability it is
    worth so many observations. (The ratio α / β is not the mean but the odds.)

    Parameters
    ----------
    alpha, beta : array (*batch,)
        Positive.

    Examples
    --------
    >>> d = Beta.from_mean_strength(mean=0.3, strength=10.0)
    >>> d
    Beta(alpha=array(3.), beta=array(7.))
    >>> float(d.mean), float(d.mode)
    (0.3, 0.25)
    >>> low, high = d.interval(0.9)
    >>> float(low.round(3)), float(high.round(3))
    (0.098, 0.55)
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"alpha": 0, "beta": 0}
    support = (0.0, 1.0)
    statistic: ClassVar[type[UnitLogMoments]] = UnitLogMoments

    alpha: Array
    beta: Array

    def __post_init__(self) -> None:
        self._settle(alpha=check_positive, beta=check_positive)

    @classmethod
    def from_mean_strength(cls, mean: Any, strength: Any) -> Self:
        """Return the distribution with a mean α / (α + β) and a strength α + β.

        Parameters
        ----------
        mean : array (*batch,)
            Above 0 and below 1.
        strength : array (*batch,)
            Positive: how many observations the mean is worth.
        """
        given = as_parameters({"mean": 0, "strength": 0}, mean=mean, strength=strength)
        check_probability("mean", given["mean"])
        check_positive("strength", given["strength"])
        m, n = given["mean"], given["strength"]
        if not bool(namespace_of(m).all((m > 0.0) & (m < 1.0))):
            raise ValueError("mean must be above 0 and below 1")
        return cls(alpha=m * n, beta=(1.0 - m) * n)

    @classmethod
    def from_statistic(cls, statistic: UnitLogMoments) -> Self:
        """Return the maximum likelihood estimate of each column, by Newton's method.

        ψ(α) - ψ(α + β) is the mean of log x, and ψ(β) - ψ(α + β) that of log(1 - x).
        """
        alpha, beta = fitted_beta(statistic)
        return cls(alpha=alpha, beta=beta)

    @property
    def strength(self) -> Array:
        """α + β."""
        return self.alpha + self.beta

    @property
    def mean(self) -> Array:
        return self.alpha / self.strength

    @property
    def variance(self) -> Array:
        return self.mean * (self.beta / self.strength) / (self.strength + 1.0)

    @property
    def mode(self) -> Array:
        """(α - 1) / (α + β - 2) where both exceed 1; else the end of the smaller of α and β.

        Where that one is below 1 the density grows without bound at its end; where both are, at both ends.
        Where α = β ≤ 1 the mode is not unique: ½ is given for the flat Beta(1, 1), and 0 below.
        """
        xp = namespace_of(self.alpha)
        inside = (self.alpha > 1.0) & (self.beta > 1.0)
        one = xp.ones_like(self.alpha)
        above = xp.where(inside, self.alpha - 1.0, one)
        peak = above / (above + xp.where(inside, self.beta - 1.0, one))
        end = xp.where(self.alpha <= self.beta, 0.0 * one, one)
        flat = (self.alpha == 1.0) & (self.beta == 1.0)
        return xp.where(inside, peak, xp.where(flat, 0.5 * one, end))

    def log_prob(self, x: Any) -> Array:
        x = self._event(x)
        xp = namespace_of(x)
        inside = (x > 0.0) & (x < 1.0)
        safe = xp.where(inside, x, xp.full_like(x, 0.5))
        found = log_beta_kernel(self.alpha, self.beta, safe) - (xp.log(safe) + xp.log1p(-safe))
        infinity, nowhere = xp.full_like(found, xp.inf), xp.full_like(found, -xp.inf)
        end = xp.where(x == 0.0, self.alpha, self.beta) + 0.0 * found
        edge = xp.where(end < 1.0, infinity, xp.where(end > 1.0, nowhere, -betaln(self.alpha, self.beta)))
        outside = xp.where((x == 0.0) | (x == 1.0), edge, xp.where(xp.isnan(x), x, nowhere))
        return xp.where(inside, found, outside)

    def cdf(self, x: Any) -> Array:
        return betainc(self.alpha, self.beta, self._clipped(x))

    def survival(self, x: Any) -> Array:
        return betaincc(self.alpha, self.beta, self._clipped(x))

    def icdf(self, q: Any) -> Array:
        return betaincinv(self.alpha, self.beta, self._quantile(q))

    def entropy(self) -> Array:
        return beta_entropy(self.alpha, self.beta)

    def _divergence(self, other: "Beta") -> Array:
        return beta_divergence(self.alpha, self.beta, other.alpha, other.beta)

    def _sample(self, n: int, rng: Any) -> Array:
        # The fraction that one of two Gammas is of both, in logarithms: shapes near zero do not end in 0 / 0.
        return sigmoid(log_standard_gamma(rng, self.alpha, n) - log_standard_gamma(rng, self.beta, n))

    def _clipped(self, x: Any) -> Array:
        x = self._event(x)
        xp = namespace_of(x)
        with np.errstate(invalid="ignore"):
            return xp.where(x < 0.0, xp.zeros_like(x), xp.where(x > 1.0, xp.ones_like(x), x))


_LEAST_GAP = 1e-29  # a relative spread of some 1e-14: of numbers that differ by rounding alone
_MOST_STEPS = 200


def beta_entropy(alpha: Array, beta: Array) -> Array:
    """Return log B(α, β) - (α-1) ψ(α) - (β-1) ψ(β) + (α+β-2) ψ(α+β), the entropy of Beta(α, β)."""
    xp = namespace_of(alpha)
    n = alpha + beta
    logs = 0.5 * (xp.log(alpha) + xp.log(beta) + log(2.0 * pi)) - 1.5 * xp.log(n)
    rest = stirling_error(alpha) + stirling_error(beta) - stirling_error(n)
    slopes = (alpha - 1.0) * log_minus_digamma(alpha) + (beta - 1.0) * log_minus_digamma(beta)
    return logs + rest + slopes - (n - 2.0) * log_minus_digamma(n)


def beta_divergence(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Return KL(Beta(a, b), Beta(c, d))."""
    n, m = a + b, c + d
    # The leading terms together are m times the divergence of the mean c/m from a/n.
    means = deviance(c, m * (a / n)) + deviance(d, m * (b / n))
    return means + log_gamma_bregman(c, a) + log_gamma_bregman(d, b) - log_gamma_bregman(m, n)


def fitted_beta(statistic: UnitLogMoments) -> tuple[Array, Array]:
    """Return α and β by Newton's method on the concave log likelihood."""
    xp = namespace_of(statistic.mean)
    gaps = statistic.gap, statistic.other_gap
    if not bool(xp.all((xp.maximum(*gaps) > _LEAST_GAP) & (xp.minimum(*gaps) > 0.0))):
        raise ValueError("X must vary: the likelihood of observations that are all the same has no maximum")
    means = statistic.mean, 1.0 - statistic.mean
    strength = 0.5 / xp.sqrt(gaps[0]) / xp.sqrt(gaps[1])  # Stirling
    parts = [m * strength for m in means]
    for _ in range(_MOST_STEPS):
        steps = _newton_steps(xp, parts, gaps, means)
        # A step may not leave the positive numbers, nor run away from a start that is far off.
        after = [xp.clip(x + step, 0.2 * x, 5.0 * x) for x, step in zip(parts, steps, strict=True)]
        small = [xp.abs(y - x) <= 1e-14 * x for x, y in zip(parts, after, strict=True)]
        parts = after
        if bool(xp.all(small[0] & small[1])):
            break
    return parts[0], parts[1]


def _newton_steps(xp: Any, parts: list[Array], gaps: Any, means: Any) -> tuple[Array, Array]:
    a, b = parts
    n = a + b
    common = log_minus_digamma(n)
    slope_a, slope_b = (
        log_minus_digamma(x) - common - gap - xp.log(x / n / m)
        for x, gap, m in zip(parts, gaps, means, strict=True)
    )
    e, f, g = (trigamma_excess(x) for x in (a, b, n))
    # ψ'(x) = 1/x + e(x)/x²: the leading terms of the determinant cancel, and are left out.
    determinant = (e + f - g) / n + e * f / (a * b) - g / n**2 * (e * b / a + f * a / b)
    own_a, own_b = b / (n * a) + e / a**2 - g / n**2, a / (n * b) + f / b**2 - g / n**2
    both = 1.0 / n + g / n**2
    scale = a * b / determinant
    return scale * (own_b * slope_a + both * slope_b), scale * (both * slope_a + own_a * slope_b)
