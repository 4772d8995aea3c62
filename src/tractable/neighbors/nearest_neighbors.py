"""The nearest rows themselves."""

from typing import Any, Self

import numpy as np

from tractable.base import Estimator, ModelTags, all_or_nothing, check_choice, check_fitted, check_number
from tractable.base.stored_rows import check_enough, check_held_columns, check_stored_rows
from tractable.spatial.choose import as_index
from tractable.spatial.metrics import as_metric

__all__ = ["NearestNeighbors"]


class NearestNeighbors(Estimator):
    """The rows nearest to others: K of them, or all within a radius.

    Distances are exact to the last digits of double precision, unless an approximate index is chosen; of
    rows at equal distance the first given comes first.

    Parameters
    ----------
    n_neighbors : int
        K, unless a search says another; no more than there are rows.
    radius : float
        How far neighbours may be, unless a search says another.
    metric : str or Metric
        "euclidean", "manhattan", "chebyshev", "cosine", "hamming", or a value of `tractable.spatial` such as
        ``Minkowski(m=3)`` or ``Mahalanobis(covariance=…)``.
    index : str or class
        The search: "auto", "brute", "kd_tree", or a class of `tractable.spatial`, approximate ones too.

    Attributes
    ----------
    index_ : Index
        The rows, arranged; ``index_.name`` says how, ``index_.exact`` whether all neighbours are found.
    rows_ : array of shape (n_samples_fit_,) of int
        Which of the rows given each row of the index is: a row of weight two is there twice.
    n_samples_fit_ : int
        Rows in the index.
    n_samples_given_ : int
        Rows that were given.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    Examples
    --------
    >>> import tractable
    >>> model = tractable.NearestNeighbors(n_neighbors=2).fit([[0.0, 0.0], [3.0, 4.0], [1.0, 0.0]])
    >>> distances, indices = model.kneighbors([[0.0, 0.0]])
    >>> distances.tolist(), indices.tolist()
    ([[0.0, 1.0]], [[0, 2]])
    >>> model.kneighbors(n_neighbors=1)[1].ravel().tolist()
    [2, 2, 0]
    >>> model.kneighbors_graph(n_neighbors=1).toarray().tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """

    model_tags = ModelTags(kind="mapping", parametric=False, streaming="exact over several passes")

    def __init__(
        self, *, n_neighbors: int = 5, radius: float = 1.0, metric: Any = "euclidean", index: Any = "auto"
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.index = index

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Keep the rows, arranged for the search.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Read into memory.
        y : ignored
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row is a neighbour: whole numbers. Rows of weight zero are none.

        Returns
        -------
        self
        """
        check_number("radius", self.radius, least=0.0)
        as_metric(self.metric)
        rows = check_stored_rows(self, X, sample_weight=sample_weight, drop=False)
        check_enough(self.n_neighbors, rows)
        times = np.ones(len(rows.data)) if rows.weights is None else rows.weights
        if np.any(times != np.floor(times)):
            raise ValueError("sample_weight must be whole numbers: a row is a neighbour so many times")
        self.rows_ = np.repeat(np.arange(len(rows.data)), times.astype(np.int64))
        self.n_samples_fit_, self.n_samples_given_ = len(self.rows_), len(rows.data)
        kept = rows.data if rows.weights is None else rows.data[self.rows_]
        self.index_ = as_index(kept, self.metric, self.index)
        return self

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Return the distances and the rows of the nearest neighbours, the nearest first.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features), optional
            The rows that were kept when not given; then no row is its own neighbour, but its copies are.
        n_neighbors : int, optional
            The model's when not given. An error where there are fewer rows.
        return_distance : bool

        Returns
        -------
        distances, indices : arrays of shape (n_samples, n_neighbors)
            Or the indices alone.
        """
        x, own = self._asked(X)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        check_number("n_neighbors", k, least=1, whole=True)
        if k > self.n_samples_fit_ - (own is not None):
            raise ValueError(
                f"n_neighbors must be at most the {self.n_samples_fit_ - (own is not None)} rows that can be "
                f"neighbours, got {k}"
            )
        distances, found = self.index_.query(x, k, exclude=own)
        indices = np.where(found >= 0, self.rows_[found], -1)
        return (distances, indices) if return_distance else indices

    def radius_neighbors(
        self, X: Any = None, radius: float | None = None, return_distance: bool = True
    ) -> Any:
        """Return the distances and the rows of all neighbours within a radius, the nearest first.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features), optional
            The rows that were kept when not given; then no row is its own neighbour.
        radius : float, optional
            The model's when not given. Rows at exactly this distance are neighbours.
        return_distance : bool

        Returns
        -------
        distances, indices : arrays of shape (n_samples,), of arrays
            Or the indices alone.
        """
        near = self._within(X, radius)
        distances, indices = np.empty(len(near), dtype=object), np.empty(len(near), dtype=object)
        for row, (apart, found) in enumerate(near):
            distances[row], indices[row] = apart, self.rows_[found]
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

    def radius_neighbors_graph(
        self, X: Any = None, radius: float | None = None, mode: str = "connectivity"
    ) -> Any:
        """Return the graph that joins rows within a radius, as a sparse matrix (CSR).

        Parameters
        ----------
        X, radius
            See `radius_neighbors`.
        mode : {"connectivity", "distance"}

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_samples, n rows given to `fit`)
        """
        check_choice("mode", mode, ["connectivity", "distance"])
        near = self._within(X, radius)
        return self._matrix(near.distances, self.rows_[near.indices], near.indptr, mode)

    def _asked(self, X: Any) -> tuple[np.ndarray, np.ndarray | None]:
        check_fitted(self)
        if X is None:
            return self.index_.points, np.arange(self.n_samples_fit_)
        return check_held_columns(self, X), None

    def _within(self, X: Any, radius: Any) -> Any:
        x, own = self._asked(X)
        radius = self.radius if radius is None else radius
        check_number("radius", radius, least=0.0)
        return self.index_.query_radius(x, float(radius), exclude=own)

    def _matrix(self, distances: np.ndarray, indices: np.ndarray, ends: np.ndarray, mode: str) -> Any:
        from scipy.sparse import csr_matrix

        edges = np.ones(len(indices)) if mode == "connectivity" else distances
        return csr_matrix((edges, indices, ends), shape=(len(ends) - 1, self.n_samples_given_))
