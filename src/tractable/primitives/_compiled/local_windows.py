"""See `tractable.primitives.local_windows`."""

import numpy as np
from numba import njit

__all__ = ["log_local_windows"]

#: Terms so far below the largest are left out.
_NOTHING = 60.0


@njit(nogil=True, cache=True)
def log_local_windows(x, points, whiten, heights, of_rows):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.local_windows.log_local_windows`."""
    out = np.empty(len(x))
    for i in range(len(x)):
        peak, total = -np.inf, 0.0
        for j in range(len(points)):
            exponent = _exponent(x[i], points[j], whiten[i if of_rows else j], heights[j], peak - _NOTHING)
            if exponent > peak:
                total, peak = total * np.exp(peak - exponent) + 1.0, exponent
            elif exponent > peak - _NOTHING:
                total += np.exp(exponent - peak)
        out[i] = peak + np.log(total) if total > 0.0 else -np.inf
    return out


@njit(nogil=True, cache=True)
def _exponent(a, b, whiten, height, least):  # type: ignore[no-untyped-def]
    """Return h - |W (a - b)|² / 2, or what it fell to below `least`."""
    exponent = height
    for k in range(len(a)):
        white = 0.0
        for l in range(k + 1):
            white += whiten[k, l] * (a[l] - b[l])
        exponent -= 0.5 * white * white
        if exponent < least:
            break
    return exponent
