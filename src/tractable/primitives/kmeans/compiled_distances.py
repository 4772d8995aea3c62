"""Sums of distances to the points of each cluster."""

import numpy as np
from numba import njit

__all__ = ["distance_sums", "distance_sums_of_products"]

#: Columns met at a time: sixteen of them fit the first-level cache.
_TILE = 256


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def distance_sums(x: np.ndarray, columns: np.ndarray, weights: np.ndarray, starts: np.ndarray) -> np.ndarray:
    n, n_groups = x.shape[0], len(starts) - 1
    out = np.zeros((n, n_groups))
    squares = np.empty(_TILE)
    for k in range(n_groups):
        for start in range(starts[k], starts[k + 1], _TILE):
            end = min(start + _TILE, starts[k + 1])
            for i in range(n):
                _square(x[i], columns, start, end, squares)
                total = 0.0
                for j in range(end - start):
                    total += weights[start + j] * np.sqrt(squares[j])
                out[i, k] += total
    return out


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def distance_sums_of_products(
    x: np.ndarray,
    columns: np.ndarray,
    weights: np.ndarray,
    starts: np.ndarray,
    products: np.ndarray,
    row_squares: np.ndarray,
    column_squares: np.ndarray,
) -> np.ndarray:
    """See `tractable.primitives.kmeans.distance_sums`; x · columns and their squares are given."""
    n, n_groups = x.shape[0], len(starts) - 1
    out = np.zeros((n, n_groups))
    squares = np.empty(_TILE)
    for i in range(n):
        for k in range(n_groups):
            total = 0.0
            for start in range(starts[k], starts[k + 1], _TILE):
                end = min(start + _TILE, starts[k + 1])
                product, other = products[i, start:end], column_squares[start:end]
                doubtful = 0
                for j in range(end - start):
                    both = row_squares[i] + other[j]
                    squares[j] = both - 2.0 * product[j]
                    doubtful += squares[j] < 0.01 * both
                if doubtful:
                    _repair(x[i], columns, start, row_squares[i] + other, squares)
                for j in range(end - start):
                    total += weights[start + j] * np.sqrt(squares[j])
            out[i, k] = total
    return out


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def _repair(row, columns, start, both, squares):  # type: ignore[no-untyped-def]
    """Take the differences where the products have cancelled."""
    for j in range(len(both)):
        if squares[j] < 0.01 * both[j]:
            total = 0.0
            for c in range(len(row)):
                step = columns[c, start + j] - row[c]
                total += step * step
            squares[j] = total


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"}, inline="always")
def _square(row, columns, start, end, squares):  # type: ignore[no-untyped-def]
    """Squared distances from a row to a tile of columns, four coordinates at a time."""
    d, rows = len(row), end - start
    squares[:rows] = 0.0
    c = 0
    while c + 4 <= d:
        a0, a1, a2, a3 = row[c], row[c + 1], row[c + 2], row[c + 3]
        y0, y1 = columns[c, start:end], columns[c + 1, start:end]
        y2, y3 = columns[c + 2, start:end], columns[c + 3, start:end]
        for j in range(rows):
            s0, s1, s2, s3 = y0[j] - a0, y1[j] - a1, y2[j] - a2, y3[j] - a3
            squares[j] += (s0 * s0 + s1 * s1) + (s2 * s2 + s3 * s3)
        c += 4
    while c < d:
        a0, y0 = row[c], columns[c, start:end]
        for j in range(rows):
            s0 = y0[j] - a0
            squares[j] += s0 * s0
        c += 1
