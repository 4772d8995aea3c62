"""Counts in the bins of a grid, linear binning, and Bayesian blocks."""

import numpy as np
from numba import njit

__all__ = ["best_blocks", "count_numbers", "count_rows", "linear_binning", "split_rows"]

#: Numbers placed at a time: their places fit the first-level cache.
_TILE = 1024

#: Parts of a bin from an edge within which arithmetic is not believed.
_NEAR = 1e-6


@njit(nogil=True, cache=True)
def count_numbers(
    x: np.ndarray, weights: np.ndarray, edges: np.ndarray, scale: float
) -> tuple[np.ndarray, float]:
    """Count numbers in bins; see `tractable.primitives.bins.bin_counts`."""
    n = len(edges) - 1
    places = np.empty(_TILE, dtype=np.int32)
    table = _table(edges) if scale == 0.0 else np.empty(0, dtype=np.int64)
    # Whole numbers, and four tables of them: one sum need not wait for the one before it.
    seen, heavy = np.zeros((4, n + 1), dtype=np.int64), np.zeros(n + 1)
    for start in range(0, len(x), _TILE):
        tile = x[start : start + _TILE]
        if scale > 0.0:
            _place_evenly(tile, edges, n, scale, places)
        else:
            _place_by_table(tile, edges, n, table, places)
        if len(weights):
            for i in range(len(tile)):
                heavy[places[i]] += weights[start + i]
        else:
            _count(places, len(tile), seen)
    total = heavy + (seen[0] + seen[1]) + (seen[2] + seen[3])
    return total[1:].copy(), total[0]


@njit(nogil=True, cache=True)
def _place_evenly(tile, edges, n, scale, places):  # type: ignore[no-untyped-def]
    """Bins from 1 of numbers, 0 outside: by arithmetic, and by comparing where an edge is near."""
    low, high, doubtful = edges[0], edges[n], np.int32(0)
    for i in range(len(tile)):
        v = tile[i]
        inside = (v >= low) & (v <= high)
        t = ((v if inside else low) - low) * scale
        place = np.int32(t)
        part = t - place
        doubtful += np.int32(((part < _NEAR) | (part > 1.0 - _NEAR)) & inside)
        places[i] = np.int32(place + 1) if inside else np.int32(0)
    if doubtful:
        for i in range(len(tile)):
            places[i] = _place(tile[i], edges, 0, n, scale) + 1


@njit(nogil=True, cache=True)
def _table(edges):  # type: ignore[no-untyped-def]
    """How many inner edges lie in even cells before each: between which edges a cell's numbers are sought."""
    n = len(edges) - 1
    table = np.zeros(4 * n + 2, dtype=np.int64)
    for k in range(1, n):
        table[_even_cell(edges[k], edges[0], edges[n], 4 * n) + 1] += 1
    return np.cumsum(table)


@njit(nogil=True, cache=True, inline="always")
def _even_cell(v, low, high, n):  # type: ignore[no-untyped-def]
    """A number's place among n even cells: it never falls where the number rises, and no more is needed."""
    return min(max(int((0.5 * v - 0.5 * low) / (0.5 * high - 0.5 * low) * n), 0), n)


@njit(nogil=True, cache=True)
def _place_by_table(tile, edges, n, table, places):  # type: ignore[no-untyped-def]
    """Bins from 1 of numbers, 0 outside: searched among the edges of their even cell."""
    for i in range(len(tile)):
        v = tile[i]
        places[i] = 0
        if v >= edges[0] and v <= edges[n]:
            cell = _even_cell(v, edges[0], edges[n], 4 * n)
            place, above = table[cell], table[cell + 1]
            while place < above:
                middle = (place + above) >> 1
                if v >= edges[middle + 1]:
                    place = middle + 1
                else:
                    above = middle
            places[i] = place + 1


@njit(nogil=True, cache=True)
def _count(places, m, seen):  # type: ignore[no-untyped-def]
    one, two, three, four = seen[0], seen[1], seen[2], seen[3]
    whole = m - m % 4
    for i in range(0, whole, 4):
        one[places[i]] += 1
        two[places[i + 1]] += 1
        three[places[i + 2]] += 1
        four[places[i + 3]] += 1
    for i in range(whole, m):
        one[places[i]] += 1


