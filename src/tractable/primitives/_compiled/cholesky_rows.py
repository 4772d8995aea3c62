"""A Cholesky factor, row by row, of columns that come and go."""

import numpy as np
from numba import njit

__all__ = ["append_row", "remove_row", "solve_rows"]

#: A pivot below this share of its column's own square says that the column follows from the others: products
#: of columns are known to little more.
DEPENDENT = 1e-13


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def _forward(factor, b, k):  # type: ignore[no-untyped-def]
    """Solve L x = b in place."""
    for i in range(k):
        row, total = factor[i], b[i]
        for j in range(i):
            total -= row[j] * b[j]
        b[i] = total / row[i]


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def back_substitute(factor, b, k):  # type: ignore[no-untyped-def]
    """Solve Lᵀ x = b in place, so that L is still read along its rows."""
    for i in range(k - 1, -1, -1):
        row = factor[i]
        b[i] /= row[i]
        x = b[i]
        for j in range(i):
            b[j] -= x * row[j]


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def solve_rows(factor, b, k):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.cholesky_rows.solve_rows`."""
    _forward(factor, b, k)
    back_substitute(factor, b, k)


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def append_row(factor, k, cross, own):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.cholesky_rows.append_row`."""
    row = factor[k]
    for i in range(k):
        row[i] = cross[i]
    _forward(factor, row, k)
    pivot = own
    for i in range(k):
        pivot -= row[i] * row[i]
    if not pivot > DEPENDENT * own:
        return False
    row[k] = np.sqrt(pivot)
    return True


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def remove_row(factor, k, at):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.cholesky_rows.remove_row`."""
    cosine, sine = np.empty(k), np.empty(k)
    for i in range(at, k - 1):
        row, below = factor[i], factor[i + 1]
        for j in range(i + 2):
            row[j] = below[j]
        # Each row sits one place too far to the right: the rotations of the rows above, then its own.
        for j in range(at, i):
            x, y = row[j], row[j + 1]
            row[j] = cosine[j] * x + sine[j] * y
            row[j + 1] = cosine[j] * y - sine[j] * x
        length = np.hypot(row[i], row[i + 1])
        cosine[i], sine[i] = row[i] / length, row[i + 1] / length
        row[i], row[i + 1] = length, 0.0
