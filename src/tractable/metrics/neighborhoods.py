"""How well a map keeps neighbourhoods: trustworthiness, continuity, and shared neighbours."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.primitives.blocks import over_blocks
from tractable.spatial import Metric, as_index
from tractable.spatial.checks import as_rows, as_whole, check_distances
from tractable.spatial.metrics import as_metric
from tractable.value import value

#: Pairs of rows in a block: at most this many distances are held at once, by a thread.
BLOCK_PAIRS = 2**20


@value
class NeighborhoodReport:
    """How far the neighbourhood of each point of a map can be trusted.

    Parameters
    ----------
    embedding : array (n, p)
        The map.
    n_neighbors : int
        K, the neighbours of each point that were compared.
    trustworthiness : array (n,)
        1 where the K nearest points of the map are among the K nearest rows; about ½ where they are any rows.
    continuity : array (n,)
        1 where the K nearest rows are among the K nearest points of the map; about ½ where they are anywhere.
    preservation : array (n,)
        The fraction of the K nearest rows that are among the K nearest points.

    Examples
    --------
    >>> line = np.arange(10.0)[:, None]
    >>> neighborhood_report(np.column_stack([line, line**2]), line, n_neighbors=2)
    10 points, neighbourhoods of 2: trustworthiness 0.992, continuity 0.992, preservation 0.95
    """

    embedding: np.ndarray
    n_neighbors: int
    trustworthiness: np.ndarray
    continuity: np.ndarray
    preservation: np.ndarray

    def __repr__(self) -> str:
        names = "trustworthiness", "continuity", "preservation"
        means = ", ".join(f"{name} {np.mean(getattr(self, name)):.3g}" for name in names)
        return f"{len(self.embedding)} points, neighbourhoods of {self.n_neighbors}: {means}"


def neighborhood_report(
    X: Any, embedding: Any, *, n_neighbors: int = 5, metric: Metric | str = "euclidean"
) -> NeighborhoodReport:
    """Return how far the neighbourhood of each point of a map can be trusted.

    Of each point, `trustworthiness` counts the neighbours in the map that are no neighbours among the rows,
    `continuity` the neighbours among the rows that are none in the map, each by how far down the list of
    neighbours they are. The means over all points are those of `trustworthiness` and `continuity`.
    `tractable.plot` draws the map, each point in the colour of its trustworthiness.

    Parameters
    ----------
    X, embedding, n_neighbors, metric
        As in `trustworthiness`.

    Examples
    --------
    >>> import tractable
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> tractable.neighborhood_report(X, 3.0 * X)
    60 points, neighbourhoods of 5: trustworthiness 1, continuity 1, preservation 1
    """
    rows, points = _checked(X, embedding, n_neighbors, metric)
    near_rows, near_points = rows.nearest(n_neighbors), points.nearest(n_neighbors)
    shared = np.sort(np.concatenate([near_rows, near_points], axis=1), axis=1)
    return NeighborhoodReport(
        embedding=points.rows,
        n_neighbors=int(n_neighbors),
        trustworthiness=rows.scores(near_points),
        continuity=points.scores(near_rows),
        preservation=np.sum(shared[:, 1:] == shared[:, :-1], axis=1) / n_neighbors,
    )


def trustworthiness(
    X: Any, embedding: Any, *, n_neighbors: int = 5, metric: Metric | str = "euclidean"
) -> float:
    """Return how far neighbours in a map are neighbours among the rows: 1 is all, about ½ none but by chance.

    T = 1 - 2/(nK(2n - 3K - 1)) Σ_i Σ_{j near i in the map} max(0, r_ij - K), Venna and Kaski (2001); r_ij is
    the rank of row j among the neighbours of row i, those at equal distance having the first of their ranks.

    Parameters
    ----------
    X : array (n, d)
        Rows, or their distances (n, n) with ``metric="precomputed"``.
    embedding : array (n, p)
        Where a map has them.
    n_neighbors : int
        K, fewer than half of the rows.
    metric : Metric or str
        The distance of rows, as a value of `tractable.spatial` or by name; in the map it is Euclidean.

    Examples
    --------
    >>> import tractable
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> tractable.trustworthiness(X, -2.0 * X)
    1.0
    >>> round(tractable.trustworthiness(X, X[:, :2]), 3)  # rows that differ in the third column meet
    0.834
    """
    rows, points = _checked(X, embedding, n_neighbors, metric)
    return float(np.mean(rows.scores(points.nearest(n_neighbors))))


def continuity(X: Any, embedding: Any, *, n_neighbors: int = 5, metric: Metric | str = "euclidean") -> float:
    """Return how far neighbours among the rows are neighbours in a map: 1 is all, about ½ none but by chance.

    It is `trustworthiness` with the rows and the map exchanged: what tears apart lowers it.

    Parameters
    ----------
    X, embedding, n_neighbors, metric
        As in `trustworthiness`.

    Examples
    --------
    >>> import tractable
    >>> angles = np.linspace(0.0, 6.2, 100)
    >>> X = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> round(tractable.continuity(X, angles[:, None]), 3)  # a circle, cut open
    0.988
    """
    rows, points = _checked(X, embedding, n_neighbors, metric)
    return float(np.mean(points.scores(rows.nearest(n_neighbors))))


def neighborhood_preservation(
    X: Any, embedding: Any, *, n_neighbors: int = 5, metric: Metric | str = "euclidean"
) -> float:
    """Return the fraction of the K nearest rows of each row that are among its K nearest points of a map.

    Parameters
    ----------
    X, embedding, n_neighbors, metric
        As in `trustworthiness`.

    Examples
    --------
    >>> import tractable
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> round(tractable.neighborhood_preservation(X, X[:, :2]), 3)
    0.337
    """
    return float(
        np.mean(neighborhood_report(X, embedding, n_neighbors=n_neighbors, metric=metric).preservation)
    )


@value
class _Space:
    """Rows with a distance, or distances alone (`metric` is None)."""

    rows: np.ndarray
    metric: Metric | None

    def nearest(self, k: int) -> np.ndarray:
        """Return the k nearest others of each row, (n, k)."""
        if self.metric is not None:
            return as_index(self.rows, self.metric, k=k, name="X").graph(k)[1]
        return self._by_blocks(lambda _, block: np.argsort(block, axis=1, kind="stable")[:, :k])

    def scores(self, near: np.ndarray) -> np.ndarray:
        """Return 1 for each row whose k neighbours elsewhere (n, k) are its nearest here, else less."""
        n, k = near.shape

        def excess(part: slice, block: np.ndarray) -> np.ndarray:
            apart = np.take_along_axis(block, near[part], axis=1)
            block.sort(axis=1)
            nearer = [np.searchsorted(line, at) for line, at in zip(block, apart, strict=True)]
            return np.maximum(np.array(nearer) + 1 - k, 0).sum(axis=1)

        return 1.0 - 2.0 / (k * (2.0 * n - 3.0 * k - 1.0)) * self._by_blocks(excess)

    def _by_blocks(self, function: Callable[[slice, np.ndarray], np.ndarray]) -> np.ndarray:
        """Return a function of the distances of blocks of rows from all rows, themselves at infinity."""
        n = len(self.rows)

        def task(part: slice) -> np.ndarray:
            block = self.rows[part] if self.metric is None else self.metric(self.rows[part], self.rows)
            block = np.array(block)
            block[np.arange(len(block)), np.arange(part.start, part.stop)] = np.inf
            return function(part, block)

        return np.concatenate(list(over_blocks(task, n, BLOCK_PAIRS // n)))


def _checked(X: Any, embedding: Any, n_neighbors: Any, metric: Any) -> tuple[_Space, _Space]:
    rows, points = as_rows("X", X), as_rows("embedding", embedding)
    if len(rows) != len(points):
        raise ValueError(f"embedding must have a point for each of {len(rows)} rows of X, got {len(points)}")
    as_whole("n_neighbors", n_neighbors, 1)
    if 2 * n_neighbors >= len(rows):
        raise ValueError(
            f"n_neighbors must be less than half of the {len(rows)} rows of X, got {n_neighbors}"
        )
    given = isinstance(metric, str) and metric == "precomputed"
    if given:
        check_distances(rows)
    measured = None if given else as_metric(metric)
    return _Space(rows=rows, metric=measured), _Space(rows=points, metric=as_metric("euclidean"))
