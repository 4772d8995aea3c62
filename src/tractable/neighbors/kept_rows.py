"""What models that answer by their neighbours share: the rows they keep, and how many of them speak."""

import warnings
from typing import Any

import numpy as np

from tractable.base import Rows, check_fitted, check_number
from tractable.base.stored_rows import check_enough, check_held_columns, check_stored_rows
from tractable.neighbors.loo import NeighborCurve, Trial, judged, most_neighbors, usually_found
from tractable.neighbors.places import places_of
from tractable.neighbors.search import NeighborSearch
from tractable.spatial.choose import as_index
from tractable.spatial.counted import Counted, nearest_counted
from tractable.spatial.metrics import as_metric

__all__ = ["KeptRows"]


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
