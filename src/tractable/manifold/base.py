"""What maps share: rows or distances to learn from, positions of rows that are stored, and of new ones."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from tractable.arrays.limits import check_squarable
from tractable.base import Estimator, ModelTags, check_fitted
from tractable.base.by_blocks import by_blocks, keeps_float32
from tractable.base.stored_rows import check_held_columns, check_stored_rows
from tractable.spatial.checks import check_distances
from tractable.spatial.metrics import Metric, as_metric


class Embedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """A map of the rows: `fit` stores the rows and their positions, `transform` places further rows.

    A model says by `_embed(rows)` where rows that have been checked belong.
    """

    model_tags = ModelTags(kind="mapping", parametric=False, streaming="no")

    n_components: int
    metric: Any
    embedding_: np.ndarray
    row_indices_: np.ndarray
    rows_: np.ndarray
    sample_weight_: np.ndarray | None

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit to the rows and return their positions, `embedding_`.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        """
        self.fit(X, sample_weight=sample_weight)
        return keeps_float32(lambda fitted, _: fitted.embedding_)(self, X)

    @abstractmethod
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the map of the rows, `embedding_`."""

    @by_blocks
    @keeps_float32
    def transform(self, X: Any) -> np.ndarray:
        """Return the positions of rows in the map, (n_samples, n_components), each by itself.

        A row of the fit is where the fit put it. With ``metric="precomputed"``, X holds the distances of new
        objects from the objects of the fit.
        """
        check_fitted(self)
        rows = check_held_columns(self, X)
        if self._precomputed and np.any(rows < 0.0):
            raise ValueError("X must be distances from the objects of the fit, and some are negative")
        return self._embed(rows)

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    @property
    def _points(self) -> np.ndarray:
        """The positions of the stored rows."""
        return self.embedding_[self.row_indices_]

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.input_tags.pairwise = self._precomputed
        return found

    @abstractmethod
    def _embed(self, rows: np.ndarray) -> np.ndarray:
        """Return the positions of rows in the map, (q, n_components)."""

    def _store(self, X: Any, sample_weight: Any) -> np.ndarray:
        """Check the rows and store those of positive weight; return all."""
        metric = check_metric(self.metric)
        rows = check_stored_rows(self, X, sample_weight=sample_weight, drop=False)
        check_squarable("X", rows.data, nonzero=True)
        if metric is None:
            check_distances(rows.data)
        weights = rows.weights
        self.row_indices_ = np.arange(len(rows.data)) if weights is None else np.flatnonzero(weights)
        self.sample_weight_ = None if weights is None else weights[self.row_indices_]
        if metric is not None:
            self.rows_ = rows.data[self.row_indices_]
        return rows.data

    def _distances_from(self, rows: np.ndarray) -> np.ndarray:
        """Return the distances of rows, or of objects that come as distances, from the stored ones."""
        if self._precomputed:
            return rows[:, self.row_indices_]
        return as_metric(self.metric)(rows, self.rows_)

    def _set_embedding(self, rows: np.ndarray, points: np.ndarray) -> None:
        """Set the positions of all rows: of those that were stored, and of the others by placing them."""
        if len(points) == len(rows):
            self.embedding_ = points
            return
        self.embedding_ = np.empty((len(rows), points.shape[1]))
        self.embedding_[self.row_indices_] = points
        others = np.setdiff1d(np.arange(len(rows)), self.row_indices_)
        self.embedding_[others] = self._embed(rows[others])


def check_metric(metric: Any) -> Metric | None:
    """Return a metric, or None for distances that are given.

    Examples
    --------
    >>> check_metric("precomputed"), check_metric("euclidean")
    (None, Euclidean())
    """
    if isinstance(metric, str) and metric == "precomputed":
        return None
    try:
        return as_metric(metric)
    except ValueError as error:
        raise ValueError(f'{error}; "precomputed" is for distances that are given') from None
