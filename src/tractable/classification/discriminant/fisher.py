"""Fisher's discriminant: the directions that separate classes best, and a classifier along them."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from tractable.base import (
    ClassifierMixin,
    DegenerateCovarianceWarning,
    ModelTags,
    NotYetDetermined,
    OnePassEstimator,
    check_answerable,
    check_choice,
    check_number,
)
from tractable.base.by_blocks import by_blocks, keeps_float32
from tractable.base.validation import check_query
from tractable.classification.class_priors import known_classes
from tractable.classification.discriminant.moments import ADDED_VARIANCE, class_moments
from tractable.covariance.shapes import regular
from tractable.statistics import ByClass, IncompleteMoments, Moments
from tractable.value import value


class FisherDiscriminant(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, OnePassEstimator
):
    """Directions of greatest scatter between classes over scatter within, J(w) = wᵀS_B w / wᵀS_W w.

    Of two classes it is w ∝ S_W⁻¹(m₂ - m₁), of K up to K - 1 directions. It is a projection and assumes no
    distribution; a threshold along w, or the nearest projected mean, makes it a classifier without
    probabilities: without a distribution of the classes there is no `predict_dist`. Exact in one pass: rows
    may be streamed, merged, and read from files larger than memory.

    Parameters
    ----------
    n_components : int, optional
        Number of directions; min(n_classes - 1, n_features) when not given.
    threshold : {"midpoint", "gaussian"}
        Of two classes, the boundary along w: half-way between the projected means; or where Gaussians fitted
        to the projected classes, with their weights and variances, make the fewest mistakes. Several classes
        are assigned by the nearest projected mean, which is "midpoint".

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    class_count_ : array of shape (n_classes,)
        The weight of the rows of each class.
    means_ : array of shape (n_classes, n_features)
        The means of the classes.
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
        J along each over the sum of all.
    xbar_ : array of shape (n_features,)
        The mean of all rows, which `transform` subtracts.
    threshold_ : float
        Of two classes, the boundary along the direction.
    coef_, intercept_ : arrays of shape (n_classes, n_features) and (n_classes,); one row for two classes
        The linear discriminant functions.
    jitter_ : array of shape (n_features,)
        What was added to variances because S_W was singular; zeros when it was not.
    statistic_ : ByClass
        The moments of the rows of each class.
    n_features_in_, feature_names_in_ : int, array of str
        Number of columns, and their names where they had any.

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
    _supervised = _by_class = True

    def __init__(self, *, n_components: int | None = None, threshold: str = "midpoint") -> None:
        self.n_components = n_components
        self.threshold = threshold

    @by_blocks
    @keeps_float32
    def transform(self, X: Any) -> np.ndarray:
        """Return the rows along the directions, of unit variance within classes."""
        check_answerable(self)
        return self._project(check_query(self, X))

    @property
    def _n_features_out(self) -> int:
        return self.scalings_[:, : self.n_components].shape[1]

    def _project(self, rows: np.ndarray) -> np.ndarray:
        return (rows - self.xbar_) @ self.scalings_[:, : self._n_features_out]

    def _class_scores(self, X: Any) -> np.ndarray:
        projected = self._project(check_query(self, X))
        if len(self.classes_) == 2:
            score = projected[:, 0] - self.threshold_
            return np.column_stack([np.zeros_like(score), score])
        means = self._project(self.means_)
        scores = projected @ means.T - 0.5 * np.sum(means**2, axis=1)
        # A class that was declared and has no rows is never predicted.
        return np.where(self.class_count_ > 0, scores, -np.inf)

    def _check_parameters(self) -> None:
        check_choice("threshold", self.threshold, ("midpoint", "gaussian"))
        if self.n_components is not None:
            check_number("n_components", self.n_components, least=1, whole=True)

    def _statistic(self) -> Callable[..., Any]:
        return IncompleteMoments.of

    def _learn(self, statistic: ByClass) -> None:
        classes = known_classes(self, statistic)
        if any(part.complete is None for part in statistic.parts):
            raise ValueError("X contains NaN; FisherDiscriminant does not accept missing values")
        if len(statistic.labels) < 2:
            raise NotYetDetermined(f"y must have two classes at least, got {len(statistic.labels)} class")
        if self.threshold == "gaussian" and len(classes) > 2:
            raise ValueError(f"threshold='gaussian' is for two classes, y has {len(classes)}")
        moments = class_moments(statistic, classes, shared=True, tol=1.0, max_iter=1).moments
        self.statistic_, self.classes_ = statistic, classes
        self.means_, self.class_count_ = moments.mean, moments.weight
        self._set_directions(moments)
        self._set_boundary(moments)

    def _set_directions(self, moments: Moments) -> None:
        n = moments.weight.sum()
        self.within_scatter_ = moments.scatter.sum(axis=0)
        size = np.max(np.abs(moments.mean), axis=0)
        matrix = self.within_scatter_ / n
        structure, self.jitter_ = regular(matrix, size, added=ADDED_VARIANCE * np.diagonal(matrix))
        found = discriminant_directions(moments.mean, moments.weight / n, structure)
        self.xbar_, self.criterion_ = found.center, found.ratios
        step = moments.mean - found.center
        self.between_scatter_ = (moments.weight * step.T) @ step
        self.explained_variance_ratio_ = found.explained
        found.check_components(self.n_components, len(self.classes_))
        two = len(self.classes_) == 2
        towards = np.sign(step[1] @ found.axes) if two else np.ones(found.axes.shape[1])
        self.scalings_ = found.axes * np.where(towards < 0, -1.0, 1.0)

    def _set_boundary(self, moments: Moments) -> None:
        means = self._project(self.means_)
        axes = self.scalings_[:, : self._n_features_out]
        if len(self.classes_) > 2:
            self.coef_ = means @ axes.T
            self.intercept_ = -0.5 * np.sum(means**2, axis=1) - self.coef_ @ self.xbar_
            return
        self.threshold_ = 0.5 * float(means.sum())
        if self.threshold == "gaussian":
            variances = np.einsum("i,kij,j->k", axes[:, 0], moments.scatter, axes[:, 0]) / moments.weight
            self.threshold_ = gaussian_threshold(means[:, 0], variances, moments.weight)
        self.coef_ = axes.T
        self.intercept_ = np.array([-self.threshold_]) - self.coef_ @ self.xbar_

    def _report(self) -> None:
        if np.any(self.jitter_ > 0):
            warnings.warn(
                "the scatter within classes is singular: columns are constant within them or collinear, or "
                "rows are few; a millionth of the variances was added, and is in jitter_",
                DegenerateCovarianceWarning,
                stacklevel=5,
            )


