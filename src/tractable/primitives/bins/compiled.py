"""Counts in the bins of a grid, linear binning, and Bayesian blocks."""

import numpy as np

from tractable.primitives.compiled_options import compiled, entry

#: Numbers binned at a time: their bins fit the first-level cache.
_TILE = 1024

#: Parts of a bin from an edge within which arithmetic is not believed.
_NEAR = 1e-6


@entry("DENSE_VECTOR DENSE_VECTOR DENSE_VECTOR FLOAT", fastmath=False)
def count_numbers(x, weights, edges, scale):  # type: ignore[no-untyped-def]
    """Count numbers in bins; see `tractable.primitives.bins.bin_counts`."""
    n = len(edges) - 1
    positions = np.empty(_TILE, dtype=np.int32)
    table = _table(edges) if scale == 0.0 else np.empty(0, dtype=np.int64)
    # Whole numbers, and four tables of them: one sum need not wait for the one before it.
    seen, heavy = np.zeros((4, n + 1), dtype=np.int64), np.zeros(n + 1)
    for start in range(0, len(x), _TILE):
        tile = x[start : start + _TILE]
        if scale > 0.0:
            _find_even_bins(tile, edges, n, scale, positions)
        else:
            _find_bins_by_table(tile, edges, n, table, positions)
        if len(weights):
            for i in range(len(tile)):
                heavy[positions[i]] += weights[start + i]
        else:
            _count(positions, len(tile), seen)
    for k in range(n + 1):
        heavy[k] += (seen[0, k] + seen[1, k]) + (seen[2, k] + seen[3, k])
    return heavy[1:].copy(), heavy[0]


@compiled()
def _find_even_bins(tile, edges, n, scale, positions):  # type: ignore[no-untyped-def]
    """Bins from 1 of numbers, 0 outside: by arithmetic, and by comparing where an edge is near."""
    low, high, doubtful = edges[0], edges[n], np.int32(0)
    for i in range(len(tile)):
        v = tile[i]
        inside = (v >= low) & (v <= high)
        t = ((v if inside else low) - low) * scale
        bin_ = np.int32(t)
        part = t - bin_
        doubtful += np.int32(((part < _NEAR) | (part > 1.0 - _NEAR)) & inside)
        positions[i] = np.int32(bin_ + 1) if inside else np.int32(0)
    if doubtful:
        for i in range(len(tile)):
            positions[i] = _find_bin(tile[i], edges, 0, n, scale) + 1


@compiled()
def _table(edges):  # type: ignore[no-untyped-def]
    """How many inner edges lie in even cells before each: between which edges a cell's numbers are sought."""
    n = len(edges) - 1
    table = np.zeros(4 * n + 2, dtype=np.int64)
    for k in range(1, n):
        table[_even_cell(edges[k], edges[0], edges[n], 4 * n) + 1] += 1
    for cell in range(1, len(table)):
        table[cell] += table[cell - 1]
    return table


@compiled(inline="always")
def _even_cell(v, low, high, n):  # type: ignore[no-untyped-def]
    """The index of a number among n even cells: monotone in the number, which is all that is needed."""
    return min(max(int((0.5 * v - 0.5 * low) / (0.5 * high - 0.5 * low) * n), 0), n)


@compiled()
def _find_bins_by_table(tile, edges, n, table, positions):  # type: ignore[no-untyped-def]
    """Bins from 1 of numbers, 0 outside: searched among the edges of their even cell."""
    for i in range(len(tile)):
        v = tile[i]
        positions[i] = 0
        if v >= edges[0] and v <= edges[n]:
            cell = _even_cell(v, edges[0], edges[n], 4 * n)
            bin_, above = table[cell], table[cell + 1]
            while bin_ < above:
                middle = (bin_ + above) >> 1
                if v >= edges[middle + 1]:
                    bin_ = middle + 1
                else:
                    above = middle
            positions[i] = bin_ + 1


@compiled()
def _count(positions, m, seen):  # type: ignore[no-untyped-def]
    one, two, three, four = seen[0], seen[1], seen[2], seen[3]
    whole = m - m % 4
    for i in range(0, whole, 4):
        one[positions[i]] += 1
        two[positions[i + 1]] += 1
        three[positions[i + 2]] += 1
        four[positions[i + 3]] += 1
    for i in range(whole, m):
        one[positions[i]] += 1


@entry("ROWS DENSE_VECTOR DENSE_VECTOR INDICES DENSE_VECTOR", fastmath=False)
def count_rows(x, weights, edges, starts, scales):  # type: ignore[no-untyped-def]
    """Count rows in cells; the edges of all axes are one array, those of axis j begin at starts[j]."""
    counts, outside = np.zeros(_n_cells(starts)), 0.0
    for i in range(len(x)):
        weight = weights[i] if len(weights) else 1.0
        cell = 0
        for j in range(len(scales)):
            n = starts[j + 1] - starts[j] - 1
            bin_ = _find_bin(x[i, j], edges, starts[j], n, scales[j])
            cell = cell * n + bin_
            if bin_ < 0:
                cell = -1
                break
        if cell < 0:
            outside += weight
        else:
            counts[cell] += weight
    return counts, outside


