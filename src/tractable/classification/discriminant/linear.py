"""Linear discriminant analysis: Gaussian classes with one covariance."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from tractable.arrays.devices import beside, on_host
from tractable.arrays.grouping import by_pattern
from tractable.arrays.linalg import diagonals, product
from tractable.arrays.namespace import is_foreign_array, namespace_of, to_numpy
from tractable.base import check_answerable, check_number
from tractable.base.by_blocks import by_blocks, keeps_float32
from tractable.base.options import SklearnOptions
from tractable.base.validation import check_query
from tractable.classification.class_priors import log_priors
from tractable.classification.discriminant.fisher import discriminant_directions, whitened_means
from tractable.classification.discriminant.gaussian import GaussianDiscriminant
from tractable.classification.discriminant.moments import ADDED_VARIANCE, divisor, pooled_covariance
from tractable.classification.discriminant.posterior import ClassPosteriors, shared_posteriors
from tractable.covariance import Full, LowRankPlusDiagonal
from tractable.covariance.shapes import constant_columns, regular
from tractable.data.blocks import map_rows
from tractable.distributions import MultivariateNormal
from tractable.statistics import Moments
from tractable.value import value

#: The largest rounding error of a log odds for which linear scores are used.
LARGEST_ERROR = 1e-10


class LinearDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GaussianDiscriminant):
    """Linear discriminant analysis: Gaussian classes with one covariance, p(x | C_k) = N(x | μ_k, Σ).

    The log odds of two classes are linear, a(x) = wᵀx + w₀ with w = Σ⁻¹(μ₁ - μ₂) and
    w₀ = -½ μ₁ᵀΣ⁻¹μ₁ + ½ μ₂ᵀΣ⁻¹μ₂ + log p(C₁)/p(C₂); of K classes the posterior is the softmax of linear
    discriminant functions, and boundaries are hyperplanes. By maximum likelihood, the means are those of the
    classes and Σ = Σ_k (n_k/n) S_k. Exact in one pass: rows may be streamed, merged, and read from files
    larger than memory. Missing entries (NaN) are marginalised, in learning by maximum likelihood (EM on the
    statistic) and in every prediction.

    With no more rows than columns the covariance is singular: a millionth (2⁻²⁰) of the variances within
    classes is added, which is warned of and stored in `jitter_`, and means decide along directions in which
    no class varies. Of fewer rows than columns the covariance is held by the rows, and no matrix of columns
    is formed; ``shrinkage="auto"`` or ``estimate="bayes"`` are the better answers there.

    Parameters
    ----------
    shrinkage : None, float or "auto"
        A number s from 0 to 1 makes the covariance (1 - s) Σ + s (tr Σ / d) I. "auto" shrinks the
        correlations of every class by the amount of least expected error (Ledoit and Wolf), which is found in
        the same pass from sums of products of squares; it needs complete rows.
    priors : array of shape (n_classes,), optional
        p(C_k); the relative weights of the classes when not given. The covariance does not depend on them.
    estimate : {"ml", "bayes"}
        "bayes" integrates means and covariance out: classes are Student-t distributions with a common matrix.
    prior : NormalWishart, optional
        With "bayes", the prior of every class: its mean is N(m, (bΛ)⁻¹), and all share one
        Λ ~ Wishart(ν, W). By default b = 1 row, ν = n_features, m the mean of all rows and the expected
        precision that of uncorrelated columns with their variances within classes.
    n_components : int, optional
        Number of directions of `transform`; min(n_classes - 1, n_features) when not given.
    ddof : float
        The covariance is the scatter within classes over (n - ddof): 0 is maximum likelihood, the number of
        classes makes it unbiased.
    tol, max_iter : float, int
        With missing values: relative growth of the log-likelihood that ends EM, and the most iterations.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    class_prior_, class_count_ : arrays of shape (n_classes,)
        p(C_k), and the weight of the rows of each class. A class that was declared to `partial_fit` and has
        no rows has prior 0 and the overall mean. Given another prior, it leaves the model undetermined until
        rows of it come; with "bayes" it has its prior distribution.
    means_ : array of shape (n_classes, n_features)
        The means of the classes; with "bayes" those of the posterior.
    covariance_ : array of shape (n_features, n_features)
        Σ; with "bayes" the inverse of the posterior expectation of the precision.
    coef_, intercept_ : arrays of shape (n_classes, n_features) and (n_classes,); one row for two classes
        Linear discriminant functions whose softmax (or sigmoid) is the posterior; not with "bayes".
    class_distributions_ : MultivariateNormal or MultivariateStudentT of batch n_classes
        p(x | C_k).
    distribution_ : Mixture
        p(x) = Σ_k p(C_k) p(x | C_k).
    posterior_, log_evidence_ : NormalWishart, float
        With "bayes": the posterior of each class, and log p(X | y).
    scalings_ : array of shape (n_features, m)
        Directions that separate the classes best, of unit variance within classes.
    xbar_ : array of shape (n_features,)
        The mean of the class means by prior, which `transform` subtracts.
    explained_variance_ratio_ : array of shape (m,)
        Fractions of the variance between classes along them.
    shrinkage_ : float or array of shape (n_classes,)
        The shrinkage of the covariance; one for each class with "auto".
    jitter_ : array of shape (n_features,)
        What was added to variances because the covariance was singular; zeros when it was not.
    statistic_ : ByClass
        The moments of the rows of each class.
    n_iter_, converged_ : int, bool
        Iterations of EM over missing entries, 1 where there were none; whether they converged.
    n_unseen_ : float
        Weight of the rows in which every entry was missing. They count for the priors alone.
    n_features_in_, feature_names_in_ : int, array of str
        Number of columns, and their names where they had any.

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
    _learns_on_host = True
    _scores_: "LinearScores | None"  # of classes by maximum likelihood; on the host

    _sklearn_options = SklearnOptions(ignored=("solver", "store_covariance"))

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
        self.n_components = n_components
        super().__init__(shrinkage, priors, estimate, prior, ddof, tol, max_iter)

    @by_blocks
    @keeps_float32
    def transform(self, X: Any) -> np.ndarray:
        """Return the rows along the directions, of unit variance within classes, (n_samples, n_components).

        Missing entries are replaced by their expectations given those observed.
        """
        check_answerable(self)
        rows = check_query(self, X, allow_nan=True)
        xp = namespace_of(rows)
        if bool(xp.any(xp.isnan(rows))):
            means, structure = on_host((self.means_, self.class_distributions_.structure))
            # Predictive scale matrices of classes are multiples of one: regressions are the same.
            structure = structure[0] if structure.batch_shape else structure
            rows = _expected_rows(rows, means, structure, self.predict_proba(rows))
        return (rows - self.xbar_) @ self.scalings_[:, : self._n_features_out]

    @by_blocks
    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        check_answerable(self)
        return super()._class_scores(X)

    def _class_scores(self, X: Any) -> np.ndarray:
        rows, linear = check_query(self, X, allow_nan=True), self._scores_
        if linear is None or not linear.exact:
            return self.distribution_.log_joint(rows)
        xp = namespace_of(rows)
        missing = xp.isnan(rows)
        if not bool(xp.any(missing)):
            return linear(rows)
        given = self.means_, self.class_prior_, self.class_distributions_.structure
        means, priors, structure = on_host(given)
        found, order = [], []
        for observed, members in by_pattern(to_numpy(~missing)):
            o = np.flatnonzero(observed)
            own = xp.take(xp.take(rows, beside(members, rows), axis=0), beside(o, rows), axis=1)
            if len(o) == rows.shape[1]:
                found.append(linear(own))
            elif len(o):
                found.append(linear_scores(means[:, o], priors, structure.marginal(o.tolist()))(own))
            else:
                found.append(xp.broadcast_to(beside(log_priors(priors), rows), (len(members), len(priors))))
            order.append(members)
        return _reordered(found, order)

    @property
    def _n_features_out(self) -> int:
        return self.scalings_[:, : self.n_components].shape[1]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_components is not None:
            check_number("n_components", self.n_components, least=1, whole=True)

    def _fit_covariance(self, moments: Moments) -> None:
        size = np.abs(moments.mean).max(axis=0)
        structure: Any
        rows = moments.centred_rows
        if self.shrinkage is None and rows is not None and len(rows) < moments.dim:
            self.shrinkage_ = 0.0
            structure, self.jitter_ = _of_few_rows(moments, size, self.ddof)
        else:
            matrix, self.shrinkage_ = pooled_covariance(moments, self.statistic_, self.shrinkage, self.ddof)
            structure, self.jitter_ = regular(matrix, size, added=ADDED_VARIANCE * diagonals(matrix))
        self.class_distributions_ = MultivariateNormal(
            mean=moments.mean, covariance=structure, names=self._names()
        )
        whitened = whitened_means(self.means_, self.class_prior_, structure)
        self._scores_ = linear_scores(self.means_, self.class_prior_, structure, whitened)
        self.coef_, self.intercept_ = self._scores_.coefficients()
        self._set_directions(structure, whitened)

    def _posteriors(self, prior: Any, moments: Moments) -> ClassPosteriors:
        return shared_posteriors(prior, moments)

    def _fit_posterior(self, moments: Moments) -> None:
        super()._fit_posterior(moments)
        self._scores_ = None
        self._set_directions(Full.from_precision(self.posterior_.precision_marginal().mean[0]))

    @property
    def covariance_(self) -> np.ndarray:
        """The covariance within classes; with "bayes" the inverse of the posterior expected precision."""
        check_answerable(self)
        if hasattr(self, "posterior_"):
            return Full.from_precision(self.posterior_.precision_marginal().mean[0, ...]).dense()
        return self.class_distributions_.structure.dense()

    def _set_directions(self, structure: Any, whitened: Any = None) -> None:
        found = discriminant_directions(self.means_, self.class_prior_, structure, whitened)
        self.scalings_, self.xbar_ = found.axes, found.center
        self.explained_variance_ratio_ = found.explained
        found.check_components(self.n_components, len(self.classes_))


