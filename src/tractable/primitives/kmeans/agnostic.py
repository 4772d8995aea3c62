"""The functions of `tractable.primitives.kmeans` in the array API."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

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
            return sparse_squared_distances(x, x[rows].toarray().astype(np.float64)).T
    else:
        xp, place = namespace_of(x), {"device": device(x)}
        x = xp.astype(x, xp.float64, copy=False)
        count = xp.ones(x.shape[0], dtype=xp.float64, **place) if weights is None else weights

        squares = row_squares(x) if xp is np else None
        every = None if squares is None or not fewer_than_trials(x, uniforms) else squares_from(x, x, squares)

        def measured(rows: list[int]) -> Array:
            if every is not None:
                return every[rows]
            points = xp.take(x, xp.asarray(rows, **place), axis=0)
            return squared_distances(x, points).T if squares is None else squares_from(points, x, squares)

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
        best = int(xp.argmin(left @ count))
        chosen.append(tried[best])
        closest = left[best, :]
    return xp.asarray(chosen, **place)


#: The most rows of which all pairs are measured at once, and the fewest columns.
PAIRED_ROWS, PAIRED_COLUMNS = 1024, 64


def fewer_than_trials(x: Any, uniforms: Array) -> bool:
    """Return whether seeds try as many candidates as there are rows, of many columns, or more."""
    few = type(x) is np.ndarray and len(x) <= min(PAIRED_ROWS, math.prod(uniforms.shape))
    return few and x.shape[1] >= PAIRED_COLUMNS


#: Columns from which on squared distances are those of products, and their least share of |x|² + |y|²: ten
#: digits are left of them.
PRODUCTS, LEAST = 16, 2.0**-16


@SILENT
def squares_from(points: np.ndarray, x: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Return |p - x|² of a few points (t, d) and rows (n, d), (t, n): zero of equal ones.

    `squares` are |x|². By products, |p|² + |x|² - 2 p·x, and by differences where that would lose digits.
    """
    if x.shape[1] < PRODUCTS:
        return squared_distances(points, x)
    both = squares + row_squares(points)[:, None]
    found = np.dot(points, x.T)
    found *= -2.0
    found += both
    close = np.flatnonzero(~(found >= LEAST * both))  # of NaN too
    if len(close) > found.size // 8:  # rows are far from the origin
        return squared_distances(points, x)
    which, rows = np.divmod(close, len(x))
    found[which, rows] = row_squares(points[which] - x[rows])
    return found


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


class ReadyRows(NamedTuple):
    """Rows z = (x - shift) scale, and rows [z, 1] in single precision with their lengths."""

    z: np.ndarray  # (n, d)
    single: np.ndarray  # (n, d + 1), float32
    lengths: np.ndarray  # (n,), float32

    @classmethod
    @SILENT
    def of(cls, x: np.ndarray, shift: np.ndarray, scale: float) -> "ReadyRows":
        """Return the rows of x."""
        z = standardized_rows(x, shift, scale)
        single = np.ones((len(z), z.shape[1] + 1), np.float32)
        single[:, :-1] = z
        return cls(z=z, single=single, lengths=np.sqrt(row_squares(single)))


@SILENT
def standardized_rows(x: np.ndarray, shift: np.ndarray, scale: float) -> np.ndarray:
    """Return rows (x - shift) scale."""
    z = np.asarray(x, dtype=np.float64) - shift
    z *= scale
    return z


@SILENT
def lloyd(
    x: np.ndarray,
    weights: np.ndarray | None,
    shift: np.ndarray,
    scale: float,
    centers: np.ndarray,
    labels: np.ndarray,
    max_iter: int,
    least: float,
) -> tuple[np.ndarray, np.ndarray, bool] | None:
    """Return centres, costs and whether they settled; labels are written. See `primitives.kmeans.lloyd`."""
    rows = ReadyRows.of(x, shift, scale)
    labels[:] = -1
    sums, counts, cost, _, _ = _reassign(rows, weights, centers, labels)
    costs, settled = [cost], False
    while len(costs) <= max_iter and not settled:
        if not counts.min() > 0.0:
            return None
        means = sums / counts[:, None]
        squares = np.sum((means - centers) ** 2, axis=1)  # as steps one by one add them
        centers, cost, settled = means, costs[-1] - counts @ squares, bool(squares.sum() <= least)
        more, added, _, gain, _ = _reassign(rows, weights, centers, labels)
        sums, counts, cost = sums + more, counts + added, cost - gain
        if weights is not None:  # differences of weights would gather rounding
            apart, sums, counts = _of_clusters(rows.z, weights, centers, labels)
            cost = weights @ apart
        costs.append(cost)
    return centers, np.array(costs), settled


