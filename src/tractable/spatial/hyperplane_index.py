"""Trees of hyperplanes: the search of their leaves, its cost, and the cells of points in two columns."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from tractable.primitives.blocks import over_blocks
from tractable.primitives.neighbors.hyperplane_trees import (
    HyperplaneTrees,
    joined,
    leaves_of,
    tree_candidates,
    tree_nearest,
    tree_within,
)
from tractable.spatial.checks import as_rows, as_whole
from tractable.spatial.index import Index
from tractable.spatial.metrics import Metric
from tractable.value import replace

#: Rows that a thread copies at a time.
ROWS = 8192


class HyperplaneIndex(Index):
    """Trees whose nodes ask on which side of a plane a row lies.

    A search looks at the points of the leaves that it reaches; it finds the true neighbours that are there.
    Directions and offsets are those of the metric's rows: whitened for Mahalanobis, of length one for cosine.
    """

    forms: ClassVar[tuple[str, ...]] = ("euclidean",)
    block: ClassVar[int] = 1024

    random_state: int
    trees: HyperplaneTrees
    _centre: np.ndarray  # (d,), of the rows
    _order: np.ndarray  # (n,), points as the first tree holds them: neighbours are neighbours in memory
    _local: np.ndarray  # (n, d), their rows
    _size: float

    def _about_centre(self, points: Any, metric: Metric | str) -> np.ndarray:
        """Set points and metric; return the rows to grow a tree over, about their mean."""
        rows = self._prepare(points, metric)
        self._set(_centre=rows.mean(axis=0))
        about = np.empty_like(rows)
        for _ in self._by_rows(lambda part: np.subtract(rows[part], self._centre, out=about[part])):
            pass
        return about

    def _arrange(self, first: HyperplaneTrees) -> np.ndarray:
        """Set the order of points to that of a tree's leaves; return rows about their mean in this order."""
        order = first.members.astype(np.int64)
        if len(order) > len(self):  # points that are held more than once stand where they are held first
            order = order[np.sort(np.unique(order, return_index=True)[1])]
        local, about = np.empty_like(self._rows), np.empty_like(self._rows)

        def arrange(part: slice) -> float:
            local[part] = self._rows[order[part]]
            np.subtract(local[part], self._centre, out=about[part])
            return float(np.einsum("ij,ij->i", about[part], about[part]).max())

        size = float(np.sqrt(max(self._by_rows(arrange))))
        self._set(_order=order, _local=local, _size=size)
        return about

    def _by_rows(self, step: Callable[[slice], Any], n_threads: int | None = None) -> Iterator[Any]:
        """Apply a function to blocks of rows on all threads: passes over all points that compute little."""
        return over_blocks(step, len(self), ROWS, n_threads)

    def _keep(self, first: HyperplaneTrees, *others: HyperplaneTrees) -> None:
        """Set the trees; the first numbers points from outside, the others in the new order."""
        place = np.empty(len(self), np.int32)
        place[self._order] = np.arange(len(self), dtype=np.int32)
        first = replace(first, members=place[first.members], centre=self._centre)
        self._set(trees=joined([first, *others]))

    def _set(self, **what: Any) -> None:
        for name, x in what.items():
            if isinstance(x, np.ndarray):
                x.setflags(write=False)
            object.__setattr__(self, name, x)

    @property
    def n_nodes(self) -> int:
        """Nodes of all trees, leaves among them."""
        return self.trees.n_nodes

    @property
    def n_leaves(self) -> int:
        """Leaves of all trees."""
        return len(self.trees.ptr) - 1

    @property
    def depth(self) -> int:
        """Planes between a root and its farthest leaf."""
        return self.trees.depth

    @property
    def n_stored(self) -> int:
        """How many points all leaves hold together, copies counted."""
        return len(self.trees.members)

    @property
    def memory(self) -> int:
        """Bytes held beside the points."""
        own = 0 if self._rows is self.points else self._rows.nbytes
        return own + self._order.nbytes + self._local.nbytes + self.trees.memory

    def leaves(self, x: Any, tree: int = 0) -> np.ndarray:
        """Return the number of the leaf of a tree to which each row of x descends, (m,)."""
        tree = as_whole("tree", tree, 0, len(self.trees.roots) - 1)
        return leaves_of(self._ready(as_rows("x", x, self.points.shape[1])), self.trees, tree)

    def leaf_points(self, leaf: int) -> np.ndarray:
        """Return the indices of the points that a leaf holds, in order."""
        leaf = as_whole("leaf", leaf, 0, self.n_leaves - 1)
        return np.sort(self._order[self.trees.members[self.trees.ptr[leaf] : self.trees.ptr[leaf + 1]]])

    def _nearest(self, x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return tree_nearest(x, k, self._local, self._order, self.trees, self._size)

    def _candidates(self, x: np.ndarray, k: int) -> np.ndarray:
        return tree_candidates(x, k, self._local, self._order, self.trees, self._size)

    def _within(self, x: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, ...]:
        return tree_within(x, radii, self._local, self._order, self.trees, self._size)


def leaf_polygons(index: HyperplaneIndex, tree: int = 0, margin: float = 0.05) -> dict[int, np.ndarray]:
    """Return the polygon of each leaf of a tree over points of two columns, within the box of the points.

    Rows in a leaf's polygon are those that descend to it.

    Parameters
    ----------
    index : SpillTree, TSVQTree or RandomizedForest
        Of Euclidean points (n, 2).
    tree : int
        Which of several.
    margin : float
        By which fraction of its sides the box is larger than the range of the points.

    Examples
    --------
    >>> from tractable.spatial import TSVQTree
    >>> tree = TSVQTree([[0.0, 0.0], [9.0, 0.0], [0.0, 1.0], [9.0, 1.0]], leaf_size=2, random_state=0)
    >>> sorted(float(cell[:, 0].max()) for cell in leaf_polygons(tree, margin=0.0).values())
    [4.5, 9.0]
    """
    plain = index.metric.rows("points", index.points) is index.points
    if index.points.shape[1] != 2 or not plain:
        raise ValueError("index must be of points of two columns and Euclidean to have cells in the plane")
    tree = as_whole("tree", tree, 0, len(index.trees.roots) - 1)
    low, high = index.points.min(axis=0), index.points.max(axis=0)
    space = margin * np.where(high > low, high - low, 1.0)
    (a, b), (c, d) = low - space, high + space
    box = np.array([[a, b], [c, b], [c, d], [a, d]])
    found: dict[int, np.ndarray] = {}
    todo = [(int(index.trees.roots[tree]), box)]
    while todo:
        node, cell = todo.pop()
        if node < 0:
            found[-1 - node] = cell
            continue
        normal, centre = index.trees.normals[node], index.trees.centre
        over = (cell - centre) @ normal - index.trees.offsets[node]
        left, right = (int(child) for child in index.trees.children[node])
        todo += [(right, _clipped(cell, over)), (left, _clipped(cell, -over))]
    return found


def _clipped(cell: np.ndarray, over: np.ndarray) -> np.ndarray:
    """Return the part of a convex polygon where `over`, given at its corners, is not negative."""
    corners = []
    for i in range(len(cell)):
        j = (i + 1) % len(cell)
        if over[i] >= 0.0:
            corners.append(cell[i])
        if (over[i] >= 0.0) != (over[j] >= 0.0):
            corners.append(cell[i] + over[i] / (over[i] - over[j]) * (cell[j] - cell[i]))
    return np.array(corners).reshape(-1, 2)