def _of_few_rows(moments: Moments, size: np.ndarray, ddof: float) -> tuple[LowRankPlusDiagonal, np.ndarray]:
    """Return the pooled covariance of fewer rows than columns, and what was added to its diagonal.

    As by `regular`, of a matrix that is singular; without any of d × d entries.
    """
    assert moments.centred_rows is not None
    rows = moments.centred_rows / np.sqrt(divisor(moments.centred_rows, float(moments.weight.sum()), ddof))
    variances = np.einsum("ij,ij->j", rows, rows)
    floor, constant = constant_columns(variances, size)
    added = np.maximum(floor, ADDED_VARIANCE * variances)
    rows[:, constant] = 0.0  # what rounding left there is not evidence
    return LowRankPlusDiagonal.of_few_rows(rows, added), added


@value
class LinearScores:
    """Scores b_k + w_kᵀ(x - center): log p(C_k | x) up to a constant of each row."""

    center: np.ndarray  # (d,)
    coef: np.ndarray  # (K, d)
    offset: np.ndarray  # (K,), the scores at the center
    exact: bool  # whether the means are near enough for linear scores to keep their digits

    def coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients and intercepts; of two classes, those of the log odds alone."""
        coef, offset = self.coef, self.offset
        if len(coef) == 2:
            coef, offset = coef[1:] - coef[:1], offset[1:] - offset[:1]
        return coef, offset - coef @ self.center

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the scores of rows, (n, K)."""
        own = beside(self, x) if is_foreign_array(x) else self
        return map_rows(lambda rows: product(rows - own.center, own.coef.T) + own.offset, x)


