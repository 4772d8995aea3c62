"""The questions about neighbours that every model of them answers."""

from typing import Any

import numpy as np

from tractable.base import Estimator, check_choice, check_fitted, check_number
from tractable.base.stored_rows import check_held_columns
from tractable.spatial.counted import Counted, nearest_counted
from tractable.spatial.index import Index

__all__ = ["NeighborSearch"]


class NeighborSearch(Estimator):
    """`kneighbors` and `kneighbors_graph` of a model that keeps its rows, arranged for the search.

    Rows are numbered as they were given, whether or not all of them count.
    """

    index_: Index
    rows_: np.ndarray  # (n_samples_fit_,), the number of each row kept
    n_samples_fit_: int
    n_samples_given_: int

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Return the distances and the rows of the nearest neighbours, the nearest first.

        Neighbours at equal distance come in the order of their rows. `NearestNeighbors` lists a row as often
        as it weighs, models that answer by their neighbours once. Where an approximate index finds fewer
        than were asked for, the last distances are infinity and the last indices -1.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features), optional
            When not given, the rows that were kept, in their order (`rows_`, all but those of weight zero):
            then no row is its own neighbour, but its copies are. An index that finds them all at once
            (`RandomizedForest`) does so.
        n_neighbors : int, optional
            As many as the model uses when not given. An error where there are fewer rows.
        return_distance : bool

        Returns
        -------
        distances, indices : arrays of shape (n_samples, n_neighbors)
            Or the indices alone. Rows are numbered as they were given to `fit`.
        """
        check_fitted(self)
        k = self._number(n_neighbors, own=X is None)
        distances, found = self._others(k) if X is None else self._nearest(check_held_columns(self, X), k)
        indices = np.where(found >= 0, self.rows_[found], -1)
        return (distances, indices) if return_distance else indices

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> Any:
        """Return the graph that joins rows with their nearest, as a sparse matrix (CSR).

        Parameters
        ----------
        X, n_neighbors
            See `kneighbors`.
        mode : {"connectivity", "distance"}
            Whether edges are ones or distances.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_samples, n rows given to `fit`)
        """
        check_choice("mode", mode, ["connectivity", "distance"])
        distances, indices = self.kneighbors(X, n_neighbors)
        found = indices >= 0
        ends = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
        return self._matrix(distances[found], indices[found], ends, mode)

    @property
    def _times(self) -> np.ndarray | None:
        """How often each row kept is listed as a neighbour, whole numbers; None is once."""
        return None

    def _usual(self, most: int) -> Any:
        """Return the number of neighbours of a question that names none, of at most so many rows."""
        raise NotImplementedError(f"{type(self).__name__} must say how many neighbours it uses")

    def _number(self, n_neighbors: Any, *, own: bool) -> int:
        """Return a number of neighbours that can be had."""
        times = self._times
        most = (self.n_samples_fit_ if times is None else int(times.sum())) - own
        k = self._usual(most) if n_neighbors is None else n_neighbors
        check_number("n_neighbors", k, least=1, whole=True)
        if k > most:
            raise ValueError(f"n_neighbors must be at most the {most} rows that can be neighbours, got {k}")
        return int(k)

    def _nearest(self, x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        if self._times is None:
            return self.index_.query(x, k)
        return _listed(nearest_counted(self.index_, x, k, self._times, complete=False), k)

    def _others(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the neighbours of the rows kept."""
        if self._times is None:
            distances, found = self.index_.graph(k)
            return distances, found
        own = np.arange(self.n_samples_fit_)
        near = nearest_counted(self.index_, self.index_.points, k, self._times, own, complete=False)
        return _listed(near, k)

    def _matrix(self, distances: np.ndarray, indices: np.ndarray, ends: np.ndarray, mode: str) -> Any:
        from scipy.sparse import csr_matrix

        edges = np.ones(len(indices)) if mode == "connectivity" else distances
        return csr_matrix((edges, indices, ends), shape=(len(ends) - 1, self.n_samples_given_))


def _listed(near: Counted, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return k neighbours a row, each listed as often as it counts.

    Examples
    --------
    >>> far, near = np.array([[0.0, 1.0]]), np.array([[4, 7]])
    >>> near = Counted(distances=far, indices=near, counts=np.array([[2, 1]]))
    >>> _listed(near, 4)[1].tolist()
    [[4, 4, 7, -1]]
    """
    missing = (k - near.total)[:, None]
    times = np.concatenate([near.counts, missing], axis=1).astype(np.int64).ravel()
    found = []
    for x, empty in ((near.distances, np.inf), (near.indices, -1)):
        padded = np.concatenate([x, np.full((len(x), 1), empty, dtype=x.dtype)], axis=1)
        found.append(np.repeat(padded.ravel(), times).reshape(-1, k))
    return found[0], found[1]
