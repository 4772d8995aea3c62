"""Neighbour lists of points: all pairs of a tree's leaf are measured, then lists are mended.

Squared distances are kept in single precision, each leaf about its own mean, and measured in double precision
where they are too small for that; they only rank candidates.
"""

from itertools import pairwise

import numpy as np

from tractable.primitives.neighbors.hyperplane_trees import HyperplaneTrees
from tractable.primitives.threads import ordered_map, single_threaded_blas
from tractable.value import value

__all__ = ["NeighbourLists", "finish_lists", "join_leaves", "mend_lists"]

#: Leaves, or points, that a thread takes at a time.
LEAVES, POINTS = 16, 4096


@value
class NeighbourLists:
    """Candidates of each point, sorted; filled in place."""

    near: np.ndarray  # (n, k), squared distances in single precision; infinity where there is none yet
    ids: np.ndarray  # (n, k), -1 where there is none yet
    measured: np.ndarray  # (n,), how many pairs were looked at
    scale: float  # by which differences are multiplied

    @classmethod
    def empty(cls, n: int, k: int, scale: float) -> "NeighbourLists":
        """Return lists of nothing."""
        return cls(
            near=np.full((n, k), np.inf, np.float32),
            ids=np.full((n, k), -1, np.int32),
            measured=np.zeros(n, np.int64),
            scale=scale,
        )


def join_leaves(
    x: np.ndarray, trees: HyperplaneTrees, lists: NeighbourLists, most: int, n_threads: int | None = None
) -> None:
    """Offer every point all others of its leaf in each tree.

    Each tree must hold each point once. Leaves of more than `most` points, all of them equal, are taken
    in pieces.

    Examples
    --------
    >>> from tractable.primitives.neighbors import grow
    >>> x = np.array([[0.0], [5.0], [1.0]])
    >>> lists = NeighbourLists.empty(3, 2, 1.0)
    >>> join_leaves(x, grow(x, 3, None), lists, 3)
    >>> lists.ids.tolist()
    [[2, 1], [2, 0], [0, 1]]
    """
    from tractable.primitives.neighbors.compiled_hyperplane_trees import join

    ends = _pieces(trees.ptr, most)
    per_tree = np.searchsorted(ends, len(x) * np.arange(len(trees.roots) + 1))

    def part(leaves: tuple[int, int]) -> None:
        ptr = ends[leaves[0] : leaves[1] + 1]
        join(x, ptr, trees.members, lists.scale, lists.near, lists.ids, lists.measured)

    with single_threaded_blas():
        for first, last in pairwise(per_tree):
            parts = ((start, min(start + LEAVES, last)) for start in range(first, last, LEAVES))
            for _ in ordered_map(part, parts, n_threads):
                pass


def mend_lists(x: np.ndarray, lists: NeighbourLists, n_threads: int | None = None) -> None:
    """Offer every point the neighbours of its neighbours.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [2.0]])
    >>> lists = NeighbourLists.empty(3, 2, 1.0)
    >>> lists.ids[:], lists.near[:] = [[1, -1], [2, -1], [1, -1]], [[1, np.inf]] * 3
    >>> mend_lists(x, lists)
    >>> lists.ids.tolist()
    [[1, 2], [2, -1], [1, -1]]
    """
    from tractable.primitives.neighbors.compiled_hyperplane_trees import mend

    old = lists.ids.copy()

    def part(start: int) -> None:
        end = min(start + POINTS, len(x))
        mend(x, start, end, lists.scale, old, lists.near, lists.ids, lists.measured)

    for _ in ordered_map(part, range(0, len(x), POINTS), n_threads):
        pass


def finish_lists(
    x: np.ndarray, order: np.ndarray, lists: NeighbourLists, k: int, n_threads: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return distances and indices of the k nearest candidates, measured in double precision, (n, k).

    Point i is called ``order[i]`` outside. Where there are fewer candidates, the last are infinity and -1.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [3.0]])
    >>> lists = NeighbourLists.empty(3, 2, 1.0)
    >>> lists.ids[:] = [[2, 1], [0, 2], [1, -1]]
    >>> distances, indices = finish_lists(x, np.arange(3), lists, 2)
    >>> distances.tolist(), indices.tolist()
    ([[1.0, 3.0], [1.0, 2.0], [2.0, inf]], [[1, 2], [0, 2], [1, -1]])
    """
    from tractable.primitives.neighbors.compiled_hyperplane_trees import finish

    distances, indices = np.empty((len(x), k)), np.empty((len(x), k), np.int64)

    def part(start: int) -> None:
        finish(x, start, min(start + POINTS, len(x)), order, lists.ids, distances, indices)

    for _ in ordered_map(part, range(0, len(x), POINTS), n_threads):
        pass
    return distances, indices


def _pieces(ptr: np.ndarray, most: int) -> np.ndarray:
    """Cut leaves of more than `most` points into even pieces."""
    pieces = -(-np.diff(ptr) // most)
    cuts = [
        np.linspace(lo, hi, n + 1).astype(np.int64)[1:]
        for lo, hi, n in zip(ptr, ptr[1:], pieces, strict=False)
    ]
    return np.concatenate([[0], *cuts]) if np.any(pieces > 1) else ptr
