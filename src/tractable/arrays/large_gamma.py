"""The incomplete gamma functions of a large shape: Temme's expansion, uniform in x.

N. M. Temme (1979); DLMF 8.12. With ½η² = x/a - 1 - log(x/a), Q(a, x) = ½ erfc(η √(a/2)) + R and
P(a, x) = ½ erfc(-η √(a/2)) - R, where R = exp(-½aη²) / √(2πa) Σ_k c_k(η) / a^k. Both terms fall alike in the
tails, so that nothing cancels there.
"""

import math

import numpy as np

from tractable.arrays.error_function import erfc, ndtri
from tractable.arrays.namespace import Array
from tractable.arrays.native import floats, horner
from tractable.arrays.saddle_point import deviance, log_gamma_kernel

__all__ = ["LARGE_SHAPE", "large_gamma_quantile", "large_gamma_tails"]

#: From here on a tail that is not zero has |η| < 0.4, and the terms below reach the last digit.
LARGE_SHAPE = 1e4

# Taylor coefficients in η of c_0, …, c_3
_TEMME = (
    (
        *(-0.3333333333333333, 0.08333333333333333, -0.014814814814814815, 0.0011574074074074073),
        *(0.0003527336860670194, -0.0001787551440329218, 3.919263178522438e-05, -2.185448510679992e-06),
        *(-1.85406221071516e-06, 8.296711340953087e-07, -1.7665952736826078e-07, 6.707853543401498e-09),
        *(1.0261809784240309e-08, -4.382036018453353e-09),
    ),
    (
        *(-0.001851851851851852, -0.003472222222222222, 0.0026455026455026454, -0.0009902263374485596),
        *(0.00020576131687242798, -4.018775720164609e-07, -1.8098550334489977e-05, 7.64916091608111e-06),
        *(-1.6120900894563446e-06, 4.647127802807434e-09),
    ),
    (
        *(0.004133597883597883, -0.0026813271604938273, 0.0007716049382716049, 2.0093878600823047e-06),
        *(-0.0001073665322636516, 5.2923448829120125e-05),
    ),
    (0.0006494341563786008, 0.00022947209362139917, -0.0004691894943952557),
)


def large_gamma_tails(a: Array, x: Array) -> tuple[Array, Array]:
    """Return P(a, x) and Q(a, x) for a ≥ 1e4 and x ≥ 0.

    Examples
    --------
    >>> import numpy as np
    >>> lower, upper = large_gamma_tails(np.array(1e8), np.array(1e8 - 5.6e4))
    >>> float(lower * 1e8).__round__(4), float(lower + upper)
    (1.0655, 1.0)
    """
    xp, a, x = floats(a, x)
    half = deviance(a, x)  # ½aη²
    finite = half < 700.0
    half = xp.where(finite, half, xp.full_like(half, 700.0))
    y = xp.where(x < a, -xp.sqrt(half), xp.sqrt(half))
    eta = y * xp.sqrt(2.0 / a)
    c0, c1, c2, c3 = (horner(row, eta) for row in _TEMME)
    series = c0 + (c1 + (c2 + c3 / a) / a) / a
    rest = xp.exp(-half) / xp.sqrt(2.0 * math.pi * a) * series
    lower, upper = 0.5 * erfc(-y) - rest, 0.5 * erfc(y) + rest
    end = xp.where(x < a, xp.zeros_like(y), xp.ones_like(y))
    end = xp.where(xp.isnan(x), x, end)
    return xp.where(finite, lower, end), xp.where(finite, upper, 1.0 - end)


def large_gamma_quantile(a: Array, lower: Array, upper: Array) -> Array:
    """Return the x with P(a, x) = lower and Q(a, x) = upper, for a ≥ 1e4; the smaller of the two decides.

    Newton's steps on the logarithm of that tail, from Wilson and Hilferty's cube.

    Examples
    --------
    >>> import numpy as np
    >>> large_gamma_quantile(np.array(1e8), np.array([0.5]), np.array([0.5])).round(3)
    array([99999999.667])
    """
    xp, a, lower, upper = floats(a, lower, upper)
    low = lower <= upper
    tail = xp.where(low, lower, upper)
    inside = (tail > 0.0) & (tail < 1.0)
    tail = xp.where(inside, tail, xp.full_like(tail, 0.5))
    z = xp.where(low, ndtri(tail), -ndtri(tail))
    root = 1.0 - 1.0 / (9.0 * a) + z / (3.0 * xp.sqrt(a))
    x = a * root * root * root
    for _ in range(4):
        found = xp.where(low, *large_gamma_tails(a, x))
        with np.errstate(over="ignore"):
            step = found * xp.log(found / tail) * xp.exp(-log_gamma_kernel(a, x))
        x = x * (1.0 - xp.where(low, step, -step))
    end = xp.where(lower <= 0.0, xp.zeros_like(x), xp.where(upper <= 0.0, xp.full_like(x, xp.inf), x))
    return xp.where(inside, x, xp.where(xp.isnan(lower), lower, end))
