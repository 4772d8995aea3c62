"""What models of neighbours share: the search, the weights of neighbours, and the stored rows."""

import warnings
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.namespace import (
    device,
    is_foreign_array,
    is_numpy_array,
    library_of,
    namespace_of,
    to_numpy,
)
from tractable.base import (
    Estimator,
    ModelTags,
    Rows,
    all_or_nothing,
    check_choice,
    check_fitted,
    check_number,
    refuse_foreign,
)
from tractable.base.by_blocks import by_blocks
from tractable.base.stored_rows import check_enough, check_held_columns, check_stored_rows
from tractable.neighbors.leave_one_out import (
    NeighborCurve,
    Trial,
    group_coincident,
    loo_curve,
    most_neighbors,
    usual_count,
)
from tractable.neighbors.tensor_search import NAMES, TensorSearch
from tractable.primitives import as_double
from tractable.spatial.checks import check_square
from tractable.spatial.choose import as_index
from tractable.spatial.counted import Counted, nearest_counted
from tractable.spatial.metrics import Euclidean, FunctionMetric, Metric, Minkowski, Precomputed, as_metric
from tractable.value import replace


class NeighborSearch(Estimator):
    """`kneighbors` and `kneighbors_graph` of a model that stores its rows, arranged for the search.

    Rows are numbered as they were given, whether or not all of them count.
    """

    _stores_tensors = True

    metric: Any
    p: float
    index: Any
    random_state: Any
    index_: Any  # an Index, or a TensorSearch
    row_indices_: np.ndarray  # (n_samples_fit_,), the number of each stored row
    n_samples_fit_: int
    n_samples_given_: int
    sample_weight_: np.ndarray | None
    _tags: ClassVar[ModelTags]

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Return the distances and the rows of the nearest neighbours, the nearest first.

        Neighbours at equal distance come in the order of their rows. `NearestNeighbors` lists a row as often
        as it weighs, models that predict from their neighbours once. Where an approximate index finds fewer
        than were asked for, or fewer rows have an entry in common with one whose entries are missing, the
        last distances are infinity and the last indices -1.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features), optional
            With ``metric="precomputed"`` distances from all rows given to `fit`. When not given, the stored
            rows, in their order (`row_indices_`, all but those of weight zero): then no row is its own
            neighbour, but its copies are. An index that finds them all at once (`RandomizedForest`) does so.
        n_neighbors : int, optional
            As many as the model uses when not given. An error where there are fewer rows.
        return_distance : bool
            Whether to return the distances as well as the indices.

        Returns
        -------
        distances, indices : arrays of shape (n_samples, n_neighbors)
            Or the indices alone. Rows are numbered as they were given to `fit`.
        """
        check_fitted(self)
        k = self._number(n_neighbors, own=X is None)
        distances, found = self._others(k) if X is None else self._nearest_of(X, k)
        xp = namespace_of(found)
        named = xp.reshape(xp.take(self.row_indices_, xp.reshape(found, (-1,))), found.shape)
        indices = xp.where(found >= 0, named, -1)
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
        self._refuse_tensors("kneighbors_graph, a sparse matrix of SciPy")
        distances, indices = self.kneighbors(X, n_neighbors)
        found = indices >= 0
        ends = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
        return self._matrix(distances[found], indices[found], ends, mode)

    def _refuse_tensors(self, what: str) -> None:
        """Refuse what is on the host alone."""
        if self._on_device:
            raise ValueError(f"{what} is of NumPy arrays, and the model is on a device: use model.numpy()")

    @property
    def _on_device(self) -> bool:
        return getattr(self, "_library_", None) is not None

    def _moved(self, like: Any) -> Self:
        """Return a copy with the rows elsewhere, arranged for a search there."""
        moved = super()._moved(like)
        moved._arrange(beside(self.index_.points, like), getattr(self, "n_neighbors_", 1))  # noqa: SLF001
        return moved

    def _follows_rows(self, name: str) -> bool:
        return name != "index_" and super()._follows_rows(name)

    @property
    def _times(self) -> np.ndarray | None:
        """How often each stored row is listed as a neighbour, whole numbers; None is once."""
        return None

    @abstractmethod
    def _usual(self, most: int) -> Any:
        """Return the default number of neighbours, of at most so many rows."""

    def _number(self, n_neighbors: Any, *, own: bool) -> int:
        """Return a number of neighbours that can be had."""
        times = self._times
        most = (self.n_samples_fit_ if times is None else int(namespace_of(times).sum(times))) - own
        k = self._usual(most) if n_neighbors is None else n_neighbors
        check_number("n_neighbors", k, least=1, whole=True)
        if k > most:
            raise ValueError(f"n_neighbors must be at most the {most} rows that can be neighbours, got {k}")
        return int(k)

    @by_blocks
    def _nearest_of(self, X: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        return self._nearest(self._asked(X), k)

    def _nearest(self, x: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        if self._times is None:
            return self.index_.query(x, k)
        return _listed(nearest_counted(self.index_, x, k, self._times, complete=False), k)

    def _others(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the neighbours of the stored rows."""
        if self._times is None:
            distances, found = self.index_.graph(k)
            return distances, found
        own = beside(np.arange(self.n_samples_fit_), self.index_.points)
        near = nearest_counted(self.index_, self.index_.points, k, self._times, own, complete=False)
        return _listed(near, k)

    @property
    def model_tags(self) -> ModelTags:  # type: ignore[override]
        """See `ModelTags`: entries may be missing under a metric of the others."""
        return replace(self._tags, missing_values=getattr(self._known_metric(), "missing", False))

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.input_tags.pairwise = found.input_tags.positive_only = self._precomputed
        return found

    @property
    def _precomputed(self) -> bool:
        return isinstance(self._known_metric(), Precomputed)

    def _known_metric(self) -> Metric | None:
        """Return the metric; None where it is none, which `fit` refuses."""
        try:
            return self._metric()
        except ValueError:
            return None

    def _metric(self) -> Metric:
        """Return the metric of a name, with the power of Minkowski's distance."""
        if self.p != np.inf:
            check_number("p", self.p, least=1.0)
        if isinstance(self.metric, str) and self.metric == "minkowski":
            return Euclidean() if self.p == 2 else Minkowski(m=self.p)
        if isinstance(self.metric, str) and self.metric == "precomputed":
            return Precomputed()
        try:
            return as_metric(self.metric)
        except ValueError as error:
            raise ValueError(
                f"{error}; minkowski has its order p, precomputed is for given distances"
            ) from None

    def _arrange(self, x: np.ndarray, k: int) -> None:
        """Set the index of the stored rows."""
        metric = self._metric()
        if is_foreign_array(x):
            if not (isinstance(self.index, str) and self.index in NAMES):
                raise ValueError(
                    f"index must be one of {NAMES} where X is an array of {library_of(x)}, got {self.index!r}"
                )
            self.index_ = TensorSearch(points=x, metric=metric)
            return
        if isinstance(metric, Precomputed) and len(x) < self.n_samples_given_:
            metric = Precomputed(columns=self.row_indices_)
        if metric.missing and np.isnan(x).all():
            raise ValueError("X must have an observed entry: all are missing")
        if isinstance(metric, FunctionMetric):
            metric(x[:1], x[:1])  # refused now, and not at the first search
        seed = self.random_state
        self.index_ = as_index(x, metric, self.index, k=k, random_state=seed, name="X")

    def _asked(self, X: Any) -> np.ndarray:
        """Check rows whose neighbours are searched."""
        x = check_held_columns(self, X)
        if is_foreign_array(x):
            return x
        if self._precomputed and np.any(x < 0.0):
            raise ValueError("X must be distances from the rows of the fit, and some are negative")
        return x

    def _counted_rows(self, rows: Rows) -> Rows:
        """Set the attributes that number the rows of positive weight; return these rows."""
        if self._precomputed:
            check_square(rows.data)
        xp, n = namespace_of(rows.data), rows.data.shape[0]
        self.n_samples_given_ = n
        if rows.weights is None:
            self.row_indices_ = xp.arange(n, device=device(rows.data))
        else:
            self.row_indices_ = some = xp.nonzero(rows.weights)[0]
            y = rows.y
            if y is not None:
                y = y[to_numpy(some)] if is_numpy_array(y) else xp.take(y, some, axis=0)
            data, weights = (xp.take(each, some, axis=0) for each in (rows.data, rows.weights))
            rows = Rows(data=data, y=y, weights=weights)
        self.n_samples_fit_, self.sample_weight_ = rows.data.shape[0], rows.weights
        return rows

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
    xp = namespace_of(near.counts)
    missing = (k - near.total)[:, None]
    times = xp.reshape(xp.astype(xp.concat([near.counts, missing], axis=1), xp.int64), (-1,))
    found = []
    for x, empty in ((near.distances, xp.inf), (near.indices, -1)):
        padded = xp.concat([x, xp.full_like(x[:, :1], empty)], axis=1)
        found.append(xp.reshape(xp.repeat(xp.reshape(padded, (-1,)), times), (-1, k)))
    return found[0], found[1]


