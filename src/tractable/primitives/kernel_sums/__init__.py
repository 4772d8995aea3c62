"""Sums of windows over points: all pairs, k-d trees, different shapes; those of a line in `line`."""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array
from tractable.primitives import native, native_matrix, native_weights
from tractable.primitives.kernel_sums import agnostic
from tractable.primitives.neighbors.hyperplane_trees import even_pieces
from tractable.primitives.neighbors.kd_tree import KDNodes, kd_build, kd_leaves
from tractable.value import value

__all__ = [
    "KINDS",
    "LocalWindows",
    "TreeSums",
    "WindowBlocks",
    "kernel_spreads",
    "left_out_scales",
    "log_kernel_sums",
    "tree_sums",
    "window_blocks",
]


#: Windows that the native loops know by name.
KINDS = {
    "gaussian": -1,
    "tophat": 0,
    "triangular": 1,
    "epanechnikov": 2,
    "biweight": 3,
    "cosine": 4,
    "laplace": 5,
}


def log_kernel_sums(
    queries: Array,
    points: Array,
    weights: Array | None,
    log_profile: Callable[[Array], Array],
    kind: str | None = None,
    left: Array | None = None,
    first: int = 0,
    scale: float = 1.0,
) -> Array:
    """Return log Σ_i w_i k(|q - x_i|²) of every query q.

    Every term is summed, to 1e-12 relative at any distance: where all terms of a Gaussian or Laplace window
    are below the least number, they are added about the largest. The native loop makes no array of the size
    of the pairs.

    Parameters
    ----------
    queries : array (m, d)
        In units of the bandwidth, as the points are.
    points : array (n, d)
    weights : array (n,) or None
        None counts every point once.
    log_profile : callable
        log k of squared distances.
    kind : str, optional
        The name of the window, if it is one of `KINDS`.
    left : array (m,), optional
        Query j is then point first + j, of whose weight so much is left out.
    first : int
    scale : float
        What differences are divided by, where the window has no name.

    Examples
    --------
    >>> x = np.array([[0.0], [2.0]])
    >>> sums = log_kernel_sums(x[:1], x, np.ones(2), lambda s: -0.5 * s, "gaussian")
    >>> np.exp(sums).round(6)
    array([1.135335])
    """
    core = None if kind is None else native(queries)
    if core is None or kind is None:
        return agnostic.log_kernel_sums(queries, points, weights, log_profile, left, first, scale)
    out, left = np.empty(len(queries)), None if left is None else native_matrix(left)
    core.log_kernel_sums(*_pairs(queries, points, weights), KINDS[kind], left, first, out)
    return out


def _pairs(queries: np.ndarray, points: np.ndarray, weights: np.ndarray | None) -> tuple[Any, ...]:
    """Return queries, the columns of points, and weights as the core reads them."""
    return native_matrix(queries), native_matrix(points.T), native_weights(weights)


def left_out_scales(
    queries: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray | None,
    first: int,
    rates: np.ndarray,
    n_own: int,
) -> np.ndarray:
    """Return Σ_{i ≠ j} w_i exp(-rate_k |x_j - x_i|²), (m, K), for queries that are points first + j.

    Rate k is twice rate k - n_own, so that most exponentials are squares of others.
    """
    core = native(queries)
    if core is None:
        return agnostic.left_out_scales(queries, points, weights, first, rates)
    out = np.empty((len(queries), len(rates)))
    core.left_out_scales(*_pairs(queries, points, weights), first, native_matrix(rates), n_own, out)
    return out


def kernel_spreads(
    queries: np.ndarray, points: np.ndarray, weights: np.ndarray | None, first: int, log_sums: np.ndarray
) -> np.ndarray:
    """Return the mean of |q - x|² weighted by w_i exp(-|q - x_i|²/2) / S, for queries that are points."""
    core = native(queries)
    if core is None:
        return agnostic.kernel_spreads(queries, points, weights, first, log_sums)
    out = np.empty(len(queries))
    core.spreads(*_pairs(queries, points, weights), first, native_matrix(log_sums), out)
    return out


#: Points of a leaf: enough for a vectorised loop, few enough for a small box.
_LEAF = 256

