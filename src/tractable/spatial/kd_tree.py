"""The k-d tree.

Ours and not SciPy's: ten neighbours of 100,000 rows take 0.5 to 0.8 of its CPU time in 2 to 8 columns,
and queries report the distances they computed.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tractable.primitives.neighbors import few_searched, nearest_of_few
from tractable.primitives.neighbors.kd_tree import KDNodes, kd_build, kd_candidates, kd_nearest, kd_within
from tractable.spatial.checks import as_whole
from tractable.spatial.index import Index
from tractable.spatial.metrics import Metric
from tractable.value import value

#: The most points that are not split.
LEAF_SIZE = 32


@value
class KDTree(Index):
    """The exact search through a k-d tree: the fastest where dimensions are few.

    Points are split at the median of their widest side, again and again: O(n log n) to build, O(log n) nodes
    to open for a row in few dimensions. In many, nearly every cell is near every row and all are opened: then
    `Brute` is faster.

    Parameters
    ----------
    points : array (n, d)
        The points to search.
    metric : Metric or str
        Any but the Hamming distance.
    leaf_size : int
        The most points that are not split, unless they coincide. Answers do not depend on it.

    Examples
    --------
    >>> index = KDTree([[0.0, 0.0], [3.0, 4.0], [1.0, 0.0]], leaf_size=1)
    >>> distances, indices, report = index.query([[0.0, 0.0]], k=2, report=True)
    >>> distances.tolist(), indices.tolist(), index.n_nodes, index.depth
    ([[0.0, 1.0]], [[0, 2]], 5, 2)
    """

    name: ClassVar[str] = "kd_tree"
    forms: ClassVar[tuple[str, ...]] = ("euclidean", "manhattan", "chebyshev", "minkowski")
    exact: ClassVar[bool] = True

    leaf_size: int
    tree: KDNodes  # of the points as the metric makes them

    def __init__(self, points: Any, metric: Metric | str = "euclidean", leaf_size: int = LEAF_SIZE) -> None:
        object.__setattr__(self, "leaf_size", as_whole("leaf_size", leaf_size, 1))
        object.__setattr__(self, "tree", kd_build(self._prepare(points, metric), self.leaf_size))

    @property
    def n_nodes(self) -> int:
        """Inner nodes and leaves."""
        return len(self.tree.nodes)

    @property
    def depth(self) -> int:
        """Steps from the root to the deepest leaf."""
        return int(self.tree.nodes[:, 3].max())

    @property
    def memory(self) -> int:
        """Bytes held beside the points."""
        own = 0 if self._rows is self.points else self._rows.nbytes
        return own + self.tree.memory

    def cells(self) -> np.ndarray:
        """Return the boxes of the leaves, (n_leaves, 2, d): lower and upper corners.

        Together they fill the box of all points, as the metric makes them: of the points themselves, unless
        it whitens or scales to length one.
        """
        found = []
        todo = [(0, self.tree.box)]
        while todo:
            node, box = todo.pop()
            right, dim = int(self.tree.nodes[node, 2]), self.tree.dims[node]
            if not right:
                found.append(box)
                continue
            lower, upper = box.copy(), box.copy()
            lower[1, dim] = upper[0, dim] = 0.5 * self.tree.lows[node] + 0.5 * self.tree.highs[node]
            todo += [(right, upper), (node + 1, lower)]
        return np.stack(found)

    @cached_property
    def _scipy(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(self._rows)

    def _search(self, n_rows: int, k: int, *, report: bool) -> Callable[..., tuple[np.ndarray, ...]]:
        """Return the search of our own tree, or of SciPy's, which compiles nothing and counts no nodes."""
        own = type(self)._nearest is KDTree._nearest  # noqa: SLF001  (a subclass may search in another way)
        if report or not own or not few_searched(self._rows, n_rows, k, self.metric.form):
            return self._nearest
        tree = self._scipy  # made once, before threads ask for it
        return lambda x, k: nearest_of_few(x, self._rows, k, tree)

    def _nearest(self, x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return kd_nearest(x, self.tree, k, self.metric.form, self.metric.order)

    def _candidates(self, x: np.ndarray, k: int) -> np.ndarray:
        return kd_candidates(x, self.tree, k, self.metric.form, self.metric.order)

    def _within(self, x: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, ...]:
        return kd_within(x, self.tree, radii, self.metric.form, self.metric.order)
