"""The perceptron's corrections, row by row."""

import numpy as np
from numba import njit

__all__ = ["perceptron_pass"]


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def _lead(row: np.ndarray, plane: np.ndarray, rival: np.ndarray) -> float:
    """Return by how much a plane is above another at a row."""
    total = 0.0
    for j in range(len(row)):
        total += (plane[j] - rival[j]) * row[j]
    return total


@njit(nogil=True, cache=True)
def _rival(row: np.ndarray, code: int, coef: np.ndarray) -> int:
    """Return the best other class where it is not below the row's own, else -1."""
    if len(coef) == 2:
        return 1 - code if _lead(row, coef[1 - code], coef[code]) >= 0.0 else -1
    best, rival = -np.inf, -1
    for k in range(len(coef)):
        if k != code:
            lead = _lead(row, coef[k], coef[code])
            if lead > best:
                best, rival = lead, k
    return rival if best >= 0.0 else -1


@njit(nogil=True, cache=True)
def _is_blank(row: np.ndarray) -> bool:
    size = 0.0
    for j in range(len(row)):
        size += abs(row[j])
    return size == 0.0


@njit(nogil=True, cache=True)
def perceptron_pass(
    rows: np.ndarray, codes: np.ndarray, weights: np.ndarray, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float, float]:
    coef, late = start.copy(), np.zeros_like(start)
    mistakes, visits = 0.0, 0.0
    for i in range(len(rows)):
        row, code, left = rows[i], codes[i], weights[i]
        while left > 0.0:
            rival = _rival(row, code, coef)
            # A row that is right, or all zeros, changes nothing however often it is visited.
            share = left if rival < 0 or _is_blank(row) else min(left, 1.0)
            if rival >= 0:
                mistakes += share
                for j in range(len(row)):
                    step = share * row[j]
                    coef[code, j] += step
                    coef[rival, j] -= step
                    late[code, j] += visits * step
                    late[rival, j] -= visits * step
            visits += share
            left -= share
    # A step made after m visits is in all planes but the first m.
    return coef, visits * coef - late, mistakes, visits
