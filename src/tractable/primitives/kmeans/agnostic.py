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


#: Candidates whose costs differ by no more than this part of the cost before are equal, and the first of them
#: is taken: of two rows far from all others either has the same cost, but for rounding.
SAME = 1e-12


def kmeans_plus_plus(x: Any, weights: Any, uniforms: Array) -> Array:
    if is_sparse(x):
        place: dict[str, Any] = {}
        xp, count = np, np.ones(x.shape[0]) if weights is None else weights

        def measured(rows: list[int]) -> Array:
            return sparse_squared_distances(x, x[rows].toarray().astype(np.float64)).T
    else:
        xp, place = namespace_of(x), {"device": device(x)}
        x = xp.astype(x, xp.float64, copy=False)
        count = xp.ones(x.shape[0], dtype=xp.float64, **place) if weights is None else weights

        def measured(rows: list[int]) -> Array:
            return squared_distances(x, xp.take(x, xp.asarray(rows, **place), axis=0)).T

    (first,) = _drawn(count, [float(uniforms[0, 0])])
    chosen = [first]
    closest = measured([first])[0, :]
    for k in range(1, uniforms.shape[0]):
        levels = [float(uniforms[k, t]) for t in range(uniforms.shape[1])]
        mass = count * closest
        if float(xp.sum(mass)) == 0.0:
            chosen += _drawn(count, levels[:1])
            continue
        tried = _drawn(mass, levels)
        left = xp.minimum(closest, measured(tried))
        costs = left @ count
        best = int(xp.argmax(xp.astype(costs <= xp.min(costs) + SAME * xp.sum(mass), xp.int64)))
        chosen.append(tried[best])
        closest = left[best, :]
    return xp.asarray(chosen, **place)


def _drawn(mass: Array, levels: list[float]) -> list[int]:
    """Return the rows in which the cumulative mass first exceeds each share of the whole."""
    xp = namespace_of(mass)
    held = xp.cumulative_sum(mass)
    if xp is np:
        rows = np.searchsorted(held, np.asarray(levels) * held[-1], side="right").tolist()
    else:
        rows = [int(xp.sum(xp.astype(held <= u * held[-1], xp.int64))) for u in levels]
    if max(rows) < mass.shape[0]:
        return rows
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
    moves, at = np.zeros((len(points), len(rows))), np.arange(len(rows))  # as large as the squares at most
    moves[new, at] = w
    moves[old[known], at[known]] -= w[known]
    gain = np.maximum(to_old - to_new[known], 0.0).sum()
    return moves @ x[rows], moves.sum(axis=1), float(to_new[~known].sum()), float(gain), len(rows)


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


#: Rows that are measured at once: their distances to some hundred centres stay in the cache.
BLOCK = 4096


@SILENT
def reassign(
    x: np.ndarray, weights: Any, shift: np.ndarray, scale: float, centers: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float, float, int]:
    """Give rows to their nearest centres; labels change in place. See `primitives.kmeans.reassign`."""
    parts = [slice(start, start + BLOCK) for start in range(0, len(x), BLOCK)]
    found = [
        _reassigned(
            (as_double(x[part]) - shift) * scale,
            None if weights is None else weights[part],
            centers,
            labels[part],
        )
        for part in parts
    ]
    nothing = np.zeros(centers.shape), np.zeros(len(centers)), 0.0, 0.0, 0
    return tuple(map(sum, zip(nothing, *found, strict=True)))  # type: ignore[return-value]


def _reassigned(
    z: np.ndarray, weights: Any, centers: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float, float, int]:
    found = nearest(z, centers)
    changed = np.flatnonzero(found != labels)
    z, old, new = z[changed], labels[changed], found[changed]
    labels[changed] = new
    w, known = np.ones(len(z)) if weights is None else weights[changed], old >= 0
    k, weighted = len(centers), w[:, None] * z
    sums = sums_by_label(new, weighted, k) - sums_by_label(old[known], weighted[known], k)
    counts = weighted_counts(new, w, k) - weighted_counts(old[known], w[known], k)
    after, before = (w * row_squares(z - centers[which]) for which in (new, old))
    gain = np.maximum(before - after, 0.0) @ known
    return sums, counts, float(after @ ~known), float(gain), len(z)


