"""Sums and products with their rounding errors: twice the digits, where a difference needs them."""

import math

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["two_product", "two_sum"]


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return s and e with s the rounded sum and s + e = a + b exactly (Knuth).

    Examples
    --------
    >>> import numpy as np
    >>> s, e = two_sum(np.array(1e16), np.array(1.0))
    >>> float(s), float(e)
    (1e+16, 1.0)
    """
    s = a + b
    b_part = s - a
    return s, (a - (s - b_part)) + (b - b_part)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return p and e with p the rounded product and p + e = a b exactly (Dekker, Veltkamp).

    The error is given as 0 where numbers are so large, or products so small, that it has no exact form.

    Examples
    --------
    >>> import numpy as np
    >>> p, e = two_product(np.array(1.0 + 2.0**-30), np.array(1.0 + 2.0**-30))
    >>> float(p), float(e) == 2.0**-60
    (1.0000000018626451, True)
    """
    xp = namespace_of(a, b)
    p = a * b
    info = xp.finfo(p.dtype)
    digits = 1 - round(math.log2(float(info.eps)))
    factor, most = 2.0 ** ((digits + 1) // 2) + 1.0, float(info.max) * 2.0**-digits
    least = float(info.smallest_normal) / float(info.eps) ** 2
    plain = (xp.abs(a) < most) & (xp.abs(b) < most) & (xp.abs(p) < most) & (xp.abs(p) > least)
    a_high, a_low = _halves(xp.where(plain, a, xp.zeros_like(p)), factor)
    b_high, b_low = _halves(xp.where(plain, b, xp.zeros_like(p)), factor)
    q = xp.where(plain, p, xp.zeros_like(p))
    return p, ((a_high * b_high - q) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(x: Array, factor: float) -> tuple[Array, Array]:
    """Split into two parts of half the digits each."""
    scaled = factor * x
    high = scaled - (scaled - x)
    return high, x - high