@value
class Directions:
    """Directions of decreasing variance between classes over variance within."""

    center: np.ndarray  # (d,), what is subtracted first
    axes: np.ndarray  # (d, m), m ≤ min(K - 1, d)
    ratios: np.ndarray  # (m,), variance between classes over variance within, along each

    @property
    def explained(self) -> np.ndarray:
        """Fractions of the variance between classes along each; zeros where classes do not differ."""
        total = self.ratios.sum()
        return self.ratios / (total if total > 0 else 1.0)

    def check_components(self, n_components: int | None, n_classes: int) -> None:
        """Refuse to use more directions than there are."""
        dim, most = self.axes.shape
        if n_components is not None and n_components > most:
            raise NotYetDetermined(
                f"n_components={n_components} is more than min(n_classes - 1, n_features) = {most}: "
                f"y has {n_classes} class{'' if n_classes == 1 else 'es'}, X {dim} columns"
            )


def discriminant_directions(
    means: np.ndarray, weights: np.ndarray, within: Any, whitened: tuple[np.ndarray, np.ndarray] | None = None
) -> Directions:
    """Return the directions w of greatest wᵀ S_B w / wᵀ S_W w, of unit variance within classes.

    In coordinates in which S_W is the identity they are the principal axes of the class means. Signs make the
    largest entry positive, in units of the columns' deviations within classes; directions in which means do
    not differ come last.
    S_B = Σ_k π_k (m_k - m)(m_k - m)ᵀ of means (K, d) and weights π (K,); S_W is the covariance `within`, and
    `whitened` what `whitened_means` returns for them, where that is known.

    Examples
    --------
    >>> from tractable.covariance import Full
    >>> found = discriminant_directions(np.array([[0.0, 0.0], [4.0, 0.0]]), np.array([0.5, 0.5]),
    ...                                 Full(matrix=np.diag([4.0, 1.0])))
    >>> found.axes.tolist(), found.ratios.round(12).tolist()
    ([[0.5], [0.0]], [1.0])
    """
    center, white = whitened_means(means, weights, within) if whitened is None else whitened
    most = min(len(means) - 1, means.shape[1])
    _, singular, axes = np.linalg.svd(np.sqrt(weights)[:, None] * white, full_matrices=False)
    back = within.whiten_transposed(axes[:most])
    effects = back * np.sqrt(within.diagonal)
    largest = effects[np.arange(most), np.abs(effects).argmax(axis=1)]
    back = np.where(largest < 0, -1.0, 1.0)[:, None] * back
    return Directions(center=center, axes=back.T, ratios=singular[:most] ** 2)


def whitened_means(means: np.ndarray, weights: np.ndarray, within: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean c of means (K, d) by weight, (d,), and μ_k - c whitened by a covariance, (K, d).

    As differences from one of them: means far from the origin lose no digits.
    """
    first = means[int(weights.argmax())]
    center = first + weights @ (means - first)
    return center, within.whiten(means - center)


def gaussian_threshold(means: np.ndarray, variances: np.ndarray, weights: np.ndarray) -> float:
    """Return the threshold t of x ~ N(m_k, v_k), with priors ∝ w_k, of the fewest mistakes.

    It is where the weighted densities cross, a root of a quadratic. Where they do not cross (one class is the
    more probable everywhere), or a class does not vary, it is half-way between the means.

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
