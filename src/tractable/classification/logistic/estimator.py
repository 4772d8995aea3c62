"""Logistic regression: the probability of a class by planes, learned directly."""

import copy
import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.base import (
    Estimator,
    FitInterrupted,
    ModelTags,
    ScoredClasses,
    all_or_nothing,
    check_choice,
    check_columns,
    check_number,
)
from tractable.classification.labelled_rows import labelled_rows
from tractable.classification.logistic.errors import WaldErrors
from tractable.classification.logistic.inference import (
    SeparableClassesWarning,
    certainty,
    in_columns,
    in_units,
    prices,
)
from tractable.classification.logistic.problem import Found, LogisticProblem, class_rows, search
from tractable.engines.glm.losses import Logit, Probit

__all__ = ["LogisticRegression"]

#: Without a penalty the search goes at least so far: where it leads then tells whether it would ever end.
TOL_UNPENALISED = 1e-12


class LogisticRegression(WaldErrors, ScoredClasses, Estimator):
    """Probabilities by planes: p(C_k | x) ∝ exp(intercept_k + xᵀ coef_k), or of two classes σ(b + xᵀw).

    The planes have no closed form. They minimise scikit-learn's objective, C Σ_n w_n log 1/p(C_n | x_n) +
    (1 - l1_ratio)/2 |coef|² + l1_ratio Σ|coef|, in which intercepts are free, by Newton's method (iteratively
    reweighted least squares) as folds over the rows: the curvature is that of all rows, or, of many, that of
    a sample, which differences of gradients mend. Exact over several passes: batches, files and sources are
    read once a step.

    Columns are centred and scaled inside, by their middle half where a few rows are far away, so their units
    change the speed of the search as little as their condition does; the penalty is in the units of the
    columns, as scikit-learn's is.

    Where planes part the classes, the likelihood has no maximum: coefficients grow without end. With
    ``C=inf`` that is looked for, and said by a warning, `separable_` and `separating_coef_`; any finite C has
    a minimum.

    Parameters
    ----------
    C : float
        One over the price of coefficients; ``inf`` for no penalty: maximum likelihood.
    l1_ratio : float
        0 prices squares (ridge), 1 absolute values (lasso: exact zeros), between them both (elastic net).
        Above 0, there may be at most 5000 coefficients.
    fit_intercept : bool
    link : {"logit", "probit"}
        How a plane becomes a probability. Probit, Φ(b + xᵀw), is for two classes: a plane in Gaussian noise.
    class_weight : None, "balanced" or dict of label to float
        What rows of a class count, besides their own weights; "balanced" evens the classes out.
    tol : float
        The search ends with the step after one that promised to lower the objective by less than this share
        of it, when no slope is more than √tol of the sizes of the terms it is the sum of. Of at most 20,000
        rows nothing but rounding is left then. Of more, the mean objective is less than tol · `loss_` above
        its least, and probabilities are off by less than √(tol · `loss_` / 2) in the root mean square: 7e-5
        at a loss of 1, and in practice 1e-6.
    max_iter : int
        The most steps to take.
    warm_start : bool
        Whether to begin at the planes of the last fit.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1, n_features) for two classes, or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
        Of three classes or more, they sum to zero.
    covariance_ : array, or None where there are more than 1500 parameters
        Covariance of the parameters, plane after plane and in each the intercept first: the inverse of the
        information of the rows, and of the curvature of the squared penalty with it. What the rows do not
        determine has an infinite variance, coefficients that are exactly zero by `l1_ratio` have NaN.
    center_ : array of shape (n_features,)
        The mean of the rows, or their middle; 0 without an intercept.
    centered_covariance_ : array like `covariance_`, or None
        Covariance of the parameters for rows less `center_`, which keeps the digits that `covariance_` loses
        far from the origin; 0 for coefficients that are exactly zero by `l1_ratio`, which are held there.
    coef_std_errors_, z_values_, p_values_ : arrays of the shape of `coef_`
        Standard errors, and Wald's tests of each coefficient against 0.
    intercept_std_errors_ : array of the shape of `intercept_`
    loss_ : float
        The objective divided by C and by the weight of the rows: mean log loss and penalty.
    log_likelihood_ : float
        Of the rows learned from.
    kkt_ : float
        Largest breach of the conditions of optimality, a row, for columns of the mean 0 and the variance 1:
        zero at the minimum.
    separable_ : bool or None
        Whether planes part the classes, at least one from another; None where there is a penalty and it was
        not asked, and where it is not known: the search did not converge, or there are more than 1500
        parameters and no planes were met that part all rows.
    separating_coef_, separating_intercept_ : arrays like `coef_` and `intercept_`
        Planes that do, where they exist: no row of the fit is on the wrong side.
    n_iter_ : int
        Steps over all rows.
    converged_ : bool
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    Examples
    --------
    Hours of study, and who passed:

    >>> import numpy as np, tractable
    >>> hours = np.array([[0.5], [1.0], [1.5], [2.0], [2.5], [3.0], [3.5], [4.0]])
    >>> passed = np.array(["no", "no", "no", "yes", "no", "yes", "yes", "yes"])
    >>> model = tractable.LogisticRegression(C=np.inf).fit(hours, passed)
    >>> model.coef_.round(2), model.intercept_.round(2), model.coef_std_errors_.round(2)
    (array([[2.56]]), array([-5.77]), array([[1.72]]))
    >>> model.predict_proba([[2.25]]).round(2), model.predict([[3.0]])
    (array([[0.5, 0.5]]), array(['yes'], dtype='<U3'))
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact over several passes")

    def __init__(
        self,
        C: float = 1.0,
        *,
        l1_ratio: float = 0.0,
        fit_intercept: bool = True,
        link: str = "logit",
        class_weight: Any = None,
        tol: float = 1e-8,
        max_iter: int = 500,
        warm_start: bool = False,
    ) -> None:
        self.C = C
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.link = link
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.classifier_tags.multi_class = self.link != "probit"
        return found

    @all_or_nothing(afresh=False)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows held in memory, in a file, or in a stream that can be walked several times.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : array of shape (n_samples,) or column name
            Classes: numbers or words.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.

        Returns
        -------
        self
        """
        self._check_parameters()
        earlier = copy.copy(self)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        labelled = labelled_rows(self, X, y, sample_weight, reset=True)
        self.classes_ = labelled.classes
        rows = class_rows(labelled, self.class_weight, located=bool(self.fit_intercept))
        problem = self._problem(rows)
        start = np.zeros(problem.shape)
        if self.warm_start and hasattr(earlier, "coef_"):
            start = self._restart(problem, earlier)
        unpenalised = bool(np.isinf(self.C))
        tol = min(self.tol, TOL_UNPENALISED) if unpenalised else self.tol
        found = search(problem, start, tol=float(tol), max_iter=int(self.max_iter))
        self._adopt(problem, found, unpenalised=unpenalised)
        self._report(found)
        return self

    def _check_parameters(self) -> None:
        if not (isinstance(self.C, float | np.floating) and np.isposinf(self.C)):
            check_number("C", self.C, above=0.0)
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise ValueError(f"fit_intercept must be True or False, got {self.fit_intercept!r}")
        check_number("l1_ratio", self.l1_ratio, least=0.0, most=1.0)
        check_choice("link", self.link, ("logit", "probit"))
        check_number("tol", self.tol, least=0.0)
        check_number("max_iter", self.max_iter, least=1, whole=True)

    def _problem(self, rows: Any) -> LogisticProblem:
        k, sparse = len(self.classes_), self.l1_ratio > 0.0 and bool(np.isfinite(self.C))
        if self.link == "probit" and k > 2:
            raise ValueError(
                f"y has {k} classes, and link='probit' is for 2: use link='logit'. "
                "Only binary classification is supported. The type of the target is multiclass."
            )
        link: Any = Probit() if self.link == "probit" else Logit.of(k, free=sparse)
        ridge, lasso = prices(
            rows.scale, float(self.C), float(self.l1_ratio), located=bool(self.fit_intercept)
        )
        return LogisticProblem(
            rows=rows,
            link=link,
            n_planes=1 if k == 2 else link.mix.shape[1],
            ridge=ridge,
            lasso=lasso,
            price=(1.0 - float(self.l1_ratio)) / float(self.C),
            located=bool(self.fit_intercept),
        )

    def _restart(self, problem: LogisticProblem, earlier: Any) -> np.ndarray:
        known, wanted = earlier.n_features_in_, self.n_features_in_
        if known != wanted or not np.array_equal(earlier.classes_, self.classes_):
            raise ValueError(
                f"warm_start goes on from the classes {list(earlier.classes_)} of y and {known} columns; "
                "X and y must be as they were"
            )
        return problem.link.free(in_units(earlier.coef_, earlier.intercept_, problem))

    def _adopt(self, problem: LogisticProblem, found: Found, *, unpenalised: bool) -> None:
        self.coef_, self.intercept_ = in_columns(problem, found.free)
        self.loss_, self.kkt_ = found.loss, found.kkt
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        sure = certainty(problem, found, unpenalised=unpenalised)
        self.covariance_, self.log_likelihood_ = sure.covariance, sure.log_likelihood
        self.center_, self.centered_covariance_ = problem.rows.shift, sure.centered
        self.separable_ = sure.separable
        if sure.parting is not None:
            self.separating_coef_, self.separating_intercept_ = in_columns(problem, sure.parting)

    def _report(self, found: Found) -> None:
        if self.separable_:
            warnings.warn(
                "planes part the classes of y, so that the likelihood has no maximum and coef_ would grow "
                "without end: separating_coef_ is such a direction; a finite C, a penalty, has a minimum",
                SeparableClassesWarning,
                stacklevel=4,
            )
        elif not (found.converged or found.interrupted):
            warnings.warn(
                f"LogisticRegression did not converge in {found.n_iter} steps; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=4,
            )
        if found.interrupted:
            raise FitInterrupted

    def _odds_by_planes(self, x: np.ndarray) -> np.ndarray:
        return self._link().odds_by_planes(self.intercept_ + x @ self.coef_.T)

    def _reached(self, x: np.ndarray, reach: np.ndarray) -> np.ndarray:
        return self._link().reached(self.intercept_ + x @ self.coef_.T, reach)

    def _link(self) -> Any:
        return Probit() if self.link == "probit" else Logit.of(len(self.classes_), free=True)

    def _log_scores(self, X: Any) -> np.ndarray:
        rows = check_columns(self, X)
        scores = self.intercept_ + np.asarray(rows, dtype=np.float64) @ self.coef_.T
        return self._link().log_scores(scores)