def row_squares(z: np.ndarray) -> np.ndarray:
    """Return |z|² of each row."""
    return np.einsum("ij,ij->i", z, z)


def nearest(z: Array, centers: Array) -> Array:
    """Return argmin_k |z - c_k|², by |c_k|² - 2 c_k·z where rounding leaves no doubt, else by differences."""
    if is_numpy_array(z):
        found, doubtful = clearly_nearest(z, centers)
        if len(doubtful):
            found[doubtful] = np.argmin(squared_distances(z[doubtful], centers), axis=1)
        return found
    xp, (n, k) = namespace_of(z), (z.shape[0], centers.shape[0])
    squares = xp.sum(centers * centers, axis=1)
    scores = z @ (-2.0 * centers.T)
    scores += squares  # in place: memory that is new takes longer than the sum
    found = xp.argmin(scores, axis=1)
    if n * k > MOST_DOUBTED:
        return found
    longest, rounding = xp.sqrt(xp.max(squares)), (z.shape[1] + 7) * 2.0**-52
    lengths = xp.sqrt(xp.sum(z * z, axis=1))
    bound = lengths * (2.0 * rounding * longest) + rounding * longest * longest
    bound += xp.min(scores, axis=1)
    clear = scores > bound[:, None]  # never of the nearest, nor where there is NaN
    if int(xp.count_nonzero(clear)) == n * (k - 1):
        return found
    doubtful = xp.nonzero(xp.count_nonzero(clear, axis=1) != k - 1)[0]
    if doubtful.shape[0]:
        near = xp.argmin(squared_distances(xp.take(z, doubtful, axis=0), centers), axis=1)
        found = at(found, doubtful).set(near)
    return found


@SILENT
def clearly_nearest(z: np.ndarray, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return argmin_k |z - c_k|², and the rows where rounding of |c_k|² - 2 c_k·z leaves it in doubt."""
    squares = row_squares(centers)
    scores = (-2.0 * centers) @ z.T  # a row for each centre, so that all loops are long
    scores += squares[:, None]
    longest, rounding = np.sqrt(squares.max()), (z.shape[1] + 7) * 2.0**-52
    bound = np.sqrt(row_squares(z)) * (2.0 * rounding * longest)
    bound += rounding * longest * longest
    return _least(scores, bound)


def _least(scores: np.ndarray, rounding: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of the least of the scores (K, n) of each row, and rows with others as small."""
    n = scores.shape[1]
    near, rows = np.divmod(np.flatnonzero(scores <= scores.min(axis=0) + rounding), max(n, 1))
    found = np.full(n, -1)
    found[rows] = near
    if len(rows) == n and found.min(initial=0) >= 0:
        return found, np.empty(0, np.int64)
    return found, np.flatnonzero(np.bincount(rows, minlength=n) != 1)


@SILENT
def cluster_sums(
    x: Array, weights: Any, shift: Array, scale: float, centers: Array, labels: Array
) -> dict[str, Any]:
    xp, k = namespace_of(x), centers.shape[0]
    z = (xp.astype(x, xp.float64) - shift) * scale
    distances = xp.sum((z - xp.take(centers, labels, axis=0)) ** 2, axis=1)
    w = xp.ones_like(distances) if weights is None else weights
    sums, counts = sums_by_label(labels, z * w[:, None], k), weighted_counts(labels, w, k)
    counted = xp.where(w > 0.0, distances, -1.0)
    row = int(xp.argmax(counted)) if bool(xp.any(w > 0.0)) else -1
    return {
        "sums": sums,
        "counts": counts,
        "cost": float(w @ distances),
        "away": float(counted[row]) if row >= 0 else -1.0,
        "row": row,
    }


@SILENT
def distance_sums(x: Array, columns: Array, weights: Array, starts: Sequence[int]) -> Array:
    xp = namespace_of(x, columns)
    distances = xp.sqrt(squared_distances(x, columns.T)) * weights
    return xp.stack([xp.sum(distances[:, a:b], axis=1) for a, b in pairwise(starts)], axis=1)
