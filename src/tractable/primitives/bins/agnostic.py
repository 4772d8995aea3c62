"""The functions of `tractable.primitives.bins` in the array API."""

from collections.abc import Sequence
from functools import reduce
from itertools import product
from operator import and_
from typing import Any

import numpy as np

from tractable.arrays.grouping import weighted_counts
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.primitives import SILENT


def bin_counts(x: Array, weights: Any, edges: Sequence[Array]) -> tuple[Array, Any]:
    xp = namespace_of(x)
    one = _ones(x) if weights is None else weights
    columns = [find_cells(x[:, j], axis) for j, axis in enumerate(edges)]
    inside = reduce(and_, (found for _, found in columns))
    counts = _cell_counts([bin_ for bin_, _ in columns], xp.where(inside, one, xp.zeros_like(one)), edges)
    return counts, xp.sum(xp.where(inside, xp.zeros_like(one), one))


def linear_bin_counts(x: Array, weights: Any, edges: Sequence[Array]) -> tuple[Array, Any]:
    xp = namespace_of(x)
    one = _ones(x) if weights is None else weights
    columns = [_fractions(x[:, j], axis) for j, axis in enumerate(edges)]
    inside = reduce(and_, (found for _, _, _, found in columns))
    own = xp.where(inside, one, xp.zeros_like(one))
    counts = None
    for corner in product((0, 1), repeat=len(edges)):
        weight = own
        for (_, _, fraction, _), side in zip(columns, corner, strict=True):
            weight = weight * (fraction if side else 1.0 - fraction)
        bins = [column[side] for column, side in zip(columns, corner, strict=True)]
        part = _cell_counts(bins, weight, edges)
        counts = part if counts is None else counts + part
    return counts, xp.sum(xp.where(inside, xp.zeros_like(one), one))


def find_cells(x: Array, edges: Array) -> tuple[Array, Array]:
    """Return the bin of each number, and whether it is inside; outside, and for NaN, the bin is some bin."""
    xp = namespace_of(x, edges)
    inside = (x >= edges[0]) & (x <= edges[-1])
    safe = xp.reshape(xp.where(inside, x, xp.zeros_like(x) + edges[0]), (-1,))
    dtype = xp.result_type(safe, edges)
    positions = xp.searchsorted(xp.astype(edges[1:-1], dtype), xp.astype(safe, dtype), side="right")
    return xp.reshape(xp.astype(positions, xp.int64), tuple(x.shape)), inside


def _fractions(x: Array, edges: Array) -> tuple[Array, Array, Array, Array]:
    """Return the bin of each number, the next nearest bin, the fraction of that one, and which are inside."""
    xp = namespace_of(x, edges)
    bin_, inside = find_cells(x, edges)
    middles = 0.5 * edges[:-1] + 0.5 * edges[1:]
    own = xp.take(middles, bin_)
    leaning = xp.where(x < own, bin_ - 1, bin_ + 1)
    other = xp.clip(leaning, 0, middles.shape[0] - 1)
    gap = xp.take(middles, other) - own
    some = inside & (gap != 0.0)
    fraction = xp.where(some, x - own, xp.zeros_like(x)) / xp.where(some, gap, xp.ones_like(x))
    return bin_, other, fraction, inside


def _cell_counts(positions: Sequence[Array], fractions: Array, edges: Sequence[Array]) -> Array:
    xp = namespace_of(fractions)
    shape = tuple(int(axis.shape[0]) - 1 for axis in edges)
    flat, n_cells = xp.zeros_like(positions[0]), 1
    for bin_, n in zip(positions, shape, strict=True):
        flat, n_cells = flat * n + bin_, n_cells * n
    return xp.reshape(weighted_counts(flat, fractions, n_cells), shape)


def linear_binning(x: np.ndarray, weights: Any, low: float, step: float, n: int) -> np.ndarray:
    at = (x - low) / step
    node = np.clip(at.astype(np.int64), 0, n - 2)
    w = np.ones(len(x)) if weights is None else weights
    upper = w * (at - node)
    return np.bincount(node, w - upper, n) + np.bincount(node + 1, upper, n)


def _ones(x: Array) -> Array:
    return namespace_of(x).ones(x.shape[0], dtype=x.dtype, device=device(x))


@SILENT
def best_blocks(mass: Array, positions: Array, penalty: float) -> Array:
    xp = namespace_of(mass)
    total = xp.concat([xp.zeros_like(mass[:1]), xp.cumulative_sum(mass)])
    best, last = total[:1] * 0.0, [0]
    for end in range(1, int(mass.shape[0]) + 1):
        weight, length = total[end] - total[:end], positions[end] - positions[:end]
        some = weight > 0
        fitness = weight * xp.log(xp.where(some, weight, xp.ones_like(weight)) / length)
        found = best + xp.where(some, fitness, xp.zeros_like(fitness))
        start = int(xp.argmax(found))
        best = xp.concat([best, (found[start] - penalty)[None]])
        last.append(start)
    ends = [int(mass.shape[0])]
    while ends[-1] > 0:
        ends.append(last[ends[-1]])
    return xp.asarray(ends[::-1], dtype=xp.int64, device=device(mass))
