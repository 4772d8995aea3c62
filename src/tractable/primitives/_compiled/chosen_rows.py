"""See `tractable.primitives.chosen_rows`."""

import numpy as np
from numba import njit

__all__ = ["row_products", "weighted_rows"]


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def weighted_rows(matrix: np.ndarray, which: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """See `tractable.primitives.chosen_rows.weighted_rows`."""
    total = np.zeros(matrix.shape[1])
    k, i = len(which), 0
    while i + 4 <= k:
        first, second = matrix[which[i]], matrix[which[i + 1]]
        third, fourth = matrix[which[i + 2]], matrix[which[i + 3]]
        s, t, u, v = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        for j in range(len(total)):
            total[j] += s * first[j] + t * second[j] + u * third[j] + v * fourth[j]
        i += 4
    while i < k:
        row, s = matrix[which[i]], weights[i]
        for j in range(len(total)):
            total[j] += s * row[j]
        i += 1
    return total


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def row_products(matrix: np.ndarray, which: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """See `tractable.primitives.chosen_rows.row_products`."""
    out = np.empty(len(which))
    for i in range(len(which)):
        row, total = matrix[which[i]], 0.0
        for j in range(len(vector)):
            total += row[j] * vector[j]
        out[i] = total
    return out
