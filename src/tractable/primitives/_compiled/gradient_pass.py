"""See `tractable.primitives.gradient_pass`."""

import numpy as np
from numba import njit

__all__ = ["gradient_pass"]


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def gradient_pass(
    rows: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    steps: np.ndarray,
    batch_size: int,
    start: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, float]:
    """See `tractable.primitives.gradient_pass.gradient_pass`."""
    n, p = rows.shape
    w, total, slope = start.copy(), np.zeros(p), np.empty(p)
    squared = 0.0
    for b in range(len(steps)):
        first, last = b * batch_size, min((b + 1) * batch_size, n)
        slope[:] = 0.0
        for i in range(first, last):
            error = targets[i]
            for j in range(p):
                error -= w[j] * rows[i, j]
            squared += weights[i] * error * error
            for j in range(p):
                slope[j] += weights[i] * error * rows[i, j]
        for j in range(p):
            w[j] += steps[b] * slope[j] / (last - first)
            total[j] += w[j]
    return w, total, squared
