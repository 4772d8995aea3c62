"""See `tractable.primitives.nearest_filter`."""

import numpy as np
from numba import njit

from tractable.primitives._compiled.nearest import cut_back, in_order, pair_distance

__all__ = ["count_hits", "fill_hits", "refine", "scan"]

#: Columns compared at a time: Numba makes an OR of comparisons a few vector instructions.
GROUP = 64


@njit(nogil=True, cache=True)
def scan(gram, squares, first, k, slack, doubt, key, idx, count, limit):  # type: ignore[no-untyped-def]
    """Push the columns of a tile that may be among the k nearest of each row into the row's buffer.

    A row whose buffer fills with columns that cannot be told apart is given up: its count becomes -1.
    """
    rows, cols = gram.shape
    cap = key.shape[1]
    for r in range(rows):
        m, most = count[r], limit[r]
        if m < 0:
            continue
        for g in range(0, cols, GROUP):
            row, square, hit = gram[r, g : g + GROUP], squares[g : g + GROUP], np.int32(0)
            for c in range(GROUP):
                hit |= np.int32(row[c] + square[c] < most)
            if not hit:
                continue
            for c in range(GROUP):
                low = row[c] + square[c]
                if low < most:
                    key[r, m], idx[r, m] = low, first + g + c
                    m += 1
            if m > cap - GROUP:
                most = _bound(key[r], idx[r], m, k, slack, doubt[r])
                m = _kept(key[r], idx[r], m, most)
                if m > cap - GROUP:
                    m = -1
                    break
        count[r], limit[r] = m, most


@njit(nogil=True, cache=True)
def _bound(key, idx, m, k, slack, doubt):  # type: ignore[no-untyped-def]
    """Return an upper bound, in single precision, of the keys that may still be among the k smallest."""
    cut_back(key, idx, m, k)
    most = -np.inf
    for t in range(k):
        most = max(most, np.float64(key[t]) + slack[idx[t]])
    return np.float32(most + doubt)


@njit(nogil=True, cache=True)
def _kept(key, idx, m, most):  # type: ignore[no-untyped-def]
    kept = 0
    for t in range(m):
        if key[t] < most:
            key[kept], idx[kept] = key[t], idx[t]
            kept += 1
    return kept


@njit(nogil=True, cache=True)
def refine(x, points, k, slack, doubt, key, idx, count, out_d, out_i):  # type: ignore[no-untyped-def]
    """Measure the columns that are left in double precision and write the k nearest, in order."""
    for r in range(len(x)):
        m = count[r]
        if m < 0:
            continue
        m = _kept(key[r], idx[r], m, _bound(key[r], idx[r], m, k, slack, doubt[r]))
        distances, near = np.empty(m), np.empty(m, np.int64)
        for t in range(m):
            near[t] = idx[r, t]
            distances[t] = pair_distance(x[r], points[near[t]], 0, 2.0)
        cut_back(distances, near, m, k)
        in_order(distances, near, k)
        out_d[r], out_i[r] = distances[:k], near[:k]


@njit(nogil=True, cache=True)
def count_hits(gram, squares, limit):  # type: ignore[no-untyped-def]
    """Count the entries of a tile that may lie within the radius of their row."""
    total = 0
    for r in range(gram.shape[0]):
        for c in range(gram.shape[1]):
            total += gram[r, c] + squares[c] < limit[r]
    return total


@njit(nogil=True, cache=True)
def fill_hits(x, points, gram, squares, first, limit, radii, found):  # type: ignore[no-untyped-def]
    """Measure these entries in double precision; return rows, columns and distances of those within."""
    rows, near, distances, m = np.empty(found, np.int64), np.empty(found, np.int64), np.empty(found), 0
    for r in range(gram.shape[0]):
        for c in range(gram.shape[1]):
            if gram[r, c] + squares[c] < limit[r]:
                distance = pair_distance(x[r], points[first + c], 0, 2.0)
                if distance <= radii[r]:
                    rows[m], near[m], distances[m] = r, first + c, distance
                    m += 1
    return rows[:m].copy(), near[:m].copy(), distances[:m].copy()