@entry("ROWS DENSE_VECTOR DENSE_VECTOR INDICES DENSE_VECTOR", fastmath=False)
def split_rows(x, weights, edges, starts, scales):  # type: ignore[no-untyped-def]
    """Share each row between the cells whose middles surround it."""
    d = len(scales)
    counts, outside = np.zeros(_n_cells(starts)), 0.0
    positions, fractions = np.empty((d, 2), dtype=np.int64), np.empty((d, 2))
    for i in range(len(x)):
        weight = weights[i] if len(weights) else 1.0
        inside = True
        for j in range(d):
            n = starts[j + 1] - starts[j] - 1
            bin_ = _find_bin(x[i, j], edges, starts[j], n, scales[j])
            inside = inside and bin_ >= 0
            if not inside:
                break
            _split(x[i, j], edges, starts[j], n, bin_, positions[j], fractions[j])
        if not inside:
            outside += weight
            continue
        for corner in range(1 << d):
            cell, fraction = 0, weight
            for j in range(d):
                side = (corner >> j) & 1
                cell = cell * (starts[j + 1] - starts[j] - 1) + positions[j, side]
                fraction *= fractions[j, side]
            counts[cell] += fraction
    return counts, outside


@compiled(inline="always")
def _find_bin(v, edges, first, n, scale):  # type: ignore[no-untyped-def]
    """The bin of a number, -1 outside; edges decide, arithmetic only says which to look at."""
    low = edges[first]
    if not (v >= low and v <= edges[first + n]):
        return -1
    if scale > 0.0:
        bin_ = min(int((v - low) * scale), n - 1)
        if v < edges[first + bin_]:
            return bin_ - 1
        if bin_ < n - 1 and v >= edges[first + bin_ + 1]:
            return bin_ + 1
        return bin_
    bin_, above = 0, n
    while above - bin_ > 1:
        middle = (bin_ + above) >> 1
        if v >= edges[first + middle]:
            bin_ = middle
        else:
            above = middle
    return bin_


@compiled(inline="always")
def _split(v, edges, first, n, bin_, positions, fractions):  # type: ignore[no-untyped-def]
    """The bin of a number and the neighbour it leans to, and how much each has of it."""
    own = 0.5 * edges[first + bin_] + 0.5 * edges[first + bin_ + 1]
    other = bin_ - 1 if v < own else bin_ + 1
    positions[0], positions[1], fractions[0], fractions[1] = bin_, bin_, 1.0, 0.0
    if 0 <= other < n:
        gap = 0.5 * edges[first + other] + 0.5 * edges[first + other + 1] - own
        positions[1], fractions[1] = other, (v - own) / gap
        fractions[0] = 1.0 - fractions[1]


@compiled()
def _n_cells(starts):  # type: ignore[no-untyped-def]
    cells = 1
    for j in range(len(starts) - 1):
        cells *= starts[j + 1] - starts[j] - 1
    return cells


@entry("DENSE_VECTOR DENSE_VECTOR FLOAT FLOAT INT", fastmath=False)
def linear_binning(x, weights, low, step, n):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.bins.linear_binning`; empty weights are ones."""
    masses = np.zeros(n)
    for i in range(len(x)):
        bin_ = (x[i] - low) / step
        k = min(max(int(bin_), 0), n - 2)
        fraction = bin_ - k
        w = weights[i] if weights.size else 1.0
        masses[k] += w * (1.0 - fraction)
        masses[k + 1] += w * fraction
    return masses


@entry("DENSE_VECTOR DENSE_VECTOR FLOAT", fastmath=False)
def best_blocks(mass, positions, penalty):  # type: ignore[no-untyped-def]
    m = len(mass)
    total = np.zeros(m + 1)
    for i in range(m):
        total[i + 1] = total[i] + mass[i]
    best, last = np.zeros(m + 1), np.zeros(m + 1, dtype=np.int64)
    starts, found, n = np.zeros(m + 1, dtype=np.int64), np.empty(m + 1), 1
    for end in range(1, m + 1):
        top = -np.inf
        for k in range(n):
            s = starts[k]
            weight = total[end] - total[s]
            fitness = weight * np.log(weight / (positions[end] - positions[s])) if weight > 0.0 else 0.0
            found[k] = best[s] + fitness
            if found[k] > top:
                top, last[end] = found[k], s
        best[end] = top - penalty
        # What is behind even the best that pays for another block stays behind; rounding is allowed for.
        bar, stored = best[end] - 1e-9 * (1.0 + abs(top)), 0
        for k in range(n):
            if found[k] >= bar:
                starts[stored] = starts[k]
                stored += 1
        starts[stored] = end
        n = stored + 1
    ends, k, bin_ = np.empty(m + 1, dtype=np.int64), 0, m
    while bin_ > 0:
        ends[k] = bin_
        bin_ = last[bin_]
        k += 1
    ends[k] = 0
    return ends[: k + 1][::-1].copy()
