"""The threshold between two Gaussian classes on a line that makes the fewest mistakes."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from tractable.base import (
    DegenerateCovarianceWarning,
    ModelTags,
    NotYetDetermined,
    check_choice,
    check_number,
)
from tractable.classification.decision_functions import DiscriminantFunctionMixin
from tractable.classification.discriminant.directions import discriminant_directions
from tractable.classification.discriminant.moments import LEAST_SHARE, class_moments
from tractable.classification.one_pass import OnePassClassifier
from tractable.covariance.shapes import regular
from tractable.statistics import ByClass, IncompleteMoments, Moments

__all__ = ["FisherDiscriminant", "gaussian_threshold"]


def gaussian_threshold(means: np.ndarray, variances: np.ndarray, weights: np.ndarray) -> float:
    """Return the t for which deciding by x > t is wrong least often, of x ~ N(m_k, v_k) with prior ∝ w_k.

    Mistakes are fewest where the weighted densities cross, a root of a quadratic. Where they do not cross
    (one class is the more probable everywhere), or a class does not vary, it is half-way between the means.

    Parameters
    ----------
    means : array (2,)
        The first not above the second.
    variances, weights : arrays (2,)

    Examples
    --------
    >>> gaussian_threshold(np.array([0.0, 4.0]), np.ones(2), np.ones(2))
    2.0
    >>> round(gaussian_threshold(np.array([0.0, 4.0]), np.array([1.0, 4.0]), np.ones(2)), 3)
    1.66
    """
    midpoint = 0.5 * float(means[0] + means[1])
    if not np.all(variances > 0.0):
        return midpoint
    # About the midpoint: a t² + b t + c is twice the log odds of the second class.
    m, p = means - midpoint, 1.0 / variances
    a = p[0] - p[1]
    b = 2.0 * (m[1] * p[1] - m[0] * p[0])
    c = m[0] ** 2 * p[0] - m[1] ** 2 * p[1] + np.log(p[1] / p[0]) + 2.0 * np.log(weights[1] / weights[0])
    roots = _real_roots(float(a), float(b), float(c))
    if not roots:
        return midpoint
    return midpoint + float(min(roots, key=lambda t: _mistakes(t, m, variances, weights)))


def _real_roots(a: float, b: float, c: float) -> list[float]:
    """Return the real roots of a t² + b t + c, without cancellation."""
    if a == 0.0:
        return [-c / b] if b else []
    square = b * b - 4.0 * a * c
    if square < 0.0:
        return []
    q = -0.5 * (b + np.copysign(np.sqrt(square), b))
    return [q / a] + ([c / q] if q else [])


def _mistakes(t: float, means: np.ndarray, variances: np.ndarray, weights: np.ndarray) -> float:
    from scipy.special import ndtr

    z = (t - means) / np.sqrt(variances)
    return float(weights[0] * ndtr(-z[0]) + weights[1] * ndtr(z[1]))


class FisherDiscriminant(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, DiscriminantFunctionMixin, OnePassClassifier
):
    """Directions of greatest spread between classes over spread within, J(w) = wᵀS_B w / wᵀS_W w.

    Of two classes it is w ∝ S_W⁻¹(m₂ - m₁), of K up to K - 1 directions. It is a projection and supposes no
    distribution; a threshold along w, or the nearest mean among the projections, makes it a classifier
    without probabilities. Exact in one pass: rows may be streamed, merged, and read from files larger than
    memory.

    Parameters
    ----------
    n_components : int, optional
        How many directions are kept; min(n_classes - 1, n_features) when not given.
    threshold : {"midpoint", "gaussian"}
        Of two classes, where they part: half-way between the projected means; or where Gaussians fitted to
        the projected classes, with their shares and variances, make the fewest mistakes. Several classes
        are told apart by the nearest projected mean, which is "midpoint".

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_count_ : array of shape (n_classes,)
    means_ : array of shape (n_classes, n_features)
    within_scatter_ : array of shape (n_features, n_features)
        S_W = Σ_k Σ_n∈k (x_n - m_k)(x_n - m_k)ᵀ.
    between_scatter_ : array of shape (n_features, n_features)
        S_B = Σ_k n_k (m_k - m)(m_k - m)ᵀ.
    scalings_ : array of shape (n_features, m)
        The directions, the best first, each of unit variance within classes. Of two classes the second
        lies on the positive side.
    criterion_ : array of shape (m,)
        J along each.
    explained_variance_ratio_ : array of shape (m,)
        Its shares.
    xbar_ : array of shape (n_features,)
        The mean of all rows, which `transform` subtracts.
    threshold_ : float
        Of two classes, where they part along the direction.
    coef_, intercept_ : arrays of shape (n_classes, n_features) and (n_classes,); one row for two classes
        The planes that decide.
    jitter_ : array of shape (n_features,)
        What was added to variances because S_W was singular; zeros when it was not.
    statistic_ : ByClass
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    See Also
    --------
    tractable.LinearDiscriminant : the same directions from Gaussian classes, with probabilities.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[0.0, 0.0], [2.0, 1.0], [4.0, 2.5], [0.0, 3.0], [2.0, 4.0], [4.0, 5.5]])
    >>> y = np.array(["low"] * 3 + ["high"] * 3)
    >>> model = tractable.FisherDiscriminant().fit(X, y)
    >>> model.predict([[4.0, 3.0], [0.0, 2.0]]).tolist()
    ['low', 'high']
    >>> model.transform(X).shape
    (6, 1)
    """

    model_tags = ModelTags(kind="mapping", parametric=True, streaming="exact in one pass")

    def __init__(self, *, n_components: int | None = None, threshold: str = "midpoint") -> None:
        self.n_components = n_components
        self.threshold = threshold

    def transform(self, X: Any) -> np.ndarray:
        """Return the rows along the directions; within classes they vary by one.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        return self._project(self._rows(X))

    @property
    def _n_features_out(self) -> int:
        return self.scalings_.shape[1] if self.n_components is None else self.n_components

    def _project(self, rows: np.ndarray) -> np.ndarray:
        return (rows - self.xbar_) @ self.scalings_[:, : self._n_features_out]

    def _scores(self, rows: np.ndarray) -> np.ndarray:
        along = self._project(rows)
        if len(self.classes_) == 2:
            score = along[:, 0] - self.threshold_
            return np.column_stack([np.zeros_like(score), score])
        places = self._project(self.means_)
        scores = along @ places.T - 0.5 * np.sum(places**2, axis=1)
        # A class that was promised and has no rows is never decided for.
        return np.where(self.class_count_ > 0, scores, -np.inf)

    def _check_parameters(self) -> None:
        check_choice("threshold", self.threshold, ("midpoint", "gaussian"))
        if self.n_components is not None:
            check_number("n_components", self.n_components, least=1, whole=True)

    def _class_statistic(self) -> Callable[..., Any]:
        self._check_parameters()
        return IncompleteMoments.of

    def _learn(self, statistic: ByClass) -> None:
        classes = self._known_classes(statistic)
        if any(part.complete is None for part in statistic.parts):
            raise ValueError("X contains NaN; FisherDiscriminant does not accept missing values")
        if len(statistic.labels) < 2:
            raise NotYetDetermined(f"y must have two classes at least, got {len(statistic.labels)} class")
        if self.threshold == "gaussian" and len(classes) > 2:
            raise ValueError(f"threshold='gaussian' is for two classes, y has {len(classes)}")
        moments = class_moments(statistic, classes, shared=True, tol=1.0, max_iter=1).moments
        self.statistic_, self.classes_ = statistic, classes
        self.means_, self.class_count_ = moments.mean, moments.weight
        self._turn(moments)
        self._part(moments)

    def _turn(self, moments: Moments) -> None:
        """Find the directions."""
        n = moments.weight.sum()
        self.within_scatter_ = moments.scatter.sum(axis=0)
        size = np.max(np.abs(moments.mean), axis=0)
        matrix = self.within_scatter_ / n
        structure, self.jitter_ = regular(matrix, size, added=LEAST_SHARE * np.diagonal(matrix))
        found = discriminant_directions(moments.mean, moments.weight / n, structure)
        self.xbar_, self.criterion_ = found.centre, found.ratios
        step = moments.mean - found.centre
        self.between_scatter_ = (moments.weight * step.T) @ step
        self.explained_variance_ratio_ = found.shares
        found.check_components(self.n_components, len(self.classes_))
        two = len(self.classes_) == 2
        towards = np.sign(step[1] @ found.axes) if two else np.ones(found.axes.shape[1])
        self.scalings_ = found.axes * np.where(towards < 0, -1.0, 1.0)

    def _part(self, moments: Moments) -> None:
        """Find where the classes part, and the planes that say so."""
        places = self._project(self.means_)
        axes = self.scalings_[:, : self._n_features_out]
        if len(self.classes_) > 2:
            self.coef_ = places @ axes.T
            self.intercept_ = -0.5 * np.sum(places**2, axis=1) - self.coef_ @ self.xbar_
            return
        self.threshold_ = 0.5 * float(places.sum())
        if self.threshold == "gaussian":
            spread = np.einsum("i,kij,j->k", axes[:, 0], moments.scatter, axes[:, 0]) / moments.weight
            self.threshold_ = gaussian_threshold(places[:, 0], spread, moments.weight)
        self.coef_ = axes.T
        self.intercept_ = np.array([-self.threshold_]) - self.coef_ @ self.xbar_

    def _report(self) -> None:
        if np.any(self.jitter_ > 0):
            warnings.warn(
                "the scatter within classes is singular: columns are constant within them or follow from "
                "others, or rows are few; a millionth of the variances was added, and is in jitter_",
                DegenerateCovarianceWarning,
                stacklevel=5,
            )
