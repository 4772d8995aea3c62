"""Quadratic discriminant analysis: Gaussian classes, each with a covariance of its own."""

from typing import Any

import numpy as np

from tractable.base import check_number
from tractable.classification.discriminant.gaussian import GaussianDiscriminant
from tractable.classification.discriminant.moments import ADDED_VARIANCE, class_covariances
from tractable.classification.discriminant.posterior import ClassPosteriors, separate_posteriors
from tractable.covariance import Full
from tractable.covariance.shapes import regular
from tractable.distributions import MultivariateNormal
from tractable.statistics import Moments

__all__ = ["QuadraticDiscriminant"]


class QuadraticDiscriminant(GaussianDiscriminant):
    """Quadratic discriminant analysis: Gaussian classes, p(x | C_k) = N(x | μ_k, Σ_k).

    The log odds of two classes are quadratic, and so are the boundaries between them. By maximum likelihood
    each class has the mean and covariance of its rows. Exact in one pass: rows may be streamed, merged, and
    read from files larger than memory. Missing entries (NaN) are marginalised, in learning by maximum
    likelihood (EM on the statistic of each class) and in every prediction.

    A class with no more rows than columns has a singular covariance: a millionth (2⁻²⁰) of the variances
    within all classes is added, which is warned of and stored in `jitter_`. ``shrinkage="auto"`` or
    ``estimate="bayes"`` are the better answers there.

    Parameters
    ----------
    shrinkage : None, float or "auto"
        A number s from 0 to 1 makes each covariance (1 - s) Σ_k + s (tr Σ_k / d) I. "auto" shrinks the
        correlations of each class by the amount of least expected error (Ledoit and Wolf), which is found in
        the same pass from sums of products of squares; it needs complete rows.
    priors : array of shape (n_classes,), optional
        p(C_k); the relative weights of the classes when not given.
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
    tol, max_iter : float, int
        With missing values: relative growth of the log-likelihood that ends EM, and the most iterations.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    class_prior_, class_count_ : arrays of shape (n_classes,)
        p(C_k), and the weight of the rows of each class. A class that was declared to `partial_fit` and has
        no rows has prior 0 and the mean and covariance of all rows. Given another prior, it leaves the model
        undetermined until rows of it come; with "bayes" it has its prior distribution.
    means_ : array of shape (n_classes, n_features)
        The means of the classes; with "bayes" those of the posterior.
    covariance_ : array of shape (n_classes, n_features, n_features)
        Σ_k; with "bayes" the inverse of the posterior expectation of each precision.
    class_distributions_ : MultivariateNormal or MultivariateStudentT of batch n_classes
        p(x | C_k).
    distribution_ : Mixture
        p(x) = Σ_k p(C_k) p(x | C_k).
    posterior_, log_evidence_ : NormalWishart of batch n_classes, float
        With "bayes": the posterior of each class, and log p(X | y).
    shrinkage_ : float or array of shape (n_classes,)
        The shrinkage of the covariances; one for each class with "auto".
    jitter_ : array of shape (n_classes, n_features)
        What was added to variances because a covariance was singular; zeros where it was not.
    statistic_ : ByClass
        The moments of the rows of each class.
    n_iter_, converged_ : int, bool
        Iterations of EM over missing entries, 1 where there were none; whether they converged.
    n_unseen_ : float
        Weight of the rows in which every entry was missing. They count for the priors alone.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of str, where the columns had names
        Names of the columns.

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
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.estimate = estimate
        self.prior = prior
        self.ddof = ddof
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("reg_param", self.reg_param, least=0.0, most=1.0)
        if self.estimate == "bayes" and self.reg_param:
            raise ValueError("reg_param is for estimate='ml'; the prior of 'bayes' does its work")

    def _fit_covariance(self, moments: Moments) -> None:
        matrices, self.shrinkage_ = class_covariances(moments, self.statistic_, self.shrinkage, self.ddof)
        matrices = (1.0 - self.reg_param) * matrices + self.reg_param * np.eye(moments.dim)
        # The same variance is added in all classes, so that a collinear column does not favour any.
        within = np.einsum("kii->i", moments.scatter) / moments.weight.sum()
        found = [
            regular(matrix, mean, added=ADDED_VARIANCE * within)
            for matrix, mean in zip(matrices, moments.mean, strict=True)
        ]
        self.jitter_ = np.stack([jitter for _, jitter in found])
        structure = Full.from_cholesky(np.stack([each.cholesky for each, _ in found]))
        self.covariance_ = np.stack([each.dense() for each, _ in found])
        self.class_distributions_ = MultivariateNormal(
            mean=moments.mean, covariance=structure, names=self._names()
        )

    def _posteriors(self, prior: Any, moments: Moments) -> ClassPosteriors:
        found = separate_posteriors(prior, moments)
        after = found.posterior
        self.covariance_ = Full.from_precision(after.scale * after.dof[:, None, None]).dense()
        return found
