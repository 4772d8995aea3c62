"""What Gamma and inverse Gamma distributions share: entropy, divergence, the most likely shape."""

from math import log, pi

import numpy as np

from tractable.arrays.gamma import log_minus_digamma, stirling_error, trigamma_excess
from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.saddle_point import deviance

__all__ = ["gamma_divergence", "gamma_entropy", "gamma_shape", "log_gamma_bregman", "reciprocal"]

_LEAST_GAP = 1e-29  # a relative spread of some 1e-14: of numbers that differ by rounding alone
_MOST_STEPS = 50


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
    rest = stirling_error(c) - stirling_error(a)
    return rest - 0.5 * xp.log(c / a) + (c - a) * log_minus_digamma(a)


def gamma_shape(gap: Array) -> Array:
    """Return the a with log a - ψ(a) = gap, by Newton's method for 1/a (Minka 2002)."""
    xp = namespace_of(gap)
    if not bool(xp.all(gap > _LEAST_GAP)):
        raise ValueError("X must vary: the likelihood of observations that are all the same has no maximum")
    if not bool(xp.all(xp.isfinite(gap))):
        raise ValueError("X must spread less: an observation is zero beside the mean in floating point")
    a = (3.0 - gap + xp.sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (12.0 * gap)
    for _ in range(_MOST_STEPS):
        after = 1.0 / (1.0 / a - (log_minus_digamma(a) - gap) / trigamma_excess(a))
        step, a = xp.abs(after - a), after
        if bool(xp.all(step <= 4.0 * xp.finfo(a.dtype).eps * a)):
            break
    return a


def reciprocal(name: str, x: Array) -> Array:
    """Return 1 / x, or say whose reciprocal overflows."""
    xp = namespace_of(x)
    with np.errstate(over="ignore"):
        found = 1.0 / x
    if not bool(xp.all(xp.isfinite(found) & (found > 0.0))):
        raise ValueError(f"{name} must have a reciprocal that is neither zero nor infinite in floating point")
    return found
