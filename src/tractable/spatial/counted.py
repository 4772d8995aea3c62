"""The nearest points, each counted as often as it weighs."""

import math

import numpy as np

from tractable.arrays.namespace import namespace_of
from tractable.primitives import as_double
from tractable.spatial.brute import Brute
from tractable.spatial.index import Index
from tractable.value import value

#: A number of neighbours is reached when no more than rounding is missing.
ROUNDING = 1e-9


@value
class Counted:
    """The nearest points of each row, and how often each is a neighbour.

    The counts of a row add up to the number of neighbours that was asked for, or to all that could be found:
    the last neighbour counts for what was left. A whole weight thus is so many equal points. Neighbours
    that count come first; behind the last of them distances are infinity, indices -1 and counts zero.
    """

    distances: np.ndarray  # (m, k), the nearest first
    indices: np.ndarray  # (m, k)
    counts: np.ndarray  # (m, k)

    @property
    def farthest(self) -> np.ndarray:
        """The distance at which the number of neighbours is reached, (m,)."""
        return np.max(np.where(self.counts > 0.0, self.distances, 0.0), axis=1)

    @property
    def total(self) -> np.ndarray:
        """How many neighbours each row has, by weight, (m,)."""
        return namespace_of(self.counts).sum(self.counts, axis=1)

    def first(self, k: int) -> "Counted":
        """Return the nearest k of the neighbours."""
        if np.all(self.counts == 1.0):
            distances, indices, counts = (x[:, :k] for x in (self.distances, self.indices, self.counts))
            return Counted(distances=distances, indices=indices, counts=counts)
        before = np.cumsum(self.counts, axis=1) - self.counts
        return _settled(self.distances, self.indices, np.clip(k - before, 0.0, self.counts))


def nearest_counted(
    index: Index,
    x: np.ndarray,
    k: int,
    weights: np.ndarray | None = None,
    own: np.ndarray | None = None,
    *,
    copies: bool = True,
    groups: np.ndarray | None = None,
    complete: bool = True,
) -> Counted:
    """Return the k nearest points of each row, points counted by weight.

    Where an approximate index finds fewer than k neighbours of a row, or none, that row is searched for
    exactly, so that k neighbours are k.

    Parameters
    ----------
    index : Index
        The points, arranged for the search.
    x : array (m, d)
        Rows whose neighbours are searched.
    k : int
        At most the weight of all points, less one where rows leave out their own.
    weights : array (n,), optional
        How often each point counts, positive; once when not given.
    own : array (m,) of int, optional
        Where rows are points: the point each row is, which then counts one time less; -1 is none.
    copies : bool
        Whether what is left of its own point counts; without it, rows may have fewer than k neighbours.
    groups : array (n,) of int, optional
        The group of equal points each point belongs to. `own` is then the group of each row, all of whose
        points are left out; rows may have fewer than k neighbours.
    complete : bool
        Whether rows are searched for again. Without it, rows may have fewer than k neighbours.

    Examples
    --------
    >>> from tractable.spatial import Brute
    >>> near = nearest_counted(Brute([[0.0], [1.0], [3.0]]), [[0.2]], 3, weights=np.array([1.0, 1.0, 5.0]))
    >>> near.indices.tolist(), near.counts.tolist()
    ([[0, 1, 2]], [[1.0, 1.0, 1.0]])
    >>> near = nearest_counted(Brute([[0.0], [1.0], [3.0]]), [[2.8]], 3, weights=np.array([1.0, 1.0, 5.0]))
    >>> near.indices.tolist(), near.counts.tolist()
    ([[2]], [[3.0]])
    """
    x = as_double(x)
    near = _search(index, x, k, weights, own, copies, groups)
    if index.exact or not complete:
        return near
    short = np.flatnonzero(near.total < k * (1.0 - ROUNDING))
    if not len(short):
        return near
    scan = Brute(index.points, index.metric)
    again = _search(scan, x[short], k, weights, None if own is None else own[short], copies, groups)
    return _replaced(near, short, again)


def _search(
    index: Index,
    x: np.ndarray,
    k: int,
    weights: np.ndarray | None,
    own: np.ndarray | None,
    copies: bool,
    groups: np.ndarray | None,
) -> Counted:
    if weights is None and groups is None:
        distances, indices = index.query(x, k, exclude=own)
        xp = namespace_of(distances)
        return Counted(distances=distances, indices=indices, counts=xp.astype(indices >= 0, xp.float64))
    # Rows of large weights are many neighbours each.
    usual = 1.0 if weights is None else max(1.0, float(namespace_of(weights).mean(weights)))
    asked = min(len(index), math.ceil(k / usual) + _spare(own, groups))
    while True:
        distances, indices = index.query(x, asked)
        xp = namespace_of(distances)
        heavy = xp.astype(indices >= 0, xp.float64)
        if weights is not None:
            flat = xp.reshape(xp.clip(indices, min=0), (-1,))
            heavy = heavy * xp.reshape(xp.take(weights, flat), indices.shape)
        if own is not None:
            mine = (indices if groups is None else groups[indices]) == own[:, None]
            left = xp.clip(heavy - 1.0, min=0.0) if copies and groups is None else 0.0
            heavy = xp.where(mine, left, heavy)
        reached = xp.cumulative_sum(heavy, axis=1)
        # The end is reached too where there is no more to find.
        if asked == len(index) or bool(xp.all((reached[:, -1] >= k) | (indices[:, -1] < 0))):
            counts = xp.minimum(xp.clip(k - (reached - heavy), min=0.0), heavy)
            return _settled(distances, indices, counts)
        asked = min(len(index), 2 * asked)


def _spare(own: np.ndarray | None, groups: np.ndarray | None) -> int:
    """Return how many of the points found may have to be left out."""
    if own is None:
        return 0
    return 1 if groups is None else int(np.bincount(groups)[own].max(initial=1))


def _settled(distances: np.ndarray, indices: np.ndarray, counts: np.ndarray) -> Counted:
    """Put neighbours that count first, in their order, and cut what none has."""
    xp, some = namespace_of(counts), counts > 0.0
    width = max(1, int(xp.max(xp.sum(xp.astype(some, xp.int64), axis=1)))) if counts.shape[0] else 1
    if not bool(xp.all(some[:, :width])) or bool(xp.any(some[:, width:])):
        order = xp.argsort(xp.astype(~some, xp.int64), axis=1, stable=True)[:, :width]
        distances, indices, counts = (
            xp.take_along_axis(x, order, axis=1) for x in (distances, indices, counts)
        )
    distances, indices, counts = (x[:, :width] for x in (distances, indices, counts))
    some = counts > 0.0
    return Counted(
        distances=xp.where(some, distances, xp.inf), indices=xp.where(some, indices, -1), counts=counts
    )


def _replaced(near: Counted, rows: np.ndarray, by: Counted) -> Counted:
    """Return neighbours with those of some rows in their stead."""
    width = max(near.indices.shape[1], by.indices.shape[1])
    found = []
    for old, new, empty in (
        (near.distances, by.distances, np.inf),
        (near.indices, by.indices, -1),
        (near.counts, by.counts, 0.0),
    ):
        whole = np.full((len(old), width), empty, dtype=old.dtype)
        whole[:, : old.shape[1]] = old
        whole[rows] = empty
        whole[rows, : new.shape[1]] = new
        found.append(whole)
    return Counted(distances=found[0], indices=found[1], counts=found[2])
