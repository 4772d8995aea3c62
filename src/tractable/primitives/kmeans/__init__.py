"""K-means: seeding by k-means++, assignment to the nearest centres, and sums of distances to clusters."""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array, is_sparse, is_torch_array, namespace_of
from tractable.primitives import runs_compiled, squared_distances
from tractable.primitives.kmeans import agnostic, device
from tractable.primitives.kmeans.agnostic import clearly_nearest
from tractable.primitives.threads import even_blocks, ordered_map, single_threaded_blas
from tractable.value import value

__all__ = [
    "STEPS",
    "WIDE",
    "Assignment",
    "ClusterSums",
    "Movement",
    "assign",
    "clearly_nearest",
    "cluster_sums",
    "distance_sums",
    "is_small",
    "kmeans_plus_plus",
    "lloyd",
    "movement_of",
    "n_trials",
    "nearest_centers",
    "ready_rows",
    "reassign",
    "seeding_probabilities",
]


#: Rows of a block of seeding.
SEEDING_ROWS = 2**15

#: Work for one centre that is shared among threads.
SEEDING_WORK = 2**22

#: Columns from which on distances by products of matrices take the time of the product, and the work of all
#: centres up to which they are seeded by them: no more than what is compiled takes on a core.
WIDE, PRODUCTS_WORK = 128, 2**27


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
    if is_sparse(x) or not runs_compiled(x, _seeding_work(x, uniforms)):
        return agnostic.kmeans_plus_plus(x, weights, uniforms)
    if agnostic.fewer_than_trials(x, uniforms) or _seeded_by_products(x, uniforms):
        # Distances are products about the mean, the same on any number of threads.
        with single_threaded_blas():
            return agnostic.kmeans_plus_plus(x - x.mean(axis=0), weights, uniforms)
    if len(x) <= SEEDING_ROWS and math.prod(x.shape) * uniforms.shape[1] < SEEDING_WORK:
        from tractable.primitives.kmeans.compiled import seeds

        return seeds(x, weights, uniforms)
    w = np.empty(0) if weights is None else np.asarray(weights, dtype=np.float64)
    return _seeded(x, w, np.asarray(uniforms, dtype=np.float64))


def _seeding_work(x: Array, uniforms: Array) -> float:
    """Return about how many operations count for the choice of seeds: of few rows a 32nd, of many a quarter.

    Of few rows NumPy takes at most twice the time of what is compiled, and mostly the same.
    """
    divisor = 32 if x.shape[0] <= SEEDING_ROWS else 4
    return x.shape[0] * (x.shape[1] + 4) * math.prod(uniforms.shape) / divisor


def _seeded_by_products(x: np.ndarray, uniforms: Array) -> bool:
    """Return whether matrices of products, of many columns, choose the seeds: they compile nothing."""
    few = len(x) <= SEEDING_ROWS and x.size * math.prod(uniforms.shape) <= PRODUCTS_WORK
    return few and x.shape[1] >= WIDE


