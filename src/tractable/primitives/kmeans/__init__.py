"""K-means: seeding by k-means++, assignment to the nearest centres, and sums of distances to clusters."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array, is_sparse, is_torch_array, namespace_of
from tractable.primitives import native, native_matrix, native_rows, native_weights, squared_distances
from tractable.primitives.kmeans import agnostic, device
from tractable.primitives.threads import single_threaded_blas
from tractable.value import value

__all__ = [
    "Assignment",
    "ClusterSums",
    "assign",
    "cluster_sums",
    "distance_sums",
    "kmeans_plus_plus",
    "n_trials",
    "nearest_centers",
    "reassign",
    "seeding_probabilities",
]


def n_trials(n_clusters: int) -> int:
    """Return how many candidates greedy k-means++ compares for each centre: 2 + ln K, as is usual.

    Examples
    --------
    >>> n_trials(8)
    4
    """
    return 2 + int(math.log(n_clusters))


def kmeans_plus_plus(x: Array, weights: Array | None, n_clusters: int, uniforms: Array) -> Array:
    """Choose rows as first centres by greedy k-means++ (Arthur and Vassilvitskii 2007).

    The first centre is a row drawn by weight. Each further one is the best of several candidates, drawn with
    the probabilities of :func:`seeding_probabilities`: the one that leaves the smallest
    Σ_i w_i min_l |x_i - μ_l|². Rows are drawn by the inverse of the cumulative weight, one uniform a
    candidate, so a row of weight two is drawn as two equal rows are, and a row of weight zero never.

    Parameters
    ----------
    x : array (n, d), or sparse rows (CSR)
    weights : array (n,) or None
        How often each row counts.
    n_clusters : int
    uniforms : array (n_clusters, trials)
        Numbers in [0, 1). One column is k-means++ without greed; :func:`n_trials` columns are usual.

    Returns
    -------
    array (n_clusters,) of int
        Rows of x. Once every row is a centre, the rest are drawn by weight alone, and repeat.

    Examples
    --------
    >>> x = np.array([[0.0], [0.1], [9.0], [9.1]])
    >>> kmeans_plus_plus(x, None, 2, np.array([[0.1], [0.7]])).tolist()
    [0, 3]
    """
    if tuple(uniforms.shape)[:1] != (n_clusters,) or uniforms.ndim != 2 or uniforms.shape[1] < 1:
        raise ValueError(
            f"uniforms must have shape ({n_clusters}, trials), one row a centre; got {tuple(uniforms.shape)}"
        )
    core = None if is_sparse(x) else native(x)
    if core is None:
        return agnostic.kmeans_plus_plus(x, weights, uniforms)
    chosen = np.empty(n_clusters, np.int64)
    core.kmeans_plus_plus(native_rows(x), native_weights(weights), native_matrix(uniforms), chosen)
    return chosen


def seeding_probabilities(x: Array, weights: Array | None, centers: Array) -> Array:
    """Return the probabilities with which k-means++ draws its next centre: ∝ w_i min_l |x_i - μ_l|².

    Distances are squared (some texts omit the square, and their seeds miss clusters).

    Parameters
    ----------
    x : array (n, d)
    weights : array (n,) or None
    centers : array (k, d)
        The centres so far.

    Returns
    -------
    array (n,)

    Examples
    --------
    >>> seeding_probabilities(np.array([[0.0], [1.0], [2.0]]), None, np.array([[0.0]])).tolist()
    [0.0, 0.2, 0.8]
    """
    xp = namespace_of(x)
    mass = xp.min(squared_distances(x, centers), axis=1)
    mass = mass if weights is None else mass * weights
    return mass / xp.sum(mass)


@value
class Assignment:
    """Rows given to their nearest centres."""

    labels: Any  # (n,)
    sums: Any  # (K, d), Σ w x of the rows of each centre, shifted and scaled
    counts: Any  # (K,), Σ w
    cost: Any  # Σ w |x - c|², scaled


@value
class ClusterSums:
    """Sums over the rows of each cluster, given their labels."""

    sums: np.ndarray
    counts: np.ndarray
    cost: float
    away: float  # the largest |x - c|² of a row that counts
    row: int  # which it is; -1 where no row counts


def assign(x: Array, weights: Array | None, shift: Array, scale: float, centers: Array) -> Assignment:
    """Give every row to its nearest centre: k = argmin_k |x - c_k|², the first of equals.

    Parameters
    ----------
    x : array (n, d), or sparse rows (CSR) with sorted indices
    weights : array (n,) or None
        How often each row counts.
    shift : array (d,)
    scale : float
        Distances are those of ``(x - shift) * scale``.
    centers : array (K, d)
        Shifted and scaled already.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [9.0]])
    >>> found = assign(x, None, np.zeros(1), 1.0, np.array([[0.0], [9.0]]))
    >>> found.labels.tolist(), found.sums.tolist(), found.cost
    ([0, 0, 1], [[1.0], [9.0]], 1.0)
    """
    if is_torch_array(x) and x.shape[0] * centers.shape[0] > agnostic.MOST_DOUBTED:
        return Assignment(**device.assign(x, weights, shift, scale, centers))
    if not (is_numpy_array(x) or is_sparse(x)):
        return Assignment(**agnostic.assign(x, weights, shift, scale, centers))
    labels = np.full(x.shape[0], -1, np.int32)
    sums, counts, cost, _, _ = reassign(x, weights, shift, scale, centers, None, labels)
    return Assignment(labels=labels, sums=sums, counts=counts, cost=cost)


def nearest_centers(x: Array, shift: Array, scale: float, centers: Array) -> Array:
    """Return which centre is nearest to each row, as `assign` does, whose parameters these are.

    Examples
    --------
    >>> nearest_centers(np.array([[0.0], [1.0], [9.0]]), np.zeros(1), 1.0, np.array([[0.0], [9.0]])).tolist()
    [0, 0, 1]
    """
    return assign(x, None, shift, scale, centers).labels


def reassign(
    x: Any,
    weights: np.ndarray | None,
    shift: np.ndarray,
    scale: float,
    centers: np.ndarray,
    before: np.ndarray | None,
    labels: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray, float, float, int]:
    """Give rows to their nearest centres where bounds on their distances leave it open.

    Labels and bounds are changed in place. A row without a label yet has -1.

    Parameters
    ----------
    x, weights, shift, scale, centers
        As in `assign`.
    before : array (K, d) or None
        The centres that labels and bounds are true of; None where there are no labels yet.
    labels : array (n,) of int32
    bounds : two arrays (n,) of float32, optional
        Upper bounds of the distances to a row's own centre, and lower bounds of those to any other. Without
        them, and in the array API, all distances are measured.

    Returns
    -------
    sums, counts : arrays (K, d) and (K,)
        By how much Σ w x and Σ w of the rows of each centre change.
    cost : float
        Σ w |x - c|² of the rows that had no label.
    gain : float
        By how much the others that changed came nearer.
    changed : int
        How many rows have another label.
    """
    if is_sparse(x):
        return _sparse_reassigned(x, weights, shift, scale, centers, before, labels, bounds)
    core = native(x)
    if core is None:
        return agnostic.reassign(x, weights, shift, scale, centers, labels)
    sums, counts = np.empty(centers.shape), np.empty(len(centers))
    given = _given(x, weights, shift, scale, centers)
    known = None if before is None or bounds is None else native_matrix(before)
    with single_threaded_blas():
        found = core.reassign(*given, known, labels, *(bounds or (None, None)), sums, counts)
    return sums, counts, *found


def _given(
    x: np.ndarray, weights: Any, shift: np.ndarray, scale: float, centers: np.ndarray
) -> tuple[Any, ...]:
    """Return the rows and the centres as the core reads them."""
    where = native_matrix(shift), float(scale), native_matrix(centers)
    return native_rows(x), native_weights(weights), *where


def cluster_sums(
    x: Any,
    weights: np.ndarray | None,
    shift: np.ndarray,
    scale: float,
    centers: np.ndarray,
    labels: np.ndarray,
) -> ClusterSums:
    """Return the sums of each cluster under the given labels, by differences alone.

    Examples
    --------
    >>> x, labels = np.array([[0.0], [3.0]]), np.zeros(2, np.int32)
    >>> found = cluster_sums(x, None, np.zeros(1), 1.0, np.array([[1.0]]), labels)
    >>> found.cost, found.away, found.row
    (5.0, 4.0, 1)
    """
    if is_sparse(x):
        return _sparse_cluster_sums(x, weights, shift, scale, centers, labels)
    core = native(x)
    if core is None:
        _require_labels(labels, len(centers))
        return ClusterSums(**agnostic.cluster_sums(x, weights, shift, scale, centers, labels))
    sums, counts = np.empty(centers.shape), np.empty(len(centers))
    given = _given(x, weights, shift, scale, centers)
    cost, away, row = core.cluster_sums(*given, _codes(labels), sums, counts)
    return ClusterSums(sums=sums, counts=counts, cost=cost, away=away, row=row)


def _require_labels(labels: Array, n_clusters: int) -> None:
    """Refuse labels of no centre, as the core does: NumPy counts negative ones from the end."""
    if is_numpy_array(labels) and len(labels) and not 0 <= labels.min() <= labels.max() < n_clusters:
        raise ValueError("labels must be numbers of centres")


def _codes(labels: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(labels, dtype=np.int32)


def _sparse_reassigned(
    x: Any,
    weights: np.ndarray | None,
    shift: np.ndarray,
    scale: float,
    centers: np.ndarray,
    before: np.ndarray | None,
    labels: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray] | None,
) -> tuple[np.ndarray, np.ndarray, float, float, int]:
    """Return `reassign` of sparse rows, measured where they are, so that they need not be shifted."""
    points, core = centers / scale + shift, native(x.data)
    if core is None:
        _require_columns(x)
        sums, counts, cost, gain, changed = agnostic.sparse_reassign(x, weights, points, labels)
    else:
        if bounds is None:
            bounds = np.empty(len(labels), np.float32), np.empty(len(labels), np.float32)
        sums, counts = np.empty(points.shape), np.empty(len(points))
        known = None if before is None else native_matrix(before)
        given = (
            *_stored(x),
            native_weights(weights),
            *_transposed(points),
            float(scale),
            native_matrix(centers),
        )
        with single_threaded_blas():
            cost, gain, changed = core.sparse_reassign(*given, known, labels, *bounds, sums, counts)
    return _standardized(sums, counts, shift, scale), counts, cost * scale**2, gain * scale**2, changed


def _sparse_cluster_sums(
    x: Any, weights: Any, shift: np.ndarray, scale: float, centers: np.ndarray, labels: np.ndarray
) -> ClusterSums:
    points, core = centers / scale + shift, native(x.data)
    if core is None:
        _require_columns(x)
        _require_labels(labels, len(points))
        sums, counts, cost, away, row = agnostic.sparse_cluster_sums(x, weights, points, labels)
    else:
        sums, counts = np.empty(points.shape), np.empty(len(points))
        given = *_stored(x), native_weights(weights), *_transposed(points)
        cost, away, row = core.sparse_cluster_sums(*given, _codes(labels), sums, counts)
    return ClusterSums(
        sums=_standardized(sums, counts, shift, scale),
        counts=counts,
        cost=cost * scale**2,
        away=away * scale**2 if row >= 0 else -1.0,
        row=row,
    )


def _require_columns(x: Any) -> None:
    """Refuse sparse rows with an entry beyond their columns, which SciPy would read."""
    if x.nnz and not 0 <= x.indices.min() <= x.indices.max() < x.shape[1]:
        raise ValueError("X has a column index beyond its columns")


def _stored(x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the stored entries of sparse rows, their columns, and where each row begins."""
    entries = np.ascontiguousarray(native_rows(x.data))
    return entries, np.ascontiguousarray(x.indices, np.int32), np.ascontiguousarray(x.indptr, np.int64)


