"""Generalised linear models: Poisson, gamma and negative binomial regression."""

import copy
import warnings
from abc import abstractmethod
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import column_or_1d

from tractable.arrays.limits import check_coefficients
from tractable.base import (
    Estimator,
    ModelTags,
    RegressorMixin,
    all_or_nothing,
    check_answerable,
    check_choice,
    check_columns,
    check_fitted,
    check_number,
    check_rows,
)
from tractable.base.by_blocks import by_blocks, of_held_rows
from tractable.base.linear_inference import LinearInference
from tractable.base.options import SklearnOptions
from tractable.base.regressor import check_levels, spread
from tractable.base.validation import as_rows_source, refuse_foreign
from tractable.data import Source, is_frame
from tractable.data.frames import select_columns
from tractable.distributions import Gamma, Mixture, NegativeBinomial
from tractable.engines import CovarianceRoot, LinearEstimate, fold
from tractable.engines.glm.losses import FamilyLoss, LossExpansion
from tractable.engines.glm.losses import Gamma as GammaLoss
from tractable.engines.glm.losses import NegativeBinomial as NegativeBinomialLoss
from tractable.engines.glm.losses import Poisson as PoissonLoss
from tractable.engines.glm.problem import Penalty
from tractable.engines.glm.separation import separating_coef
from tractable.engines.linear_estimate import standardized_estimate
from tractable.engines.newton import NewtonResult
from tractable.engines.quadrature import gauss_hermite
from tractable.linear_model.generalized.inference import row_terms, targets_and_predictors
from tractable.linear_model.generalized.problem import (
    LOG_DISPERSION,
    FamilyFit,
    FamilyProblem,
    TargetSummary,
    curvature_root,
    joint_expansion,
    maximize,
    maximize_jointly,
    null_deviance,
    summarize_targets,
    without_columns,
)
from tractable.regression_tables import (
    Influence,
    RegressionSummary,
    RowScores,
    weighted_condition_number,
    weighted_inflation,
)
from tractable.value import replace, value

#: Counts, in all, for each parameter, from which normal intervals have their coverage.
FEWEST_COUNTS = 5.0
#: Rows for each parameter from which intervals of overdispersed counts have their coverage: where the
#: dispersion is learned, and where it is given.
FEWEST_ROWS, FEWEST_ROWS_KNOWN = 10.0, 3.0
#: Degrees of freedom from which the dispersion of amounts is taken as known in predictions, and the nodes of
#: the quadrature over it below.
MANY_DOF, N_NODES = 400.0, 31
_EPS = float(np.finfo(np.float64).eps)


class SeparableCountsWarning(UserWarning):
    """A direction separates counts of zero from the others: without a penalty, coefficients have no bound."""


@value
class OverdispersionTest:
    """Whether counts vary more than Poisson's: the score test against a variance of μ + α μ² (Dean 1992).

    Parameters
    ----------
    statistic : float
        Σ ((y - μ)² - y) / √(2 Σ μ²), a standard normal number where the counts are Poisson's.
    p_value : float
        The probability of one as large, or larger.
    dispersion : float
        α by moments, Σ ((y - μ)² - y) / Σ μ², at least 0.
    """

    statistic: float
    p_value: float
    dispersion: float