#: The most that may be left out, as a fraction of a sum.
TOLERANCE = 1e-13


@value
class TreeSums:
    """Points in a k-d tree whose windows are summed; `tree_sums` makes one."""

    points: np.ndarray  # (n, d)
    tree: KDNodes
    boxes: np.ndarray  # (m d 2,), the least and the largest of each column of each node
    weights: np.ndarray | None  # (n,), as leaves hold them; None where each is one
    kind: int

    def log_sums(
        self, queries: np.ndarray, left: np.ndarray | None = None, first: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return log Σ_i w_i k(|q - x_i|²) of every query q, and how many terms were added for it.

        The sum of what is not added is certified to be below 1e-13 of the sum, however far the query.

        Parameters
        ----------
        queries : array (m, d)
        left : array (m,), optional
            Query j is then point first + j, of whose weight so much is left out.
        first : int
        """
        core, left = native(queries), None if left is None else native_matrix(left)
        if core is None:
            return self._of_all_points(queries, left, first), np.full(len(queries), len(self.points))
        out, met = np.empty(len(queries)), np.empty(len(queries), dtype=np.int64)
        positions = None if left is None else self._positions[first : first + len(queries)]
        whole = float(len(self.tree.order)) if self.weights is None else float(self.weights.sum())
        tree = self.tree.nodes, self.tree.packed, self.boxes, whole, self.weights
        given = native_matrix(queries), *tree, self.kind, left, positions
        core.log_tree_sums(*given, TOLERANCE, out, met)
        return out, met

    def _of_all_points(self, queries: np.ndarray, left: np.ndarray | None, first: int) -> np.ndarray:
        """Return the sums in the array API, in which no term is left out."""
        weights, window = np.ones(len(self.points)), partial(agnostic.log_window, self.kind)
        if self.weights is not None:
            weights[self.tree.order] = self.weights

        def of(rows: slice) -> np.ndarray:
            own = None if left is None else left[rows]
            given = queries[rows], self.points, weights, window, own, first + rows.start
            return agnostic.log_kernel_sums(*given)

        return agnostic.by_blocks(of, len(queries), len(self.points))

    @cached_property
    def _positions(self) -> np.ndarray:
        """The position of each point in the tree."""
        positions = np.empty_like(self.tree.order)
        positions[self.tree.order] = np.arange(len(positions))
        return positions


def tree_sums(points: np.ndarray, weights: np.ndarray | None, kind: str) -> TreeSums:
    """Arrange points (n, d), in units of the bandwidth, for sums of a window of `KINDS`: O(n log n).

    Weights None count every point once.

    Examples
    --------
    >>> sums = tree_sums(np.array([[0.0, 0.0], [2.0, 0.0]]), None, "gaussian")
    >>> np.exp(sums.log_sums(np.zeros((1, 2)))[0]).round(6)
    array([1.135335])
    """
    tree = kd_build(points, _LEAF)
    core, boxes = native(points), np.empty(2 * len(tree.nodes) * points.shape[1])
    if core is not None:
        core.tree_boxes(tree.nodes, tree.packed, boxes, points.shape[1])
    ordered = None if weights is None else np.ascontiguousarray(weights[tree.order])
    return TreeSums(points=points, tree=tree, boxes=boxes, weights=ordered, kind=KINDS[kind])


#: Points of a block: enough for a vectorised loop, few enough for a small box.
SIZE = 128


@value
class WindowBlocks:
    """Points in blocks of neighbours, and the boxes of the blocks."""

    order: np.ndarray  # (m,)
    first: np.ndarray  # (b + 1,), where blocks begin in that order
    low: np.ndarray  # (b, d), corners of the boxes that hold their points
    high: np.ndarray  # (b, d)

    def packed(self, entries: np.ndarray) -> np.ndarray:
        """Return entries (m, k) of the points block by block, each as columns (k, size), in one vector."""
        ordered = entries[self.order]
        ends = zip(self.first[:-1], self.first[1:], strict=True)
        return np.concatenate([ordered[begin:end].T.ravel() for begin, end in ends])


def window_blocks(points: np.ndarray) -> WindowBlocks:
    """Return the leaves of a k-d tree of points: blocks of at most 128 neighbours.

    Examples
    --------
    >>> blocks = window_blocks(np.arange(500.0)[::-1, None])
    >>> blocks.first.tolist(), blocks.low.ravel().tolist()
    ([0, 125, 250, 375, 500], [0.0, 125.0, 250.0, 375.0])
    """
    tree = kd_build(points, SIZE)
    rows, leaves, _, _ = kd_leaves(tree, points)
    first = even_pieces(leaves, SIZE)
    corners = np.minimum.reduceat(rows, first[:-1]), np.maximum.reduceat(rows, first[:-1])
    return WindowBlocks(order=tree.order, first=first, low=corners[0], high=corners[1])


@value
class LocalWindows:
    """Points whose Gaussian windows have shapes of their own, or those of the rows asked about.

    Parameters
    ----------
    points : array (m, d)
    heights : array (m,)
        Logarithms of the windows at their points.
    blocks : WindowBlocks
        Of the points.
    whiten : array (m, d, d), optional
        Lower triangles: the inverse Cholesky factors of the windows' covariances.
    rates : array (m,), optional
        Half the least eigenvalue of WᵀW, of each shape W.

    Examples
    --------
    >>> one, point = np.ones((1, 1, 1)), np.zeros((1, 1))
    >>> windows = LocalWindows(
    ...     points=point, heights=np.zeros(1), blocks=window_blocks(point), whiten=one, rates=np.full(1, 0.5)
    ... )
    >>> windows.log_sums(np.array([[0.0], [2.0]])).tolist()
    [0.0, -2.0]
    """

    points: np.ndarray
    heights: np.ndarray
    blocks: WindowBlocks
    whiten: np.ndarray | None = None
    rates: np.ndarray | None = None

    def log_sums(
        self, x: np.ndarray, whiten: np.ndarray | None = None, rates: np.ndarray | None = None
    ) -> np.ndarray:
        """Return log Σ_j exp(h_j - |W (x_i - x_j)|² / 2) for every row x_i, W the shape of the point or row.

        A term of a block of points is at most h - r a², with h the largest height in it, a how far the row is
        from its box, and r half the least eigenvalue of WᵀW. Blocks of which no term reaches 1e-13 / m of the
        sum so far are left out: less than 1e-13 of the sum together.

        Parameters
        ----------
        x : array (q, d)
        whiten, rates : arrays (q, d, d) and (q,), optional
            Shapes of the rows, where points have none.
        """
        of_rows = self.whiten is None
        shapes: Any = whiten if of_rows else self.whiten
        core = native(x)
        if core is None:
            return agnostic.log_local_windows(x, self.points, shapes, self.heights, of_rows=of_rows)
        packed, heights, top, triangles, slowest = self._packed
        if of_rows:
            triangles, slowest = lower_triangles(shapes).ravel(), rates
        out, negligible = np.empty(len(x)), np.log(len(self.points) / TOLERANCE)
        boxes = self.blocks.first.astype(np.int64), self.blocks.low, self.blocks.high
        given = native_matrix(x), packed, triangles, heights, of_rows, *boxes, top, (1.0 - 1e-9) * slowest
        core.log_local_windows(*given, negligible, out)
        return out

    @cached_property
    def _packed(self) -> tuple[Any, ...]:
        """The points and heights as blocks have them, the largest height of each; shapes, the least rates."""
        blocks, begins = self.blocks, self.blocks.first[:-1]
        heights = self.heights[blocks.order]
        of_points = blocks.packed(self.points), heights, np.maximum.reduceat(heights, begins)
        if self.whiten is None or self.rates is None:
            return *of_points, None, None
        slowest = np.minimum.reduceat(self.rates[blocks.order], begins)
        return *of_points, blocks.packed(lower_triangles(self.whiten)), slowest


def lower_triangles(matrices: np.ndarray) -> np.ndarray:
    """Return the entries of lower triangles (m, d, d), row by row, (m, d (d + 1) / 2)."""
    rows, columns = np.tril_indices(matrices.shape[-1])
    return matrices[:, rows, columns]
