"""See `tractable.primitives.mahalanobis`."""

import numpy as np
from numba import njit

__all__ = ["squared_mahalanobis"]

#: Rows solved together: sixteen columns of them fit the first-level cache.
_ROWS = 128


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def squared_mahalanobis(x: np.ndarray, mean: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """See `tractable.primitives.mahalanobis.squared_mahalanobis`."""
    n, d = x.shape
    out = np.empty(n, dtype=(x[:0, 0] + lower[:0, 0]).dtype)
    white = np.empty((d, _ROWS), dtype=out.dtype)
    for start in range(0, n, _ROWS):
        rows = min(_ROWS, n - start)
        total = out[start : start + rows]
        total[:] = 0.0
        for i in range(rows):
            for j in range(d):
                white[j, i] = x[start + i, j] - mean[j]
        for j in range(d):
            _subtract_known(white, lower[j], j, rows)
            _accumulate(white[j], lower[j, j], total, rows)
    return out


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"}, inline="always")
def _subtract_known(white, row, j, rows):  # type: ignore[no-untyped-def]
    """Step j of forward substitution for every row of the block, four known columns at a time."""
    unknown = white[j]
    k = 0
    while k + 4 <= j:
        a, b, c, e = row[k], row[k + 1], row[k + 2], row[k + 3]
        first, second, third, fourth = white[k], white[k + 1], white[k + 2], white[k + 3]
        for i in range(rows):
            unknown[i] -= a * first[i] + b * second[i] + c * third[i] + e * fourth[i]
        k += 4
    while k < j:
        a, first = row[k], white[k]
        for i in range(rows):
            unknown[i] -= a * first[i]
        k += 1


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"}, inline="always")
def _accumulate(unknown, pivot, total, rows):  # type: ignore[no-untyped-def]
    inverse = 1.0 / pivot
    for i in range(rows):
        solved = unknown[i] * inverse
        unknown[i] = solved
        total[i] += solved * solved
