"""Tree-structured vector quantisation: points split recursively by k-means with two centres."""

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tractable.primitives.kmeans import n_trials
from tractable.primitives.neighbors.hyperplane_trees import Split, grow, two_means
from tractable.spatial.checks import as_rows, as_seed, as_whole
from tractable.spatial.hyperplane_index import HyperplaneIndex
from tractable.spatial.metrics import Metric
from tractable.value import value


@value
class TSVQTree(HyperplaneIndex):
    """A tree whose nodes part their points by k-means with two centres, in any direction; approximate.

    Planes follow the clusters of the data, so that few neighbours are cut off. A search goes to one leaf.
    Every leaf has a codeword, the mean of its points, and `quantize` says by which of them a row is replaced:
    the descent compares it with two centres a level, not with all codewords. Parts are of any size, so the
    depth is about log₂(n / leaf_size) where the data have no far outliers, and more where they do;
    `max_depth` bounds it.

    Parameters
    ----------
    points : array (n, d)
        The points to search.
    metric : Metric or str
        Euclidean, Mahalanobis or cosine.
    leaf_size : int
        The most points of a leaf, unless they are all equal or the tree is as deep as it may be.
    max_depth : int
        Largest depth of the tree.
    random_state : None, int or numpy.random.Generator
        Source of randomness; with a seed the result is repeatable.

    Examples
    --------
    >>> tree = TSVQTree([[0.0], [1.0], [8.0], [9.0]], leaf_size=2, random_state=0)
    >>> codewords, labels = tree.quantize([[0.2], [7.0]])
    >>> codewords.ravel().tolist(), bool(labels[0] == labels[1])
    ([0.5, 8.5], False)
    """

    name: ClassVar[str] = "tsvq_tree"
    exact: ClassVar[bool] = False

    leaf_size: int
    max_depth: int

    def __init__(
        self,
        points: Any,
        metric: Metric | str = "euclidean",
        *,
        leaf_size: int = 64,
        max_depth: int = 64,
        random_state: Any = None,
    ) -> None:
        leaf_size, max_depth = as_whole("leaf_size", leaf_size, 1), as_whole("max_depth", max_depth, 0)
        seed = as_seed(random_state)
        rows = self._about_centre(points, metric)
        rng = np.random.default_rng(seed)

        def split(ids: np.ndarray, ptr: np.ndarray, _: int) -> Split:
            return two_means(rows, ids, ptr, rng.random((len(ptr) - 1, 2, n_trials(2))))

        tree = grow(rows, leaf_size, split, max_depth)
        self._set(leaf_size=leaf_size, max_depth=max_depth, random_state=seed)
        self._arrange(tree)
        self._keep(tree)

    @cached_property
    def codebook(self) -> np.ndarray:
        """The codewords of the leaves, (n_leaves, d): the means of the points they hold."""
        sums = np.add.reduceat(self.points[self._order[self.trees.members]], self.trees.ptr[:-1], axis=0)
        words = sums / np.diff(self.trees.ptr)[:, None]
        words.setflags(write=False)
        return words

    def quantize(self, x: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the codeword by which each row is replaced, (m, d), and its number in the codebook, (m,)."""
        x = as_rows("x", x, self.points.shape[1])
        labels = self.leaves(x)
        return self.codebook[labels], labels
