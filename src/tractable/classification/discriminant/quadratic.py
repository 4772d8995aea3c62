"""Quadratic discriminant analysis: Gaussian classes, each with a covariance of its own."""

import warnings
from typing import Any

import numpy as np

from tractable.arrays.linalg import diagonals
from tractable.base import DegenerateCovarianceWarning, check_number
from tractable.base.options import SklearnOptions
from tractable.classification.discriminant.gaussian import GaussianDiscriminant
from tractable.classification.discriminant.moments import ADDED_VARIANCE, class_covariances
from tractable.classification.discriminant.posterior import ClassPosteriors, separate_posteriors
from tractable.covariance import Full
from tractable.covariance.shapes import constant_columns, regular
from tractable.distributions import MultivariateNormal
from tractable.statistics import Moments


class QuadraticDiscriminant(GaussianDiscriminant):
    """Quadratic discriminant analysis: Gaussian classes, p(x | C_k) = N(x | μ_k, Σ_k).

    The log odds of two classes are quadratic, and so are the boundaries between them. By maximum likelihood
    each class has the mean and covariance of its rows. Exact in one pass: rows may be streamed, merged, and
    read from files larger than memory. Missing entries (NaN) are marginalised, in learning by maximum
    likelihood (EM on the statistic of each class) and in every prediction.

    A class with no more rows than columns has a singular covariance: a millionth (2⁻²⁰) of the variances
    within all classes is added, which is warned of and stored in `jitter_`. ``shrinkage="auto"`` or
    ``estimate="bayes"`` are the better answers there. A class of a single row, or of rows that are all alike,
    has no spread of its own: by maximum likelihood the covariance within the other classes is taken for its
    own, which is warned of.

    Parameters
    ----------
    shrinkage : None, float or "auto"
        A number s from 0 to 1 makes each covariance (1 - s) Σ_k + s (tr Σ_k / d) I. "auto" shrinks the
        correlations of each class by the amount of least expected error (Ledoit and Wolf), which is found in
        the same pass from sums of products of squares; it needs complete rows.
    reg_param : float
        r from 0 to 1 makes each covariance (1 - r) Σ_k + r I, after any shrinkage; in the units of X.
    estimate : {"ml", "bayes"}
        "bayes" integrates means and covariances out: classes are Student-t distributions.
    prior : NormalWishart, optional
        With "bayes", the prior of the mean and precision of each class, independently of the others. By
        default as strong as one row for the mean and n_features rows for the precision; it expects the mean
        of all rows, and uncorrelated columns with their variances within classes.
    ddof : float
        Covariances are scatter / (n_k - ddof): 0 is maximum likelihood, 1 is unbiased.
    priors, tol, max_iter
        As of :class:`tractable.LinearDiscriminant`.

    Attributes
    ----------
    covariance_ : array of shape (n_classes, n_features, n_features)
        Σ_k; with "bayes" the inverse of the posterior expectation of each precision.
    posterior_, log_evidence_ : NormalWishart of batch n_classes, float
        With "bayes": the posterior of each class, and log p(X | y).
    shrinkage_ : float or array of shape (n_classes,)
        The shrinkage of the covariances; one for each class with "auto".
    jitter_ : array of shape (n_classes, n_features)
        What was added to variances because a covariance was singular; zeros where it was not.
    classes_, class_prior_, class_count_, means_, class_distributions_, distribution_
        As of :class:`tractable.LinearDiscriminant`; a class without rows has the mean and covariance of all.
    statistic_, n_iter_, converged_, n_unseen_, n_features_in_, feature_names_in_
        As of :class:`tractable.LinearDiscriminant`.

    See Also
    --------
    tractable.LinearDiscriminant : one covariance for all classes.
    tractable.GenerativeClassifier : classes of any density.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.standard_normal((200, 2)), 4.0 * rng.standard_normal((200, 2))])
    >>> y = np.repeat(["narrow", "wide"], 200)
    >>> model = tractable.QuadraticDiscriminant().fit(X, y)
    >>> model.predict([[0.0, 0.0], [6.0, 0.0], [np.nan, -6.0]]).tolist()
    ['narrow', 'wide', 'wide']
    """

    _shared = False
    _learns_on_host = True

    _sklearn_options = SklearnOptions(ignored=("solver", "store_covariance"))

    def __init__(
        self,
        *,
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: float = 0.0,
        estimate: str = "ml",
        prior: Any = None,
        ddof: float = 0.0,
        tol: float = 1e-12,
        max_iter: int = 1000,
    ) -> None:
        super().__init__(shrinkage, priors, estimate, prior, ddof, tol, max_iter)
        self.reg_param = reg_param

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("reg_param", self.reg_param, least=0.0, most=1.0)
        if self.estimate == "bayes" and self.reg_param:
            raise ValueError("reg_param is for estimate='ml'; the prior of 'bayes' does its work")

    def _fit_covariance(self, moments: Moments) -> None:
        matrices, self.shrinkage_ = class_covariances(moments, self.statistic_, self.shrinkage, self.ddof)
        alike = constant_columns(diagonals(matrices), moments.mean)[1].all(axis=1)
        if alike.any():  # one row says nothing of the spread of others; other classes may
            others = moments.weight[~alike].sum()
            matrices[alike] = moments.scatter.sum(axis=0) / (others if others > 0 else 1.0)
            names = ", ".join(map(repr, self.classes_[alike].tolist()))
            warnings.warn(
                f"y: of {names} there is one sample, or samples that are all alike, and no spread: the "
                "covariance within the other classes is taken for theirs",
                DegenerateCovarianceWarning,
                stacklevel=5,
            )
        if self.reg_param:
            matrices = (1.0 - self.reg_param) * matrices + self.reg_param * np.eye(moments.dim)
        # The same variance is added in all classes, so that a collinear column does not favour any.
        within = diagonals(moments.scatter).sum(axis=0) / moments.weight.sum()
        found, self.jitter_ = regular(matrices, moments.mean, added=ADDED_VARIANCE * within)
        structure, self.covariance_ = Full.from_factor(found.cholesky), np.array(found.dense())
        self.class_distributions_ = MultivariateNormal(
            mean=moments.mean, covariance=structure, names=self._names()
        )

    def _posteriors(self, prior: Any, moments: Moments) -> ClassPosteriors:
        found = separate_posteriors(prior, moments)
        after = found.posterior
        self.covariance_ = Full.from_precision(after.scale * after.dof[:, None, None]).dense()
        return found
