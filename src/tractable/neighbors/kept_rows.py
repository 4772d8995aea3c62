"""What all models of neighbours share: the rows they keep, and the search among them."""

from typing import Any

import numpy as np

from tractable.base import Estimator, Rows, check_fitted, check_number
from tractable.base.stored_rows import check_held_columns, check_stored_rows
from tractable.spatial.choose import as_index
from tractable.spatial.counted import Counted, nearest_counted
from tractable.spatial.index import Index
from tractable.spatial.metrics import as_metric

__all__ = ["KeptRows"]


class KeptRows(Estimator):
    """`kneighbors` of a model that keeps its rows: training is keeping them, arranged for the search."""

    n_neighbors: Any
    metric: Any
    index: Any
    index_: Index
    n_neighbors_: int
    sample_weight_: np.ndarray | None

    def _keep(self, X: Any, y: Any, sample_weight: Any, *, supervised: bool) -> Rows:
        """Check and keep the rows; the index is said in `index_`."""
        as_metric(self.metric)
        rows = check_stored_rows(self, X, y, sample_weight, supervised=supervised)
        self.index_ = as_index(rows.data, self.metric, self.index)
        self.sample_weight_ = rows.weights
        self.n_samples_fit_ = len(rows.data)
        return rows

    def kneighbors(self, X: Any, n_neighbors: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances and the rows of the nearest neighbours, the nearest first.

        Neighbours at equal distance come in the order of their rows. Rows of weight zero were not kept and
        are not numbered; a weight of several does not repeat a row here.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        n_neighbors : int, optional
            As many as the model uses when not given.

        Returns
        -------
        distances, indices : arrays of shape (n_samples, n_neighbors)
        """
        check_fitted(self)
        X = check_held_columns(self, X)
        k = min(self.n_neighbors_, self.n_samples_fit_) if n_neighbors is None else n_neighbors
        check_number("n_neighbors", k, least=1, most=self.n_samples_fit_, whole=True)
        return self.index_.query(X, k)

    def _near(self, X: Any) -> Counted:
        check_fitted(self)
        return nearest_counted(
            self.index_, check_held_columns(self, X), self.n_neighbors_, self.sample_weight_
        )
