"""The functions of `tractable.primitives.kmeans` in the array API."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_extra import at

from tractable.arrays.grouping import sums_by_label, weighted_counts
from tractable.arrays.namespace import (
    Array,
    device,
    is_numpy_array,
    is_sparse,
    namespace_of,
)
from tractable.primitives import SILENT, as_double, squared_distances
from tractable.primitives.sparse_rows import sparse_squared_distances

#: Pairs of rows and centres on a device up to which ties that rounding decided are looked at again: each look
#: at all pairs of many rows takes as long as their product.
MOST_DOUBTED = 2**24


def kmeans_plus_plus(x: Any, weights: Any, uniforms: Array) -> Array:
    if is_sparse(x):
        place: dict[str, Any] = {}
        xp, count = np, np.ones(x.shape[0]) if weights is None else weights

        def measured(rows: list[int]) -> Array:
            return sparse_squared_distances(x, x[rows].toarray().astype(np.float64))
    else:
        xp, place = namespace_of(x), {"device": device(x)}
        x = xp.astype(x, xp.float64)
        count = xp.ones(x.shape[0], dtype=xp.float64, **place) if weights is None else weights

        def measured(rows: list[int]) -> Array:
            return squared_distances(x, xp.take(x, xp.asarray(rows, **place), axis=0))

    (first,) = _drawn(count, [float(uniforms[0, 0])])
    chosen = [first]
    closest = measured([first])[:, 0]
    for k in range(1, uniforms.shape[0]):
        levels = [float(uniforms[k, t]) for t in range(uniforms.shape[1])]
        if float(xp.sum(count * closest)) == 0.0:
            chosen += _drawn(count, levels[:1])
            continue
        tried = _drawn(count * closest, levels)
        left = xp.minimum(closest[:, None], measured(tried))
        costs = [float(xp.sum(count * left[:, t])) for t in range(len(tried))]
        best = costs.index(min(costs))
        chosen.append(tried[best])
        closest = left[:, best]
    return xp.asarray(chosen, **place)


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
    z = (as_double(x) - shift) * scale
    labels = nearest(z, centers)
    w = xp.ones_like(z[:, 0]) if weights is None else weights
    squares = xp.linalg.vector_norm(z - xp.take(centers, labels, axis=0), axis=1) ** 2
    return {
        "labels": labels,
        "sums": sums_by_label(labels, z if weights is None else z * w[:, None], centers.shape[0]),
        "counts": weighted_counts(labels, w, centers.shape[0]),
        "cost": w @ squares,
    }


def sparse_reassign(
    x: Any, weights: Any, points: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float, float, int]:
    """Give sparse rows to their nearest points; labels are changed in place."""
    squares = sparse_squared_distances(x, points)
    found = np.argmin(squares, axis=1)
    rows = np.flatnonzero(found != labels)
    new, old = found[rows], labels[rows]
    labels[rows] = new
    known = old >= 0
    w = np.ones(len(rows)) if weights is None else weights[rows]
    to_new, to_old = w * squares[rows, new], w[known] * squares[rows[known], old[known]]
    came, went = (
        sparse_sums(x[rows[some]], w[some], k, len(points))
        for k, some in ((new, slice(None)), (old[known], known))
    )
    gain = np.maximum(to_old - to_new[known], 0.0).sum()
    return came[0] - went[0], came[1] - went[1], float(to_new[~known].sum()), float(gain), len(rows)


def sparse_cluster_sums(
    x: Any, weights: Any, points: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float, float, int]:
    """Return sums, weights and cost of clusters of sparse rows, and the row farthest from its own."""
    squares = sparse_squared_distances(x, points)[np.arange(len(labels)), labels]
    w = np.ones(len(labels)) if weights is None else weights
    row = int(np.argmax(np.where(w > 0.0, squares, -1.0))) if np.any(w > 0.0) else -1
    sums, counts = sparse_sums(x, weights, labels, len(points))
    return sums, counts, float(w @ squares), float(squares[row]), row


def sparse_sums(x: Any, weights: Any, labels: np.ndarray, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Σ w x (K, d) and Σ w (K,) of the sparse rows of each cluster."""
    from scipy.sparse import csr_array

    n = len(labels)
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    indicators = csr_array((w, labels, np.arange(n + 1)), shape=(n, n_clusters)).T.tocsr()
    return (indicators @ csr_array(x)).toarray(), np.bincount(labels, w, minlength=n_clusters)


@SILENT
def reassign(
    x: np.ndarray, weights: Any, shift: np.ndarray, scale: float, centers: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float, float, int]:
    """Give rows to their nearest centres; labels are changed in place."""
    z = (np.asarray(x, dtype=np.float64) - shift) * scale
    found = nearest(z, centers)
    rows = np.flatnonzero(found != labels)
    new, old = found[rows], labels[rows]
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


def nearest(z: Array, centers: Array) -> Array:
    """Return argmin_k |z - c_k|², by |c_k|² - 2 c_k·z where rounding leaves no doubt, else by differences."""
    xp = namespace_of(z)
    squares = xp.sum(centers * centers, axis=1)
    # One product, of the rows with a column of ones, instead of a product and a sum over all pairs.
    scores = xp.concat([z, xp.ones_like(z[:, :1])], axis=1) @ xp.concat([-2.0 * centers.T, squares[None, :]])
    found = xp.argmin(scores, axis=1)
    if not is_numpy_array(z) and scores.shape[0] * scores.shape[1] > MOST_DOUBTED:
        return found
    longest = xp.sqrt(xp.max(squares))
    reach = 2.0 * xp.sqrt(xp.sum(z * z, axis=1)) * longest + longest * longest
    bound = xp.min(scores, axis=1) + (z.shape[1] + 7) * 2.0**-52 * reach
    # Written so that NaN is in doubt.
    doubtful = xp.nonzero(xp.count_nonzero(~(scores > bound[:, None]), axis=1) != 1)[0]
    if doubtful.shape[0]:
        near = xp.argmin(squared_distances(xp.take(z, doubtful, axis=0), centers), axis=1)
        found = at(found, doubtful).set(near)
    return found


@SILENT
def cluster_sums(
    x: Array, weights: Any, shift: Array, scale: float, centers: Array, labels: Array
) -> dict[str, Any]:
    xp = namespace_of(x)
    z = (xp.astype(x, xp.float64) - shift) * scale
    distances = xp.sum((z - xp.take(centers, labels, axis=0)) ** 2, axis=1)
    w = xp.ones_like(distances) if weights is None else weights
    counted = xp.where(w > 0.0, distances, -1.0)
    row = int(xp.argmax(counted)) if bool(xp.any(w > 0.0)) else -1
    own = xp.arange(centers.shape[0], device=device(x))
    indicators = xp.astype(labels[:, None] == own, xp.float64) * w[:, None]
    return {
        "sums": indicators.T @ z,
        "counts": xp.sum(indicators, axis=0),
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
