"""Density by the volume that holds K neighbours."""

import warnings
from math import inf, lgamma, log
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.grouping import group_rows, weighted_counts
from tractable.base import Estimator, ModelTags, Rows, all_or_nothing, check_fitted, check_rows
from tractable.base.by_blocks import by_blocks
from tractable.base.density import EstimatedDensity, LogLikelihood
from tractable.base.stored_rows import check_enough, check_held_columns, check_stored_rows, total_weight
from tractable.data import Source
from tractable.data.predict_to import FittedColumns
from tractable.spatial.choose import as_index
from tractable.spatial.counted import nearest_counted
from tractable.spatial.metrics import Chebyshev, Euclidean, Mahalanobis, Metric, Minkowski, as_metric


class InfiniteDensityWarning(UserWarning):
    """K rows lie at one point, where the estimate is infinite."""


class NearestNeighborDensity(Estimator):
    """K-nearest-neighbour density estimation.

    p(x) ≈ K / (N V(x)), with V(x) the volume of the smallest ball about x that holds K rows.

    A region of volume V about x holds a row with probability P ≈ p(x) V, so that of N rows K ~ Bin(N, P), of
    mean N P and a relative spread of about 1/√K: p(x) ≈ K / (N V). A histogram and a kernel density fix V and
    count K; here K is fixed and V found, small where rows are dense. Larger K is smoother and more biased.

    **The estimate is not a density.** Its tails fall like 1/‖x‖^D, so that its integral is infinite: it
    cannot be sampled, has no `distribution_`, and its likelihood must not be compared with that of densities.
    `normalized_` says so. It is biased upwards by the factor K / (K - 1), which `correct_bias` takes away,
    and infinite where K rows coincide, which `fit` warns of: `score_samples` is +inf there.
    `AdaptiveKernelDensity` is a density whose windows follow the neighbours.

    Parameters
    ----------
    n_neighbors : int
        K, counted by weight, no more than there are rows. At a row of the training set, it is one of them.
    correct_bias : bool
        Whether to take (K - 1) / (N V) instead; K is then at least 2.
    metric : str or Metric
        Whose balls: "euclidean", "manhattan", "chebyshev", or a value of `tractable.spatial`,
        ``Minkowski(m=…)`` or ``Mahalanobis(covariance=…)``.
    index : str or class
        The search: "auto", "brute", "kd_tree", or a class of `tractable.spatial`.

    Attributes
    ----------
    normalized_ : bool
        Whether the estimate integrates to one: False, its integral diverges.
    index_ : Index
        The rows, arranged; ``index_.name`` says how.
    n_infinite_ : int
        Number of distinct points that K rows or more coincide with: the density there is infinite.
    sample_weight_ : array of shape (n_samples_fit_,) or None
        How often each row counts.
    n_samples_fit_, n_features_in_ : int
        Number of stored rows, and of columns of X.
    feature_names_in_ : array of str, where the columns had names
        Names of the columns of X.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]])
    >>> model = tractable.NearestNeighborDensity(n_neighbors=3).fit(X)
    >>> np.exp(model.score_samples([[4.0, 6.0]])).round(8)
    array([0.01492078])
    """

    model_tags = ModelTags(kind="generative", parametric=False, streaming="exact over several passes")
    normalized_: ClassVar[bool] = False

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        correct_bias: bool = False,
        metric: Any = "euclidean",
        index: Any = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.correct_bias = correct_bias
        self.metric = metric
        self.index = index

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.estimator_type = "density_estimator"
        return found

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Store the rows, arranged for the search.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n_samples, n_features), and how often each counts; y is ignored.
        """
        rows = check_stored_rows(self, X, sample_weight=sample_weight)
        self._check(rows)
        self.index_ = as_index(rows.data, self.metric, self.index, name="X")
        self.sample_weight_, self.n_samples_fit_ = rows.weights, len(rows.data)
        self.n_infinite_ = int(np.sum(_held(rows) >= self.n_neighbors))
        if self.n_infinite_:
            warnings.warn(
                f"{self.n_infinite_} points hold n_neighbors={self.n_neighbors} rows of X or more: the "
                "estimate is infinite there",
                InfiniteDensityWarning,
                stacklevel=3,
            )
        return self

    @by_blocks
    def score_samples(self, X: Any) -> np.ndarray:
        """Return log(K / (N V)) at each row, of an estimate without integral; inf where K rows coincide."""
        check_fitted(self)
        X = check_held_columns(self, X)
        dim, near = X.shape[1], nearest_counted(self.index_, X, self.n_neighbors, self.sample_weight_)
        held = near.counts.sum(axis=1)  # K, or what an approximate search finds of them
        n = total_weight(Rows(data=self.index_.points, weights=self.sample_weight_))
        unit = log_ball_volume(self.index_.metric, dim)
        with np.errstate(divide="ignore"):
            return np.log(held - float(self.correct_bias)) - np.log(n) - unit - dim * np.log(near.farthest)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean of `score_samples`. It is no likelihood.

        Parameters
        ----------
        X, y, sample_weight
            Rows (an array, a frame, a source or a re-iterable of batches), and how often each counts; y is
            ignored.
        """
        check_fitted(self)
        rows = check_rows(self, X, None, sample_weight, reset=False)
        if isinstance(rows.data, Source):
            estimate = EstimatedDensity(model=self, columns=FittedColumns.of(self, rows.data))
            total = rows.data.reduce(LogLikelihood(density=estimate))
            return float(total[0] / total[1])
        return float(np.average(self.score_samples(X), weights=rows.weights))

    def outlier_scores(self, X: Any) -> np.ndarray:
        """Return minus the log of the estimate at each row: larger for rows of lower density."""
        return -self.score_samples(X)

    def _check(self, rows: Rows) -> None:
        check_enough(self.n_neighbors, rows, least=2 if self.correct_bias else 1)
        log_ball_volume(as_metric(self.metric), rows.data.shape[1])


def _held(rows: Rows) -> np.ndarray:
    """Return how many rows lie at each point."""
    return weighted_counts(group_rows(rows.data), rows.row_weights, len(rows.data))


def log_ball_volume(metric: Metric, dim: int) -> float:
    """Return log V of the ball of radius one, V = (2 Γ(1 + 1/m))^D / Γ(1 + D/m); times √|Σ| by Mahalanobis.

    Examples
    --------
    >>> round(log_ball_volume(Euclidean(), 3), 6) == round(log(4.0 * np.pi / 3.0), 6)
    True
    """
    if isinstance(metric, Mahalanobis):
        return _of_order(2.0, dim) + 0.5 * float(np.linalg.slogdet(metric.covariance)[1])
    if isinstance(metric, (Euclidean, Minkowski, Chebyshev)):
        return _of_order({"euclidean": 2.0, "chebyshev": inf}.get(metric.form, metric.order), dim)
    raise ValueError(f"metric must have balls with a volume (Minkowski's or Mahalanobis'), got {metric!r}")


def _of_order(m: float, dim: int) -> float:
    inverse = 0.0 if m == inf else 1.0 / m
    return dim * (log(2.0) + lgamma(1.0 + inverse)) - lgamma(1.0 + dim * inverse)
