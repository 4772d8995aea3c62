"""Logistic regression, its standard errors and Wald's tests and intervals."""

import copy
import warnings
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.devices import beside
from tractable.arrays.error_function import erfc
from tractable.arrays.log_space import sigmoid
from tractable.arrays.namespace import is_foreign_array, is_numpy_array, is_sparse
from tractable.base import (
    ClassifierMixin,
    Estimator,
    FitInterrupted,
    ModelTags,
    all_or_nothing,
    check_answerable,
    check_choice,
    check_columns,
    check_number,
    refuse_foreign,
)
from tractable.base.by_blocks import by_blocks
from tractable.base.linear_inference import LinearInference
from tractable.base.options import SklearnOptions
from tractable.base.validation import check_after
from tractable.classification.labelled_rows import labelled_rows
from tractable.classification.logistic.inference import SeparableClassesWarning, infer
from tractable.classification.logistic.problem import (
    ClassSummary,
    LogisticProblem,
    penalty_of,
    with_class_weights,
)
from tractable.data import ArraySource, Source
from tractable.engines import LinearEstimate, NewtonResult, fold
from tractable.engines.glm.losses import ClassLoss, Probit, class_loss
from tractable.engines.glm.problem import BLOCK
from tractable.engines.glm.search import minimize
from tractable.engines.linear_estimate import NotComputedError
from tractable.primitives import as_double
from tractable.regression_tables import (
    Influence,
    RegressionSummary,
    RowScores,
    check_covariance_type,
    coefficient_names,
    wald_interval,
    weighted_condition_number,
    weighted_inflation,
)

#: Without a penalty the tolerance is at most this: where the search leads then shows whether it would end.
TOL_UNPENALISED = 1e-12

#: Rows of the rarest class, for each parameter, from which Wald's intervals have their coverage.
FEWEST_ROWS = 3


