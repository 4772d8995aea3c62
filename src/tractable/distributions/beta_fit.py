"""Entropy, divergence and maximum likelihood of Beta distributions, with Stirling's terms cancelled."""

from math import log, pi
from typing import Any

from tractable.arrays.gamma import log_minus_digamma, stirling_error, trigamma_excess
from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.saddle_point import deviance
from tractable.distributions.gamma_family import log_gamma_bregman
from tractable.statistics.log_moments import UnitLogMoments

__all__ = ["beta_divergence", "beta_entropy", "fitted_beta"]

_LEAST_GAP = 1e-29  # a relative spread of some 1e-14: of numbers that differ by rounding alone
_MOST_STEPS = 200


def beta_entropy(alpha: Array, beta: Array) -> Array:
    """Return the entropy of Beta(α, β)."""
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
    shares = deviance(c, m * (a / n)) + deviance(d, m * (b / n))
    return shares + log_gamma_bregman(c, a) + log_gamma_bregman(d, b) - log_gamma_bregman(m, n)


def fitted_beta(statistic: UnitLogMoments) -> tuple[Array, Array]:
    """Return α and β by Newton's method on the concave log likelihood."""
    xp = namespace_of(statistic.mean)
    gaps = statistic.gap, statistic.other_gap
    if not bool(xp.all((xp.maximum(*gaps) > _LEAST_GAP) & (xp.minimum(*gaps) > 0.0))):
        raise ValueError("X must vary: the likelihood of observations that are all the same has no maximum")
    shares = statistic.mean, 1.0 - statistic.mean
    strength = 0.5 / xp.sqrt(gaps[0]) / xp.sqrt(gaps[1])  # Stirling
    parts = [share * strength for share in shares]
    for _ in range(_MOST_STEPS):
        steps = _newton_steps(xp, parts, gaps, shares)
        # A step may not leave the positive numbers, nor run away from a start that is far off.
        after = [xp.clip(x + step, 0.2 * x, 5.0 * x) for x, step in zip(parts, steps, strict=True)]
        small = [xp.abs(y - x) <= 1e-14 * x for x, y in zip(parts, after, strict=True)]
        parts = after
        if bool(xp.all(small[0] & small[1])):
            break
    return parts[0], parts[1]


def _newton_steps(xp: Any, parts: list[Array], gaps: Any, shares: Any) -> tuple[Array, Array]:
    a, b = parts
    n = a + b
    common = log_minus_digamma(n)
    slope_a, slope_b = (
        log_minus_digamma(x) - common - gap - xp.log(x / n / share)
        for x, gap, share in zip(parts, gaps, shares, strict=True)
    )
    e, f, g = (trigamma_excess(x) for x in (a, b, n))
    # ψ'(x) = 1/x + e(x)/x²: the leading terms of the determinant cancel, and are left out.
    determinant = (e + f - g) / n + e * f / (a * b) - g / n**2 * (e * b / a + f * a / b)
    own_a, own_b = b / (n * a) + e / a**2 - g / n**2, a / (n * b) + f / b**2 - g / n**2
    both = 1.0 / n + g / n**2
    scale = a * b / determinant
    return scale * (own_b * slope_a + both * slope_b), scale * (both * slope_a + own_a * slope_b)