def _reassign(
    rows: ReadyRows, weights: Any, centers: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float, float, int]:
    """Give rows to their nearest centres; labels change in place."""
    z, found = rows.z, nearest_of_ready(rows, centers)
    changed = (found != labels).nonzero()[0]
    if not len(changed):
        return np.zeros(centers.shape), np.zeros(len(centers)), 0.0, 0.0, 0
    old, new = labels[changed], found[changed]
    labels[changed] = new
    if len(changed) < len(z):
        z, weights = z[changed], None if weights is None else weights[changed]
    if old.max() < 0:
        squares, sums, counts = _of_clusters(z, weights, centers, new)
        return sums, counts, float(squares.sum() if weights is None else weights @ squares), 0.0, len(z)
    w, known = 1.0 if weights is None else weights, old >= 0
    moved, every = np.zeros((len(centers), len(z))), np.arange(len(z))
    moved[old, every] = -(w * known)  # of the last centre, where there was none; it is written over or zero
    moved[new, every] = w
    steps = z - centers[[new, old]]
    after, before = w * np.einsum("kij,kij->ki", steps, steps)
    gain = np.maximum(before - after, 0.0) @ known
    cost = 0.0 if known.all() else float(after @ ~known)
    return moved @ z, moved.sum(axis=1), cost, float(gain), len(z)


reassign = SILENT(_reassign)


def _of_clusters(
    z: np.ndarray, weights: np.ndarray | None, centers: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return |z - c|² of each row (n,), and Σ w z (K, d) and Σ w (K,) of the rows of each centre."""
    k, step = len(centers), np.take(centers, labels, axis=0)
    squares = row_squares(np.subtract(z, step, out=step))
    indicators = np.zeros((len(z), k))
    indicators[np.arange(len(z)), labels] = 1.0 if weights is None else weights
    counts = np.bincount(labels, weights, minlength=k).astype(np.float64, copy=False)
    return squares, indicators.T @ z, counts


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


@SILENT
def nearest_of_ready(rows: ReadyRows, centers: np.ndarray) -> np.ndarray:
    """Return `nearest`, by |c_k|² - 2 c_k·z in single precision where that leaves no doubt."""
    points = np.empty((len(centers), centers.shape[1] + 1), np.float32)
    points[:, :-1], points[:, -1] = -2.0 * centers, row_squares(centers)
    rounding = (points.shape[1] + 8) * 2.0**-23 * np.sqrt(row_squares(points).max())
    found, doubtful = _least(points @ rows.single.T, rows.lengths * np.float32(rounding))
    if len(doubtful):
        found[doubtful] = nearest(rows.z[doubtful], centers)
    return found


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
    x: Array, weights: Any, shift: Array, scale: float, centers: Array, labels: Array, ready: Any = None
) -> dict[str, Any]:
    xp = namespace_of(x)
    if xp is np:
        z = standardized_rows(x, shift, scale) if ready is None else ready.z
        distances, sums, counts = _of_clusters(z, weights, centers, labels)
    else:
        z = (xp.astype(x, xp.float64) - shift) * scale
        distances = xp.sum((z - xp.take(centers, labels, axis=0)) ** 2, axis=1)
        own = xp.arange(centers.shape[0], device=device(x))
        indicators = xp.astype(labels[:, None] == own, xp.float64)
        indicators = indicators if weights is None else indicators * weights[:, None]
        sums, counts = indicators.T @ z, xp.sum(indicators, axis=0)
    w = xp.ones_like(distances) if weights is None else weights
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
