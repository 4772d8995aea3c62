"""See `tractable.primitives.perceptron_pass`."""

import numpy as np
from numba import njit

__all__ = ["perceptron_pass"]


@njit(nogil=True, cache=True, fastmath={"contract"})
def _rival(row: np.ndarray, code: int, planes: np.ndarray) -> int:
    """Return the best other class where it is not below the row's own, else -1."""
    own, best, rival = 0.0, -np.inf, -1
    for k in range(len(planes)):
        score = 0.0
        for j in range(len(row)):
            score += planes[k, j] * row[j]
        if k == code:
            own = score
        elif score > best:
            best, rival = score, k
    return rival if best >= own else -1


@njit(nogil=True, cache=True, fastmath={"contract"})
def perceptron_pass(
    rows: np.ndarray, codes: np.ndarray, weights: np.ndarray, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """See `tractable.primitives.perceptron_pass.perceptron_pass`."""
    planes, late = start.copy(), np.zeros_like(start)
    mistakes, visits = 0.0, 0.0
    for i in range(len(rows)):
        left = weights[i]
        blank = not np.any(rows[i] != 0.0)
        while left > 0.0:
            rival = _rival(rows[i], codes[i], planes)
            # A row that is right, or all zeros, changes nothing however often it is visited.
            share = left if rival < 0 or blank else min(left, 1.0)
            if rival >= 0:
                mistakes += share
                for j in range(rows.shape[1]):
                    step = share * rows[i, j]
                    planes[codes[i], j] += step
                    planes[rival, j] -= step
                    late[codes[i], j] += visits * step
                    late[rival, j] -= visits * step
            visits += share
            left -= share
    # A step made after m visits is in all planes but the first m.
    return planes, visits * planes - late, mistakes, visits