def _transposed(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points (d, K), so that an entry of a row meets all at once, and their squares."""
    return np.ascontiguousarray(points.T), np.einsum("ij,ij->i", points, points)


def _standardized(sums: np.ndarray, counts: np.ndarray, shift: np.ndarray, scale: float) -> np.ndarray:
    """Return the sums of rows (x - shift) scale, from those of x."""
    for k, count in enumerate(counts):  # of many columns the cache holds one row of sums, not all
        sums[k] -= count * shift
        sums[k] *= scale
    return sums


def distance_sums(x: Array, columns: Array, weights: Array, starts: Sequence[int]) -> Array:
    """Return Σ_j w_j |x_i - y_j| over the rows y_j of each group, for every row x_i.

    Distances are those of differences: points that nearly coincide keep their digits, wherever they lie. Rows
    of many columns go by |x|² + |y|² - 2 x·y where that cancels less than two digits. No native loop makes an
    array of the size of the distances.

    Parameters
    ----------
    x : array (n, d)
    columns : array (d, m)
        The other rows, transposed, those of a group side by side.
    weights : array (m,)
        How often each of them counts.
    starts : sequence of K + 1 integers
        Group k is the columns from ``starts[k]`` up to ``starts[k + 1]``.

    Returns
    -------
    array (n, K)

    Examples
    --------
    >>> x, columns = np.array([[0.0, 0.0]]), np.array([[3.0, 0.0, 1.0], [4.0, 2.0, 0.0]])
    >>> distance_sums(x, columns, np.ones(3), [0, 2, 3]).tolist()
    [[7.0, 1.0]]
    """
    core = native(x)
    if core is None:
        return agnostic.distance_sums(x, columns, weights, starts)
    out, ends = np.empty((len(x), len(starts) - 1)), np.asarray(starts, dtype=np.int64)
    with single_threaded_blas():
        core.distance_sums(native_rows(x), native_matrix(columns), native_matrix(weights), ends, out)
    return out