def check_neighbor_weights(weights: Any) -> None:
    """Refuse what is not a weighting of neighbours."""
    if not callable(weights):
        check_choice("weights", weights, ["uniform", "distance"])


def neighbor_weights(weights: Any, near: Counted) -> np.ndarray:
    """Return the weight of each neighbour by its distance, (m, k), up to a factor a row; 0 for padding.

    "uniform" is one each. "distance" is 1/d, relative to the nearest; neighbours at distance zero, if any,
    have all the weight.

    Examples
    --------
    >>> found = {"indices": np.zeros((2, 3), dtype=int), "counts": np.array([[1, 1, 1], [1, 1, 0]])}
    >>> near = Counted(distances=np.array([[1.0, 2.0, 4.0], [0.0, 3.0, np.inf]]), **found)
    >>> neighbor_weights("distance", near)
    array([[1.  , 0.5 , 0.25],
           [1.  , 0.  , 0.  ]])
    """
    check_neighbor_weights(weights)
    xp, counted = namespace_of(near.counts), near.counts > 0.0
    # Padding is given the distance of the nearest, which every weighting accepts.
    distances = xp.where(counted, near.distances, near.distances[:, :1])
    if callable(weights):
        weight = _checked(weights(xp.asarray(distances, copy=True)), distances)
        if not bool(xp.all(xp.any(counted & (weight > 0.0), axis=1))):
            raise ValueError(
                "weights must return a positive number for a neighbour of each row, all are zero"
            )
    elif weights == "uniform":
        return xp.astype(counted, xp.float64)
    else:
        here = distances == 0.0
        apart = xp.where(here, 1.0, distances)
        first = xp.astype(here, xp.float64)
        weight = xp.where(xp.any(here, axis=1, keepdims=True), first, apart[:, :1] / apart)
    return xp.where(counted, weight, 0.0)


