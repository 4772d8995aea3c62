"""Least squares for classification: linear discriminant functions fitted to one-of-K codes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.limits import check_squarable
from tractable.base import (
    ClassifierMixin,
    ModelTags,
    NotYetDetermined,
    OnePassEstimator,
    check_answerable,
    check_number,
)
from tractable.base.by_blocks import by_blocks
from tractable.base.validation import check_query
from tractable.classification.class_priors import class_weights, known_classes
from tractable.distributions import one_hot
from tractable.engines import LeastSquares, least_squares
from tractable.primitives.linear import triangle
from tractable.statistics import ByClass, LinearFactor


class LeastSquaresClassifier(ClassifierMixin, OnePassEstimator):
    """Linear discriminant functions y(x) = Wᵀx + w₀ nearest to one-of-K codes of the classes.

    Bishop (4.16); a row has the class of the largest. Exact in one pass, with the digits of a QR of all rows:
    rows may be streamed, merged, and read from files larger than memory. The outputs of a row sum to one, as
    the codes do; they are no probabilities, may be negative or above one, and are not offered as such: there
    is no `predict_proba` and no `predict_dist`. Rows far on the correct side of a boundary influence it as
    strongly as mistakes do, and of three classes in a line the middle one may never be predicted (masking):
    :class:`tractable.LinearDiscriminant` and :class:`tractable.LogisticRegression` do not have these faults.

    Parameters
    ----------
    rank_tol : float, optional
        A direction in which the columns vary less than this, relative to their lengths about the origin, is
        taken for rounding; 10 n_features ε by default. Where directions are lacking the shortest
        coefficients are taken.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    class_count_ : array of shape (n_classes,)
        The weight of the rows of each class.
    coef_, intercept_ : arrays of shape (n_classes, n_features) and (n_classes,)
        The discriminant functions; of two classes one, the second less the first, whose sign decides.
    statistic_ : ByClass
        Triangular factors of the rows of each class.
    rank_ : int
        Rank of the centered columns.
    n_features_in_, feature_names_in_ : int, array of str
        Number of columns, and their names where they had any.

    See Also
    --------
    tractable.LabelCoding : one-of-K and the other codes of classes.

    Examples
    --------
    >>> import tractable
    >>> X, y = [[0.0], [1.0], [2.0], [10.0], [11.0]], ["a", "a", "a", "b", "b"]
    >>> model = tractable.LeastSquaresClassifier().fit(X, y)
    >>> model.predict([[3.0], [9.0]]).tolist(), model.outputs([[3.0]]).sum().round(12)
    (['a', 'b'], np.float64(1.0))
    """

    model_tags = ModelTags(kind="mapping", parametric=True, streaming="exact in one pass")
    _supervised = _by_class = True
    _solution_: LeastSquares

    def __init__(self, *, rank_tol: float | None = None) -> None:
        self.rank_tol = rank_tol

    @by_blocks
    def outputs(self, X: Any) -> np.ndarray:
        """Return y_k(x) of every class, (n_samples, n_classes): the predicted codes, which sum to one."""
        check_answerable(self)
        fit = self._solution_
        return fit.offset + (check_query(self, X) - fit.centre) @ fit.coef.T

    def _class_scores(self, X: Any) -> np.ndarray:
        # A class that was declared and has no rows is never predicted.
        return np.where(self.class_count_ > 0, self.outputs(X), -np.inf)

    def _check_parameters(self) -> None:
        if self.rank_tol is not None:
            check_number("rank_tol", self.rank_tol, above=0.0, below=1.0)

    def _statistic(self) -> Callable[..., Any]:
        return _columns

    def _learn(self, statistic: ByClass) -> None:
        classes = known_classes(self, statistic)
        if len(statistic.labels) < 2:
            raise NotYetDetermined(f"y must have two classes at least, got {len(statistic.labels)} class")
        factor = with_codes(statistic, classes)
        check_squarable("X", factor.root_mean_square[: factor.dim])
        fit = least_squares(factor, rank_tol=self.rank_tol)
        self.statistic_, self.classes_, self._solution_ = statistic, classes, fit
        self.class_count_ = class_weights(statistic, classes)
        two = len(classes) == 2
        self.coef_ = fit.coef[1:] - fit.coef[:1] if two else fit.coef
        self.intercept_ = fit.intercept[1:] - fit.intercept[:1] if two else fit.intercept
        self.rank_ = fit.rank


def with_codes(statistic: ByClass, classes: np.ndarray) -> LinearFactor:
    """Return the factor of all rows with the one-of-K codes of their classes as targets.

    Codes are constant within a class, so that the factors of the columns alone suffice: classes need not be
    known before the pass. The scatter is that within classes, in which codes take no part, and that of the
    means of classes, whose rows √N_k [m_k - m, e_k - N_k/N] stand below the factor within: one small QR for
    any number of classes.
    """
    K, parts = len(classes), statistic.parts
    codes = one_hot(np.searchsorted(classes, statistic.labels), K)
    weight = np.array([float(part.weight) for part in parts])
    means = np.stack([part.mean for part in parts])
    total = float(np.sum(weight))
    fractions = (weight / (total or 1.0))[:, None]
    # About the first mean, so that columns far from the origin keep their digits.
    centre = means[0] + np.sum(fractions * (means - means[0]), axis=0)
    centre_codes = np.sum(fractions * codes, axis=0)
    within = triangle(np.concatenate([part.triangular() for part in parts]))
    between = np.sqrt(weight)[:, None] * np.column_stack([means - centre, codes - centre_codes])
    return LinearFactor(
        weight=total,
        mean=np.concatenate([centre, centre_codes]),
        factor=triangle(np.concatenate([np.pad(within, ((0, 0), (0, K))), between])),
        n_targets=K,
        flat=False,
    )


def _columns(x: np.ndarray, weights: Any = None) -> LinearFactor:
    return LinearFactor.of(x, np.zeros((len(x), 0)), weights)
