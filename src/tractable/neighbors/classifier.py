"""Classification by the votes of the nearest rows."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from tractable.base import ClassAnswers, ModelTags, Rows, all_or_nothing, check_labels
from tractable.base.stored_rows import check_enough
from tractable.neighbors.closeness import check_closeness, closeness
from tractable.neighbors.kept_rows import KeptRows
from tractable.neighbors.loo import NeighborCurve, judged, most_neighbors, one_more
from tractable.neighbors.votes import Votes, votes_of
from tractable.spatial.counted import Counted

__all__ = ["KNeighborsClassifier"]


class KNeighborsClassifier(ClassAnswers, KeptRows):
    """Classes by the votes of the K nearest rows: p(C_i | x) = K_i / K, of which the largest is predicted.

    It is Bayes' rule over densities that fix K and find the volume V that holds it: with p(x | C_i) =
    K_i / (N_i V), p(C_i) = N_i / N and p(x) = K / (N V), the volume cancels.

    Training costs nothing: rows are kept, arranged for the search. Small K follows every row, large K
    smooths; ``n_neighbors="loo"`` chooses it by leave-one-out, all numbers in one search.

    Ties are settled so: of rows at equal distance the first given is the nearer; of classes with equal votes
    that of the nearest neighbour wins, and of those equally near the smaller label. Where votes tie,
    `predict_proba` gives the winner one rounding more, so that its largest is what `predict` says.

    Parameters
    ----------
    n_neighbors : int or "loo"
        K, counted by weight: a row that counts three times is three neighbours, of which the last may be
        counted in part. It may not be more than there are rows.
    weights : {"uniform", "distance"} or callable
        How much a neighbour says: one each, 1/distance, or what a function makes of an array of distances,
        entry by entry. Neighbours at distance zero speak alone under "distance".
    metric : str or Metric
        "euclidean", "manhattan", "chebyshev", "cosine", "hamming", or a value of `tractable.spatial` such as
        ``Minkowski(m=3)`` or ``Mahalanobis(covariance=…)``.
    index : str or class
        The search: "auto", "brute", "kd_tree", or a class of `tractable.spatial`, approximate ones too.
    max_neighbors : int, optional
        With "loo": the largest number to try; 2 √n when not given.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    n_neighbors_ : int
        K.
    loo_curve_ : NeighborCurve
        With "loo": the accuracy of every number, which `tractable.plot` draws; `loo_scores_` are its scores.
    index_ : Index
        The rows, arranged; ``index_.name`` says how.
    codes_ : array of shape (n_samples_fit_,) of int
        The class of each row.
    sample_weight_ : array of shape (n_samples_fit_,) or None
    n_samples_fit_ : int
        Rows kept: those that count.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]])
    >>> y = np.array(["a", "b", "c", "a", "c", "c", "b", "a"])
    >>> model = tractable.KNeighborsClassifier(5).fit(X, y)
    >>> model.predict_proba([[4.0, 6.0]]), model.predict([[4.0, 6.0]])
    (array([[0.4, 0.2, 0.4]]), array(['a'], dtype='<U1'))
    >>> tractable.KNeighborsClassifier("loo").fit(X, y).loo_scores_.round(3).tolist()
    [1.0, 1.0, 0.875, 0.75, 0.75, 0.5]
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

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Keep the rows and their classes.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Read into memory.
        y : array of shape (n_samples,) or column name
            Classes: numbers or words.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.

        Returns
        -------
        self
        """
        check_closeness(self.weights)
        rows = self._keep(X, y, sample_weight, supervised=True)
        self.classes_, self.codes_ = check_labels(rows.y)
        if isinstance(self.n_neighbors, str) and self.n_neighbors == "loo":
            self.loo_curve_ = self._judged(rows)
            self.n_neighbors_ = self.loo_curve_.best_n_neighbors
        else:
            self.n_neighbors_ = check_enough(self.n_neighbors, rows)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return p(C_i | x) = K_i / K: the share of each class among the neighbours.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return self._votes(X).shares

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the most votes; of tied ones that of the nearest neighbour.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        votes = self._votes(X)
        return self.classes_[votes.winner]

    @property
    def loo_scores_(self) -> np.ndarray:
        """Accuracy of 1, 2, … neighbours on rows left out."""
        return self.loo_curve_.scores

    def _votes(self, X: Any) -> Votes:
        near = self._near(X)
        return votes_of(near, closeness(self.weights, near.distances), self.codes_, len(self.classes_))

    def _judged(self, rows: Rows) -> NeighborCurve:
        most = most_neighbors(self.max_neighbors, rows)
        return judged(self.index_, rows, most, self._right, "accuracy")

    def _right(self, own: np.ndarray, near: Counted) -> Iterator[np.ndarray]:
        """Say of each number of neighbours which rows it predicts."""
        said, codes = closeness(self.weights, near.distances), self.codes_[near.indices]
        total = np.zeros((len(own), len(self.classes_)))
        nearest = np.full(total.shape, np.inf)
        for step in one_more(near.counts):
            for row, place, amount in step:
                cell = row, codes[row, place]
                total[cell] += amount * said[row, place]
                voted = amount > 0.0
                nearest[cell] = np.where(
                    voted, np.minimum(nearest[cell], near.distances[row, place]), nearest[cell]
                )
            yield (Votes(total=total, nearest=nearest).winner == self.codes_[own]).astype(float)