@njit(nogil=True, cache=True)
def count_rows(
    x: np.ndarray, weights: np.ndarray, edges: np.ndarray, starts: np.ndarray, scales: np.ndarray
) -> tuple[np.ndarray, float]:
    """Count rows in cells; the edges of all axes are one array, those of axis j begin at starts[j]."""
    counts, outside = np.zeros(_n_cells(starts)), 0.0
    for i in range(len(x)):
        weight = weights[i] if len(weights) else 1.0
        cell = 0
        for j in range(len(scales)):
            n = starts[j + 1] - starts[j] - 1
            place = _place(x[i, j], edges, starts[j], n, scales[j])
            cell = cell * n + place
            if place < 0:
                cell = -1
                break
        if cell < 0:
            outside += weight
        else:
            counts[cell] += weight
    return counts, outside


@njit(nogil=True, cache=True)
def split_rows(
    x: np.ndarray, weights: np.ndarray, edges: np.ndarray, starts: np.ndarray, scales: np.ndarray
) -> tuple[np.ndarray, float]:
    """Share each row between the cells whose middles surround it."""
    d = len(scales)
    counts, outside = np.zeros(_n_cells(starts)), 0.0
    places, shares = np.empty((d, 2), dtype=np.int64), np.empty((d, 2))
    for i in range(len(x)):
        weight = weights[i] if len(weights) else 1.0
        inside = True
        for j in range(d):
            n = starts[j + 1] - starts[j] - 1
            place = _place(x[i, j], edges, starts[j], n, scales[j])
            inside = inside and place >= 0
            if not inside:
                break
            _lean(x[i, j], edges, starts[j], n, place, places[j], shares[j])
        if not inside:
            outside += weight
            continue
        for corner in range(1 << d):
            cell, share = 0, weight
            for j in range(d):
                side = (corner >> j) & 1
                cell = cell * (starts[j + 1] - starts[j] - 1) + places[j, side]
                share *= shares[j, side]
            counts[cell] += share
    return counts, outside


@njit(nogil=True, cache=True, inline="always")
def _place(v, edges, first, n, scale):  # type: ignore[no-untyped-def]
    """The bin of a number, -1 outside; edges decide, arithmetic only says which to look at."""
    low = edges[first]
    if not (v >= low and v <= edges[first + n]):
        return -1
    if scale > 0.0:
        place = min(int((v - low) * scale), n - 1)
        if v < edges[first + place]:
            return place - 1
        if place < n - 1 and v >= edges[first + place + 1]:
            return place + 1
        return place
    place, above = 0, n
    while above - place > 1:
        middle = (place + above) >> 1
        if v >= edges[first + middle]:
            place = middle
        else:
            above = middle
    return place


@njit(nogil=True, cache=True, inline="always")
def _lean(v, edges, first, n, place, places, shares):  # type: ignore[no-untyped-def]
    """The bin of a number and the neighbour it leans to, and how much each has of it."""
    own = 0.5 * edges[first + place] + 0.5 * edges[first + place + 1]
    other = place - 1 if v < own else place + 1
    places[0], places[1], shares[0], shares[1] = place, place, 1.0, 0.0
    if 0 <= other < n:
        gap = 0.5 * edges[first + other] + 0.5 * edges[first + other + 1] - own
        places[1], shares[1] = other, (v - own) / gap
        shares[0] = 1.0 - shares[1]


@njit(nogil=True, cache=True)
def _n_cells(starts):  # type: ignore[no-untyped-def]
    cells = 1
    for j in range(len(starts) - 1):
        cells *= starts[j + 1] - starts[j] - 1
    return cells


@njit(nogil=True, cache=True, error_model="numpy")
def linear_binning(x: np.ndarray, weights: np.ndarray, low: float, step: float, n: int) -> np.ndarray:
    """See `tractable.primitives.bins.linear_binning`; empty weights are ones."""
    masses = np.zeros(n)
    for i in range(len(x)):
        place = (x[i] - low) / step
        k = min(max(int(place), 0), n - 2)
        share = place - k
        w = weights[i] if weights.size else 1.0
        masses[k] += w * (1.0 - share)
        masses[k + 1] += w * share
    return masses


@njit(nogil=True, cache=True)
def best_blocks(mass: np.ndarray, places: np.ndarray, penalty: float) -> np.ndarray:
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