def linear_scores(
    means: np.ndarray, priors: np.ndarray, within: Any, whitened: tuple[np.ndarray, np.ndarray] | None = None
) -> LinearScores:
    """Return the scores of Gaussian classes: w_k = Σ⁻¹(μ_k - c), b_k = log p(C_k) - ½ |μ_k - c|²_Σ.

    c is the mean of the means by prior: about it, rows far from the origin lose no digits. `whitened` is what
    `whitened_means` returns, where that is known.
    """
    center, white = whitened_means(means, priors, within) if whitened is None else whitened
    with np.errstate(over="ignore"):
        distance = np.sum(white * white, axis=1)
    return LinearScores(
        center=center,
        coef=within.whiten_transposed(white),
        offset=log_priors(priors) - 0.5 * distance,
        exact=bool(np.finfo(np.float64).eps * np.max(distance) < LARGEST_ERROR),
    )


def _expected_rows(rows: np.ndarray, means: np.ndarray, within: Full, p: np.ndarray) -> np.ndarray:
    """Return E[x | x_o], of missing entries Σ_k p(C_k | x_o) (μ_km + G (x_o - μ_ko)).
    Entries of `rows` are NaN where they are missing, p (n, K) are p(C_k | x_o), and G is the regression of
    missing on observed entries under the covariance `within` classes.

    Examples
    --------
    >>> _expected_rows(np.array([[np.nan, 1.0]]), np.array([[2.0, 0.0]]),
    ...                Full(matrix=np.array([[1.0, 0.5], [0.5, 1.0]])), np.ones((1, 1)))
    array([[2.5, 1. ]])
    """
    xp, found, order = namespace_of(rows), [], []
    # About the first mean, which keeps the digits of classes far from the origin.
    first, away = beside((means[0], means - means[0]), rows)
    for observed, members in by_pattern(to_numpy(~xp.isnan(rows))):
        o, m = np.flatnonzero(observed), np.flatnonzero(~observed)
        gain = np.zeros((len(o), len(observed)))
        if len(o) and len(m):
            gain[:, m] = within.condition(o)[0].T
        here, seen, gain, kept = beside((members, o, gain, observed), rows)
        own, expected = xp.take(rows, here, axis=0), first + xp.take(p, here, axis=0) @ away
        step = xp.take(own - expected, seen, axis=1) @ gain
        found.append(xp.where(kept, own, expected + step))
        order.append(members)
    return _reordered(found, order)


def _reordered(parts: list[Any], order: list[np.ndarray]) -> Any:
    """Return rows that are given in parts, of which each has its positions, in their order."""
    both = namespace_of(parts[0]).concat(parts)
    return namespace_of(both).take(both, beside(np.argsort(np.concatenate(order)), both), axis=0)
