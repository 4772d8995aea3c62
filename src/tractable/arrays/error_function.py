"""The error function and the standard normal distribution function, accurate in the tails."""

import math
from typing import Any

from tractable.arrays.log_space import HALF_LOG_2PI
from tractable.arrays.namespace import Array
from tractable.arrays.native import floats, horner, special_function

__all__ = ["erf", "erfc", "log_ndtr", "ndtri"]

# Chebyshev series of exp(x²) erfc(x) / t in t = 3 / (3 + x), for x ≥ 0
_ERFCX = (
    0.4711460746602906,
    0.37715894969156577,
    0.11803603344749546,
    0.028362346699695153,
    0.004871757757605546,
    0.00045985238787654427,
    -2.143022238105315e-05,
    -1.301447369924135e-05,
    -8.809283582853514e-07,
    2.7464800479702846e-07,
    4.415991899223785e-08,
    -6.398408385575483e-09,
    -1.6768357212484645e-09,
    1.9473354700890025e-10,
    6.247441303469389e-11,
    -8.124557552244496e-12,
    -2.330314613222566e-12,
    4.191038539225333e-13,
    8.19333526881303e-14,
    -2.3352472107929263e-14,
    -2.2442585649165363e-15,
    1.2811435298050507e-15,
    1.1054582965396302e-18,
    -6.44579513564904e-17,
    6.525175975538486e-18,
)

# erf(x) = 2 / √π Σ (-1)^n x^(2n+1) / (n! (2n + 1))
_ERF = tuple(2.0 / math.sqrt(math.pi) * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(20))


def erf(x: Array) -> Array:
    """Return 2 / √π ∫_0^x exp(-t²) dt.

    Examples
    --------
    >>> import numpy as np
    >>> erf(np.array([0.0, 1.0])).round(6)
    array([0.      , 0.842701])
    """
    return special_function("erf", agnostic_erf, x)


def erfc(x: Array) -> Array:
    """Return 1 - erf(x), accurate where erf(x) is near one.

    Examples
    --------
    >>> import numpy as np
    >>> float(erfc(np.array(20.0))) > 0.0
    True
    """
    return special_function("erfc", agnostic_erfc, x)


def log_ndtr(x: Array) -> Array:
    """Return log Φ(x), the log of the standard normal distribution function.

    Examples
    --------
    >>> import numpy as np
    >>> log_ndtr(np.array([-100.0, 0.0])).round(4)
    array([-5.0055242e+03, -6.9310000e-01])
    """
    return special_function("log_ndtr", agnostic_log_ndtr, x)


def ndtri(p: Array) -> Array:
    """Return Φ⁻¹(p), the quantiles of the standard normal; NaN outside [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> ndtri(np.array([0.0, 0.5, 0.975])).round(4)
    array([-inf, 0.  , 1.96])
    """
    return special_function("ndtri", agnostic_ndtri, p)


def agnostic_erf(x: Array) -> Array:
    xp, x = floats(x)
    near = xp.abs(x) < 1.0
    t = xp.where(near, x, xp.zeros_like(x))
    return xp.where(near, t * horner(_ERF, t * t), xp.sign(x) * (1.0 - _erfc_positive(xp, xp.abs(x))))


def agnostic_erfc(x: Array) -> Array:
    xp, x = floats(x)
    near = xp.abs(x) < 0.5
    tail = _erfc_positive(xp, xp.abs(x))
    far = xp.where(x < 0.0, 2.0 - tail, tail)
    return xp.where(near, 1.0 - agnostic_erf(xp.where(near, x, xp.zeros_like(x))), far)


def agnostic_log_ndtr(x: Array) -> Array:
    xp, x = floats(x)
    lower, limit = x < -1.0, float(xp.finfo(x.dtype).max) ** 0.5
    z = xp.minimum(xp.where(lower, -x, xp.ones_like(x)), xp.full_like(x, limit))
    tail = xp.log(0.5 * _erfcx(xp, z * math.sqrt(0.5))) - 0.5 * z * z
    tail = xp.where(x < -limit, xp.full_like(x, -xp.inf), tail)
    bulk = xp.log1p(-0.5 * agnostic_erfc(xp.where(lower, xp.zeros_like(x), x) * math.sqrt(0.5)))
    return xp.where(lower, tail, bulk)


def agnostic_ndtri(p: Array) -> Array:
    xp, p = floats(p)
    inside = (p > 0.0) & (p < 1.0)
    share = xp.where(inside, xp.minimum(p, 1.0 - p), xp.full_like(p, 0.5))
    x = _lower_quantile(xp, share)
    x = xp.where(p > 0.5, -x, x)
    x = xp.where(xp.abs(p - 0.5) < 0.25, _polished(xp, x, p - 0.5), x)
    edge = xp.where(p == 0.0, xp.full_like(p, -xp.inf), xp.full_like(p, xp.nan))
    edge = xp.where(p == 1.0, xp.full_like(p, xp.inf), edge)
    return xp.where(inside, x, edge)


def _lower_quantile(xp: Any, p: Array) -> Array:
    """Solve log Φ(x) = log p for p ≤ ½: concave, so that Newton's steps overshoot once at most."""
    target = xp.log(p)
    x = -xp.sqrt(-2.0 * (target + math.log(2.0)))
    for _ in range(8):
        value = agnostic_log_ndtr(x)
        slope = xp.exp(-0.5 * x * x - HALF_LOG_2PI - value)
        x = x - (value - target) / slope
    return x


def _polished(xp: Any, x: Array, q: Array) -> Array:
    """Solve ½ erf(x / √2) = q near the centre, where the logarithm has lost the sign of q."""
    x = xp.where(xp.abs(q) < 0.25, x, xp.zeros_like(x))
    for _ in range(2):
        miss = 0.5 * agnostic_erf(x * math.sqrt(0.5)) - q
        x = x - miss * math.sqrt(2.0 * math.pi) * xp.exp(0.5 * x * x)
    return x


def _erfc_positive(xp: Any, x: Array) -> Array:
    """Return erfc(x) for x ≥ 0; x² is taken in two parts, for its rounding would be multiplied by x²."""
    x = xp.minimum(x, xp.full_like(x, 40.0))
    head = xp.round(x * 1024.0) / 1024.0
    return xp.exp(-head * head) * xp.exp(-(x - head) * (x + head)) * _erfcx(xp, x)


def _erfcx(xp: Any, x: Array) -> Array:
    """Return exp(x²) erfc(x) for x ≥ 0, by Clenshaw's recurrence."""
    t = 3.0 / (3.0 + x)
    u = 4.0 * t - 2.0
    here, before = xp.zeros_like(t), xp.zeros_like(t)
    for c in reversed(_ERFCX[1:]):
        here, before = u * here - before + c, here
    return t * (0.5 * u * here - before + _ERFCX[0])
