"""See `tractable.primitives.mean_shift`."""

import numpy as np
from numba import njit, types

from tractable.primitives._compiled.window_sums import (
    FAST,
    TILE,
    flat_sums,
    gaussian_sums,
    nearest,
    ring,
    survey,
)

__all__ = ["climb_flat", "climb_gaussian", "expand"]

_rows = types.Array(types.float64, 2, "C", readonly=True)
_vector = types.Array(types.float64, 1, "C", readonly=True)
_starts = types.Array(types.int64, 1, "C", readonly=True)
_matrix = types.Array(types.float64, 2, "C")
_cubes = types.Array(types.float64, 3, "C")
_numbers = types.Array(types.float64, 1, "C")
_counts = types.Array(types.int64, 1, "C")
_leaves = (_rows, _vector, _starts, _rows, _rows)  # columns, weights, first, low, high
_totals = (_rows, _vector)  # sums, masses
_limits = (types.float64, types.float64, types.float64)  # reach, floor, and a tolerance or a tilt

#: The leaves near a place serve all places so near to it, in bandwidths.
_SLACK, _LEAST_SLACK = 0.25, 0.05


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FAST)
def _apart(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(len(a)):
        total += (a[k] - b[k]) ** 2
    return total


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FAST)
def _captured(modes, radii, a):  # type: ignore[no-untyped-def]
    """Return the first mode in whose ball a lies; -1 where there is none."""
    for m in range(len(modes)):
        if _apart(modes[m], a) < radii[m] * radii[m]:
            return m
    return -1


@njit(
    [(*_leaves, *_totals, types.float64, types.int64, _matrix, _numbers, _counts)],
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath=FAST,
)
def climb_flat(columns, weights, first, low, high, sums, masses, tol, max_iter, x, mass, steps):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.mean_shift.climb`; x holds the starts, and the ends afterwards.

    The number of steps is negative where a climb did not settle.
    """
    n_leaves, d = low.shape
    runs, w = np.empty((n_leaves, 2), np.int64), np.empty(TILE)
    step, seen, inside = np.empty(d), np.empty(d), np.empty(d)
    for r in range(len(x)):
        a = x[r]
        moved, slack, away, total = np.inf, _SLACK, np.inf, 0.0
        while steps[r] < max_iter and moved > tol:
            if away > slack:
                seen[:] = a
                slack = min(_SLACK, max(_LEAST_SLACK, 2.0 * moved))
                count, held = ring(first, low, high, sums, masses, a, slack, runs, inside)
                away = 0.0
            total = held + flat_sums(columns, weights, runs, count, a, step, w)
            if total <= 0.0:
                break
            moved = 0.0
            for k in range(d):
                move = (step[k] + inside[k] + held * (seen[k] - a[k])) / total
                a[k] += move
                moved += move * move
            moved = np.sqrt(moved)
            away = np.sqrt(_apart(a, seen))
            steps[r] += 1
        mass[r] = total
        if not (total > 0.0 and moved <= tol):
            steps[r] = -steps[r]


@njit(
    [(*_leaves, *_limits, types.int64, _rows, _vector, _matrix, _numbers, _counts, _counts)],
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath=FAST,
)  # fmt: skip
def climb_gaussian(  # type: ignore[no-untyped-def]
    columns, weights, first, low, high, reach, floor, tol, max_iter, modes, radii, x, mass, steps, basins
):
    """See `tractable.primitives.mean_shift.climb`; x holds the starts, and the ends afterwards.

    The number of steps is negative where a climb did not settle.
    """
    n_leaves, d = low.shape
    runs, everything = np.empty((n_leaves, 2), np.int64), np.array([[0, columns.shape[1]]])
    w, bits, step = np.empty(TILE), np.empty(TILE, np.int64), np.empty(d)
    seen, none = np.empty(d), np.empty((0, 0))
    for r in range(len(x)):
        a = x[r]
        moved, away = np.inf, np.inf
        basins[r] = _captured(modes, radii, a)
        while steps[r] < max_iter and moved > tol and basins[r] < 0:
            if away > _SLACK:
                seen[:] = a
                count = survey(first, low, high, a, reach + _SLACK, runs)
            total = gaussian_sums(columns, weights, runs, count, 0.0, 0.0, a, step, w, bits, none)
            if not total >= floor:
                offset = nearest(columns, a, w)
                total = gaussian_sums(columns, weights, everything, 1, offset, 0.0, a, step, w, bits, none)
            mass[r] = total
            moved = 0.0
            for k in range(d):
                a[k] += step[k] / total
                moved += (step[k] / total) ** 2
            moved = np.sqrt(moved)
            away = np.sqrt(_apart(a, seen))
            steps[r] += 1
            basins[r] = _captured(modes, radii, a)
        if not (basins[r] >= 0 or moved <= tol):
            steps[r] = -steps[r]


@njit(
    [(*_leaves, *_limits, _rows, _numbers, _matrix, _cubes)],
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath=FAST,
)
def expand(columns, weights, first, low, high, reach, floor, tilt, x, heights, shifts, spreads):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.mean_shift.expand`."""
    n_leaves, d = low.shape
    runs, everything = np.empty((n_leaves, 2), np.int64), np.array([[0, columns.shape[1]]])
    w, bits, step, spread = np.empty(TILE), np.empty(TILE, np.int64), np.empty(d), np.empty((d, d))
    for r in range(len(x)):
        a, offset = x[r], 0.0
        count = survey(first, low, high, a, reach, runs)
        mass = gaussian_sums(columns, weights, runs, count, offset, tilt, a, step, w, bits, spread)
        if not mass >= floor:
            offset = nearest(columns, a, w)
            mass = gaussian_sums(columns, weights, everything, 1, offset, tilt, a, step, w, bits, spread)
        heights[r] = np.log(mass) - 0.5 * offset
        for k in range(d):
            shifts[r, k] = step[k] / mass
        for k in range(d):
            for m in range(k + 1):
                spreads[r, k, m] = spread[k, m] / mass - shifts[r, k] * shifts[r, m]
                spreads[r, m, k] = spreads[r, k, m]
