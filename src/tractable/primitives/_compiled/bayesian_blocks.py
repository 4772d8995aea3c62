"""See `tractable.primitives.bayesian_blocks`."""

import numpy as np
from numba import njit

__all__ = ["best_blocks"]


@njit(nogil=True, cache=True)
def best_blocks(mass: np.ndarray, places: np.ndarray, penalty: float) -> np.ndarray:
    """See `tractable.primitives.bayesian_blocks.best_blocks`."""
    m = len(mass)
    total = np.zeros(m + 1)
    total[1:] = np.cumsum(mass)
    best, last = np.zeros(m + 1), np.zeros(m + 1, dtype=np.int64)
    starts, found, n = np.zeros(m + 1, dtype=np.int64), np.empty(m + 1), 1
    for end in range(1, m + 1):
        top = -np.inf
        for k in range(n):
            s = starts[k]
            weight = total[end] - total[s]
            fitness = weight * np.log(weight / (places[end] - places[s])) if weight > 0.0 else 0.0
            found[k] = best[s] + fitness
            if found[k] > top:
                top, last[end] = found[k], s
        best[end] = top - penalty
        # What is behind even the best that pays for another block stays behind; rounding is allowed for.
        bar, kept = best[end] - 1e-9 * (1.0 + abs(top)), 0
        for k in range(n):
            if found[k] >= bar:
                starts[kept] = starts[k]
                kept += 1
        starts[kept] = end
        n = kept + 1
    ends, k, place = np.empty(m + 1, dtype=np.int64), 0, m
    while place > 0:
        ends[k] = place
        place = last[place]
        k += 1
    ends[k] = 0
    return ends[: k + 1][::-1].copy()
