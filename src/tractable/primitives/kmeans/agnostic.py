"""The functions of `tractable.primitives.kmeans` in the array API."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.primitives import SILENT, squared_distances


def kmeans_plus_plus(x: Array, weights: Any, uniforms: Array) -> Array:
    xp = namespace_of(x)
    x = xp.astype(x, xp.float64)
    count = xp.ones(x.shape[0], dtype=xp.float64, device=device(x)) if weights is None else weights
    (first,) = _drawn(count, [float(uniforms[0, 0])])
    chosen = [first]
    closest = xp.sum((x - x[first, :]) ** 2, axis=1)
    for k in range(1, uniforms.shape[0]):
        levels = [float(uniforms[k, t]) for t in range(uniforms.shape[1])]
        if float(xp.sum(count * closest)) == 0.0:
            chosen += _drawn(count, levels[:1])
            continue
        tried = _drawn(count * closest, levels)
        candidates = xp.take(x, xp.asarray(tried, device=device(x)), axis=0)
        left = xp.minimum(closest[:, None], squared_distances(x, candidates))
        costs = [float(xp.sum(count * left[:, t])) for t in range(len(tried))]
        best = costs.index(min(costs))
        chosen.append(tried[best])
        closest = left[:, best]
    return xp.asarray(chosen, device=device(x))


def _drawn(mass: Array, levels: list[float]) -> list[int]:
    """Return the rows in which the cumulative mass first exceeds each share of the whole."""
    xp = namespace_of(mass)
    held = xp.cumulative_sum(mass)
    rows = [int(xp.sum(xp.astype(held <= u * held[-1], xp.int64))) for u in levels]
    last = int(xp.max(xp.nonzero(mass > 0)[0]))
    return [min(row, last) for row in rows]


@SILENT
def assign(x: Array, weights: Any, shift: Array, scale: float, centers: Array) -> dict[str, Any]:
    xp = namespace_of(x)
    x = (xp.astype(x, xp.float64) - shift) * scale
    distances = squared_distances(x, centers)
    labels = xp.argmin(distances, axis=1)
    own = xp.arange(centers.shape[0], device=device(x))
    indicator = xp.astype(labels[:, None] == own[None, :], xp.float64)
    indicator = indicator if weights is None else indicator * weights[:, None]
    return {
        "labels": labels,
        "sums": indicator.T @ x,
        "counts": xp.sum(indicator, axis=0),
        "cost": xp.sum(indicator * distances),
    }


@SILENT
def reassign(
    x: np.ndarray, weights: Any, shift: np.ndarray, scale: float, centers: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float, float, int]:
    """Give rows to their nearest centres; labels are changed in place."""
    z = (np.asarray(x, dtype=np.float64) - shift) * scale
    nearest = _nearest(z, centers)
    rows = np.flatnonzero(nearest != labels)
    new, old = nearest[rows], labels[rows]
    labels[rows] = new
    known = old >= 0
    w = np.ones(len(rows)) if weights is None else weights[rows]
    to_new = w * np.sum((z[rows] - centers[new]) ** 2, axis=1)
    to_old = w[known] * np.sum((z[rows[known]] - centers[old[known]]) ** 2, axis=1)
    gain = np.maximum(to_old - to_new[known], 0.0).sum()
    came, went = (
        _indicators(k, w[some], len(centers)).T for k, some in ((new, slice(None)), (old[known], known))
    )
    sums = came @ z[rows] - went @ z[rows[known]]
    counts = came.sum(axis=1) - went.sum(axis=1)
    return sums, counts, float(to_new[~known].sum()), float(gain), len(rows)


def _nearest(z: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return argmin_k |z - c_k|², by |c_k|² - 2 c_k·z where rounding leaves no doubt, else by differences."""
    if len(centers) == 1:
        return np.zeros(len(z), np.int64)
    squares = np.sum(centers * centers, axis=1)
    scores = squares - 2.0 * (z @ centers.T)
    longest = np.sqrt(np.max(squares))
    reach = 2.0 * np.sqrt(np.sum(z * z, axis=1)) * longest + longest * longest
    two = np.partition(scores, 1, axis=1)
    doubtful = np.flatnonzero(~(two[:, 1] - two[:, 0] > (z.shape[1] + 6) * 2.0**-52 * reach))
    found = np.argmin(scores, axis=1)
    found[doubtful] = np.argmin(squared_distances(z[doubtful], centers), axis=1)
    return found


@SILENT
def cluster_sums(
    x: np.ndarray, weights: Any, shift: np.ndarray, scale: float, centers: np.ndarray, labels: np.ndarray
) -> dict[str, Any]:
    z = (np.asarray(x, dtype=np.float64) - shift) * scale
    distances = np.sum((z - centers[labels]) ** 2, axis=1)
    w = np.ones(len(z)) if weights is None else weights
    counted = np.where(w > 0.0, distances, -1.0)
    row = int(np.argmax(counted)) if np.any(w > 0.0) else -1
    indicators = _indicators(labels, w, len(centers))
    return {
        "sums": indicators.T @ z,
        "counts": indicators.sum(axis=0),
        "cost": float(w @ distances),
        "away": float(counted[row]) if row >= 0 else -1.0,
        "row": row,
    }


def _indicators(labels: np.ndarray, weights: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the weight of each row in the column of its cluster, (n, K)."""
    found = np.zeros((len(labels), n_clusters))
    found[np.arange(len(labels)), labels] = weights
    return found


@SILENT
def distance_sums(x: Array, columns: Array, weights: Array, starts: Sequence[int]) -> Array:
    xp = namespace_of(x, columns)
    distances = xp.sqrt(squared_distances(x, columns.T)) * weights
    return xp.stack([xp.sum(distances[:, a:b], axis=1) for a, b in pairwise(starts)], axis=1)
