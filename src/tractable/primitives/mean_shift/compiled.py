"""Sums over the points in a window, of points in leaves: see `tractable.primitives.mean_shift`."""

import numpy as np

from tractable.primitives.compiled_options import FAST, compiled, entry, read_only
from tractable.primitives.compiled_tiles import LOWEST, exp_tile

TILE = 128
#: Points at a distance of one belong to the flat window, however their difference was rounded.
_EDGE = 1.0 + 1e-12


@compiled(fastmath=FAST)
def _to_box(low, high, leaf, a):  # type: ignore[no-untyped-def]
    """Return the squared distances to the nearest and to the farthest point of a leaf's box."""
    near = far = 0.0
    for k in range(len(a)):
        below, above = low[leaf, k] - a[k], a[k] - high[leaf, k]
        out = max(below, above, 0.0)
        across = max(-below, -above)
        near += out * out
        far += across * across
    return near, far


@compiled(fastmath=FAST)
def leaves_within(first, low, high, a, reach, runs):  # type: ignore[no-untyped-def]
    """List the points that may lie within reach, as runs of neighbouring leaves; return how many runs."""
    count = 0
    for leaf in range(len(low)):
        if _to_box(low, high, leaf, a)[0] <= reach * reach:
            count = _append(runs, count, first[leaf], first[leaf + 1])
    return count


@compiled(fastmath=FAST)
def _append(runs, count, i, j):  # type: ignore[no-untyped-def]
    if count and runs[count - 1, 1] == i:
        runs[count - 1, 1] = j
        return count
    runs[count, 0], runs[count, 1] = i, j
    return count + 1


@compiled(fastmath=FAST)
def leaves_near_boundary(first, low, high, sums, masses, a, slack, runs, inside):  # type: ignore[no-untyped-def]
    """List the points that may enter or leave a window of radius one as it moves from a by up to `slack`.

    What stays inside is summed once: Σ w (x - a) in `inside`, and Σ w, returned with the number of runs.
    """
    count, mass, d = 0, 0.0, len(a)
    inside[:] = 0.0
    for leaf in range(len(low)):
        near, far = _to_box(low, high, leaf, a)
        if near > (1.0 + slack) ** 2:
            continue
        if far <= (1.0 - slack) ** 2:
            mass += masses[leaf]
            for k in range(d):
                inside[k] += sums[leaf, k] + masses[leaf] * (low[leaf, k] - a[k])
        else:
            count = _append(runs, count, first[leaf], first[leaf + 1])
    return count, mass


@compiled(fastmath=FAST)
def _distances(columns, i, j, a, squared):  # type: ignore[no-untyped-def]
    column, at = columns[0, i:j], a[0]  # slices: no index of theirs can be negative
    for t in range(len(column)):
        squared[t] = (column[t] - at) ** 2
    for k in range(1, len(a)):
        column, at = columns[k, i:j], a[k]
        for t in range(len(column)):
            squared[t] += (column[t] - at) ** 2


@compiled(fastmath=FAST)
def _add(columns, i, j, a, w, step):  # type: ignore[no-untyped-def]
    """Add Σ w (x - a) to the step and return Σ w."""
    mass = 0.0
    for t in range(j - i):
        mass += w[t]
    for k in range(len(a)):
        column, at, total = columns[k, i:j], a[k], 0.0
        for t in range(len(column)):
            total += w[t] * (column[t] - at)
        step[k] += total
    return mass


@compiled(fastmath=FAST)
def _row_sums(px, py, weights, runs, count, a, step):  # type: ignore[no-untyped-def]
    """Sum over the points of the runs that are no farther than one, in two dimensions: twice as fast."""
    x, y = a[0], a[1]
    sx = sy = mass = 0.0
    for c in range(count):
        i, j = runs[c, 0], runs[c, 1]
        xs, ys, ws = px[i:j], py[i:j], weights[i:j]  # slices: no index of theirs can be negative
        for t in range(len(xs)):
            dx, dy = xs[t] - x, ys[t] - y
            w = ws[t] if dx * dx + dy * dy <= _EDGE else 0.0
            sx += w * dx
            sy += w * dy
            mass += w
    step[0], step[1] = sx, sy
    return mass