def _checked(weight: Any, distances: np.ndarray) -> np.ndarray:
    xp = namespace_of(distances)
    weight = as_double(weight if is_foreign_array(weight) else beside(np.asarray(weight), distances))
    if weight.shape != distances.shape or not bool(xp.all((weight >= 0.0) & xp.isfinite(weight))):
        raise ValueError(
            f"weights must return finite numbers, not negative, one for each of {distances.shape} distances"
        )
    return weight


class NeighborModel(NeighborSearch):
    """A model that stores its rows, and chooses how many of them predict a new one.

    A model supplies `_set_targets(rows)`, and `_trial(rows)`: how leave-one-out scores its predictions.
    """

    _tags = ModelTags(kind="discriminative", parametric=False, streaming="exact over several passes")

    n_neighbors_: int
    loo_curve_: NeighborCurve

    def __init__(
        self,
        n_neighbors: int | str = 5,
        *,
        weights: Any = "uniform",
        metric: Any = "minkowski",
        p: float = 2,
        index: Any = "auto",
        max_neighbors: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.p = p
        self.index = index
        self.max_neighbors = max_neighbors
        self.random_state = random_state

    @property
    def loo_scores_(self) -> np.ndarray:
        """The scores of `loo_curve_.n_neighbors` neighbours on rows left out."""
        return self.loo_curve_.scores

    @property
    def _by_loo(self) -> bool:
        return isinstance(self.n_neighbors, str) and self.n_neighbors == "loo"

    @abstractmethod
    def _trial(self, rows: Rows) -> Trial:
        """Return how predictions of rows left out are scored."""

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Store the rows and their classes or targets.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n_samples, n_features), their classes or targets, and how often each row counts.
        """
        check_neighbor_weights(self.weights)
        rows = self._store_rows(X, y, sample_weight)
        self._set_targets(rows)
        self._choose(rows)
        return self

    @abstractmethod
    def _set_targets(self, rows: Rows) -> None:
        """Set what the neighbours predict."""

    def _store_rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Check and store the rows; set `index_`."""
        self._metric()
        if self.max_neighbors is not None:
            check_number("max_neighbors", self.max_neighbors, least=1, whole=True)
        rows = self._counted_rows(check_stored_rows(self, X, y, sample_weight, supervised=True, drop=False))
        if self._by_loo:
            refuse_foreign(rows.data)
        k = int(2.0 * np.sqrt(len(rows.data))) if self._by_loo else check_enough(self.n_neighbors, rows)
        self._arrange(rows.data, k)
        return rows

    def _choose(self, rows: Rows) -> None:
        """Set the number of neighbours: what was given, or the best by leave-one-out."""
        if self._by_loo:
            groups = group_coincident(rows)
            most = most_neighbors(self.max_neighbors, rows, groups)
            found = usual_count(self.index_, rows, most, groups)
            if found < most and self.max_neighbors is not None:
                self._warn_of_few("max_neighbors", most, found, f"those above {found} are not scored")
            self.loo_curve_ = loo_curve(self.index_, rows, min(most, found), self._trial(rows), groups)
            self.n_neighbors_ = self.loo_curve_.best_n_neighbors
            return
        self.n_neighbors_ = check_enough(self.n_neighbors, rows)
        found = usual_count(self.index_, rows, self.n_neighbors_)
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
        near = nearest_counted(self.index_, self._asked(X), self.n_neighbors_, self.sample_weight_)
        if self.index_.metric.missing and not np.all(near.total):
            alone = int(np.argmin(near.total))
            raise ValueError(
                f"X must have an observed entry in a column that a row of the fit has: row {alone} has none"
            )
        return near
