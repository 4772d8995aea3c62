"""The cells of a grid of bins: where they are, how large, who is inside, and points drawn in them."""

from collections.abc import Sequence
from functools import reduce
from math import log, prod
from operator import and_
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.arrays.random import moved
from tractable.primitives.bins import find_cells
from tractable.statistics.bin_counts import as_edges

__all__ = ["as_axes", "draw_in_cells", "find_flat", "is_axis", "log_volumes", "looked_up_cells", "middles"]


def is_axis(edges: Any) -> bool:
    """Whether edges are those of numbers, one array, rather than an array for each column."""
    first = edges if hasattr(edges, "ndim") else next(iter(edges), 0.0) if np.iterable(edges) else 0.0
    return edges.ndim == 1 if hasattr(edges, "ndim") else np.ndim(to_numpy(first)) == 0


def as_axes(edges: Any) -> tuple[Array, ...]:
    """Return the edges of each column, checked."""
    return tuple(as_edges("edges", axis) for axis in ([edges] if is_axis(edges) else edges))


def middles(axis: Array) -> Array:
    """Return the middle of each bin; where no number lies between its edges, the lower."""
    xp = namespace_of(axis)
    found = 0.5 * axis[:-1] + 0.5 * axis[1:]
    return xp.where(found < axis[1:], found, axis[:-1])


def log_volumes(axes: Sequence[Array]) -> Array:
    """Return the log of the volume of each cell, (b_1, …, b_d): neither tiny nor huge bins leave numbers."""
    xp, d = namespace_of(*axes), len(axes)
    terms = [
        xp.reshape(xp.log(0.5 * axis[1:] - 0.5 * axis[:-1]) + log(2.0), (1,) * j + (-1,) + (1,) * (d - 1 - j))
        for j, axis in enumerate(axes)
    ]
    return reduce(lambda a, b: a + b, terms)


def find_flat(columns: Sequence[Array], axes: Sequence[Array]) -> tuple[Array, Array]:
    """Return the number of the cell that holds each row, in C order, and whether one does."""
    found = [find_cells(x, axis) for x, axis in zip(columns, axes, strict=True)]
    flat = 0
    for (place, _), axis in zip(found, axes, strict=True):
        flat = flat * (int(axis.shape[0]) - 1) + place
    return flat, reduce(and_, (inside for _, inside in found))


def looked_up_cells(table: Array, flat: Array, n_batch: int) -> Array:
    """Return entries (*sample, *batch, *rest) of tables (*batch, cells, *rest) at cells (*sample, *batch)."""
    xp = namespace_of(table)
    batch, n_cells, rest = table.shape[:n_batch], table.shape[n_batch], table.shape[n_batch + 1 :]
    members = xp.reshape(xp.arange(prod(batch), dtype=xp.int64, device=device(table)), tuple(batch))
    index = flat + n_cells * members
    rows = xp.reshape(table, (prod(batch) * n_cells, *rest))
    return xp.reshape(xp.take(rows, xp.reshape(index, (-1,)), axis=0), (*index.shape, *rest))


def draw_in_cells(
    n: int, rng: np.random.Generator, shares: Array, axes: Sequence[Array], like: Array
) -> Array:
    """Draw n rows for each of a batch of shares (*batch, b_1, …, b_d): a cell, then a point within it."""
    d, n_batch = len(axes), shares.ndim - len(axes)
    batch, shape = tuple(shares.shape[:n_batch]), tuple(shares.shape[n_batch:])
    table = to_numpy(shares).astype(np.float64).reshape((prod(batch), prod(shape)))
    levels, within = rng.random((n, len(table))), rng.random((n, len(table), d))
    cells = np.empty((n, len(table)), dtype=np.int64)
    for k, share in enumerate(table):
        below = np.cumsum(share)
        cells[:, k] = np.searchsorted(below / below[-1], levels[:, k], side="right")
    out = np.empty((n, len(table), d), dtype=to_numpy(axes[0]).dtype)
    for j in range(d)[::-1]:
        cells, place = np.divmod(cells, shape[j])
        out[..., j] = _between(to_numpy(axes[j]), place, within[..., j])
    return moved(out.reshape((n, *batch, d)), like)


def _between(axis: np.ndarray, place: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return points of bins; never their upper edge, which is the next bin's."""
    low, high = axis[place], axis[place + 1]
    x = (low + 2.0 * (share * (0.5 * high - 0.5 * low))).astype(axis.dtype)
    return np.minimum(x, np.nextafter(high, low))