def penalty_named(penalty: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that a name of a penalty means."""
    if penalty in ("l2", "deprecated"):
        return {}
    if penalty in (None, "none"):
        return {"C": np.inf}
    if penalty == "l1":
        return {"l1_ratio": 1.0}
    if penalty == "elasticnet" and "l1_ratio" in given:
        return {}
    raise ValueError(f"penalty must be 'l1', 'l2', 'elasticnet' with an l1_ratio, or None, got {penalty!r}")


class LogisticRegression(ClassifierMixin, LinearInference, Estimator):
    """Class probabilities by linear predictors: p(C_k | x) ∝ exp(intercept_k + xᵀ coef_k).

    Of two classes, p(C_2 | x) = σ(intercept + xᵀ coef). The coefficients minimise scikit-learn's objective,
    C Σ_n w_n log 1/p(C_n | x_n) + (1 - l1_ratio)/2 |coef|² + l1_ratio Σ|coef|, in which intercepts are not
    penalised, as folds over the rows: by Newton's method (iteratively reweighted least squares) or, of many
    rows and more than two classes or 64 columns, by L-BFGS with the curvature of a sample, which differences
    of gradients correct. The search over many rows begins at the minimum of a sample. Coefficients of far
    more columns than rows are found as combinations of the rows. Exact over several passes: batches, files
    and sources are read once a step.

    Columns are standardized internally, by their quartiles where they have outliers, so that their units
    hardly change the speed of the search; the penalty is on coefficients in the units of the columns, as
    scikit-learn's is.

    X may be a sparse matrix or array of SciPy, and is not made dense: columns are centred within the products
    with its stored entries. Where there are at most 1500 parameters, their covariance takes one pass over
    dense blocks.

    Where hyperplanes separate the classes, the likelihood has no maximum: coefficients grow without bound.
    With ``C=inf`` the fit tests for that and reports it by a warning, `separable_` and `separating_coef_`;
    any finite C has a minimum.

    Parameters
    ----------
    C : float
        Inverse of the penalty weight; ``inf`` for no penalty: maximum likelihood.
    l1_ratio : float
        0 penalises squares (ridge), 1 absolute values (lasso: exact zeros), between them both (elastic net).
        Above 0, there may be at most 5000 coefficients.
    fit_intercept : bool
        Whether linear predictors have an intercept.
    link : {"logit", "probit"}
        The function from linear predictors to probabilities. Probit, Φ(intercept + xᵀ coef), is for two
        classes: a linear predictor with Gaussian noise.
    class_weight : None, "balanced" or dict of label to float
        Factors of the loss of each class's rows; "balanced" gives all classes the same total weight. They are
        no frequencies: standard errors are those of the sandwich covariance.
    tol : float
        The search converges when the predicted relative decrease of the objective is smaller and no gradient
        is more than √tol of the sum of the absolute values of its terms. Steps then go on to a power of tol:
        by default the result of Newton's method is exact up to rounding. Else the root mean square error of
        probabilities is below √(tol · log K / 2), K the number of classes, by default 6e-5 of two, and in
        practice 1e-6.
    max_iter : int
        Maximum number of steps.
    warm_start : bool
        Whether to start at the coefficients of the last fit.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    coef_ : array of shape (1, n_features) for two classes, or (n_classes, n_features)
        Coefficients; of three classes or more they sum to zero over the classes, unless `l1_ratio` is
        positive.
    intercept_ : array of shape (1,) or (n_classes,)
        Intercepts; of three classes or more, they sum to zero.
    parameter_covariance_ : array, or None where there are more than 1500 parameters
        Covariance of the parameters, class after class and in each the intercept first: the inverse of the
        Fisher information and the curvature of the squared penalty; with `class_weight` the sandwich
        A⁻¹ B A⁻¹ of the curvature A and the variance B of the gradient. What the rows do not determine has an
        infinite variance, coefficients that are exactly zero by `l1_ratio` have NaN. Of many penalised
        parameters, by L-BFGS, and at most 8 million entries of X, it is computed from X when it is first
        asked for: the model refers to X until then, and there is an error where X was changed in place.
    coef_std_errors_ : array of the shape of `coef_`
        Standard errors; with a squared penalty, standard deviations under the prior coef ~ N(0, C).
    z_values_, p_values_ : arrays of the shape of `coef_`
        Wald's tests of each coefficient against 0, where there is no penalty (``C=inf``).
    intercept_std_error_ : array of the shape of `intercept_`
        Standard errors of the intercepts; 0 where there are none.
    loss_ : float
        The objective divided by C and by the weight of the rows: mean log loss and penalty.
    objective_trace_ : array of shape (n_iter_ + 1,)
        Minus `loss_`, which is maximised: at the start and after every step, never decreasing.
    log_likelihood_ : float
        Of the rows of the fit.
    kkt_ : float
        Largest violation of the optimality conditions, divided by the weight of the rows, for standardized
        columns: zero at the minimum. By Newton's method it is that before the last step.
    separable_ : bool or None
        Whether hyperplanes separate the classes, at least one from another; None where there is a penalty,
        and where it is not known: the search did not converge, or there are more than 1500 parameters and no
        hyperplanes were found that separate all rows.
    separating_coef_, separating_intercept_ : arrays like `coef_` and `intercept_`
        Parameters that separate the classes, where they exist: no row of the fit is on the wrong side.
    n_iter_ : int
        Number of steps over all rows.
    converged_ : bool
        Whether the search ended by `tol`.
    n_features_in_, feature_names_in_ : int, array of str
        Number of columns, and their names where they had any.

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
    _takes_sparse = True
    _learns_on_host = True

    _sklearn_options = SklearnOptions(
        ignored=("solver", "dual", "random_state", "intercept_scaling", "multi_class", "warm_start"),
        rewritten={"penalty": penalty_named},
    )

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
        """Minimise the objective over rows held in memory, in a file, or in a stream that can be repeated.

        Parameters
        ----------
        X, y, sample_weight
            Rows, their labels (n_samples,) or the name of their column, and how often each row counts.
        """
        self._check_parameters()
        earlier = copy.copy(self)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        # Moments of columns without weights show NaN and infinity themselves.
        data, self.classes_ = labelled_rows(self, X, y, sample_weight, finite=sample_weight is not None)
        problem = self._problem(data)
        start = np.zeros(problem.shape)
        if self.warm_start and hasattr(earlier, "coef_"):
            start = self._warm_start(problem, earlier)
        unpenalised = bool(np.isinf(self.C))
        tol = min(self.tol, TOL_UNPENALISED) if unpenalised else self.tol
        found = minimize(problem, start, tol=float(tol), max_iter=int(self.max_iter))
        self._set_fitted(problem, found, unpenalised=unpenalised)
        self._warn_fitted(found)
        return self

    @property
    def parameter_covariance_(self) -> Any:
        """Covariance of the parameters, class after class and in each the intercept first."""
        check_answerable(self)
        return None if self._curvature_ is None else beside(self._curvature_.covariance, self.coef_)

    @property
    def coef_std_errors_(self) -> np.ndarray:
        """Standard errors of the coefficients, of the shape of `coef_`."""
        return self._std_errors()[:, -self.coef_.shape[1] :]

    @property
    def intercept_std_error_(self) -> np.ndarray:
        """Standard errors of the intercepts; 0 where there are none."""
        errors = self._std_errors()
        return errors[:, 0] if errors.shape[1] > self.coef_.shape[1] else 0.0 * self.intercept_

    def _std_errors(self) -> np.ndarray:
        self._estimate  # noqa: B018 (there may be too many parameters)
        errors = np.sqrt(np.diagonal(self._curvature_.covariance)).reshape(self.coef_.shape[0], -1)
        return beside(errors, self.coef_)

    @property
    def z_values_(self) -> np.ndarray:
        """Coefficients divided by their standard errors, of the shape of `coef_`, without a penalty."""
        check_answerable(self)
        if np.isfinite(self.C):
            raise AttributeError(
                f"Wald's test is of maximum likelihood estimates, without a penalty: C is {self.C}; use C=inf"
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.coef_ / self.coef_std_errors_

    @property
    def p_values_(self) -> np.ndarray:
        """Probability of a z-value as far from 0, or farther, were the coefficient 0 (Wald's test)."""
        return erfc(abs(self.z_values_) / 2.0**0.5)

    def summary(  # type: ignore[override]
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        covariance: str | None = None,
        clusters: Any = None,
        coverage: float = 0.95,
        reference: Any = None,
    ) -> RegressionSummary:
        """Return the regression table: Wald's z tests, the likelihood-ratio test, pseudo-R², AIC, BIC.

        Of two classes the coefficients are log odds of the second; of more, each class has its own, whose sum
        over the classes is zero, or log odds against a `reference`. With a squared penalty there are no
        tests: the table has the standard deviations and intervals of the posterior under the prior
        coef ~ N(0, C), by Laplace's approximation. Of separable classes, and after an L1 penalty has chosen
        coefficients, there is no table.

        Parameters
        ----------
        X, y, sample_weight, covariance, clusters
            As in `robust_covariance`, for a covariance that is not "nonrobust".
        coverage : float
            Of the intervals.
        reference : label, optional
            The class that others are compared with, of three classes or more.
        """
        if is_foreign_array(getattr(self, "coef_", None)):  # the table is read on the host
            options: Any = {"covariance": covariance, "clusters": clusters}
            return self.numpy().summary(
                X, y, sample_weight, coverage=coverage, reference=reference, **options
            )
        self._check_intervals(few=True)
        kind = check_covariance_type(covariance, clusters)
        unpenalised, k = bool(np.isinf(self.C)), len(self.classes_)
        self._estimate  # noqa: B018 (there may be too many parameters)
        found = np.asarray(self.parameter_covariance_)
        if kind != "nonrobust":
            found = self._sandwich(X, y, sample_weight, covariance=kind, clusters=clusters)[0]
        intercept = found.shape[0] > self.coef_.size
        parameters = np.column_stack([self.intercept_, self.coef_]) if intercept else self.coef_
        names, contrasts = self._coefficient_names(reference, intercept=intercept)
        width = parameters.shape[1]
        carry = np.kron(contrasts, np.eye(width))
        open_ = np.isinf(np.diagonal(found))
        with np.errstate(invalid="ignore"):
            covariances = found if len(contrasts) == len(self.coef_) else _mapped(carry, found, open_)
        n = float(np.sum(self._class_count_))
        likely = unpenalised and not self._weighs_classes_
        share = self._class_count_ / n
        null = float(self._class_count_ @ np.log(share)) if intercept else -n * float(np.log(k))
        notes = [] if self.converged_ else ["the search did not converge: raise max_iter"]
        least = FEWEST_ROWS * width
        if unpenalised and np.min(self._class_count_) < least:
            notes.append(
                f"the rarest class has {np.min(self._class_count_):g} rows: Wald's tests and intervals are "
                f"rough below {least}, three rows a parameter"
            )
        n_parameters = self._n_parameters
        weighted = "sandwich of class weights" if self._weighs_classes_ else kind
        compared = [i for i, label in enumerate(self.classes_.tolist()) if k == 2 or label != reference]
        own, curvature = self._curvature_.own_information[compared[: len(contrasts)]], self._curvature_
        inflation = np.full((len(own), width), np.nan)
        inflation[:, int(intercept) :] = [weighted_inflation(part, fit_intercept=intercept) for part in own]
        condition = max(
            weighted_condition_number(part, curvature.shift, curvature.scale, fit_intercept=intercept)
            for part in own
        )
        table = RegressionSummary(
            model=type(self).__name__,
            names=names,
            coefficients=carry @ parameters.reshape(-1),
            covariance=covariances,
            n_rows=n,
            n_parameters=n_parameters,
            residual_dof=n - n_parameters,
            log_likelihood=self.log_likelihood_ if likely else None,
            null_log_likelihood=null if likely else None,
            covariance_type=weighted if unpenalised else "posterior",
            has_intercept=intercept,
            n_intercepts=(k - 1) * intercept,
            scales=np.tile(np.append(np.zeros(int(intercept)), self._stddev_), len(contrasts)),
            inflation=inflation.reshape(-1),
            condition_number=condition,
            tested=unpenalised,
            coverage=coverage,
            notes=tuple(notes),
        )
        table.warn_of_collinearity()
        return table

    def influence(self, X: Any, y: Any = None, sample_weight: Any = None) -> Influence:
        """Return each row's influence: leverage, studentized Pearson residuals, Cook's distance, DFFITS.

        By one Newton step without the row (Pregibon), of two classes and the logit link.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit, as in `fit`; a source is read into memory.
        """
        self._check_intervals(few=True)
        self._check_likelihood("influence")
        if len(self.classes_) > 2 or self.link != "logit":
            raise ValueError("influence is of two classes by link='logit'")
        held = self._coded_rows(X, y, sample_weight).collect()
        x = np.asarray(held.X, dtype=np.float64)
        eta = self._estimate.predict(x)[:, 0]
        p, spread = sigmoid(eta), sigmoid(eta) * sigmoid(-eta)
        leverage = self._row_scores().leverage(x, spread)
        with np.errstate(divide="ignore", invalid="ignore"):
            residuals = np.where(spread > 0.0, (held.y - p) / np.sqrt(spread), 0.0)
        return Influence.of(residuals, leverage, n_parameters=self._n_parameters)

    @by_blocks
    def proba_interval(self, X: Any, coverage: float = 0.95) -> np.ndarray:
        """Return the interval that holds the probability of each class with confidence `coverage` (Wald's).

        The log odds of a class against the others, or the linear predictor of a probit, are taken to be
        Gaussian; their interval is transformed to the probability, so that it is within [0, 1]. The shape is
        (n_samples, n_classes, 2). Class weights change the probabilities, and an L1 penalty chooses
        coefficients: with either there is no interval.
        """
        check_number("coverage", coverage, above=0.0, below=1.0)
        self._check_intervals()
        if self.class_weight is not None:
            raise ValueError(
                "class_weight changes the probabilities that are estimated: there is no interval of those of "
                "the rows; fit with class_weight=None"
            )
        fit = self._estimate
        refuse_foreign(X)
        x = np.asarray(check_columns(self, X), dtype=np.float64)
        eta = fit.predict(x)
        jacobian = self._loss().log_odds_jacobian(eta)
        apart = fit.covariance_root.outside_at(x - fit.centre, np.abs(x) + np.abs(fit.centre))[:, None]
        variance = np.sum(np.einsum("nck,knr->ncr", jacobian, fit.predictor_root(x)) ** 2, axis=-1)
        moved = np.sum(jacobian**2, axis=-1)
        with np.errstate(invalid="ignore"):
            variance = np.where((apart > 0.0) & (moved > 0.0), variance + apart * moved, variance)
        half_width = wald_interval(np.zeros(1), np.sqrt(variance), coverage)[..., 1]
        return self._loss().proba_interval(eta, half_width)

    def _check_parameters(self) -> None:
        if not (isinstance(self.C, float | np.floating) and np.isposinf(self.C)):
            check_number("C", self.C, above=0.0)
        check_number("l1_ratio", self.l1_ratio, least=0.0, most=1.0)
        check_choice("link", self.link, ("logit", "probit"))
        check_number("tol", self.tol, least=0.0)
        check_number("max_iter", self.max_iter, least=1, whole=True)

    def _problem(self, data: Source) -> LogisticProblem:
        k, sparse = len(self.classes_), self.l1_ratio > 0.0 and bool(np.isfinite(self.C))
        if self.link == "probit" and k > 2:
            raise ValueError(
                f"y has {k} classes, and link='probit' is for 2: use link='logit'. "
                "Only binary classification is supported. The type of the target is multiclass."
            )
        summary = self._summary(data, k)
        factors = summary.class_weights(self.class_weight, self.classes_)
        total = summary.class_weight if factors is None else summary.class_weight * factors
        self._class_count_ = summary.class_weight
        self._stddev_ = np.sqrt(summary.moments.scatter / summary.moments.total)
        self._weighs_classes_ = factors is not None and bool(np.ptp(factors) > 0.0)
        standardizer = summary.standardizer(centered=bool(self.fit_intercept))
        return LogisticProblem(
            data=with_class_weights(data, factors),
            loss=Probit() if self.link == "probit" else class_loss(k, overparametrised=sparse),
            penalty=penalty_of(float(self.C), float(self.l1_ratio)),
            standardizer=standardizer,
            mean_squares=summary.mean_squares(standardizer),
            weight=float(np.sum(total)),
            has_intercept=bool(self.fit_intercept),
            class_factors=factors,
            mean_factor=float(np.sum(total) / np.sum(summary.class_weight)),
        )

    def _summary(self, data: Source, n_classes: int) -> ClassSummary:
        """Return the moments of the columns and the weights of the classes, of rows that are finite."""
        rows = data.X if isinstance(data, ArraySource) and is_numpy_array(data.X) else None
        of = partial(ClassSummary.of, n_classes=n_classes)
        found: ClassSummary = check_after(
            self, rows, lambda: fold(of, data, rows=BLOCK), lambda found: found.sum_of_squares
        )
        return found

    def _warm_start(self, problem: LogisticProblem, earlier: Any) -> np.ndarray:
        known, wanted = earlier.n_features_in_, self.n_features_in_
        if known != wanted or not np.array_equal(earlier.classes_, self.classes_):
            raise ValueError(
                f"warm_start goes on from the classes {list(earlier.classes_)} of y and {known} columns; "
                "X and y must be as they were"
            )
        return problem.from_columns(earlier.coef_, earlier.intercept_)

    def _set_fitted(self, problem: LogisticProblem, found: NewtonResult, *, unpenalised: bool) -> None:
        self.coef_, self.intercept_ = problem.to_columns(found.x)
        self.loss_, self.kkt_, self.objective_trace_ = found.value, found.violation, -found.trace
        self.n_iter_, self.converged_ = found.n_iter, found.converged
        inferred = infer(problem, found, unpenalised=unpenalised)
        self.log_likelihood_, self.separable_ = inferred.log_likelihood, inferred.separable
        self._curvature_: Any = inferred.curvature
        if inferred.separating is not None:
            separating = problem.to_columns(inferred.separating)
            self.separating_coef_, self.separating_intercept_ = separating

    def _warn_fitted(self, found: NewtonResult) -> None:
        if self.separable_:
            warnings.warn(
                "hyperplanes separate the classes of y: the likelihood has no maximum, and coef_ would grow "
                "without bound along separating_coef_; a finite C, a penalty, has a minimum",
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

    def _loss(self) -> ClassLoss:
        return loss_of(self.link, self.classes_.shape[0])

    def _class_scores(self, X: Any) -> np.ndarray:
        return self._loss().log_scores(linear_predictors(self, X))

    def _coefficient_names(self, reference: Any, *, intercept: bool) -> tuple[tuple[str, ...], np.ndarray]:
        """Return the names of the coefficients, and the matrix from those of the classes to them."""
        columns, labels = coefficient_names(self, intercept=intercept), self.classes_.tolist()
        if len(labels) == 2:
            if reference not in (None, labels[0]):
                raise ValueError(
                    f"reference must be {labels[0]!r}, the first of two classes, got {reference!r}"
                )
            return columns, np.eye(1)
        contrasts = np.eye(len(labels))
        if reference is not None:
            if reference not in labels:
                raise ValueError(f"reference must be one of the classes {labels}, got {reference!r}")
            first = labels.index(reference)
            contrasts = np.delete(contrasts - contrasts[first], first, axis=0)
            labels = [label for label in labels if label != reference]
        return tuple(f"{label}: {name}" for label in labels for name in columns), contrasts

    def _coded_rows(self, X: Any, y: Any, sample_weight: Any) -> Source:
        """Return the rows of the fit as a source whose targets are class codes."""
        if X is None:
            raise ValueError("X must be given: the rows of the fit")
        refuse_foreign(X)
        subject = copy.copy(self)
        data, classes = labelled_rows(subject, X, y, sample_weight)
        if subject.n_features_in_ != self.n_features_in_ or not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"X and y must be the rows of the fit: {self.n_features_in_} columns and the classes "
                f"{self.classes_.tolist()}; got {subject.n_features_in_} and {classes.tolist()}"
            )
        return data

    def _rows_of_fit(self, X: Any, y: Any, sample_weight: Any, *, what: str) -> Source:
        self._check_likelihood(what)
        return self._coded_rows(X, y, sample_weight)

    def _row_scores(self, data: Any = None) -> RowScores:
        fit = self._estimate
        return RowScores(
            terms=partial(_terms, loss=self._loss(), estimate=fit),
            estimate=fit,
            inverse=fit.centred_covariance,
            n_rows=float(np.sum(self._class_count_)),
            n_parameters=self._n_parameters,
        )

    def _check_covariance(self, kind: str) -> None:
        if kind in ("HC2", "HC3") and (len(self.coef_) > 1 or self.link != "logit"):
            raise ValueError(f"covariance={kind!r} is of two classes by link='logit'")

    def _check_estimate(self) -> None:
        self._check_intervals(few=True)

    @property
    def _at_origin(self) -> LinearEstimate:
        found: LinearEstimate = self._curvature_.at_origin
        return found

    @property
    def _estimate(self) -> LinearEstimate:
        check_answerable(self)
        if self._curvature_ is None:
            raise NotComputedError(
                f"coef_ has {self.coef_.size} entries, too many for their covariance to be computed"
            )
        found: LinearEstimate = self._curvature_.estimate
        return found

    def _check_likelihood(self, what: str) -> None:
        """Refuse what is of maximum likelihood alone."""
        if np.isfinite(self.C) or self._weighs_classes_:
            given = f"C is {self.C:g}" if np.isfinite(self.C) else "class_weight is given"
            raise ValueError(f"{what} is of maximum likelihood, without a penalty or class weights: {given}")
        undetermined = np.isinf(self.coef_std_errors_).any(axis=0)
        if np.any(undetermined & (self._stddev_ > 0.0)):
            names = np.array(coefficient_names(self, intercept=False))[undetermined]
            raise ValueError(
                f"X has linearly dependent columns, {', '.join(names)}: {what} needs coefficients that the "
                "rows determine; leave one out"
            )

    @property
    def _n_parameters(self) -> float:
        """How many parameters the rows determine."""
        self._estimate  # noqa: B018 (there may be too many parameters to know)
        return float(self._curvature_.rank)

    def _check_intervals(self, *, few: bool = False) -> None:
        """Refuse intervals that would not have their coverage; with `few`, of few rows they are rough."""
        check_answerable(self)
        if self.l1_ratio > 0.0 and np.isfinite(self.C):
            raise ValueError(
                f"l1_ratio is {self.l1_ratio}: intervals after a selection of coefficients by an L1 penalty "
                "would not have their nominal coverage; use l1_ratio=0 or C=inf"
            )
        if self._weighs_classes_ and np.isfinite(self.C):
            raise ValueError(
                "class_weight beside a penalty: the loss is that of no posterior, so intervals would not "
                "have their nominal coverage; use C=inf, or class_weight=None"
            )
        if self.separable_:
            raise ValueError(
                "y has classes that hyperplanes separate: without a penalty coefficients have no estimate "
                "and no interval; a finite C has both"
            )
        if few:
            return
        least = FEWEST_ROWS * (self.coef_.shape[1] + bool(self.fit_intercept))
        rarest = float(np.min(self._class_count_))
        if not np.isfinite(self.C) and rarest < least:
            raise ValueError(
                f"the rarest class of y has {rarest:g} rows, too few rows for Wald's intervals "
                f"without a penalty, which need {least}, {FEWEST_ROWS} a parameter; a finite C has intervals"
            )


def linear_predictors(model: Any, X: Any) -> np.ndarray:
    """Return intercept + xᵀ coef of each row, dense or sparse, (n, 1) or (n, K)."""
    rows = X if is_sparse(X) else as_double(check_columns(model, X))
    return rows @ model.coef_.T + model.intercept_


def loss_of(link: str, n_classes: int) -> ClassLoss:
    """Return the loss of the coefficients that users read: one row for two classes, else one a class."""
    return Probit() if link == "probit" else class_loss(n_classes, overparametrised=True)


def _terms(
    x: np.ndarray, codes: Any, *, loss: ClassLoss, estimate: LinearEstimate
) -> tuple[np.ndarray, np.ndarray, None]:
    """Return what `RowScores` asks: slopes of the rows' losses, and the curvatures of two classes."""
    coef = np.column_stack([estimate.offset, estimate.coef]) if estimate.has_intercept else estimate.coef
    _, slopes = loss.residuals(x, codes, (estimate.centre, np.ones_like(estimate.centre)), coef)
    eta = estimate.predict(x)[:, 0]
    return slopes, sigmoid(eta) * sigmoid(-eta), None


def _mapped(carry: np.ndarray, covariance: np.ndarray, open_: np.ndarray) -> np.ndarray:
    """Return the covariance of combinations; infinite where a part of one is not determined."""
    found = carry @ np.where(open_[:, None] | open_, 0.0, covariance) @ carry.T
    lost = np.any(carry[:, open_] != 0.0, axis=1)
    found[lost], found[:, lost] = np.nan, np.nan
    found[lost, lost] = np.inf
    return found
