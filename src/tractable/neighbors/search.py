"""The questions about neighbours that every model of them answers."""

import warnings
from typing import Any

import numpy as np

from tractable.base import Estimator, Rows, check_choice, check_fitted, check_number
from tractable.base.stored_rows import check_enough, check_held_columns, check_stored_rows
from tractable.neighbors.leave_one_out import (
    NeighborCurve,
    Trial,
    judged,
    most_neighbors,
    places_of,
    usually_found,
)
from tractable.spatial.choose import as_index
from tractable.spatial.counted import Counted, nearest_counted
from tractable.spatial.index import Index
from tractable.spatial.metrics import as_metric

__all__ = ["KeptRows", "NeighborSearch", "check_closeness", "closeness"]


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


def check_closeness(weights: Any) -> None:
    """Refuse what is no weighting of neighbours."""
    if not callable(weights):
        check_choice("weights", weights, ["uniform", "distance"])


def closeness(weights: Any, near: Counted) -> np.ndarray:
    """Return how much neighbours say, (m, k), up to a factor for each row; those that do not count, nothing.

    "uniform" is one each. "distance" is 1/d, relative to the nearest so that no unit overflows; neighbours at
    distance zero speak alone.

    Examples
    --------
    >>> found = {"indices": np.zeros((2, 3), dtype=int), "counts": np.array([[1, 1, 1], [1, 1, 0]])}
    >>> closeness("distance", Counted(distances=np.array([[1.0, 2.0, 4.0], [0.0, 3.0, np.inf]]), **found))
    array([[1.  , 0.5 , 0.25],
           [1.  , 0.  , 0.  ]])
    """
    check_closeness(weights)
    counted = near.counts > 0.0
    # What does not count is given the distance of what does, which every weighting must bear.
    distances = np.where(counted, near.distances, near.distances[:, :1])
    if callable(weights):
        said = _checked(weights(distances.copy()), distances)
        if not np.all((counted & (said > 0.0)).any(axis=1)):
            raise ValueError(
                "weights must return a positive number for a neighbour of each row, all are zero"
            )
    elif weights == "uniform":
        return counted.astype(float)
    else:
        here = distances == 0.0
        apart = np.where(here, 1.0, distances)
        said = np.where(here.any(axis=1, keepdims=True), here, apart[:, :1] / apart)
    return np.where(counted, said, 0.0)


def _checked(said: Any, distances: np.ndarray) -> np.ndarray:
    said = np.asarray(said, dtype=np.float64)
    if said.shape != distances.shape or not np.all((said >= 0.0) & np.isfinite(said)):
        raise ValueError(
            f"weights must return finite numbers, not negative, one for each of {distances.shape} distances"
        )
    return said


class KeptRows(NeighborSearch):
    """A model whose training is keeping rows, and choosing how many of them speak for a new one.

    A model supplies `_trial(rows)`: how leave-one-out judges its answers.
    """

    n_neighbors: Any
    metric: Any
    index: Any
    max_neighbors: Any
    random_state: Any
    n_neighbors_: int
    loo_curve_: NeighborCurve
    sample_weight_: np.ndarray | None

    @property
    def loo_scores_(self) -> np.ndarray:
        """The scores of 1, 2, … neighbours on rows left out."""
        return self.loo_curve_.scores

    @property
    def _by_loo(self) -> bool:
        return isinstance(self.n_neighbors, str) and self.n_neighbors == "loo"

    def _trial(self, rows: Rows) -> Trial:
        raise NotImplementedError(f"{type(self).__name__} must say how its answers are judged")

    def _keep(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Check and keep the rows; the index is said in `index_`."""
        as_metric(self.metric)
        if self.max_neighbors is not None:
            check_number("max_neighbors", self.max_neighbors, least=1, whole=True)
        rows = check_stored_rows(self, X, y, sample_weight, supervised=True, drop=False)
        self.n_samples_given_ = len(rows.data)
        self.rows_ = np.arange(len(rows.data)) if rows.weights is None else np.flatnonzero(rows.weights)
        if len(self.rows_) < len(rows.data):
            some = self.rows_
            rows = Rows(data=rows.data[some], y=rows.y[some], weights=rows.weights[some])
        self.n_samples_fit_, self.sample_weight_ = len(rows.data), rows.weights
        k = int(2.0 * np.sqrt(len(rows.data))) if self._by_loo else check_enough(self.n_neighbors, rows)
        self.index_ = as_index(rows.data, self.metric, self.index, k=k, random_state=self.random_state)
        return rows

    def _choose(self, rows: Rows) -> None:
        """Set the number of neighbours: what was given, or the best by leave-one-out."""
        if self._by_loo:
            places = places_of(rows)
            most = most_neighbors(self.max_neighbors, rows, places)
            found = usually_found(self.index_, rows, most, places)
            if found < most and self.max_neighbors is not None:
                self._warn_of_few("max_neighbors", most, found, f"those above {found} are not judged")
            self.loo_curve_ = judged(self.index_, rows, min(most, found), self._trial(rows), places)
            self.n_neighbors_ = self.loo_curve_.best_n_neighbors
            return
        self.n_neighbors_ = check_enough(self.n_neighbors, rows)
        found = usually_found(self.index_, rows, self.n_neighbors_)
        if found < self.n_neighbors_:
            self._warn_of_few(
                "n_neighbors", self.n_neighbors_, found, "rows that have fewer are searched for exactly"
            )

    def _warn_of_few(self, name: str, asked: int, found: int, then: str) -> None:
        warnings.warn(
            f"{name}={asked} is more than {self.index_.name} finds ({found} or fewer for one row in ten): "
            f"{then}; larger leaves or more trees find more",
            UserWarning,
            stacklevel=5,
        )

    def _usual(self, most: int) -> Any:
        return min(self.n_neighbors_, most)

    def _near(self, X: Any) -> Counted:
        check_fitted(self)
        return nearest_counted(
            self.index_, check_held_columns(self, X), self.n_neighbors_, self.sample_weight_
        )