class GeneralizedLinearRegression(RegressorMixin, LinearInference, Estimator):
    """What generalised linear models share: `fit`, standard errors, intervals and predictions."""

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact over several passes")
    fit_intercept: bool
    alpha: float
    tol: float
    max_iter: int
    coef_: np.ndarray
    intercept_: float
    _positive: ClassVar[bool] = False
    _of_fit = ("exposure",)
    _estimate_: LinearEstimate

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.target_tags.positive_only = True
        # A mean of one, or none, at the origin is far from most targets.
        found.regressor_tags.poor_score = not self.fit_intercept
        return found

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, exposure: Any = None) -> Self:
        """Maximise the likelihood of rows held in memory, in a file, or in a stream that can be repeated.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,) or column name
            The targets. Two columns are the target and the exposure of each row, as streams, files
            (``scan(path, target=["claims", "years"])``) and collections of Dask bring them.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        exposure : float, array of shape (n_samples,) or column name, optional
            What each row was exposed to, positive: its period, area or population, by which its mean is
            multiplied. An offset o of the linear predictor is the exposure exp(o). By default 1.
        """
        self._check_parameters()
        data = self._validated(X, y, sample_weight, exposure)
        summary = summarize_targets(data, positive=self._positive)
        if summary.has_exposure and self._family().link != "log":
            raise ValueError('exposure multiplies means, and needs link="log"')
        problem = self._problem(data, summary)
        problem, found = self._maximized(problem, summary)
        self._set_fitted(problem, found, summary)
        self._warn_fitted(problem, found)
        return self

    @by_blocks
    def predict(
        self, X: Any, return_std: bool = False, *, include_noise: bool = True, exposure: Any = None
    ) -> Any:
        """Return the mean of each row, and on request the standard deviation of the prediction.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        return_std : bool
            Whether to return the standard deviation as well.
        include_noise : bool
            Whether that is the deviation of a new target (default) or of the mean.
        exposure : float, array of shape (n_samples,) or column name of a frame, optional
            What each row is exposed to; by default 1.
        """
        if return_std:
            dist = self.predict_dist(X, include_noise=include_noise, exposure=exposure)
            return dist.mean, spread(dist.stddev)
        rows, e = self._query(X, exposure)
        return self._means(self._linear_predictor(rows), e)

    @by_blocks
    def predict_var(self, X: Any, *, include_noise: bool = True, exposure: Any = None) -> np.ndarray:
        """Return the variance of the predictive distribution of each row, (n_samples,).

        Parameters
        ----------
        X, include_noise, exposure
            As in `predict`.
        """
        return spread(self.predict_dist(X, include_noise=include_noise, exposure=exposure).variance)

    def predict_interval(
        self, X: Any, coverage: float = 0.9, *, include_noise: bool = True, exposure: Any = None
    ) -> np.ndarray:
        """Return the equal-tailed interval that holds the target with probability `coverage`, (n_samples, 2).

        Intervals of counts hold whole numbers, and so cover no less than they say.

        Parameters
        ----------
        X, include_noise, exposure
            As in `predict`.
        coverage : float
            Probability, between 0 and 1.
        """
        check_number("coverage", coverage, above=0.0, below=1.0)
        tail = 0.5 * (1.0 - coverage)
        levels = [tail, 1.0 - tail]
        return self.predict_quantiles(X, levels, include_noise=include_noise, exposure=exposure)

    @by_blocks
    def predict_quantiles(
        self, X: Any, alpha: Any = (0.05, 0.95), *, include_noise: bool = True, exposure: Any = None
    ) -> np.ndarray:
        """Return quantiles of the predictive distribution at probabilities `alpha`, (n_samples, len(alpha)).

        Parameters
        ----------
        X, include_noise, exposure
            As in `predict`.
        alpha : array of probabilities
            Levels of the quantiles, between 0 and 1.
        """
        levels = check_levels(alpha)
        dist = self.predict_dist(X, include_noise=include_noise, exposure=exposure)
        return np.ascontiguousarray(dist.icdf(levels[:, None]).T)

    @of_held_rows
    def predict_dist(self, X: Any, *, include_noise: bool = True, exposure: Any = None) -> Any:
        """Return the predictive distribution of each row's target, of batch shape (n_samples,).

        The mean of a row has a gamma distribution, whose relative variance is that of its logarithm by the
        covariance of the coefficients; a new target is drawn about it.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        include_noise : bool
            Whether it is the distribution of a new target (default) or of the mean.
        exposure : float, array of shape (n_samples,) or column name of a frame, optional
            What each row is exposed to; by default 1.
        """
        rows, e = self._query(X, exposure)
        self._check_intervals()
        eta = self._linear_predictor(rows)
        mean, variance = self._means(eta, e), self._estimate_.scale * self._estimate_.leverage(rows)
        if not np.all(np.isfinite(variance)):
            first = int(np.argmax(~np.isfinite(variance)))
            raise ValueError(
                f"X has rows, the first is row {first}, outside of the span of the rows of the fit, whose "
                "columns are linearly dependent: their mean is not determined; alpha > 0 determines it"
            )
        relative = variance if self._fitted_family.link == "log" else variance / eta**2
        return self._distribution_of(mean, relative, include_noise=include_noise)

    @property
    def parameter_covariance_(self) -> np.ndarray:
        """Covariance of intercept and coefficients."""
        check_answerable(self)
        return self._estimate_.covariance()

    @property
    def z_values_(self) -> np.ndarray:
        """Coefficients divided by their standard errors, without a penalty."""
        check_answerable(self)
        if self.alpha > 0.0:
            raise AttributeError(
                f"Wald's test is of maximum likelihood estimates, without a penalty: alpha is {self.alpha}"
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.coef_ / self.coef_std_errors_

    @property
    def p_values_(self) -> np.ndarray:
        """Probability of a z-value as far from 0, or farther, were the coefficient 0 (Wald's test)."""
        from scipy.special import erfc, stdtr

        z = np.abs(self.z_values_)
        return erfc(z / np.sqrt(2.0)) if np.isinf(self._estimate.dof) else 2.0 * stdtr(self._estimate.dof, -z)

    @property
    def aic_(self) -> float:
        """Akaike's information criterion, 2 k - 2 log_likelihood_ of k parameters; less is better."""
        check_answerable(self)
        return 2.0 * self._n_parameters_ - 2.0 * self.log_likelihood_

    @property
    def bic_(self) -> float:
        """The Bayesian information criterion, k log n - 2 log_likelihood_; less is better."""
        check_answerable(self)
        return float(np.log(self._weight_)) * self._n_parameters_ - 2.0 * self.log_likelihood_

    @property
    def _estimate(self) -> LinearEstimate:
        return self._estimate_

    def _regression_table(self, parts: dict[str, Any]) -> RegressionSummary:
        first, intercept = [0.0] if self._has_intercept_ else [], {"fit_intercept": self._has_intercept_}
        shift, scale, varies = (getattr(self._standardizer_, name) for name in ("shift", "scale", "varies"))
        if self.alpha > 0.0:
            parts["covariance_type"] = "posterior"
        return self._table(
            n_rows=self._weight_,
            n_parameters=self._n_parameters_,
            residual_dof=self.residual_dof_,
            log_likelihood=self.log_likelihood_,
            null_log_likelihood=self._null_log_likelihood_,
            deviance=self.deviance_,
            null_deviance=self.null_deviance_ if first else None,
            dispersion=None if self._fitted_family.unit_dispersion else self.dispersion_,
            n_intercepts=len(first) + int(self._n_parameters_ > self.effective_dof_),
            scales=np.append(first, np.where(varies, 1.0 / np.where(varies, scale, 1.0), 0.0)),
            inflation=np.append([np.nan] * len(first), weighted_inflation(self._information_, **intercept)),
            condition_number=weighted_condition_number(self._information_, shift, scale, **intercept),
            statistics={"Pearson's χ²": self.pearson_chi2_, "dispersion": self.dispersion_},
            tested=self.alpha == 0.0,
            notes=self._notes(),
            **parts,
        )

    def influence(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, exposure: Any = None
    ) -> Influence:
        """Return each row's influence: leverage, studentized Pearson residuals, Cook's distance, DFFITS.

        By one Newton step without the row (Pregibon).

        Parameters
        ----------
        X, y, sample_weight, exposure
            The rows of the fit, as in `fit`; a source is read into memory.
        """
        check_answerable(self)
        if not self._fitted_family.unit_dispersion:
            self._check_intervals()  # residuals are in units of the dispersion
        data = self._rows_of_fit(X, y, sample_weight, exposure=exposure, what="influence")
        family = self._fitted_family
        of, held = self._row_scores(data), data.collect()
        x = np.asarray(held.X, dtype=np.float64)
        y, eta = targets_and_predictors(x, held.y, loss=family, estimate=self._estimate_)
        mean, phi = family.mean(eta), 1.0 if family.unit_dispersion else self.dispersion_
        return Influence.of(
            (y - mean) / np.sqrt(phi * family.variance(mean)),
            of.leverage(x, family.terms(eta, y).curvature),
            n_parameters=of.n_parameters,
        )

    def _row_scores(self, data: Source) -> RowScores:
        loss, coef, standardizer = self._fitted_family, self._center_coef_, self._standardizer_
        learned = self._learned_ and isinstance(loss, NegativeBinomialLoss)
        if isinstance(loss, NegativeBinomialLoss) and learned:
            loss = replace(loss, learned=True)
        scaling = standardizer.shift, standardizer.scale
        of = partial(LossExpansion.of, loss=loss, coef=coef[None, :], scaling=scaling)
        curvature, p = np.asarray(fold(of, data).curvature), len(coef)
        root, joint = (curvature_root(part)[0] for part in (curvature[:p, :p], curvature))
        units = np.append(np.ones(int(self._has_intercept_)), standardizer.scale)
        joint = np.append(units, np.ones(len(joint) - p))[:, None] * joint
        estimate = replace(self._estimate_, root=CovarianceRoot(factor=units[:, None] * root))
        return RowScores(
            terms=partial(row_terms, loss=loss, estimate=estimate),
            estimate=estimate,
            inverse=joint @ joint.T,
            n_rows=self._weight_,
            n_parameters=root.shape[1],
        )

    def _rows_of_fit(self, X: Any, y: Any, sample_weight: Any, *, what: str, exposure: Any = None) -> Source:
        if self.alpha > 0.0:
            raise ValueError(f"{what} is of maximum likelihood, without a penalty: alpha is {self.alpha:g}")
        self._check_estimate()
        if X is None:
            raise ValueError("X must be given: the rows of the fit")
        subject = copy.copy(self)
        data = GeneralizedLinearRegression._validated(subject, X, y, sample_weight, exposure)
        if subject.n_features_in_ != self.n_features_in_:
            raise ValueError(
                f"X must be the rows of the fit, of {self.n_features_in_} columns; got "
                f"{subject.n_features_in_}"
            )
        return data

    def _notes(self) -> tuple[str, ...]:
        return ()

    @abstractmethod
    def _family(self) -> FamilyLoss:
        """Return the family at which the search begins."""

    @property
    def _fitted_family(self) -> FamilyLoss:
        """The family at the dispersion that was learned."""
        return self._family()

    @abstractmethod
    def _distribution_of(self, mean: np.ndarray, relative: np.ndarray, *, include_noise: bool) -> Any:
        """Return the distribution of targets, or of means, of which `relative` are the relative variances."""

    def _check_parameters(self) -> None:
        check_number("alpha", self.alpha, least=0.0)
        check_number("tol", self.tol, least=0.0)
        check_number("max_iter", self.max_iter, least=1, whole=True)

    def _validated(self, X: Any, y: Any, sample_weight: Any, exposure: Any) -> Source:
        """Return checked rows as a source, whose targets have the exposures in a second column."""
        refuse_foreign(X)
        if isinstance(exposure, str):
            if isinstance(y, str):
                X, y, sample_weight = as_rows_source(X, [y, exposure], sample_weight), None, None
                exposure = None
            else:
                X, exposure = _column_of(X, exposure)
        rows = check_rows(self, X, y, sample_weight, reset=True, supervised=True)
        if isinstance(rows.data, Source):
            if exposure is not None:
                raise ValueError(
                    "exposure: a source brings its own, as a second column of its targets; or give the names "
                    "of the columns of the target, as y, and of the exposure"
                )
            return rows.data
        targets = rows.y
        if targets.ndim == 2 and targets.shape[1] == 1:
            targets = column_or_1d(targets, warn=True)
        if exposure is not None:
            if targets.ndim == 2:
                raise ValueError("exposure is given twice: y has two columns, the second of exposures")
            targets = np.column_stack([targets, _check_exposure(exposure, len(targets))])
        return replace(rows, y=targets).source

    def _problem(self, data: Source, summary: TargetSummary) -> FamilyProblem:
        mean = summary.total / summary.exposure
        family = self._family()
        return FamilyProblem(
            data=data,
            loss=family,
            penalty=Penalty(squares=float(self.alpha) * summary.weight),
            standardizer=summary.standardizer(centered=bool(self.fit_intercept)),
            weight=summary.weight,
            has_intercept=bool(self.fit_intercept),
            start=float(np.log(mean) if family.link == "log" else 1.0 / mean),
        )

    def _maximized(
        self, problem: FamilyProblem, summary: TargetSummary
    ) -> tuple[FamilyProblem, NewtonResult]:
        return problem, maximize(problem, tol=float(self.tol), max_iter=int(self.max_iter))

    def _set_fitted(self, problem: FamilyProblem, found: NewtonResult, summary: TargetSummary) -> None:
        coef = found.x[: len(problem.ridge)]
        rows = problem.fit_summary(coef)
        first, scale = int(problem.has_intercept), problem.standardizer.scale
        with np.errstate(over="ignore", invalid="ignore"):
            self.coef_ = check_coefficients(coef[first:] * scale)
            self.intercept_ = float(coef[0] - self.coef_ @ problem.standardizer.shift) if first else 0.0
        self._standardizer_, self._center_coef_ = problem.standardizer, coef
        self._weight_, self._total_, self._has_intercept_ = summary.weight, summary.total, bool(first)
        self.objective_trace_, self.n_iter_, self.converged_ = -found.trace, found.n_iter, found.converged
        self.deviance_, self.pearson_chi2_ = rows.deviance, rows.pearson
        self.null_deviance_ = null_deviance(problem, summary)
        self._set_covariance(problem, found, rows)
        self.log_likelihood_ = self._log_likelihood(rows)
        tested = self.alpha == 0.0 and problem.has_intercept
        self._null_log_likelihood_ = self._null_likelihood(problem, summary, rows) if tested else None
        self._excess_, self._squares_ = rows.excess, rows.squares

    def _set_covariance(self, problem: FamilyProblem, found: NewtonResult, rows: FamilyFit) -> None:
        """Set degrees of freedom, dispersion and the covariance of the parameters."""
        penalty = np.diag(problem.ridge)
        root, _ = curvature_root(rows.information + penalty)
        shrunk = self.alpha > 0.0
        self.effective_dof_ = float(np.sum(root * (rows.information @ root)) if shrunk else root.shape[1])
        self.residual_dof_ = problem.weight - self.effective_dof_
        self._n_parameters_ = self.effective_dof_
        self._set_dispersion(problem.loss, rows)
        phi = 1.0 if problem.loss.unit_dispersion else self.dispersion_
        root, undetermined = curvature_root(self._information(problem, found, rows) + penalty)
        self._information_ = rows.information
        bound = problem.penalty.squares
        self._estimate_ = standardized_estimate(
            problem.standardizer.shift,
            problem.standardizer.scale,
            found.x[None, : len(penalty)],
            root,
            undetermined,
            outside=1.0 / bound if bound > 0.0 else np.inf,
            scale=phi,
            dof=np.inf if self._fitted_family.unit_dispersion else float(self.residual_dof_),
        )

    def _information(self, problem: FamilyProblem, found: NewtonResult, rows: FamilyFit) -> np.ndarray:
        return rows.information

    def _set_dispersion(self, family: FamilyLoss, rows: FamilyFit) -> None:
        self.dispersion_, self._learned_ = 1.0, False

    def _log_likelihood(self, rows: FamilyFit) -> float:
        return rows.log_saturated - 0.5 * rows.deviance

    def _null_likelihood(
        self, problem: FamilyProblem, summary: TargetSummary, rows: FamilyFit
    ) -> float | None:
        """Return the log-likelihood of the intercept alone, or None where it is not to be compared."""
        return self._log_likelihood(replace(rows, deviance=self.null_deviance_))

    def _warn_fitted(self, problem: FamilyProblem, found: NewtonResult) -> None:
        name = type(self).__name__
        self.separable_ = False
        if self.alpha == 0.0 and self._fitted_family.unit_dispersion:
            self.separable_ = _separates(problem, found)
        if self.separable_:
            warnings.warn(
                "some columns separate rows with a count of zero from the others: the likelihood has no "
                "maximum, and coef_ would go on for ever; alpha > 0, a penalty, has one",
                SeparableCountsWarning,
                stacklevel=4,
            )
        elif not self.converged_:
            warnings.warn(
                f"{name} did not converge in {self.n_iter_} steps; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _check_estimate(self) -> None:
        check_answerable(self)
        if self.separable_:
            raise ValueError(
                "y has counts of zero that columns separate from the others: without a penalty coefficients "
                "have no estimate and no interval; alpha > 0 has both"
            )

    def _check_intervals(self) -> None:
        """Refuse intervals that would not have their coverage."""
        self._check_estimate()
        if not self.residual_dof_ > 0.0 and not self._fitted_family.unit_dispersion:
            raise ValueError(
                f"X has too few rows to estimate the dispersion: a weight of {self._weight_:g} for "
                f"{self.effective_dof_:g} parameters; more rows or a larger alpha are needed"
            )

    def _query(self, X: Any, exposure: Any) -> tuple[np.ndarray, Any]:
        check_fitted(self)
        if isinstance(exposure, str):
            X, exposure = _column_of(X, exposure)
        rows = np.asarray(check_columns(self, X), dtype=np.float64)
        if exposure is None:
            return rows, 1.0
        if self._fitted_family.link != "log":
            raise ValueError('exposure multiplies means, and needs link="log"')
        return rows, _check_exposure(exposure, len(rows))

    def _linear_predictor(self, rows: np.ndarray) -> np.ndarray:
        return self._estimate_.predict(rows)[:, 0]

    def _means(self, eta: np.ndarray, exposure: Any) -> np.ndarray:
        with np.errstate(over="ignore"):
            found = self._fitted_family.mean(eta + np.log(exposure))
        if not np.all(np.isfinite(found)):
            first = int(np.argmax(~np.isfinite(found)))
            raise ValueError(
                f"X has rows, the first is row {first}, whose linear predictor is not positive, where "
                'link="inverse" has no mean'
            )
        return found


class PoissonRegression(GeneralizedLinearRegression):
    """Poisson regression of counts: y ~ Poisson(e exp(intercept + xᵀ coef)), e the exposure of a row.

    Maximum likelihood, by Newton's method (iteratively reweighted least squares), every step a fold over the
    rows: arrays, files, streams and Dask collections have the same coefficients. With a penalty it minimises
    scikit-learn's objective, half the mean deviance + alpha/2 |coef|²; the intercept is not penalised.
    Columns are standardized internally, so that their units do not change the search.

    Where counts vary more than Poisson's, which `overdispersion_test` tells, standard errors are too small
    and intervals too narrow: use :class:`NegativeBinomialRegression`. Where columns separate rows with a
    count of zero from the others the likelihood has no maximum; a `SeparableCountsWarning` says so, and
    ``alpha > 0`` has one. Of linearly dependent columns the standard errors are infinite.

    Parameters
    ----------
    alpha : float
        Penalty weight of squared coefficients; 0 for maximum likelihood.
    fit_intercept : bool
        Whether to fit an intercept.
    tol : float
        The search ends with the step after one whose predicted relative decrease of the objective is
        smaller: as convergence is quadratic, the result is exact up to rounding.
    max_iter : int
        Maximum number of steps.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients: changes of the logarithm of the mean.
    intercept_ : float
        The intercept; zero with ``fit_intercept=False``.
    parameter_covariance_ : array
        Covariance of intercept and coefficients: the inverse of the Fisher information and the penalty.
    coef_std_errors_, intercept_std_error_ : array of shape (n_features,), float
        Standard errors; with a penalty, standard deviations under the prior coef ~ N(0, 1 / (n alpha)).
    z_values_, p_values_ : arrays of shape (n_features,)
        Wald's tests of each coefficient against 0, without a penalty.
    deviance_, null_deviance_ : float
        Of the model, and of one without columns.
    pearson_chi2_ : float
        Σ (y - μ)² / μ.
    dispersion_ : float
        1: the variance of Poisson counts is their mean.
    log_likelihood_, aic_, bic_ : float
        The log-likelihood of the rows, and the information criteria.
    effective_dof_, residual_dof_ : float
        The (effective) number of parameters, and the weight of the rows less it.
    separable_ : bool
        Whether counts of zero are separated from the others, so that coefficients have no estimate.
    objective_trace_ : array of shape (n_iter_ + 1,)
        Mean log-likelihood and penalty, up to a constant, before and after every step; never decreasing.
    n_iter_ : int
        Number of steps over all rows.
    converged_ : bool
        Whether the search ended by `tol`.
    n_features_in_, feature_names_in_ : int, array of str
        Number of columns, and their names where they had any.

    Examples
    --------
    Claims, and the years that they were insured for:

    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> age, years = rng.uniform(18.0, 80.0, 400), rng.uniform(0.5, 2.0, 400)
    >>> claims = rng.poisson(years * np.exp(1.0 - 0.03 * age))
    >>> model = tractable.PoissonRegression().fit(age[:, None], claims, exposure=years)
    >>> model.coef_.round(3), model.coef_std_errors_.round(3)
    (array([-0.029]), array([0.003]))
    >>> model.predict([[30.0]], exposure=2.0).round(2), model.predict_interval([[30.0]], exposure=2.0)
    (array([2.13]), array([[0., 5.]]))
    >>> bool(model.overdispersion_test().p_value > 0.05)
    True
    """

    _sklearn_options = SklearnOptions(ignored=("solver", "warm_start"))

    def __init__(
        self, *, alpha: float = 0.0, fit_intercept: bool = True, tol: float = 1e-12, max_iter: int = 100
    ) -> None:
        self.alpha, self.fit_intercept = alpha, fit_intercept
        self.tol, self.max_iter = tol, max_iter

    def _notes(self) -> tuple[str, ...]:
        found = self.overdispersion_test()
        if found.p_value > OVERDISPERSED:
            return ()
        said = (
            f"counts vary more than Poisson's (p = {found.p_value:.2g}, dispersion {found.dispersion:.3g}): "
            'standard errors are too small; use NegativeBinomialRegression, or covariance="HC0"'
        )
        return (said,)

    def overdispersion_test(self) -> OverdispersionTest:
        """Test whether counts vary more than Poisson's, against a variance of μ + α μ²."""
        from scipy.special import ndtr

        check_answerable(self)
        statistic = self._excess_ / np.sqrt(2.0 * self._squares_)
        return OverdispersionTest(
            statistic=float(statistic),
            p_value=float(ndtr(-statistic)),
            dispersion=max(self._excess_ / self._squares_, 0.0),
        )

    def _family(self) -> FamilyLoss:
        return PoissonLoss()

    def _check_intervals(self) -> None:
        super()._check_intervals()
        _check_enough_counts(self._total_, self.effective_dof_, self.alpha)

    def _distribution_of(self, mean: np.ndarray, relative: np.ndarray, *, include_noise: bool) -> Any:
        shape = 1.0 / np.maximum(relative, LEAST_VARIANCE)
        if not include_noise:
            return Gamma(shape=shape, rate=shape / mean)
        return NegativeBinomial(shape=shape, mean=mean)


class NegativeBinomialRegression(GeneralizedLinearRegression):
    """Negative binomial regression of counts: mean μ = e exp(intercept + xᵀ coef) and variance μ + α μ².

    For counts that vary more than Poisson's: a Poisson count whose rate varies about μ as a gamma variable of
    relative variance α, the dispersion (the model known as NB2). Coefficients and dispersion maximise the
    likelihood together, by Newton's method, every step a fold over the rows. Where counts vary no more than
    Poisson's, the maximum is α = 0: that is Poisson regression.

    Parameters
    ----------
    dispersion : float, optional
        α, positive; by default it is learned.
    alpha : float
        Penalty weight of squared coefficients, beside minus the mean log-likelihood; 0 for none.
    fit_intercept : bool
        Whether to fit an intercept.
    tol : float
        The search ends with the step after one whose predicted relative decrease of the objective is smaller.
    max_iter : int
        Maximum number of steps.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients: changes of the logarithm of the mean.
    intercept_ : float
        The intercept; zero with ``fit_intercept=False``.
    dispersion_ : float
        α.
    dispersion_std_error_ : float
        Its standard error; 0 where it was given, or is 0.
    parameter_covariance_ : array
        Covariance of intercept and coefficients, by the curvature of the likelihood of coefficients and
        dispersion; at a given dispersion by the Fisher information.
    coef_std_errors_, intercept_std_error_ : array of shape (n_features,), float
        Standard errors.
    z_values_, p_values_ : arrays of shape (n_features,)
        Wald's tests of each coefficient against 0, without a penalty.
    deviance_, null_deviance_ : float
        Of the model, and of one without columns, at the same dispersion.
    pearson_chi2_ : float
        Σ (y - μ)² / (μ + α μ²).
    log_likelihood_, aic_, bic_ : float
        The log-likelihood of the rows, and the information criteria, in which a learned α counts.
    effective_dof_, residual_dof_ : float
        The (effective) number of coefficients, and the weight of the rows less it.
    separable_ : bool
        Whether counts of zero are separated from the others, so that coefficients have no estimate.
    objective_trace_ : array of shape (n_iter_ + 1,)
        Mean log-likelihood and penalty, up to a constant, before and after every step; never decreasing.
    n_iter_ : int
        Number of steps over all rows.
    converged_ : bool
        Whether the search ended by `tol`.
    n_features_in_, feature_names_in_ : int, array of str
        Number of columns, and their names where they had any.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal(500)
    >>> y = rng.poisson(np.exp(1.0 + 0.5 * x) * rng.gamma(2.0, 0.5, 500))
    >>> model = tractable.NegativeBinomialRegression().fit(x[:, None], y)
    >>> model.coef_.round(2), round(model.dispersion_, 2), round(model.dispersion_std_error_, 2)
    (array([0.6]), 0.42, 0.05)
    """

    def __init__(
        self,
        *,
        dispersion: float | None = None,
        alpha: float = 0.0,
        fit_intercept: bool = True,
        tol: float = 1e-12,
        max_iter: int = 100,
    ) -> None:
        self.dispersion, self.alpha, self.fit_intercept = dispersion, alpha, fit_intercept
        self.tol, self.max_iter = tol, max_iter

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.dispersion is not None:
            check_number("dispersion", self.dispersion, above=0.0)

    def _family(self) -> FamilyLoss:
        if self.dispersion is None:
            return PoissonLoss()
        return NegativeBinomialLoss(dispersion=float(self.dispersion))

    @property
    def _fitted_family(self) -> FamilyLoss:
        return NegativeBinomialLoss(dispersion=self.dispersion_) if self.dispersion_ > 0.0 else PoissonLoss()

    def _maximized(
        self, problem: FamilyProblem, summary: TargetSummary
    ) -> tuple[FamilyProblem, NewtonResult]:
        problem, found = super()._maximized(problem, summary)
        if self.dispersion is not None or _separates(problem, found):
            return problem, found
        poisson = problem.fit_summary(found.x)
        if not poisson.excess > 0.0:
            return problem, found
        dispersion = poisson.excess / poisson.squares
        found, family = maximize_jointly(
            problem, found, dispersion, tol=float(self.tol), max_iter=int(self.max_iter)
        )
        if np.log(family.dispersion) <= LOG_DISPERSION[0] + 1.0:
            return problem, replace(found, x=found.x[:-1], gradient=found.gradient[:-1])
        return replace(problem, loss=family), found

    def _information(self, problem: FamilyProblem, found: NewtonResult, rows: FamilyFit) -> np.ndarray:
        if not self._learned_:
            return rows.information
        # The curvature of the likelihood of coefficients that is maximal over the dispersion.
        p = len(problem.ridge)
        joint = np.asarray(joint_expansion(problem, found.x[:p], self._fitted_family).curvature)  # type: ignore[arg-type]
        root, _ = curvature_root(joint[:p, :p] + np.diag(problem.ridge))
        mixed = root.T @ joint[:p, p]
        left = float(joint[p, p] - mixed @ mixed)
        self.dispersion_std_error_ = float(self.dispersion_ / np.sqrt(left)) if left > 0.0 else np.inf
        return joint[:p, :p] - np.outer(joint[:p, p], joint[:p, p]) / joint[p, p]

    def _null_likelihood(
        self, problem: FamilyProblem, summary: TargetSummary, rows: FamilyFit
    ) -> float | None:
        if self.dispersion is not None:
            return super()._null_likelihood(problem, summary, rows)
        bare = without_columns(problem)
        bare, found = self._maximized(replace(bare, loss=PoissonLoss()), summary)
        return self._log_likelihood(bare.fit_summary(found.x[:1]))

    def _set_dispersion(self, family: FamilyLoss, rows: FamilyFit) -> None:
        self.dispersion_ = getattr(family, "dispersion", 0.0)
        self.dispersion_std_error_ = 0.0
        self._learned_ = self.dispersion is None and self.dispersion_ > 0.0
        self._n_parameters_ = self.effective_dof_ + float(self.dispersion is None)

    def _check_intervals(self) -> None:
        super()._check_intervals()
        _check_enough_counts(self._total_, self.effective_dof_, self.alpha)
        each = FEWEST_ROWS if self.dispersion is None else FEWEST_ROWS_KNOWN
        if self.alpha == 0.0 and self._weight_ < each * self.effective_dof_ * (1.0 - 1e-9):
            raise ValueError(
                f"X has too few rows for intervals of counts that vary so: a weight of {self._weight_:g} for "
                f"{self.effective_dof_:g} parameters, and {each:g} a parameter are needed; give dispersion, "
                "alpha > 0, or more rows"
            )

    def _distribution_of(self, mean: np.ndarray, relative: np.ndarray, *, include_noise: bool) -> Any:
        # The likeliest dispersion is too small by the part of the rows that the coefficients fit.
        factor = self._weight_ / self.residual_dof_ if self._learned_ else 1.0
        relative, dispersion = factor * np.maximum(relative, LEAST_VARIANCE), factor * self.dispersion_
        if not include_noise:
            return Gamma(shape=1.0 / relative, rate=1.0 / (relative * mean))
        # The variance of the product of two gamma variables of mean one.
        both = relative + dispersion + relative * dispersion
        return NegativeBinomial(shape=1.0 / both, mean=mean)


class GammaRegression(GeneralizedLinearRegression):
    """Gamma regression of positive amounts: mean μ by a link of intercept + xᵀ coef, variance φ μ².

    Amounts whose standard deviation is in proportion to their mean: costs, durations, concentrations. Maximum
    likelihood, by Newton's method, every step a fold over the rows; the dispersion φ, one over the shape, is
    Pearson's estimate, as in R and statsmodels. With a penalty it minimises scikit-learn's objective, half
    the mean deviance + alpha/2 |coef|².

    Parameters
    ----------
    link : {"log", "inverse"}
        log μ = intercept + xᵀ coef, or the canonical link, 1/μ = intercept + xᵀ coef, which must be positive.
    alpha : float
        Penalty weight of squared coefficients; 0 for maximum likelihood.
    fit_intercept : bool
        Whether to fit an intercept.
    tol : float
        The search ends with the step after one whose predicted relative decrease of the objective is smaller.
    max_iter : int
        Maximum number of steps.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients of the linear predictor.
    intercept_ : float
        The intercept; zero with ``fit_intercept=False``.
    dispersion_ : float
        φ, Pearson's χ² over `residual_dof_`; NaN where that is not positive.
    parameter_covariance_ : array
        Covariance of intercept and coefficients: φ times the inverse of the Fisher information.
    coef_std_errors_, intercept_std_error_ : array of shape (n_features,), float
        Standard errors.
    z_values_, p_values_ : arrays of shape (n_features,)
        Coefficients over their standard errors, and the tests by Student's t, without a penalty.
    deviance_, null_deviance_ : float
        Of the model, and of one without columns, at φ = 1.
    pearson_chi2_ : float
        Σ (y - μ)² / μ².
    log_likelihood_, aic_, bic_ : float
        The log-likelihood of the rows at `dispersion_`, and the information criteria, in which φ does not
        count.
    effective_dof_, residual_dof_ : float
        The (effective) number of parameters, and the weight of the rows less it.
    separable_ : bool
        False: amounts are positive.
    objective_trace_ : array of shape (n_iter_ + 1,)
        Mean log-likelihood at φ = 1 and penalty, up to a constant, before and after every step; never
        decreasing.
    n_iter_ : int
        Number of steps over all rows.
    converged_ : bool
        Whether the search ended by `tol`.
    n_features_in_, feature_names_in_ : int, array of str
        Number of columns, and their names where they had any.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0.0, 2.0, 300)
    >>> cost = np.exp(1.0 + x) * rng.gamma(4.0, 0.25, 300)
    >>> model = tractable.GammaRegression().fit(x[:, None], cost)
    >>> model.coef_.round(2), round(model.dispersion_, 2)
    (array([1.]), 0.21)
    >>> model.predict_interval([[1.0]]).round(1)
    array([[ 2.7, 13.3]])
    """

    _positive = True

    _sklearn_options = SklearnOptions(ignored=("solver", "warm_start"))

    def __init__(
        self,
        *,
        link: str = "log",
        alpha: float = 0.0,
        fit_intercept: bool = True,
        tol: float = 1e-12,
        max_iter: int = 100,
    ) -> None:
        self.link, self.alpha, self.fit_intercept = link, alpha, fit_intercept
        self.tol, self.max_iter = tol, max_iter

    def _check_parameters(self) -> None:
        check_choice("link", self.link, ("log", "inverse"))
        super()._check_parameters()

    def _family(self) -> FamilyLoss:
        return GammaLoss(link=self.link)

    def _set_dispersion(self, family: FamilyLoss, rows: FamilyFit) -> None:
        exact = rows.pearson <= (8.0 * _EPS) ** 2 * self._weight_
        found, self._learned_ = 0.0 if exact else rows.pearson, True
        self.dispersion_ = found / self.residual_dof_ if self.residual_dof_ > 0.0 else np.nan

    def _null_likelihood(
        self, problem: FamilyProblem, summary: TargetSummary, rows: FamilyFit
    ) -> float | None:
        return None  # F compares the deviances: Pearson's dispersion maximises no likelihood

    def _log_likelihood(self, rows: FamilyFit) -> float:
        from scipy.special import gammaln

        if not self.dispersion_ > 0.0:
            return np.inf if self.dispersion_ == 0.0 else np.nan
        shape = 1.0 / self.dispersion_
        each = shape * np.log(shape) - gammaln(shape) - shape
        return float(self._weight_ * each - 0.5 * shape * rows.deviance + rows.log_saturated)

    def _check_intervals(self) -> None:
        super()._check_intervals()
        if self.dispersion_ == 0.0:
            raise ValueError("y is fitted without error, so there is no noise to predict: dispersion_ is 0")

    def _distribution_of(self, mean: np.ndarray, relative: np.ndarray, *, include_noise: bool) -> Any:
        """Return gamma distributions, mixed over the dispersion where few rows determine it.

        The dispersion is φ ν / χ²_ν distributed, with ν the degrees of freedom of Pearson's estimate, whose
        relative variance is (2 + 6 φ) / residual_dof_.
        """
        phi = self.dispersion_
        leverage = np.maximum(relative, LEAST_VARIANCE)[:, None] / phi
        factors, weights = _dispersion_nodes(self.residual_dof_ / (1.0 + 3.0 * phi))
        each = phi * factors
        variance = leverage * each + float(include_noise) * each * (1.0 + leverage * each)
        shape = 1.0 / variance
        components = Gamma(shape=shape, rate=shape / mean[:, None])
        return components[:, 0] if len(factors) == 1 else Mixture(components=components, weights=weights)


#: A Newton step of this length, in standardized columns, at a converged point: the search goes on for ever.
MOVING = 1e-2


def _separates(problem: FamilyProblem, found: NewtonResult) -> bool:
    """Return whether the search goes along a direction in which the likelihood grows for ever."""
    if found.curvature is None:
        return False
    step = found.curvature.unbounded_step(found.gradient)[: len(problem.ridge)]
    coef = found.x[: len(problem.ridge)]
    if float(np.linalg.norm(step)) < MOVING:
        return False
    candidates = [each[None, :] for each in (-step, coef) if np.any(each)]
    return separating_coef(problem, candidates) is not None


#: Counts are called overdispersed below this probability of the test.
OVERDISPERSED = 0.01
#: Relative variances of means below this are rounding.
LEAST_VARIANCE = 1e-12


def _dispersion_nodes(dof: float) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights of a quadrature over ν / χ²_ν, ν degrees of freedom.

    Gauss-Hermite nodes in the logarithm of χ²_ν about its mode, log ν, with the weights of its density.

    Examples
    --------
    >>> nodes, weights = _dispersion_nodes(10.0)
    >>> round(float(weights @ nodes), 6)  # ν / (ν - 2)
    1.25
    """
    if dof > MANY_DOF:
        return np.ones(1), np.ones(1)
    x, w = gauss_hermite(N_NODES)
    x = x * np.sqrt(2.0 / dof)
    logs = 0.5 * dof * (x - np.expm1(x)) + 0.25 * dof * x * x
    weights = w * np.exp(logs)
    return np.exp(-x), weights / np.sum(weights)


def _check_enough_counts(total: float, n_parameters: float, alpha: float) -> None:
    """Refuse normal intervals of few counts, without a prior."""
    least = FEWEST_COUNTS * n_parameters
    if alpha == 0.0 and total < least:
        raise ValueError(
            f"y has {total:g} counts in all, too few rows or too small counts for intervals without a "
            f"penalty, which need {least:g}, {FEWEST_COUNTS:g} a parameter; alpha > 0 has intervals"
        )


def _column_of(X: Any, name: str) -> tuple[Any, Any]:
    """Return a frame without one of its columns, and the column."""
    if not is_frame(X):
        raise ValueError(f"exposure: {name!r} names a column, and X is no frame; give the numbers")
    names = list(X.columns)
    if name not in names:
        raise ValueError(f"exposure: X has no column {name!r}")
    return select_columns(X, [other for other in names if other != name]), np.asarray(X[name])


def _check_exposure(exposure: Any, n: int) -> np.ndarray:
    """Return an exposure for each of n rows."""
    try:
        found = np.asarray(exposure, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("exposure must be numbers, one or one a row, or the name of a column") from None
    if found.shape not in ((), (n,)):
        raise ValueError(f"exposure must be one number or one for each of {n} rows, got shape {found.shape}")
    if not np.all((found > 0.0) & np.isfinite(found)):
        raise ValueError("exposure must be positive and finite")
    return np.broadcast_to(found, (n,))