def _seeded(x: np.ndarray, w: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Return the seeds of `kmeans_plus_plus`, block by block on all cores."""
    from tractable.primitives.kmeans.compiled import QUARTER, SPARED, seeding_costs

    blocks = even_blocks(len(x), min(SEEDING_ROWS, max(512, -(-len(x) // 4))))
    closest = np.full(len(x), np.inf)  # min_l |x - μ_l|²
    owner = np.zeros(len(x), np.int32)  # the l of it
    spare = x.shape[1] >= SPARED

    def costs(centers: np.ndarray, apart: np.ndarray, number: int = -1) -> np.ndarray:
        """Return the costs (blocks, candidates) of candidates, or make one the centre of that number."""

        def of(rows: slice) -> np.ndarray:
            return seeding_costs(x[rows], w[rows], closest[rows], owner[rows], centers, apart, number)

        return np.array(list(ordered_map(of, blocks)))

    def drawn(levels: np.ndarray, masses: np.ndarray, *, even: bool) -> list[int]:
        """Return the rows in which the cumulative mass first exceeds each fraction of the whole."""
        edges = np.r_[0.0, np.cumsum(masses)]
        full = int(np.flatnonzero(masses)[-1])
        found = []
        for level in levels * edges[-1]:
            k = min(np.searchsorted(edges[1:], level, side="right"), full)
            count = w[blocks[k]] if len(w) else np.ones(len(closest[blocks[k]]))
            mass = count if even else count * closest[blocks[k]]
            row = int(np.searchsorted(np.cumsum(mass), level - edges[k], side="right"))
            if row == len(mass):
                row = int(np.flatnonzero(mass)[-1])
            found.append(blocks[k].start + row)
        return found

    counts = np.array([w[rows].sum() if len(w) else len(closest[rows]) for rows in blocks], dtype=np.float64)
    chosen: list[int] = []
    masses = counts * 0.0
    for k, levels in enumerate(uniforms):
        greedy = masses.sum() > 0.0
        tried = drawn(levels, masses, even=False) if greedy else drawn(levels[:1], counts, even=True)
        centers = np.asarray(x[tried], dtype=np.float64)
        apart = np.zeros((len(tried), 1 if spare else 0))
        if spare and k:
            apart = QUARTER * squared_distances(centers, np.asarray(x[chosen], dtype=np.float64))
        best = int(np.argmin(costs(centers, apart).sum(axis=0))) if greedy else 0
        chosen.append(tried[best])
        masses = costs(centers[best : best + 1], apart[best : best + 1], k)[:, 0]
    return np.array(chosen)


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


@value
class Movement:
    """How far centres moved since the bounds were true (Hamerly 2010), and how far they are apart.

    Computed where it is asked for: a little work measures all distances, and needs no bounds.
    """

    before: np.ndarray | None  # (K, d), the centres that bounds are true of; None where there are no bounds
    centers: np.ndarray  # (K, d)

    def measure(self) -> None:
        """Compute all distances now."""
        _ = self.half, self.move, self.drop

    @cached_property
    def half(self) -> np.ndarray:
        """Half the distance to the nearest other centre, (K,)."""
        centers = self.centers
        if self.before is None:
            return np.zeros(len(centers))
        squares = np.sum(centers * centers, axis=1)
        apart = squares[:, None] + squares - 2.0 * centers @ centers.T
        np.fill_diagonal(apart, np.inf)
        # What rounding may have added is taken off: half the distance, or less.
        nearest = np.maximum(apart.min(axis=1) - 1e-15 * (centers.shape[1] + 4) * squares.max(), 0.0)
        return 0.5 * np.sqrt(nearest) * (1.0 - 1e-12)

    @cached_property
    def move(self) -> np.ndarray:
        """How far each centre moved, (K,)."""
        if self.before is None:
            return np.zeros(len(self.centers))
        return np.sqrt(np.sum((self.centers - self.before) ** 2, axis=1)) * (1.0 + 1e-12)

    @cached_property
    def drop(self) -> np.ndarray:
        """The largest move of another centre, (K,)."""
        farthest = int(np.argmax(self.move))
        drop = np.full(len(self.move), self.move[farthest])
        drop[farthest] = np.max(np.delete(self.move, farthest), initial=0.0)
        return drop


def movement_of(before: np.ndarray | None, centers: np.ndarray) -> Movement:
    """Return how the centres moved; with None, that there are no bounds yet.

    Examples
    --------
    >>> movement_of(np.array([[0.0], [4.0]]), np.array([[1.0], [4.0]])).half.round(6).tolist()
    [1.5, 1.5]
    """
    return Movement(before=before, centers=centers)


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
    n = x.shape[0]
    labels = np.full(n, -1, np.int32)
    bounds = np.zeros(n, np.float32), np.zeros(n, np.float32)
    none = movement_of(None, centers)
    sums, counts, cost, _, _ = reassign(x, weights, shift, scale, centers, none, labels, *bounds)
    return Assignment(labels=labels, sums=sums, counts=counts, cost=cost)


def nearest_centers(x: Array, shift: Array, scale: float, centers: Array) -> Array:
    """Return which centre is nearest to each row, as `assign` does, whose parameters these are.

    Examples
    --------
    >>> nearest_centers(np.array([[0.0], [1.0], [9.0]]), np.zeros(1), 1.0, np.array([[0.0], [9.0]])).tolist()
    [0, 0, 1]
    """
    if is_numpy_array(x) and not runs_compiled(x, _work(x, len(centers))):
        rows = agnostic.ReadyRows.of(x, shift, scale)
        return agnostic.nearest_of_ready(rows, centers).astype(np.int32)
    return assign(x, None, shift, scale, centers).labels


def reassign(
    x: np.ndarray,
    weights: np.ndarray | None,
    shift: np.ndarray,
    scale: float,
    centers: np.ndarray,
    movement: Movement,
    labels: np.ndarray,
    upper: np.ndarray,
    lower: np.ndarray,
    ready: agnostic.ReadyRows | None = None,
    steps: int = 1,
) -> tuple[np.ndarray, np.ndarray, float, float, int]:
    """Give rows to their nearest centres where bounds on their distances leave it open.

    Labels and bounds are changed in place: `upper` bounds the distance to a row's own centre, `lower` that to
    any other. Rows without a label yet have -1. A little work measures all distances, and leaves the bounds;
    its rows may be given as `ready_rows` returns them. The work is that of so many `steps`.

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
        return _sparse_reassigned(x, weights, shift, scale, centers, movement, labels, upper, lower)
    if not runs_compiled(x, steps * _work(x, len(centers))):
        ready = agnostic.ReadyRows.of(x, shift, scale) if ready is None else ready
        return agnostic.reassign(ready, weights, centers, labels)
    from tractable.primitives.kmeans.compiled import reassign as compiled

    sums, counts = np.zeros(centers.shape), np.zeros(len(centers))
    rows = _block(centers)
    moved = (movement.half, movement.move, movement.drop) if rows else (counts, counts, counts)
    cost, gain, changed = compiled(
        *(x, weights, shift, scale, centers), *moved, *(labels, upper, lower, sums, counts, rows)
    )
    return sums, counts, cost, gain, changed


#: Rows, and products of a step, up to which all steps are one call: threads would have too little to do.
FEW_ROWS, FEW_PRODUCTS = 2**16, 2**23

#: Steps that count for a search. It takes more, some sixteen, but compiling takes ten seconds: as long as
#: hundreds of searches that are little enough for NumPy.
STEPS = 5


def _work(x: Array, n_clusters: int) -> float:
    """Return about how many operations of NumPy a step is: looks at rows and at pairs, and a product.

    A processor multiplies sixteen numbers in the time of one look. Half of them count: a search in one call
    takes seconds to compile, and steps one by one have its form, so that both are the same to rounding.
    """
    return x.shape[0] * (72 + n_clusters * (24 + x.shape[1]) / 16) / 2


def is_small(n_rows: int, n_columns: int, n_clusters: int) -> bool:
    """Return whether rows are so few that all steps are one call, on one thread: see `lloyd`."""
    return n_rows <= FEW_ROWS and n_rows * n_columns * n_clusters <= FEW_PRODUCTS


def lloyd(
    x: np.ndarray,
    weights: np.ndarray | None,
    shift: np.ndarray,
    scale: float,
    centers: np.ndarray,
    *,
    max_iter: int,
    least: float,
    by_products: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool] | None:
    """Alternate the two steps of k-means for a table that is not large, until the centres settle.

    Parameters
    ----------
    x, weights, shift, scale, centers
        As in `assign`.
    max_iter : int
        Most steps taken.
    least : float
        A step of Σ_k |Δμ_k|² ≤ `least` is the last.
    by_products : bool
        Whether matrices of products measure the distances of any number of rows: they compile nothing.

    Returns
    -------
    centers : array (K, d)
    labels : array (n,)
    costs : array
        Σ w |x - c|² at the first centres and after each step.
    settled : bool

    None, where rows are so many that steps are better taken one by one, and where a centre loses all its
    rows.

    Examples
    --------
    >>> x = np.repeat([[0.0], [1.0], [9.0]], 10_000, axis=0)[:15_000]
    >>> lloyd(x, None, np.zeros(1), 1.0, np.array([[0.0], [0.9]]), max_iter=9, least=0.0)[0].tolist()
    [[0.0], [1.0]]
    """
    if not (by_products or is_small(len(x), x.shape[1], len(centers))):
        return None
    labels = np.empty(len(x), np.int32)
    if by_products or not runs_compiled(x, STEPS * _work(x, len(centers))):
        found = agnostic.lloyd(x, weights, shift, scale, centers, labels, max_iter, least)
        return None if found is None else (found[0], labels, *found[1:])
    from tractable.primitives.kmeans.compiled import lloyd as compiled

    costs, centers = np.zeros(max_iter + 1), np.array(centers, dtype=np.float64)
    steps, settled = compiled(x, weights, shift, scale, centers, least, labels, costs, _block(centers))
    return None if steps < 0 else (centers, labels, costs[: steps + 1], settled)


def ready_rows(x: Array, shift: np.ndarray, scale: float, n_clusters: int) -> agnostic.ReadyRows | None:
    """Return few rows as `STEPS` of `reassign` measure them; None where as they are.

    Examples
    --------
    >>> ready_rows(np.array([[3.0, 4.0]]), np.zeros(2), 2.0, 8).z
    array([[6., 8.]])
    """
    if not is_numpy_array(x) or runs_compiled(x, STEPS * _work(x, n_clusters)):
        return None
    return agnostic.ReadyRows.of(x, shift, scale)


def cluster_sums(
    x: np.ndarray,
    weights: np.ndarray | None,
    shift: np.ndarray,
    scale: float,
    centers: np.ndarray,
    labels: np.ndarray,
    ready: tuple[np.ndarray, np.ndarray] | None = None,
) -> ClusterSums:
    """Return the sums of each cluster under the given labels, by differences alone; `ready` as in `reassign`.

    Examples
    --------
    >>> x, labels = np.array([[0.0], [3.0]]), np.zeros(2, np.int32)
    >>> found = cluster_sums(x, None, np.zeros(1), 1.0, np.array([[1.0]]), labels)
    >>> found.cost, found.away, found.row
    (5.0, 4.0, 1)
    """
    if is_sparse(x):
        return _sparse_cluster_sums(x, weights, shift, scale, centers, labels)
    if not runs_compiled(x, 8 * math.prod(x.shape)):
        return ClusterSums(**agnostic.cluster_sums(x, weights, shift, scale, centers, labels, ready))
    from tractable.primitives.kmeans.compiled import cluster_sums as compiled

    sums, counts = np.zeros(centers.shape), np.zeros(len(centers))
    cost, away, row = compiled(x, weights, shift, scale, centers, labels, sums, counts)
    return ClusterSums(sums=sums, counts=counts, cost=cost, away=away, row=row)


def _sparse_reassigned(
    x: Any,
    weights: np.ndarray | None,
    shift: np.ndarray,
    scale: float,
    centers: np.ndarray,
    movement: Movement,
    *state: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, float, float, int]:
    """Return `reassign` of sparse rows, measured where they are, so that they need not be shifted."""
    points = centers / scale + shift
    if not runs_compiled(x.data, 2 * x.nnz * len(centers)):
        sums, counts, cost, gain, changed = agnostic.sparse_reassign(x, weights, points, state[0])
    else:
        from tractable.primitives.kmeans.compiled import sparse_reassign

        sums, counts = np.zeros(points.shape), np.zeros(len(points))
        moved = movement.half, movement.move, movement.drop
        given = *_stored(x), weights, *_transposed(points), float(scale), *moved
        cost, gain, changed = sparse_reassign(*given, *state, sums, counts)
    return _standardized(sums, counts, shift, scale), counts, cost * scale**2, gain * scale**2, changed


def _sparse_cluster_sums(
    x: Any, weights: Any, shift: np.ndarray, scale: float, centers: np.ndarray, labels: np.ndarray
) -> ClusterSums:
    points = centers / scale + shift
    if not runs_compiled(x.data, 32 * x.nnz):
        sums, counts, cost, away, row = agnostic.sparse_cluster_sums(x, weights, points, labels)
    else:
        from tractable.primitives.kmeans.compiled import sparse_cluster_sums

        sums, counts = np.zeros(points.shape), np.zeros(len(points))
        given = *_stored(x), weights, *_transposed(points)
        cost, away, row = sparse_cluster_sums(*given, labels, sums, counts)
    return ClusterSums(
        sums=_standardized(sums, counts, shift, scale),
        counts=counts,
        cost=cost * scale**2,
        away=away * scale**2 if row >= 0 else -1.0,
        row=row,
    )


def _stored(x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the stored entries of sparse rows, their columns, and where each row begins."""
    return x.data, x.indices.astype(np.int32, copy=False).view(np.uint32), x.indptr


def _transposed(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points (d, K), so that an entry of a row meets all of them at once, and their squares."""
    return np.ascontiguousarray(points.T), np.einsum("ij,ij->i", points, points)


def _standardized(sums: np.ndarray, counts: np.ndarray, shift: np.ndarray, scale: float) -> np.ndarray:
    """Return the sums of rows (x - shift) scale, from those of x."""
    for k, count in enumerate(counts):  # of many columns the cache holds one row of sums, not all
        sums[k] -= count * shift
        sums[k] *= scale
    return sums


#: Terms of the distances of a row to all centres, up to which no bounds are kept.
FEW_DISTANCES = 64


def _block(centers: np.ndarray) -> int:
    """Return how many rows meet the centres at once: BLAS copies nothing while m·n·k is below a million.

    No power of two, whose columns would fall on one another in the cache. Zero where it is less work to
    measure all distances than to look at bounds.
    """
    if len(centers) * (centers.shape[1] + 2) <= FEW_DISTANCES:
        return 0
    most = 1_000_000 // max(1, centers.size)
    return 224 if most >= 224 else 160 if most >= 160 else 96


#: Above this dimension a matrix product is faster than differences, though most pairs pass through memory.
LARGEST_DIRECT = 96


def distance_sums(x: Array, columns: Array, weights: Array, starts: Sequence[int]) -> Array:
    """Return Σ_j w_j |x_i - y_j| over the rows y_j of each group, for every row x_i.

    Distances are those of differences: points that nearly coincide keep their digits, wherever they lie. Rows
    of more than 96 columns go by |x|² + |y|² - 2 x·y where that cancels less than two digits, and an array of
    n × m products is made; else the compiled loop makes no array of the size of the distances.

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
    if not runs_compiled(x, 4 * math.prod(x.shape) * columns.shape[1]):
        return agnostic.distance_sums(x, columns, weights, starts)
    from tractable.primitives.kmeans.compiled import distance_sums as compiled

    ends = np.asarray(starts, dtype=np.int64)
    if x.shape[1] <= LARGEST_DIRECT:
        return compiled(x, columns, weights, ends)
    from tractable.primitives.kmeans.compiled import distance_sums_of_products

    squares = np.einsum("ij,ij->i", x, x), np.einsum("ij,ij->j", columns, columns)
    return distance_sums_of_products(x, columns, weights, ends, x @ columns, *squares)
