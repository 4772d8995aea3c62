"""The planes between Gaussian classes that share a covariance."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from tractable.arrays.grouping import by_pattern
from tractable.base import check_answerable, check_number
from tractable.classification.discriminant.directions import discriminant_directions
from tractable.classification.discriminant.gaussian_classes import GaussianDiscriminant
from tractable.classification.discriminant.moments import LEAST_SHARE, pooled_covariance
from tractable.classification.discriminant.posterior import ClassBeliefs, beliefs_sharing
from tractable.classification.one_pass import log_priors
from tractable.covariance import Full
from tractable.covariance.shapes import regular
from tractable.data.blocks import map_rows
from tractable.distributions import MultivariateNormal
from tractable.statistics import Moments
from tractable.value import value

__all__ = ["LinearDiscriminant", "Planes", "class_planes", "expected_rows"]

#: The largest error of a log odds that planes may have; beyond, distances to each mean are taken.
LARGEST_ERROR = 1e-10


@value
class Planes:
    """Scores b_k + w_kᵀ(x - centre): log p(C_k | x) up to a number that all classes share."""

    centre: np.ndarray  # (d,)
    coef: np.ndarray  # (K, d)
    offset: np.ndarray  # (K,), the scores at the centre
    exact: bool  # whether the means are near enough for planes to keep their digits

    def named(self) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients and scores at the origin; of two classes, those of the log odds alone."""
        coef, offset = self.coef, self.offset
        if len(coef) == 2:
            coef, offset = coef[1:] - coef[:1], offset[1:] - offset[:1]
        return coef, offset - coef @ self.centre

    def scores(self, x: np.ndarray) -> np.ndarray:
        """Return the scores of rows, (n, K)."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = map_rows(lambda rows: (rows - self.centre) @ self.coef.T + self.offset, x)
            near = bool(np.isfinite(found.sum()))
        if not near:
            far = ~np.isfinite(found[:, self.offset > -np.inf]).all(axis=1)
            found[far] = self.far_scores(x[far])
        return found

    def far_scores(self, x: np.ndarray) -> np.ndarray:
        """Return the scores of rows so far away that they overflow: relative to the largest, (n, K)."""
        size = np.maximum(np.abs(x).max(axis=1), np.abs(self.centre).max())[:, None]
        steep = np.abs(self.coef).max() or 1.0
        slope = (x / size - self.centre / size) @ (self.coef / steep).T
        below = slope - slope[:, self.offset > -np.inf].max(axis=1, keepdims=True)
        with np.errstate(over="ignore"):
            return np.where(self.offset > -np.inf, below * size * steep, -np.inf) + self.offset


def class_planes(means: np.ndarray, priors: np.ndarray, within: Full) -> Planes:
    """Return the planes of Gaussian classes: w_k = Σ⁻¹(μ_k - c), b_k = log p(C_k) - ½ |μ_k - c|²_Σ.

    c is the mean of the means by prior: about it, rows far from the origin lose no digits.
    """
    first = means[int(np.argmax(priors))]
    centre = first + priors @ (means - first)
    distance = within.mahalanobis(means - centre)
    return Planes(
        centre=centre,
        coef=within.solve(means - centre),
        offset=log_priors(priors) - 0.5 * distance,
        exact=bool(np.finfo(np.float64).eps * np.max(distance) < LARGEST_ERROR),
    )


def expected_rows(rows: np.ndarray, means: np.ndarray, within: Full, probabilities: np.ndarray) -> np.ndarray:
    """Return E[x | observed entries]: what was observed, and Σ_k p(C_k | x_o) (μ_km + G (x_o - μ_ko)).

    Parameters
    ----------
    rows : array (n, d)
        NaN where an entry is missing.
    means : array (K, d)
    within : Full
        The covariance of all classes.
    probabilities : array (n, K)
        p(C_k | x_o).

    Examples
    --------
    >>> expected_rows(np.array([[np.nan, 1.0]]), np.array([[2.0, 0.0]]),
    ...               Full(matrix=np.array([[1.0, 0.5], [0.5, 1.0]])), np.ones((1, 1)))
    array([[2.5, 1. ]])
    """
    found = rows.copy()
    first = means[0]
    for observed, members in by_pattern(~np.isnan(rows)):
        o, m = np.flatnonzero(observed), np.flatnonzero(~observed)
        if not len(m):
            continue
        # About the first mean, which keeps the digits of classes far from the origin.
        expected = probabilities[members] @ (means - first)
        gain = within.condition(o)[0] if len(o) else np.zeros((len(m), 0))
        step = rows[np.ix_(members, o)] - first[o] - expected[:, o]
        found[np.ix_(members, m)] = first[m] + expected[:, m] + step @ gain.T
    return found


class LinearDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GaussianDiscriminant):
    """Gaussian classes with one covariance: p(x | C_k) = N(x | μ_k, Σ), whose boundaries are planes.

    The log odds of two classes are linear, a(x) = wᵀx + w₀ with w = Σ⁻¹(μ₁ - μ₂) and
    w₀ = -½ μ₁ᵀΣ⁻¹μ₁ + ½ μ₂ᵀΣ⁻¹μ₂ + log p(C₁)/p(C₂); of K classes the posterior is the softmax of such planes.
    By maximum likelihood, the means are those of the classes and Σ = Σ_k (n_k/n) S_k. Exact in one pass: rows
    may be streamed, merged, and read from files larger than memory. Missing entries (NaN) are marginalised,
    in learning by maximum likelihood (EM on the statistic) and in every answer.

    Parameters
    ----------
    shrinkage : None, float or "auto"
        A number s from 0 to 1 makes the covariance (1 - s) Σ + s (tr Σ / d) I. "auto" shrinks the
        correlations of every class by the share of least expected error (Ledoit and Wolf), which is found in
        the same pass from sums of products of squares; it needs complete rows.
    priors : array of shape (n_classes,), optional
        p(C_k); the shares of the classes by weight when not given. The covariance does not depend on them.
    estimate : {"ml", "bayes"}
        "bayes" integrates means and covariance out: classes are Student-t distributions with a common matrix.
    prior : NormalWishart, optional
        With "bayes", what is believed of every class: its mean is N(m, (bΛ)⁻¹), and all share one
        Λ ~ Wishart(ν, W). By default b = 1 row, ν = n_features, m the mean of all rows and the expected
        precision that of uncorrelated columns with their variances within classes.
    n_components : int, optional
        How many directions `transform` keeps; min(n_classes - 1, n_features) when not given.
    ddof : float
        The covariance is the scatter within classes over (n - ddof): 0 is maximum likelihood, the number of
        classes makes it unbiased.
    tol, max_iter : float, int
        With missing values: relative growth of the log-likelihood that ends EM, and the most iterations.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_prior_, class_count_ : arrays of shape (n_classes,)
        A class that was promised to `partial_fit` and has no rows has prior 0 and the overall mean. Given
        another prior, it leaves the model open until rows of it come; with "bayes" it is what the belief
        says.
    means_ : array of shape (n_classes, n_features)
    covariance_ : array of shape (n_features, n_features)
        Σ; with "bayes" the posterior expectation of the precision, inverted.
    coef_, intercept_ : arrays of shape (n_classes, n_features) and (n_classes,); one row for two classes
        Planes whose softmax (or sigmoid) is the posterior; not with "bayes", which has none.
    class_distributions_ : MultivariateNormal or MultivariateStudentT of batch n_classes
    distribution_ : Mixture
        p(x) = Σ_k p(C_k) p(x | C_k).
    posterior_, log_evidence_ : NormalWishart, float
        With "bayes": the belief about each class, and log p(X | y).
    scalings_ : array of shape (n_features, m)
        Directions that tell the classes apart best, of unit variance within classes.
    xbar_ : array of shape (n_features,)
        The mean of the class means by prior, which `transform` subtracts.
    explained_variance_ratio_ : array of shape (m,)
        Shares of the variance between classes along them.
    shrinkage_ : float or array of shape (n_classes,)
        How far covariances were shrunk; one for each class with "auto".
    jitter_ : array of shape (n_features,)
        What was added to variances because the covariance was singular; zeros when it was not.
    statistic_ : ByClass
    n_iter_, converged_ : int, bool
        Rounds of EM over missing entries, 1 where there were none; whether they settled.
    n_unseen_ : float
        Weight of the rows in which every entry was missing. They count for the priors alone.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    See Also
    --------
    tractable.QuadraticDiscriminant : a covariance for every class.
    tractable.FisherDiscriminant : the same directions, without probabilities.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [4.0, 5.0], [5.0, 4.0], [6.0, np.nan]])
    >>> y = np.array(["low"] * 3 + ["high"] * 3)
    >>> model = tractable.LinearDiscriminant().fit(X, y)
    >>> model.predict([[1.0, 1.0], [np.nan, 4.0]]).tolist()
    ['low', 'high']
    >>> model.predict_proba([[3.0, 2.5]]).round(3).tolist()
    [[0.33, 0.67]]
    """

    _shared = True

    def __init__(
        self,
        *,
        shrinkage: Any = None,
        priors: Any = None,
        estimate: str = "ml",
        prior: Any = None,
        n_components: int | None = None,
        ddof: float = 0.0,
        tol: float = 1e-12,
        max_iter: int = 1000,
    ) -> None:
        self.shrinkage = shrinkage
        self.priors = priors
        self.estimate = estimate
        self.prior = prior
        self.n_components = n_components
        self.ddof = ddof
        self.tol = tol
        self.max_iter = max_iter

    def transform(self, X: Any) -> np.ndarray:
        """Return the rows along the directions that tell classes apart; within classes they vary by one.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            A row with missing entries is where it is expected to be, given those observed.

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        check_answerable(self)
        rows = self._rows(X)
        if np.isnan(rows).any():
            structure = self.class_distributions_.structure
            if (
                structure.batch_shape
            ):  # of beliefs that differ in size alone: what follows from what is the same
                structure = structure[0]
            rows = expected_rows(rows, self.means_, structure, self.predict_proba(rows))
        return (rows - self.xbar_) @ self.scalings_[:, : self._n_features_out]

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """Return log p(x, C_k) = log p(C_k) + log p(x | C_k).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        check_answerable(self)
        return super()._log_scores(X)

    def _log_scores(self, X: Any) -> np.ndarray:
        rows = self._rows(X)
        planes = self._planes() if self.estimate == "ml" else None
        if planes is None or not planes.exact:
            return self.distribution_.log_joint(rows)
        missing = np.isnan(rows).any(axis=1)
        if not missing.any():
            return planes.scores(rows)
        found = planes.scores(np.where(missing[:, None], planes.centre, rows))
        found[missing] = self.distribution_.log_joint(rows[missing])
        return found

    def _far_scores(self, rows: np.ndarray) -> np.ndarray:
        found = np.empty((len(rows), len(self.classes_)))
        structure = self.class_distributions_.structure
        for observed, members in by_pattern(~np.isnan(rows)):
            o = np.flatnonzero(observed)
            planes = class_planes(self.means_[:, o], self.class_prior_, structure.marginal(o.tolist()))
            found[members] = planes.far_scores(rows[np.ix_(members, o)])
        return found

    @property
    def _n_features_out(self) -> int:
        most = self.scalings_.shape[1]
        return most if self.n_components is None else self.n_components

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_components is not None:
            check_number("n_components", self.n_components, least=1, whole=True)

    def _adopt(self, moments: Moments) -> None:
        matrix, self.shrinkage_ = pooled_covariance(moments, self.statistic_, self.shrinkage, self.ddof)
        size = np.max(np.abs(moments.mean), axis=0)
        structure, self.jitter_ = regular(matrix, size, added=LEAST_SHARE * np.diagonal(matrix))
        self.class_distributions_ = MultivariateNormal(
            mean=moments.mean, covariance=structure, names=self._names()
        )
        self.coef_, self.intercept_ = self._planes().named()
        self._turn(structure)

    def _planes(self) -> Planes:
        return class_planes(self.means_, self.class_prior_, self.class_distributions_.structure)

    def _believe(self, prior: Any, moments: Moments) -> ClassBeliefs:
        return beliefs_sharing(prior, moments)

    def _update(self, moments: Moments) -> None:
        super()._update(moments)
        belief = self.posterior_.precision_marginal()
        self._turn(Full.from_precision(belief.mean[0]))

    def _turn(self, structure: Full) -> None:
        """Find the directions in which the classes differ."""
        self.covariance_ = structure.dense()
        found = discriminant_directions(self.means_, self.class_prior_, structure)
        self.scalings_, self.xbar_ = found.axes, found.centre
        self.explained_variance_ratio_ = found.shares
        found.check_components(self.n_components, len(self.classes_))
