"""Sums of windows over a tree: points too far to matter are left out by the box."""

from functools import cached_property

import numpy as np

from tractable.primitives.kernel_sums.pairs import KINDS, NONE
from tractable.primitives.neighbors import KDNodes, kd_build
from tractable.value import value

__all__ = ["TreeSums", "tree_sums"]

#: Points of a leaf: enough for a vectorised loop, few enough for a small box.
_LEAF = 256

#: The most that may be left out, as a fraction of a sum.
TOLERANCE = 1e-13


@value
class TreeSums:
    """Points in a k-d tree whose windows are summed; `tree_sums` makes one."""

    tree: KDNodes
    boxes: np.ndarray  # (m, d, 2), about the points of each node
    weights: np.ndarray  # (n,), as leaves hold them; none where each is one
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
        from tractable.primitives.kernel_sums.compiled_tree import log_tree_sums

        queries = np.ascontiguousarray(queries, dtype=np.float64)
        out, met = np.empty(len(queries)), np.empty(len(queries), dtype=np.int64)
        positions = np.empty(0, np.int64) if left is None else self._positions[first : first + len(queries)]
        whole = float(self.weights.sum()) if self.weights.size else float(len(self.tree.order))
        tree = (self.tree.nodes, self.tree.packed, self.boxes, whole)
        left = NONE if left is None else left
        log_tree_sums(queries, tree, self.weights, self.kind, left, positions, TOLERANCE, out, met)
        return out, met

    @cached_property
    def _positions(self) -> np.ndarray:
        """The position of each point in the tree."""
        positions = np.empty_like(self.tree.order)
        positions[self.tree.order] = np.arange(len(positions))
        return positions


def tree_sums(points: np.ndarray, weights: np.ndarray, kind: str) -> TreeSums:
    """Arrange points for sums of a window: O(n log n), and sums that open what is near.

    Parameters
    ----------
    points : array (n, d)
        In units of the bandwidth.
    weights : array (n,)
        Or none, where every point counts once.
    kind : str
        A window of `tractable.primitives.kernel_sums.KINDS`.

    Examples
    --------
    >>> sums = tree_sums(np.array([[0.0, 0.0], [2.0, 0.0]]), np.empty(0), "gaussian")
    >>> np.exp(sums.log_sums(np.zeros((1, 2)))[0]).round(6)
    array([1.135335])
    """
    from tractable.primitives.kernel_sums.compiled_tree import boxes_of

    tree = kd_build(points, _LEAF)
    boxes = np.empty((len(tree.nodes), points.shape[1], 2))
    boxes_of(tree.nodes, tree.packed, points.shape[1], boxes)
    ordered = np.ascontiguousarray(weights[tree.order]) if weights.size else weights
    return TreeSums(tree=tree, boxes=boxes, weights=ordered, kind=KINDS[kind])
