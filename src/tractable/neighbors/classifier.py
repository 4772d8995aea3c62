"""Classification by the votes of the nearest rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.namespace import Array, device, is_foreign_array, namespace_of
from tractable.base import ClassifierMixin, Rows, check_fitted, check_labels
from tractable.base.by_blocks import by_blocks
from tractable.base.classifier import label_at
from tractable.base.options import SklearnOptions
from tractable.base.scores import rows_in_memory
from tractable.base.validation import check_weights
from tractable.distributions import Categorical
from tractable.neighbors.leave_one_out import Trial, steps_to
from tractable.neighbors.search import NeighborModel, neighbor_weights
from tractable.spatial.counted import Counted
from tractable.value import value


@value
class Votes:
    """The votes of neighbours: the weight of each class, and the distance of its nearest neighbour."""

    total: np.ndarray  # (m, classes)
    nearest: np.ndarray  # (m, classes), infinite where no neighbour is of the class

    @property
    def probabilities(self) -> np.ndarray:
        """p(C_i | x) = K_i / K, (m, classes), the winner's above those it ties with by one rounding of 1.

        So much that 1 - p can tell them apart too.
        """
        xp = namespace_of(self.total)
        probabilities = self.total / xp.sum(self.total, axis=1, keepdims=True)
        classes = xp.arange(self.total.shape[1], device=device(self.total))
        won = self.winner[:, None] == classes
        own = xp.max(xp.where(won, probabilities, 0.0), axis=1, keepdims=True)
        tied = xp.sum(xp.astype(probabilities >= own, xp.int64), axis=1, keepdims=True) > 1
        above = xp.max(probabilities, axis=1, keepdims=True) + float(np.finfo(float).eps)
        return xp.where(won & tied, above, probabilities)

    @property
    def winner(self) -> np.ndarray:
        """The class of most votes; of tied ones that of the nearest neighbour, then the first, (m,)."""
        xp = namespace_of(self.total)
        tied = self.total == xp.max(self.total, axis=1, keepdims=True)
        return xp.argmin(xp.where(tied, self.nearest, xp.inf), axis=1)


def votes_of(near: Counted, votes: np.ndarray, codes: np.ndarray, n_classes: int) -> Votes:
    """Return the votes: each neighbour's count times its weight, for its class.

    Examples
    --------
    >>> one = np.ones((1, 3))
    >>> near = Counted(distances=np.array([[1.0, 2.0, 2.0]]), indices=np.array([[0, 1, 2]]), counts=one)
    >>> votes_of(near, one, np.array([1, 0, 1]), 2).probabilities.round(3)
    array([[0.333, 0.667]])
    """
    if is_foreign_array(near.indices):
        return _votes_elsewhere(near, votes, codes, n_classes)
    m = len(near.indices)
    cells = codes[near.indices] + n_classes * np.arange(m)[:, None]
    total = np.bincount(cells.ravel(), (near.counts * votes).ravel(), minlength=m * n_classes)
    nearest = np.full(m * n_classes, np.inf)
    np.minimum.at(nearest, cells.ravel(), np.where(near.counts > 0.0, near.distances, np.inf).ravel())
    return Votes(total=total.reshape(m, n_classes), nearest=nearest.reshape(m, n_classes))


def _votes_elsewhere(near: Counted, votes: Any, codes: Any, n_classes: int) -> Votes:
    """Return the votes in the library of the neighbours, a class after the other."""
    xp = namespace_of(near.counts)
    own = xp.reshape(xp.take(codes, xp.reshape(near.indices, (-1,))), near.indices.shape)
    cast = near.counts * votes
    mine = [own == k for k in range(n_classes)]
    total = [xp.sum(xp.where(each, cast, 0.0), axis=1) for each in mine]
    nearest = [xp.min(xp.where(each & (near.counts > 0.0), near.distances, xp.inf), axis=1) for each in mine]
    return Votes(total=xp.stack(total, axis=1), nearest=xp.stack(nearest, axis=1))


class KNeighborsClassifier(ClassifierMixin, NeighborModel):
    """K-nearest-neighbour classification: p(C_i | x) = K_i / K, the fractions of the K nearest rows.

    It is Bayes' rule over densities that fix K and find the volume V that holds it: with p(x | C_i) =
    K_i / (N_i V), p(C_i) = N_i / N and p(x) = K / (N V), the volume cancels.

    Rows may have several labels, y of shape (n_samples, n_labels): neighbours vote on each by itself.
    `classes_` and `predict_proba` are then lists, an entry a label, `predict` is of shape (n_samples,
    n_labels), and `score` is the fraction of rows of which every label is predicted.

    Training stores the rows, arranged for the search. Small K follows every row, large K
    smooths; ``n_neighbors="loo"`` chooses it by leave-one-out, all numbers in one search.

    Ties are broken by rules: of rows at equal distance the first given is the nearer; of classes with equal
    votes that of the nearest neighbour wins, and of those equally near the smaller label. Where votes tie,
    `predict_proba` gives the winner one rounding more, so that its largest is what `predict` says, and so are
    the mode of `predict_dist` and what `decide` decides without a loss.

    Parameters
    ----------
    n_neighbors : int or "loo"
        K, counted by weight: a row that counts three times is three neighbours, of which the last may be
        counted in part. It may not be more than the total weight of the rows. With "loo" a row is left out
        whole, all its weight, and with it the rows that coincide with it: copies would predict each other.
    weights : {"uniform", "distance"} or callable
        The weight of a neighbour: one each, 1/distance, or a function of an array of distances, entry by
        entry. Under "distance", neighbours at distance zero have all the weight.
    metric : str, Metric or callable
        "minkowski" of order `p`, "euclidean" ("l2"), "manhattan" ("l1", "cityblock"), "chebyshev", "cosine",
        "hamming", "haversine" (latitude and longitude in radians) or "nan_euclidean" (entries may be
        missing); a value of `tractable.spatial` such as ``Mahalanobis(covariance=…)``; a function of two
        rows, called for every pair. With "precomputed" X holds distances: of all pairs of rows in `fit`,
        (n_samples, n_samples), of new rows from these in predictions.
    p : float
        The order of "minkowski", at least 1: 1 is "manhattan", 2 "euclidean".
    index : str or callable
        The search: "auto", exact by "brute" or "kd_tree", approximate by "spill_tree", "tsvq_tree" or
        "randomized_forest"; a class of `tractable.spatial`, or a function of points and metric that makes an
        index, as ``functools.partial(RandomizedForest, n_trees=8)``. Rows of which an approximate index finds
        fewer than K neighbours are searched for exactly, so that K is K.
    max_neighbors : int, optional
        With "loo": the largest number to try; 2 √n when not given. Of more than 2,048 numbers so many are
        tried, evenly in the logarithm. With an approximate index the trial ends
        at the number it finds for nine rows in ten, with a warning where this was given.
    random_state : None, int, RandomState or Generator
        Passed on to an index that draws: one seed gives one model.

    Attributes
    ----------
    classes_ : array of shape (n_classes,), or list of them
        The classes, in order; of several labels a row, those of each.
    outputs_2d_ : bool
        Whether rows have several labels.
    n_neighbors_ : int
        K.
    loo_curve_ : NeighborCurve
        With "loo": the accuracy of every number, which `tractable.plot` draws.
    loo_scores_ : array
        Its scores.
    index_ : Index
        The rows, arranged; ``index_.name`` says how.
    codes_ : array of shape (n_samples_fit_,) or (n_samples_fit_, n_labels) of int
        The class of each row, a position in `classes_`.
    sample_weight_ : array of shape (n_samples_fit_,) or None
        Frequencies of the stored rows; None where none were given.
    row_indices_ : array of shape (n_samples_fit_,) of int
        The number, among the rows given, of each stored one: those of positive weight.
    n_samples_fit_, n_samples_given_ : int
        Stored rows, and rows that were given.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

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

    _several_targets = True
    classes_: Any  # of several labels, a list

    _sklearn_options = SklearnOptions(
        ignored=("algorithm", "leaf_size"),
        limited={"metric_params": (None,)},
        values={"weights": {None: "uniform"}},
    )

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.classifier_tags.multi_label = True
        return found

    def _set_targets(self, rows: Rows) -> None:
        y = rows.y if is_foreign_array(rows.y) else np.asarray(rows.y)
        self.outputs_2d_ = y.ndim == 2 and y.shape[1] > 1
        if self.outputs_2d_:
            found = [check_labels(_column(y[:, j])) for j in range(y.shape[1])]
            xp = namespace_of(*(codes for _, codes in found))
            codes = xp.stack([xp.astype(codes, xp.int64) for _, codes in found], axis=1)
            classes: Any = [classes for classes, _ in found]
        else:
            classes, codes = check_labels(rows.y)
        self.classes_, self.codes_ = beside((classes, codes), rows.data)

    @by_blocks
    def predict_proba(self, X: Any) -> Any:
        """Return p(C_i | x) = K_i / K: the fraction of each class among the neighbours.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples, n_classes), or list of them
            Of several labels a row, one of each.
        """
        found = [votes.probabilities for votes in self._votes(X)]
        return found if self.outputs_2d_ else found[0]

    @by_blocks
    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the most votes; of tied ones that of the nearest neighbour."""
        votes = self._votes(X)
        if not self.outputs_2d_:
            return label_at(self.classes_, votes[0].winner)
        labels = [label_at(classes, each.winner) for classes, each in zip(self.classes_, votes, strict=True)]
        return namespace_of(*labels).stack(labels, axis=1)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the fraction of rows whose class, or of which every label, is predicted.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,) or (n_samples, n_labels), or column name
            Classes.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        """
        check_fitted(self)
        if not self.outputs_2d_:
            return super().score(X, y, sample_weight)
        X, y, weights = rows_in_memory(self, X, y, sample_weight)
        predicted = self.predict(X)
        y = beside(y if is_foreign_array(y) else np.asarray(y), predicted)
        if y.shape != predicted.shape:
            raise ValueError(f"y must be labels of shape {tuple(predicted.shape)}, got {tuple(y.shape)}")
        xp, weights = namespace_of(predicted), check_weights(weights, predicted)
        right = xp.astype(xp.all(predicted == y, axis=1), xp.float64)
        return float(xp.mean(right) if weights is None else right @ weights / xp.sum(weights))

    def predict_dist(self, X: Any) -> Categorical:
        """Return p(C | x) as a `Categorical`, one batch entry a row; events are positions in `classes_`."""
        self._check_one_label("predict_dist")
        return super().predict_dist(X)

    def decide(self, X: Any, *, loss: Any = None, reject_loss: float | None = None) -> np.ndarray:
        """Return the decision of least expected loss for each row, argmin_j Σ_k L_kj p(C_k | x).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        loss : array of shape (n_classes, n_classes), optional
            L_kj, what deciding for class j costs where k is true; 1 for every mistake when not given.
        reject_loss : float, optional
            What it costs to leave a row undecided, None among the labels.
        """
        self._check_one_label("decide")
        return super().decide(X, loss=loss, reject_loss=reject_loss)

    def _check_one_label(self, method: str) -> None:
        check_fitted(self)
        if self.outputs_2d_:
            raise ValueError(
                f"{method} is for one label a row, and y had {len(self.classes_)}: fit a model to each, or "
                "use predict_proba"
            )

    def _votes(self, X: Any) -> list[Votes]:
        """Return the votes on each label."""
        near = self._near(X)
        weights = neighbor_weights(self.weights, near)
        return [votes_of(near, weights, codes, classes.shape[0]) for classes, codes in self._labels()]

    def _labels(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the classes, and the codes of the rows, of each label."""
        if self.outputs_2d_:
            return list(zip(self.classes_, self.codes_.T, strict=True))
        return [(self.classes_, self.codes_)]

    def _trial(self, rows: Rows) -> Trial:
        return Trial(predictions=self._winners, score_of=self._right, score="accuracy")

    def _right(self, won: np.ndarray, own: np.ndarray) -> np.ndarray:
        codes = self.codes_.reshape(len(self.codes_), -1)
        return np.where(np.isnan(won).any(axis=1), np.nan, np.all(won == codes[own], axis=1))

    def _winners(self, near: Counted, numbers: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the classes with the most votes, (m, labels), of each of these numbers of neighbours."""
        weights = neighbor_weights(self.weights, near)
        each = (_winners(near, numbers, weights, codes, len(classes)) for classes, codes in self._labels())
        return (np.stack(won, axis=1) for won in zip(*each, strict=True))


def _winners(
    near: Counted, numbers: np.ndarray, weights: np.ndarray, codes: np.ndarray, n_classes: int
) -> Iterator[np.ndarray]:
    """Yield the class with the most votes of each of these numbers of neighbours; NaN without votes."""
    codes, rows = codes[near.indices], len(near.counts)
    total, nearest = np.zeros((rows, n_classes)), np.full((rows, n_classes), np.inf)
    for step in steps_to(near.counts, numbers):
        for row, column, amount in step:
            cell = row, codes[row, column]
            total[cell] += amount * weights[row, column]
            closer = np.minimum(nearest[cell], near.distances[row, column])
            nearest[cell] = np.where(amount > 0.0, closer, nearest[cell])
        yield np.where(total.any(axis=1), Votes(total=total, nearest=nearest).winner, np.nan)


def _column(label: Array) -> Array:
    """Return the labels of a column: numbers of a table of mixed kinds are objects in it."""
    return np.array(label.tolist()) if getattr(label.dtype, "kind", None) == "O" else label
