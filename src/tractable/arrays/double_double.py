"""Numbers as unevaluated sums of two floats: 32 digits, from error-free sums and products."""

import math

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["Pair", "dd_add", "dd_multiply", "dd_sum", "two_product", "two_sum"]


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


#: The number high + low, with low below the last digit of high.
Pair = tuple[Array, Array]


def dd_add(a: Pair, b: Pair) -> Pair:
    """Return a + b.

    Examples
    --------
    >>> import numpy as np
    >>> high, low = dd_add((np.array(1e16), np.array(0.25)), (np.array(0.5), np.array(0.0)))
    >>> float(high), float(low)
    (1e+16, 0.75)
    """
    high, low = two_sum(a[0], b[0])
    return two_sum(high, low + (a[1] + b[1]))


def dd_multiply(a: Pair, b: Pair) -> Pair:
    """Return a b.

    Examples
    --------
    >>> import numpy as np
    >>> third = np.array(1 / 3), np.array(1 / 3 * 2.0**-54)
    >>> high, low = dd_multiply(third, (np.array(3.0), np.array(0.0)))
    >>> float(high), bool(abs(low) < 1e-30)
    (1.0, True)
    """
    high, low = two_product(a[0], b[0])
    return two_sum(high, low + (a[0] * b[1] + a[1] * b[0]))


def dd_sum(a: Pair) -> Pair:
    """Return the sum over the first axis, by halves.

    Examples
    --------
    >>> import numpy as np
    >>> high, low = dd_sum((np.array([1e16, 1.0, -1e16]), np.zeros(3)))
    >>> float(high + low)
    1.0
    """
    high, low = a
    if not high.shape[0]:
        return namespace_of(high).sum(high, axis=0), namespace_of(low).sum(low, axis=0)
    while (n := high.shape[0]) > 1:
        half = n // 2
        first, second = (
            (high[:half, ...], low[:half, ...]),
            (high[half : 2 * half, ...], low[half : 2 * half, ...]),
        )
        folded = dd_add(first, second)
        xp = namespace_of(high)
        high, low = (
            xp.concat([new, old[2 * half :, ...]]) for new, old in zip(folded, (high, low), strict=True)
        )
    return high[0, ...], low[0, ...]