@compiled(fastmath=FAST)
def flat_sums(columns, weights, runs, count, a, step, w):  # type: ignore[no-untyped-def]
    """Sum over the points of the runs that are no farther than one."""
    if len(a) == 2:
        return _row_sums(columns[0], columns[1], weights, runs, count, a, step)
    mass = 0.0
    step[:] = 0.0
    for c in range(count):
        for i in range(runs[c, 0], runs[c, 1], TILE):
            j = min(i + TILE, runs[c, 1])
            _distances(columns, i, j, a, w)
            held = weights[i:j]
            for t in range(len(held)):
                w[t] = held[t] if w[t] <= _EDGE else 0.0
            mass += _add(columns, i, j, a, w, step)
    return mass


@compiled(fastmath=FAST)
def gaussian_sums(columns, weights, runs, count, offset, tilt, a, step, w, bits, spread):  # type: ignore[no-untyped-def]
    """Sum w exp((offset - |x - a|²)/2 + tilt |x - a|); with `spread`, of (x - a)(x - a)ᵀ too."""
    mass = 0.0
    step[:] = 0.0
    spread[:] = 0.0
    for c in range(count):
        for i in range(runs[c, 0], runs[c, 1], TILE):
            j = min(i + TILE, runs[c, 1])
            _distances(columns, i, j, a, w)
            if tilt:
                for t in range(j - i):
                    w[t] = 0.5 * (offset - w[t]) + tilt * np.sqrt(w[t])
            else:
                for t in range(j - i):
                    w[t] = 0.5 * (offset - w[t])
            exp_tile(w, bits, j - i, LOWEST)
            held = weights[i:j]
            for t in range(len(held)):
                w[t] *= held[t]
            mass += _add(columns, i, j, a, w, step)
            for k in range(len(spread)):
                one, here = columns[k, i:j], a[k]
                for m in range(k + 1):
                    other, there, total = columns[m, i:j], a[m], 0.0
                    for t in range(len(one)):
                        total += w[t] * (one[t] - here) * (other[t] - there)
                    spread[k, m] += total
    return mass


@compiled(fastmath=FAST)
def nearest(columns, a, w):  # type: ignore[no-untyped-def]
    """Return the least squared distance to a point."""
    n, least = columns.shape[1], np.inf
    for i in range(0, n, TILE):
        j = min(i + TILE, n)
        _distances(columns, i, j, a, w)
        for t in range(j - i):
            least = min(least, w[t])
    return least


_leaves = "MATRIX DENSE_VECTOR INDICES MATRIX MATRIX"  # columns, weights, first, low, high
_totals = "MATRIX DENSE_VECTOR"  # sums, masses
_limits = "FLOAT FLOAT FLOAT"  # reach, floor, and a tolerance or a tilt

#: The leaves near a point serve all points this near to it, in bandwidths.
_SLACK, _LEAST_SLACK = 0.25, 0.05


