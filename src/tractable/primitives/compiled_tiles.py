"""Exponentials and squared distances of a tile of numbers, written so that they vectorise.

Numba has no library of vector mathematics, so the exponential is a polynomial of its own, multiplied by the
power of two whose exponent bits are written on the way.
"""

import numpy as np

from tractable.primitives.compiled_options import compiled

_TAYLOR = tuple(1.0 / np.prod(np.arange(1.0, k + 1)) for k in range(11, -1, -1))

#: exp of this is the least normal number, nearly; what lies below counts as zero.
LOWEST = -708.0

#: Adding it to a whole number writes the number into the last bits.
_SHIFT = 6755399441055744.0


@compiled(fastmath={"contract", "nsz", "arcp"}, inline="always")
def exp_tile(x, bits, n, lowest):  # type: ignore[no-untyped-def]
    """Replace x[:n] ≤ 0 by exp(x), to the last digits; by zero below `lowest`."""
    power = bits.view(np.float64)
    for j in range(n):
        v = max(x[j], lowest)
        k = np.floor(v * 1.4426950408889634 + 0.5)
        r = (v - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
        p = 2.08767569878681e-09
        for c in _TAYLOR:
            p = c + r * p
        x[j] = p if v > lowest else 0.0
        power[j] = k + _SHIFT
    for j in range(n):
        bits[j] = (bits[j] + 1023) << 52
    for j in range(n):
        x[j] *= power[j]


@compiled(fastmath={"contract", "reassoc"})
def tile_squares(query, columns, start, size, values):  # type: ignore[no-untyped-def]
    """Squared distances from a query to a tile of points, four coordinates at a time."""
    d = len(query)
    a0, y0 = query[0], columns[0, start : start + size]
    for j in range(size):
        s0 = y0[j] - a0
        values[j] = s0 * s0
    c = 1
    while c + 4 <= d:
        a0, a1, a2, a3 = query[c], query[c + 1], query[c + 2], query[c + 3]
        y0, y1 = columns[c, start : start + size], columns[c + 1, start : start + size]
        y2, y3 = columns[c + 2, start : start + size], columns[c + 3, start : start + size]
        for j in range(size):
            s0, s1, s2, s3 = y0[j] - a0, y1[j] - a1, y2[j] - a2, y3[j] - a3
            values[j] += (s0 * s0 + s1 * s1) + (s2 * s2 + s3 * s3)
        c += 4
    while c < d:
        a0, y0 = query[c], columns[c, start : start + size]
        for j in range(size):
            s0 = y0[j] - a0
            values[j] += s0 * s0
        c += 1
