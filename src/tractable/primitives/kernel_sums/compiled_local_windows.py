"""Sums of Gaussian windows of different covariances."""

import numpy as np
from numba import njit

__all__ = ["log_local_windows"]

#: Blocks and terms so far below the largest are left out.
_NOTHING = 45.0


@njit(nogil=True, cache=True)
def log_local_windows(x, points, whiten, heights, of_rows, first, low, high, top, rates):  # type: ignore[no-untyped-def]
    out, bounds = np.empty(len(x)), np.empty(len(top))
    for i in range(len(x)):
        best = 0
        for b in range(len(top)):
            bounds[b] = top[b] - rates[i if of_rows else b] * _squared_gap(x[i], low[b], high[b])
            if bounds[b] > bounds[best]:
                best = b
        peak, total = -np.inf, 0.0
        for step in range(-1, len(top)):
            b = best if step < 0 else step
            if step == best or bounds[b] < peak - _NOTHING:
                continue
            for j in range(first[b], first[b + 1]):
                exponent = _exponent(
                    x[i], points[j], whiten[i if of_rows else j], heights[j], peak - _NOTHING
                )
                if exponent > peak:
                    total, peak = total * np.exp(peak - exponent) + 1.0, exponent
                elif exponent > peak - _NOTHING:
                    total += np.exp(exponent - peak)
        out[i] = peak + np.log(total) if total > 0.0 else -np.inf
    return out


@njit(nogil=True, cache=True)
def _squared_gap(a, low, high):  # type: ignore[no-untyped-def]
    square = 0.0
    for k in range(len(a)):
        gap = max(low[k] - a[k], a[k] - high[k], 0.0)
        square += gap * gap
    return square


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
