"""The functions of `tractable.primitives.neighbors` in the array API."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.primitives import SILENT


@SILENT
def nearest(
    x: Array, points: Array, k: int, form: str = "euclidean", order: float = 2.0
) -> tuple[Array, Array]:
    return smallest(distances(x, points, form, order), k)


def smallest(every: Array, k: int) -> tuple[Array, Array]:
    """Return the k smallest of each row (m, n), and their indices; of equals those of smaller index."""
    xp = namespace_of(every)
    if is_numpy_array(every) and 4 * k < every.shape[1]:
        return _selected(every, k)
    ranks = xp.argsort(every, axis=1, stable=True)[:, :k]
    return xp.take_along_axis(every, ranks, axis=1), ranks


def _selected(every: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what `smallest` does, without a sort of all."""
    limit = np.partition(every, k - 1, axis=1)[:, k - 1 : k]
    rows, indices = np.nonzero(every <= limit)
    apart = every[rows, indices]
    order = np.lexsort((apart, rows))  # stable: indices rise already
    counts = np.bincount(rows, minlength=len(every))
    first = (np.cumsum(counts) - counts)[:, None] + np.arange(k)
    return apart[order][first], indices[order][first]


@SILENT
def within(
    x: Array, points: Array, radii: Array, form: str = "euclidean", order: float = 2.0
) -> tuple[Array, Array, Array]:
    return up_to(distances(x, points, form, order), radii)


def up_to(every: Array, radii: Array) -> tuple[Array, Array, Array]:
    """Return rows, columns and entries (m, n) no larger than their row's radius, by row, size and column."""
    xp = namespace_of(every)
    ranks = xp.argsort(every, axis=1, stable=True)
    every = xp.take_along_axis(every, ranks, axis=1)
    rows, columns = xp.nonzero(every <= radii[:, None])
    flat = rows * every.shape[1] + columns
    return rows, xp.take(xp.reshape(ranks, (-1,)), flat), xp.take(xp.reshape(every, (-1,)), flat)


#: The distances that SciPy adds up coordinate by coordinate too: the same bits as the loop below, sooner.
IN_SCIPY = {"euclidean": "euclidean", "manhattan": "cityblock", "chebyshev": "chebyshev"}


def distances(x: Array, points: Array, form: str = "euclidean", order: float = 2.0) -> Array:
    """Return the distances of all pairs, (m, n), coordinate by coordinate."""
    if is_numpy_array(x) and x.dtype == points.dtype == np.float64 and form in IN_SCIPY:
        return _in_scipy(x, points, form)
    xp = namespace_of(x, points)
    return _of_steps(xp, [xp.abs(x[:, j : j + 1] - points[:, j]) for j in range(x.shape[1])], form, order)


def _in_scipy(x: np.ndarray, points: np.ndarray, form: str) -> np.ndarray:
    """Return the distances of all pairs; those whose squares may have overflowed or vanished once more."""
    from scipy.spatial.distance import cdist

    every = cdist(x, points, IN_SCIPY[form])
    if form == "euclidean":
        edge = _edge(np, every)
        rows, columns = np.nonzero((every < 1.0 / edge) | ~(every < edge))
        if len(rows):
            every[rows, columns] = _of_steps(np, list(np.abs(x[rows] - points[columns]).T), form)
    return every


def _of_steps(xp: Any, steps: list[Array], form: str, order: float = 2.0) -> Array:
    """Return the distances of pairs, given how far apart they are in each coordinate."""
    total = xp.zeros_like(steps[0])
    if form == "euclidean":
        return _euclidean(xp, steps, total)
    for step in steps:
        if form == "manhattan":
            total = total + step
        elif form == "hamming":
            total = total + xp.astype(step != 0.0, total.dtype)
        else:
            total = xp.maximum(total, step)
    if form == "hamming":
        return total / len(steps)
    return _minkowski(xp, steps, total, order) if form == "minkowski" else total


def _euclidean(xp: Any, steps: list[Array], zeros: Array) -> Array:
    """Squares of steps, over the largest where squares would overflow or vanish."""
    largest = zeros
    for step in steps:
        largest = xp.maximum(largest, step)
    edge = _edge(xp, zeros)
    extreme = (largest > edge) | ((largest < 1.0 / edge) & (largest > 0.0))
    unit = xp.where(extreme, largest, xp.ones_like(largest))
    total = zeros
    for step in steps:
        total = total + (step / unit) ** 2
    return unit * xp.sqrt(total)


def _edge(xp: Any, of: Array) -> float:
    """Return a distance below which squares do not overflow, and above whose inverse none vanishes."""
    return float(xp.finfo(of.dtype).max) ** 0.4


def _minkowski(xp: Any, steps: list[Array], largest: Array, order: float) -> Array:
    """Powers of steps over the largest: none overflows, whatever the order."""
    unit = xp.where(largest > 0.0, largest, xp.ones_like(largest))
    total = xp.zeros_like(largest)
    for step in steps:
        total = total + (step / unit) ** order
    return largest * total ** (1.0 / order)
