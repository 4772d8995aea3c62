"""The nearest points, each counted as often as it weighs."""

import numpy as np

from tractable.spatial.index import Index
from tractable.value import value

__all__ = ["Counted", "nearest_counted"]


@value
class Counted:
    """The nearest points of each row, and how often each is a neighbour.

    The counts of a row add up to the number of neighbours that was asked for: the last neighbour counts for
    what was left. A whole weight thus is so many equal points.
    """

    distances: np.ndarray  # (m, k), the nearest first
    indices: np.ndarray  # (m, k)
    counts: np.ndarray  # (m, k)

    @property
    def farthest(self) -> np.ndarray:
        """The distance at which the number of neighbours is reached, (m,)."""
        return np.max(np.where(self.counts > 0.0, self.distances, 0.0), axis=1)

    def first(self, k: int) -> "Counted":
        """Return the nearest k of the neighbours."""
        before = np.cumsum(self.counts, axis=1) - self.counts
        counts = np.clip(k - before, 0.0, self.counts)
        some = int(np.max(np.sum(counts > 0.0, axis=1), initial=1))
        if np.any(counts[:, some:] > 0.0):  # a neighbour that does not count lies between
            some = counts.shape[1]
        return Counted(
            distances=self.distances[:, :some], indices=self.indices[:, :some], counts=counts[:, :some]
        )


def nearest_counted(
    index: Index,
    x: np.ndarray,
    k: int,
    weights: np.ndarray | None = None,
    own: np.ndarray | None = None,
    *,
    copies: bool = True,
) -> Counted:
    """Return the k nearest points of each row, points counted by weight.

    Parameters
    ----------
    index : Index
    x : array (m, d)
    k : int
        At most the weight of all points, less one where rows leave out their own.
    weights : array (n,), optional
        How often each point counts, positive; once when not given.
    own : array (m,) of int, optional
        Where rows are points: the point each row is, which then counts one time less.
    copies : bool
        Whether what is left of its own point counts; without it, rows may have fewer than k neighbours.

    Examples
    --------
    >>> from tractable.spatial import Brute
    >>> near = nearest_counted(Brute([[0.0], [1.0], [3.0]]), [[0.2]], 3, weights=np.array([1.0, 1.0, 5.0]))
    >>> near.indices.tolist(), near.counts.tolist()
    ([[0, 1, 2]], [[1.0, 1.0, 1.0]])
    >>> near = nearest_counted(Brute([[0.0], [1.0], [3.0]]), [[2.8]], 3, weights=np.array([1.0, 1.0, 5.0]))
    >>> near.counts[near.counts > 0.0].tolist()
    [3.0]
    """
    if weights is None:
        distances, indices = index.query(x, k, exclude=own)
        return Counted(distances=distances, indices=indices, counts=(indices >= 0).astype(float))
    asked = min(len(index), k + (own is not None))
    while True:
        distances, indices = index.query(x, asked)
        heavy = np.where(indices >= 0, weights[indices], 0.0)
        if own is not None:
            left = np.maximum(heavy - 1.0, 0.0) if copies else 0.0
            heavy = np.where(indices == own[:, None], left, heavy)
        reached = np.cumsum(heavy, axis=1)
        if asked == len(index) or np.all(reached[:, -1:] >= k):
            counts = np.clip(k - (reached - heavy), 0.0, heavy)
            return Counted(distances=distances, indices=indices, counts=counts)
        asked = min(len(index), 2 * asked)