@compiled(fastmath=FAST)
def _apart(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(len(a)):
        total += (a[k] - b[k]) ** 2
    return total


@compiled(fastmath=FAST)
def _captured(modes, radii, a):  # type: ignore[no-untyped-def]
    """Return the first mode in whose ball a lies; -1 where there is none."""
    for m in range(len(modes)):
        if _apart(modes[m], a) < radii[m] * radii[m]:
            return m
    return -1


@entry(f"{_leaves} {_totals} FLOAT INT OUT_MATRIX OUT_VECTOR OUT_INDICES")
def ascend_flat(columns, weights, first, low, high, sums, masses, tol, max_iter, x, mass, steps):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.mean_shift.ascend`; x holds the starts, and the ends afterwards.

    The number of steps is negative where an ascent did not converge.
    """
    n_leaves, d = low.shape
    runs, w = np.empty((n_leaves, 2), np.int64), np.empty(TILE)
    step, seen, inside = np.empty(d), np.empty(d), np.empty(d)
    for r in range(len(x)):
        a, here = x[r], read_only(x[r])
        moved, slack, away, total = np.inf, _SLACK, np.inf, 0.0
        while steps[r] < max_iter and moved > tol:
            if away > slack:
                for k in range(d):
                    seen[k] = a[k]
                slack = min(_SLACK, max(_LEAST_SLACK, 2.0 * moved))
                count, held = leaves_near_boundary(first, low, high, sums, masses, here, slack, runs, inside)
                away = 0.0
            total = held + flat_sums(columns, weights, runs, count, here, step, w)
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


@entry(f"{_leaves} {_limits} INT MATRIX DENSE_VECTOR OUT_MATRIX OUT_VECTOR OUT_INDICES OUT_INDICES")
def ascend_gaussian(  # type: ignore[no-untyped-def]
    columns, weights, first, low, high, reach, floor, tol, max_iter, modes, radii, x, mass, steps, basins
):
    """See `tractable.primitives.mean_shift.ascend`; x holds the starts, and the ends afterwards.

    The number of steps is negative where an ascent did not converge.
    """
    n_leaves, d = low.shape
    runs, everything = np.empty((n_leaves, 2), np.int64), np.empty((1, 2), np.int64)
    everything[0, 0], everything[0, 1] = 0, columns.shape[1]
    w, bits, step = np.empty(TILE), np.empty(TILE, np.int64), np.empty(d)
    seen, none = np.empty(d), np.empty((0, 0))
    for r in range(len(x)):
        a, here = x[r], read_only(x[r])
        moved, away = np.inf, np.inf
        basins[r] = _captured(modes, radii, here)
        while steps[r] < max_iter and moved > tol and basins[r] < 0:
            if away > _SLACK:
                for k in range(d):
                    seen[k] = a[k]
                count = leaves_within(first, low, high, here, reach + _SLACK, runs)
            total = gaussian_sums(columns, weights, runs, count, 0.0, 0.0, here, step, w, bits, none)
            if not total >= floor:
                offset = nearest(columns, here, w)
                total = gaussian_sums(
                    columns, weights, everything, len(everything), offset, 0.0, here, step, w, bits, none
                )
            mass[r] = total
            moved = 0.0
            for k in range(d):
                a[k] += step[k] / total
                moved += (step[k] / total) ** 2
            moved = np.sqrt(moved)
            away = np.sqrt(_apart(a, seen))
            steps[r] += 1
            basins[r] = _captured(modes, radii, here)
        if not (basins[r] >= 0 or moved <= tol):
            steps[r] = -steps[r]


@entry(f"{_leaves} {_limits} MATRIX OUT_VECTOR OUT_MATRIX OUT_MATRICES")
def expand(columns, weights, first, low, high, reach, floor, tilt, x, heights, shifts, spreads):  # type: ignore[no-untyped-def]
    n_leaves, d = low.shape
    runs, everything = np.empty((n_leaves, 2), np.int64), np.empty((1, 2), np.int64)
    everything[0, 0], everything[0, 1] = 0, columns.shape[1]
    w, bits, step, spread = np.empty(TILE), np.empty(TILE, np.int64), np.empty(d), np.empty((d, d))
    for r in range(len(x)):
        a, offset = x[r], 0.0
        count = leaves_within(first, low, high, a, reach, runs)
        mass = gaussian_sums(columns, weights, runs, count, offset, tilt, a, step, w, bits, spread)
        if not mass >= floor:
            offset = nearest(columns, a, w)
            mass = gaussian_sums(
                columns, weights, everything, len(everything), offset, tilt, a, step, w, bits, spread
            )
        heights[r] = np.log(mass) - 0.5 * offset
        for k in range(d):
            shifts[r, k] = step[k] / mass
        for k in range(d):
            for m in range(k + 1):
                spreads[r, k, m] = spread[k, m] / mass - shifts[r, k] * shifts[r, m]
                spreads[r, m, k] = spreads[r, k, m]
