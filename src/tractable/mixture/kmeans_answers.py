"""What clusters about centres answer: which, how far, how well."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin

from tractable.base import (
    Estimator,
    Rows,
    all_or_nothing,
    check_columns,
    check_fitted,
    check_rows,
    refuse_foreign,
)
from tractable.data.blocks import map_rows
from tractable.mixture.kmeans_frame import Frame, frame_about
from tractable.mixture.kmeans_steps import Centers, Clusters, StreamedRows, means
from tractable.primitives.kmeans import assign
from tractable.primitives.threads import single_threaded_blas

__all__ = ["CenterAnswers"]

#: Squares of longer steps are not all numbers.
FAR = 1e140


class CenterAnswers(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """`predict`, `transform`, `score` and the two steps of a model with `cluster_centers_`."""

    n_clusters: int
    cluster_centers_: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """Return the cluster of each row: that of the nearest centre.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) of int
        """
        check_fitted(self)
        X, frame = self._held(X), self._frame()
        centers = np.ascontiguousarray(frame.inside(self.cluster_centers_))
        with single_threaded_blas():
            return map_rows(lambda x: _nearest(x, frame, centers), X)

    def transform(self, X: Any) -> np.ndarray:
        """Return the distance of each row to each centre.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_clusters)
        """
        check_fitted(self)
        centers = self.cluster_centers_

        def distances(x: np.ndarray) -> np.ndarray:
            found = np.stack([np.sqrt(np.sum((x - c) ** 2, axis=1)) for c in centers], axis=1)
            far = ~np.all(found < FAR, axis=1)
            if np.any(far):  # in units of the longest step, whose square is a number
                step = x[far][:, None, :] - centers
                unit = np.maximum(np.max(np.abs(step), axis=2), 1.0)
                found[far] = unit * np.sqrt(np.sum((step / unit[:, :, None]) ** 2, axis=2))
            return found

        with np.errstate(over="ignore"):
            return map_rows(distances, self._held(X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return -J of rows at the fitted centres.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,) or column name, optional

        Returns
        -------
        float
        """
        held = self.summarize(X, sample_weight=sample_weight)
        return -held.inertia / held.frame.scale**2

    def summarize(self, X: Any, y: Any = None, sample_weight: Any = None) -> Clusters:
        """Give rows to the fitted centres and return what each then holds: one E-step, changing nothing.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,) or column name, optional

        Returns
        -------
        Clusters
            Merge two with ``+``; move the centres with `from_statistic`.
        """
        check_fitted(self)
        rows, frame = self._rows(X, sample_weight, reset=False, least=1), self._frame()
        centers = np.ascontiguousarray(frame.inside(self.cluster_centers_))
        with single_threaded_blas():
            found = StreamedRows(rows.data, rows.weights, frame).expect(Centers(centers=centers))
        if not np.isfinite(found.inertia):
            raise ValueError(
                "X has values so far from the centres that squares overflow; rescale its columns"
            )
        return found

    @all_or_nothing(afresh=False)
    def from_statistic(self, statistic: Clusters) -> Self:
        """Move the centres to the means of what they hold: one M-step. A centre without rows stays.

        Parameters
        ----------
        statistic : Clusters
            What `summarize` returned, or a sum of such.

        Returns
        -------
        self
        """
        if not isinstance(statistic, Clusters):
            raise ValueError(f"statistic must be Clusters, got {type(statistic).__name__}")
        for name in [n for n in vars(self) if n.endswith("_") and n not in _COLUMNS]:
            delattr(self, name)
        self.cluster_centers_ = statistic.frame.outside(means(statistic))
        self.counts_, self.n_features_in_ = statistic.counts, statistic.dim
        return self

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _frame(self) -> Frame:
        """Return a frame about the fitted centres."""
        centers = self.cluster_centers_
        return frame_about(centers.mean(axis=0), centers.var(axis=0))

    def _held(self, X: Any) -> np.ndarray:
        refuse_foreign(X)
        return check_columns(self, X)

    def _rows(self, X: Any, sample_weight: Any, *, reset: bool, least: int | None = None) -> Rows:
        refuse_foreign(X)
        rows = check_rows(self, X, None, sample_weight, reset=reset)
        wanted = (self.n_clusters if reset else 1) if least is None else least
        if rows.n_rows is not None and rows.n_rows < wanted:
            raise ValueError(f"X has n_samples={rows.n_rows}, fewer than n_clusters={self.n_clusters}")
        return rows


_COLUMNS = ("n_features_in_", "feature_names_in_")


def _nearest(x: np.ndarray, frame: Frame, centers: np.ndarray) -> np.ndarray:
    """Return the nearest centre of each row, also where squared distances overflow."""
    labels = assign(x, None, frame.shift, frame.scale, centers).labels
    if max(float(np.max(x)), -float(np.min(x))) * frame.scale < FAR:
        return labels
    step = x - frame.shift
    size = np.max(np.abs(step), axis=1)
    far = size > FAR / frame.scale
    if np.any(far):
        # |c|² - 2 c·x, over the size of x.
        unit = size[far, None]
        scores = np.sum(centers * centers, axis=1) / (unit * frame.scale) - 2.0 * step[far] / unit @ centers.T
        labels[far] = np.argmin(scores, axis=1)
    return labels
