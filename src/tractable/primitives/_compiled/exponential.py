"""The exponential of a tile of numbers, written so that it vectorises: see `softmax`."""

import numpy as np
from numba import njit

__all__ = ["LOWEST", "exp_tile"]

_TAYLOR = tuple(1.0 / np.prod(np.arange(1.0, k + 1)) for k in range(11, -1, -1))

#: exp of this is the least normal number, nearly; what lies below counts as zero.
LOWEST = -708.0

#: Adding it to a whole number writes the number into the last bits.
_SHIFT = 6755399441055744.0


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz", "arcp"}, inline="always")
def exp_tile(x, bits, n):  # type: ignore[no-untyped-def]
    """Replace x[:n] ≤ 0 by exp(x), to the last digits; by zero below `LOWEST`."""
    power = bits.view(np.float64)
    for j in range(n):
        v = max(x[j], LOWEST)
        k = np.floor(v * 1.4426950408889634 + 0.5)
        r = (v - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
        p = 2.08767569878681e-09
        for c in _TAYLOR:
            p = c + r * p
        x[j] = p if v > LOWEST else 0.0
        power[j] = k + _SHIFT
    for j in range(n):
        bits[j] = (bits[j] + 1023) << 52
    for j in range(n):
        x[j] *= power[j]
