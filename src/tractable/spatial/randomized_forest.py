"""Several random trees, whose leaves together hold the candidates."""

from typing import Any, ClassVar

import numpy as np

from tractable.arrays.limits import power_of_two
from tractable.primitives.blocks import over_blocks
from tractable.primitives.neighbors.hyperplane_trees import (
    HyperplaneTrees,
    NeighbourLists,
    finish_lists,
    grow,
    halve,
    join_leaves,
    mend_lists,
)
from tractable.primitives.threads import default_threads
from tractable.spatial.checks import as_count, as_seed, as_threads, as_whole
from tractable.spatial.hyperplane_index import HyperplaneIndex
from tractable.spatial.metrics import Metric
from tractable.value import value

#: Lists are so much longer while a graph is made, which helps its repair.
EXTRA = 3

_MOST_TREES = 1 << 12


@value
class RandomizedForest(HyperplaneIndex):
    """A forest of randomized median-split trees: a search scans its leaf in every tree; approximate.

    A node is parted at the median of its projections on the direction between two of its points, drawn at
    random, so that planes follow the data where they have few dimensions of their own, whatever the dimension
    they live in. What one tree cuts off another has: recall grows with `n_trees`, and so does the cost,
    n_trees leaves of about `leaf_size` points.

    `neighbor_graph` of a forest measures all pairs of each leaf at once, and then repairs: `repair` times
    every point tries the neighbours of its neighbours.

    Parameters
    ----------
    points : array (n, d)
        The points to search.
    metric : Metric or str
        Euclidean, Mahalanobis or cosine.
    n_trees : int
        Number of trees, 4096 at most.
    leaf_size : int
        The most points of a leaf.
    repair : int
        Rounds of repair of a neighbour graph, 4096 at most.
    random_state : None, int or numpy.random.Generator
        The first trees of a larger forest are those of a smaller one.

    Examples
    --------
    >>> from tractable.spatial import neighbor_graph
    >>> points = np.random.default_rng(0).normal(size=(1000, 4))
    >>> forest = RandomizedForest(points, n_trees=4, leaf_size=64, random_state=0)
    >>> forest.query(points[:3])[1].ravel().tolist()
    [0, 1, 2]
    >>> neighbor_graph(forest, k=5)[1].shape
    (1000, 5)
    """

    name: ClassVar[str] = "randomized_forest"
    exact: ClassVar[bool] = False

    n_trees: int
    leaf_size: int
    repair: int

    def __init__(
        self,
        points: Any,
        metric: Metric | str = "euclidean",
        *,
        n_trees: int = 4,
        leaf_size: int = 128,
        repair: int = 1,
        random_state: Any = None,
    ) -> None:
        n_trees, leaf_size = as_whole("n_trees", n_trees, 1, _MOST_TREES), as_whole("leaf_size", leaf_size, 2)
        repair, seed = as_whole("repair", repair, 0, _MOST_TREES), as_seed(random_state)
        rows = self._about_centre(points, metric)
        self._set(n_trees=n_trees, leaf_size=leaf_size, repair=repair, random_state=seed)
        first = self._tree(rows, 0)
        local = self._arrange(first)
        # A tree has one group at its root, and little to do for a second thread: a thread a tree, or all
        # threads on each of fewer trees.
        together = n_trees > default_threads()
        others = over_blocks(
            lambda part: self._tree(local, 1 + part.start), n_trees - 1, 1, None if together else 1
        )
        self._keep(first, *others)

    def _tree(self, rows: np.ndarray, number: int) -> HyperplaneTrees:
        rng = np.random.default_rng([self.random_state, number])
        return grow(
            rows,
            self.leaf_size,
            lambda ids, ptr, _: halve(rows, ids, ptr, rng.random((len(ptr) - 1, 2))),
        )

    def graph(self, k: int, *, report: bool = False, n_threads: int | None = None) -> tuple[Any, ...]:
        """See `Index.graph`: from whole leaves. Of fewer than k found, the last are infinity and -1.

        Parameters
        ----------
        k, report, n_threads
            As in `Index.graph`.
        """
        k, n_threads = as_count(k, len(self) - 1, excluded=True), as_threads(n_threads)
        lists = NeighbourLists.empty(len(self), min(k + EXTRA, len(self) - 1), self._scale(n_threads))
        pieces = join_leaves(self._local, self.trees, lists, self.leaf_size, n_threads)
        for _ in range(self.repair):
            mend_lists(self._local, self._centre, lists, pieces, n_threads)
        distances, indices = finish_lists(self._local, self._order, lists, k, n_threads)
        distances = self.metric.outer(distances)
        if not report:
            return distances, indices
        visited, measured = np.empty(len(self), np.int64), np.empty(len(self), np.int64)
        visited[self._order] = np.bincount(self.trees.members, minlength=len(self))
        measured[self._order] = lists.measured
        return distances, indices, self._report(visited, measured)

    def _scale(self, n_threads: int | None) -> float:
        """Return what brings differences of points below one."""
        ends = self._by_rows(lambda part: [f(self._local[part], axis=0) for f in (np.min, np.max)], n_threads)
        low, high = zip(*ends, strict=True)
        return 0.5 / power_of_two(float(np.max(np.max(high, axis=0) - np.min(low, axis=0))))
