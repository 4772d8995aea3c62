"""Trees of planes: each node sends a row to the side of a plane on which it lies, each leaf holds points.

A plane is a direction of length one and an offset; rows with ``(x - centre) · normal > offset`` go right. A
search goes down to one leaf of each tree (defeatist), and behind a plane it may look back only where the node
says so: then the distance from the plane bounds that of all points behind it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.primitives.nearest import sorted_pairs
from tractable.value import value

__all__ = ["PlaneTrees", "joined", "leaves_of", "tree_candidates", "tree_nearest", "tree_within"]


@value
class PlaneTrees:
    """One or several trees over the same points.

    A child that is not negative is a node; child -1 - j is leaf j, which holds the points
    ``members[ptr[j]:ptr[j + 1]]``.
    """

    centre: np.ndarray  # (d,), about which the planes are
    roots: np.ndarray  # (trees,)
    normals: np.ndarray  # (nodes, d), of length one, or zero where points are all equal
    offsets: np.ndarray  # (nodes,)
    children: np.ndarray  # (nodes, 2)
    look_back: np.ndarray  # (nodes,), whether a search may look behind the plane
    ptr: np.ndarray  # (leaves + 1,)
    members: np.ndarray
    depth: int  # planes between a root and its farthest leaf

    @property
    def n_nodes(self) -> int:
        """Planes and leaves."""
        return len(self.offsets) + len(self.ptr) - 1

    @property
    def memory(self) -> int:
        """Bytes."""
        return sum(x.nbytes for x in vars(self).values() if isinstance(x, np.ndarray))

    @property
    def planes(self) -> tuple[np.ndarray, ...]:
        """What a descent reads."""
        return self.normals, self.offsets, self.children, self.look_back


def joined(trees: Sequence[PlaneTrees]) -> PlaneTrees:
    """Return several trees over the same points as one value."""
    nodes = np.cumsum([0, *(len(t.offsets) for t in trees)])
    leaves = np.cumsum([0, *(len(t.ptr) - 1 for t in trees)])
    held = np.cumsum([0, *(len(t.members) for t in trees)])

    def moved(slots: np.ndarray, i: int) -> np.ndarray:
        return np.where(slots >= 0, slots + nodes[i], slots - leaves[i])

    return PlaneTrees(
        centre=trees[0].centre,
        roots=np.concatenate([moved(t.roots, i) for i, t in enumerate(trees)]),
        normals=np.concatenate([t.normals for t in trees]),
        offsets=np.concatenate([t.offsets for t in trees]),
        children=np.concatenate([moved(t.children, i) for i, t in enumerate(trees)]),
        look_back=np.concatenate([t.look_back for t in trees]),
        ptr=np.concatenate([[0], *(t.ptr[1:] + held[i] for i, t in enumerate(trees))]),
        members=np.concatenate([t.members for t in trees]),
        depth=max(t.depth for t in trees),
    )


def leaves_of(x: np.ndarray, trees: PlaneTrees, tree: int = 0) -> np.ndarray:
    """Return the leaf of a tree to which each row of x descends, (m,)."""
    from tractable.primitives._compiled.plane_trees import leaves_of as compiled

    out = np.empty(len(x), np.int64)
    compiled(x - trees.centre, trees.roots[tree], trees.planes, trees.depth, out)
    return out


def tree_nearest(
    x: np.ndarray, k: int, points: np.ndarray, order: np.ndarray, trees: PlaneTrees, size: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the k nearest of the points in the leaves that a search of the trees opens.

    Parameters
    ----------
    x : array (m, d)
    k : int
    points : array (n, d)
        As the trees number them.
    order : array (n,)
        What each of them is called outside.
    trees : PlaneTrees
    size : float
        Of the point farthest from the centre: rounding of projections is as large as that.

    Returns
    -------
    distances, indices : arrays (m, k)
        Where fewer are found, the last are infinity and -1.
    visited, measured : arrays (m,)
        Nodes opened and different points measured.
    """
    return _searched(x, k, points, order, trees, size)[:4]


def tree_candidates(
    x: np.ndarray, k: int, points: np.ndarray, order: np.ndarray, trees: PlaneTrees, size: float
) -> np.ndarray:
    """Return what the points are called that `tree_nearest` measures for one row (1, d), in order."""
    seen = _searched(x, k, points, order, trees, size)[4]
    return np.sort(order[seen >= 0])


def _searched(
    x: np.ndarray, k: int, points: np.ndarray, order: np.ndarray, trees: PlaneTrees, size: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    from tractable.primitives._compiled.plane_trees import tree_nearest as compiled

    near, ids = np.empty((len(x), k)), np.empty((len(x), k), np.int64)
    visited, measured = np.zeros(len(x), np.int64), np.zeros(len(x), np.int64)
    seen = np.full(len(points), -1, np.int32)
    compiled(*_for_search(x, points, order, trees, size), near, ids, (visited, measured, seen))
    return near, ids, visited, measured, seen


def tree_within(
    x: np.ndarray, radii: np.ndarray, points: np.ndarray, order: np.ndarray, trees: PlaneTrees, size: float
) -> tuple[np.ndarray, ...]:
    """Return rows, indices and distances of the pairs within each row's radius, and what the search cost.

    See `tree_nearest`; pairs come by row, then by distance, then by index.
    """
    from tractable.primitives._compiled.plane_trees import tree_within as compiled

    cost = np.zeros(len(x), np.int64), np.zeros(len(x), np.int64)
    found = compiled(*_for_search(x, points, order, trees, size), radii, *cost)
    return *sorted_pairs(*found), *cost


def _for_search(
    x: np.ndarray, points: np.ndarray, order: np.ndarray, trees: PlaneTrees, size: float
) -> tuple[Any, ...]:
    about = x - trees.centre
    sizes = np.sqrt(np.einsum("ij,ij->i", about, about))
    slack = 2.3e-16 * (x.shape[1] + 4) * (sizes + size)
    leaves = trees.ptr, trees.members
    return x, about, points, order, trees.roots, trees.planes, leaves, slack, trees.depth
