"""See `tractable.primitives.residuals`."""

import numpy as np
from numba import njit

__all__ = ["residual_sums"]

# No fastmath here: every rounding error is wanted.


@njit(nogil=True, cache=True)
def residual_sums(
    x: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    centre: np.ndarray,
    coef_high: np.ndarray,
    coef_low: np.ndarray,
    offset_high: np.ndarray,
    offset_low: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """See `tractable.primitives.residuals.residual_sums`."""
    n, d = x.shape
    t = y.shape[1]
    high, low = np.zeros((t, d + 2)), np.zeros((t, d + 2))
    row, rest = np.empty(d), np.empty(d)
    for i in range(n):
        for j in range(d):
            row[j], rest[j] = _two_sum(x[i, j], -centre[j])
        for k in range(t):
            r, e = _plus_product(y[i, k], 0.0, -1.0, 0.0, offset_high[k], offset_low[k])
            for j in range(d):
                r, e = _plus_product(r, e, row[j], rest[j], -coef_high[k, j], -coef_low[k, j])
            u, v = _plus_product(0.0, 0.0, r, e, weights[i], 0.0)
            high[k, 0], low[k, 0] = _plus_product(high[k, 0], low[k, 0], u, v, 1.0, 0.0)
            for j in range(d):
                high[k, j + 1], low[k, j + 1] = _plus_product(
                    high[k, j + 1], low[k, j + 1], row[j], rest[j], u, v
                )
            high[k, d + 1], low[k, d + 1] = _plus_product(high[k, d + 1], low[k, d + 1], r, e, u, v)
    return high, low


@njit(nogil=True, cache=True)
def _two_sum(a, b):  # type: ignore[no-untyped-def]
    """Knuth: the rounded sum and its error."""
    s = a + b
    b_part = s - a
    return s, (a - (s - b_part)) + (b - b_part)


@njit(nogil=True, cache=True)
def _plus_product(h, l, a, al, b, bl):  # type: ignore[no-untyped-def]
    """(h + l) + (a + al)(b + bl); the product by Dekker's splitting."""
    scaled = 134217729.0 * a
    a_high = scaled - (scaled - a)
    a_low = a - a_high
    scaled = 134217729.0 * b
    b_high = scaled - (scaled - b)
    b_low = b - b_high
    p = a * b
    error = ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low
    s, e = _two_sum(h, p)
    return _two_sum(s, e + (error + (a * bl + al * b)) + l)
