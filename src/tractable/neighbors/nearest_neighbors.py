"""The nearest rows themselves."""

from typing import Any, Self

import numpy as np

from tractable.arrays.namespace import namespace_of
from tractable.base import ModelTags, all_or_nothing, check_choice, check_fitted, check_number
from tractable.base.by_blocks import of_held_rows
from tractable.base.options import SklearnOptions
from tractable.base.stored_rows import check_stored_rows
from tractable.neighbors.search import NeighborSearch
from tractable.spatial.index import Neighbors

#: The most neighbours, copies counted, that a radius may list.
LONGEST = 2**31


class NearestNeighbors(NeighborSearch):
    """Search for the K nearest rows, or for all rows within a radius.

    Distances are exact to the last digits of double precision, unless an approximate index is chosen; of
    rows at equal distance the first given comes first.

    Parameters
    ----------
    n_neighbors : int
        K, unless a search says another. A search for more than there are rows is an error.
    radius : float
        How far neighbours may be, unless a search says another.
    metric : str, Metric or callable
        As `KNeighborsClassifier` takes it; "precomputed" for distances that are given.
    p : float
        The order of "minkowski".
    index : str or callable
        As `KNeighborsClassifier` takes it: "auto", the name or class of an index, or a function that makes
        one. An approximate index may find fewer than K: distances then end in infinity, and indices in -1.
    random_state : None, int, RandomState or Generator
        Seed of an index that draws.

    Attributes
    ----------
    index_ : Index
        The rows, arranged; ``index_.name`` says how, ``index_.exact`` whether all neighbours are found.
    row_indices_ : array of shape (n_samples_fit_,) of int
        Which of the rows given each row of the index is: those of weight zero are none.
    sample_weight_ : array of shape (n_samples_fit_,) or None
        How often each row of the index is a neighbour.
    n_samples_fit_, n_samples_given_ : int
        Rows in the index, and rows that were given.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

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

    _tags = ModelTags(kind="mapping", parametric=False, streaming="exact over several passes")

    _sklearn_options = SklearnOptions(ignored=("algorithm", "leaf_size"), limited={"metric_params": (None,)})

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float = 1.0,
        metric: Any = "minkowski",
        p: float = 2,
        index: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.p = p
        self.index = index
        self.random_state = random_state

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Store the rows, arranged for the search.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n_samples, n_features), and how often each is a neighbour, whole numbers: one of weight two
            is listed twice; y is ignored.
        """
        check_number("radius", self.radius, least=0.0)
        check_number("n_neighbors", self.n_neighbors, least=1, whole=True)
        self._metric()
        rows = check_stored_rows(self, X, sample_weight=sample_weight, drop=False)
        times = rows.weights
        if times is not None and bool(namespace_of(times).any(times % 1.0 != 0.0)):
            raise ValueError("sample_weight must be whole numbers: a row is a neighbour so many times")
        self._arrange(self._counted_rows(rows).data, self.n_neighbors)
        return self

    def radius_neighbors(
        self, X: Any = None, radius: float | None = None, return_distance: bool = True
    ) -> Any:
        """Return the distances and the rows of all neighbours within a radius, the nearest first.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features), optional
            The stored rows when not given; then no row is its own neighbour.
        radius : float, optional
            The model's when not given. Rows at exactly this distance are neighbours.
        return_distance : bool
            Whether to return the distances as well as the indices.

        Returns
        -------
        distances, indices : arrays of shape (n_samples,), of arrays
            Or the indices alone.
        """
        near = self._within(X, radius)
        distances, indices = np.empty(len(near), dtype=object), np.empty(len(near), dtype=object)
        for row, (apart, found) in enumerate(near):
            distances[row], indices[row] = apart, self.row_indices_[found]
        return (distances, indices) if return_distance else indices

    def radius_neighbors_graph(
        self, X: Any = None, radius: float | None = None, mode: str = "connectivity"
    ) -> Any:
        """Return the graph that joins rows within a radius, as a sparse matrix (CSR).

        Parameters
        ----------
        X, radius
            See `radius_neighbors`.
        mode : {"connectivity", "distance"}
            Whether edges are ones or distances.
        """
        check_choice("mode", mode, ["connectivity", "distance"])
        near = self._within(X, radius)
        return self._matrix(near.distances, self.row_indices_[near.indices], near.indptr, mode)

    @property
    def _times(self) -> np.ndarray | None:
        return self.sample_weight_

    def _usual(self, most: int) -> Any:
        return self.n_neighbors

    def _within(self, X: Any, radius: Any) -> Neighbors:
        check_fitted(self)
        self._refuse_tensors("a search within a radius, of which rows have different numbers of neighbours,")
        radius = self.radius if radius is None else radius
        check_number("radius", radius, least=0.0)
        own = np.arange(self.n_samples_fit_) if X is None else None
        x = self.index_.points if X is None else _query_rows(self, X)
        times = self._times
        if times is None:
            return self.index_.query_radius(x, float(radius), exclude=own)
        near = self.index_.query_radius(x, float(radius))
        listed = times[near.indices].astype(np.int64)
        if own is not None:
            listed -= near.indices == np.repeat(own, near.counts)
        return _repeated(near, listed)


def _repeated(near: Neighbors, times: np.ndarray) -> Neighbors:
    """Return neighbours with each listed so many times."""
    ends = np.concatenate([[0], np.cumsum(times, dtype=np.float64)])
    if ends[-1] > LONGEST:
        raise ValueError(
            f"sample_weight counts {ends[-1]:g} neighbours within the radius, which are too many to list"
        )
    return Neighbors(
        indptr=ends[near.indptr].astype(np.int64),
        indices=np.repeat(near.indices, times),
        distances=np.repeat(near.distances, times),
    )


_query_rows = of_held_rows(NeighborSearch._asked)  # noqa: SLF001
