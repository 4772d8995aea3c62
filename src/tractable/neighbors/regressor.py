"""Regression by the targets of the nearest rows."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from tractable.base import ModelTags, PredictiveMixin, Rows, all_or_nothing, check_targets
from tractable.base.stored_rows import check_enough
from tractable.neighbors.closeness import check_closeness, closeness
from tractable.neighbors.kept_rows import KeptRows
from tractable.neighbors.loo import NeighborCurve, judged, most_neighbors, one_more
from tractable.neighbors.neighbor_targets import NeighborTargets
from tractable.spatial.counted import Counted

__all__ = ["KNeighborsRegressor"]


class KNeighborsRegressor(RegressorMixin, PredictiveMixin, KeptRows):
    """A target by those of the K nearest rows: p(y | x) is their distribution, its mean is predicted.

    The distribution is discrete: quantiles and intervals are targets of neighbours, and no interval of K
    neighbours can be wider than their range. Without noise (``include_noise=False``) the spread is that of
    their average, variance / K: the same targets drawn towards their mean.

    Training costs nothing: rows are kept, arranged for the search. ``n_neighbors="loo"`` chooses K by
    leave-one-out, all numbers in one search.

    Parameters
    ----------
    n_neighbors : int or "loo"
        K, counted by weight: a row that counts three times is three neighbours, of which the last may be
        counted in part. It may not be more than there are rows. Of rows at equal distance the first given is
        the nearer.
    weights : {"uniform", "distance"} or callable
        How much a neighbour says: one each, 1/distance, or what a function makes of an array of distances,
        entry by entry. Neighbours at distance zero speak alone under "distance".
    metric : str or Metric
        "euclidean", "manhattan", "chebyshev", "cosine", "hamming", or a value of `tractable.spatial`.
    index : str or class
        The search: "auto", "brute", "kd_tree", or a class of `tractable.spatial`, approximate ones too.
    max_neighbors : int, optional
        With "loo": the largest number to try; 2 √n when not given.

    Attributes
    ----------
    n_neighbors_ : int
        K.
    loo_curve_ : NeighborCurve
        With "loo": R² of every number, averaged over targets, which `tractable.plot` draws; `loo_scores_` are
        its scores.
    index_ : Index
        The rows, arranged; ``index_.name`` says how.
    targets_ : array of shape (n_samples_fit_,) or (n_samples_fit_, n_targets)
    sample_weight_ : array of shape (n_samples_fit_,) or None
    n_samples_fit_ : int
        Rows kept: those that count.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    Examples
    --------
    >>> import tractable
    >>> model = tractable.KNeighborsRegressor(3).fit([[0.0], [1.0], [2.0], [9.0]], [0.0, 2.0, 1.0, 7.0])
    >>> model.predict([[1.2]]), model.predict_interval([[1.2]], coverage=0.9)
    (array([1.]), array([[0., 2.]]))
    """

    model_tags = ModelTags(kind="discriminative", parametric=False, streaming="exact over several passes")

    def __init__(
        self,
        n_neighbors: int | str = 5,
        *,
        weights: Any = "uniform",
        metric: Any = "euclidean",
        index: Any = "auto",
        max_neighbors: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.index = index
        self.max_neighbors = max_neighbors

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.target_tags.multi_output = True
        return found

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Keep the rows and their targets.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Read into memory.
        y : array of shape (n_samples,) or (n_samples, n_targets), or column name
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.

        Returns
        -------
        self
        """
        check_closeness(self.weights)
        rows = self._keep(X, y, sample_weight, supervised=True)
        self.targets_ = check_targets(self, rows.y, rows.data)
        if isinstance(self.n_neighbors, str) and self.n_neighbors == "loo":
            self.loo_curve_ = self._judged(rows)
            self.n_neighbors_ = self.loo_curve_.best_n_neighbors
        else:
            self.n_neighbors_ = check_enough(self.n_neighbors, rows)
        return self

    def predict_dist(self, X: Any, *, include_noise: bool = True) -> NeighborTargets:
        """Return the distribution of the neighbours' targets, or of their average.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        include_noise : bool
            Whether the spread is that of a new target (default) or of the average of K.

        Returns
        -------
        NeighborTargets
            Of batch shape (n_samples,), with a second axis for several targets.
        """
        near = self._near(X)
        said = near.counts * closeness(self.weights, near.distances)
        targets = self.targets_[near.indices]
        if self.targets_.ndim == 2:
            targets, said = np.swapaxes(targets, 1, 2), said[:, None, :]
        found = NeighborTargets(values=targets, weights=said)
        if include_noise:
            return found
        mean, shares = found.mean[..., None], found.probabilities
        narrower = np.sqrt(np.sum(shares**2 / np.maximum(near_counts(near, shares), 1e-300), axis=-1))
        return NeighborTargets(values=mean + (targets - mean) * narrower[..., None], weights=said)

    @property
    def loo_scores_(self) -> np.ndarray:
        """R² of 1, 2, … neighbours on rows left out."""
        return self.loo_curve_.scores

    def _judged(self, rows: Rows) -> NeighborCurve:
        most = most_neighbors(self.max_neighbors, rows)
        targets = _standardised(self.targets_, rows.weights)

        def worths(own: np.ndarray, near: Counted) -> Iterator[np.ndarray]:
            said = closeness(self.weights, near.distances)
            sums, total = np.zeros((len(own), targets.shape[1])), np.zeros((len(own), 1))
            for step in one_more(near.counts):
                for row, place, amount in step:
                    much = (amount * said[row, place])[:, None]
                    sums[row] += much * targets[near.indices[row, place]]
                    total[row] += much
                yield 1.0 - np.mean((sums / total - targets[own]) ** 2, axis=1)

        return judged(self.index_, rows, most, worths, "R²")


def near_counts(near: Counted, shares: np.ndarray) -> np.ndarray:
    """Return how often each neighbour counts, in the shape of the shares."""
    counts = near.counts if shares.ndim == 2 else near.counts[:, None, :]
    return np.where(shares > 0.0, np.broadcast_to(counts, shares.shape), 1.0)


def _standardised(targets: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return targets (n, t) of mean zero and variance one; constant ones are zeros, predicted exactly."""
    y = targets.reshape(len(targets), -1)
    unit = np.max(np.abs(y), axis=0)
    y = y / np.where(unit > 0.0, unit, 1.0)
    y = y - np.average(y, axis=0, weights=weights)
    spread = np.sqrt(np.average(y**2, axis=0, weights=weights))
    constant = spread <= 8.0 * np.finfo(float).eps
    return np.where(constant, 0.0, y / np.where(constant, 1.0, spread))
