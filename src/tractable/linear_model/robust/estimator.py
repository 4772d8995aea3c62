"""Robust linear regression: maximum likelihood in heavy-tailed noise."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import column_or_1d

from tractable.arrays.limits import check_coefficients
from tractable.base import (
    EMEstimator,
    ModelTags,
    RegressorMixin,
    Rows,
    check_choice,
    check_columns,
    check_fitted,
    check_number,
)
from tractable.base.by_blocks import by_blocks, of_held_rows
from tractable.base.linear_inference import LinearInference
from tractable.base.options import SklearnOptions
from tractable.data import Source
from tractable.distributions import Mixture, StudentT
from tractable.engines import EMResult, LinearEstimate
from tractable.linear_model.robust.least_absolute import least_absolute_errors
from tractable.linear_model.robust.m_estimates import TUNING, m_estimate
from tractable.linear_model.robust.noise import NOISES
from tractable.linear_model.robust.posterior import RobustPosterior, robust_posterior, robust_sampler
from tractable.linear_model.robust.steps import (
    LEAST_SCALE,
    RobustParameters,
    RobustProblem,
    RobustStatistic,
    StandardizedRows,
    target_factor,
)
from tractable.linear_model.rows import check_factor, check_one_target
from tractable.regression_tables import RegressionSummary, of_columns
from tractable.sampling import PosteriorSampler
from tractable.statistics import Standardizer
from tractable.value import replace

#: Rows a parameter from which on the degrees of freedom of Student's noise may be learned and taken as known.
FEW_ROWS = 10.0
#: Rows a parameter from which on standard errors of Huber's and Tukey's loss have their coverage.
FEW_ROWS_OF_LOSS = 5.0


def _is_noise(model: Any) -> bool:
    return model.noise not in TUNING


class RobustRegression(RegressorMixin, LinearInference, EMEstimator):
    """Linear regression in heavy-tailed noise, y = intercept + xᵀ coef + noise, by maximum likelihood.

    Minus the log density of the noise is the loss: Laplace noise has absolute errors (median regression);
    Student's t a loss that grows as a logarithm, so that outliers hardly count; Gaussian noise squared ones.
    Both heavy tails are scale mixtures of normals, and expectation-maximisation is iteratively reweighted
    least squares, each row weighted by its expected precision. Absolute errors are minimal where as many rows
    as there are parameters are fitted exactly: the search ends at such a vertex, and has converged where dual
    values prove that it is optimal. Student's likelihood can have several maxima; this is the one reached
    from least squares. Exact over several passes, so rows may be in files larger than memory, except with
    Laplace noise, and the losses of Huber and Tukey: vertices and medians are of single rows, which must be
    in memory.

    The losses of Huber and Tukey are no densities: M-estimates, with a scale by the median absolute residual,
    as in statsmodels' RLM. They have intervals of coefficients, and no `predict_dist`.

    Parameters
    ----------
    noise : {"laplace", "student", "gaussian", "huber", "tukey"}
        The distribution of the noise, or Huber's or Tukey's loss.
    dof : float, optional
        Degrees of freedom of Student's t; by default they are estimated, between 1 and 1e6 (where the tails
        are a normal's).
    tuning : float, optional
        Residuals, in units of the scale, from which Huber's loss is linear (1.345 by default), or Tukey's
        constant (4.685): 95 % efficient in Gaussian noise.
    fit_intercept : bool
        Whether to fit an intercept.
    tol : float
        Growth of the mean log-likelihood of a row below which the search ends; with Laplace noise it ends at
        the best vertex, and nowhere else.
    max_iter : int
        Most least squares solved and, for Laplace noise, most vertices visited.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients.
    intercept_ : float
        The intercept; zero with ``fit_intercept=False``.
    scale_ : float
        Of the noise, Laplace's b or Student's scale; of Huber's and Tukey's loss the median absolute residual
        over 0.6745; 0 where y is fitted without error.
    dof_ : float
        Degrees of freedom of Student's t; infinite for Gaussian, NaN for Laplace noise.
    noise_variance_ : float
        Variance of the noise at the likeliest scale: scale² for Gaussian, 2 scale² for Laplace noise, and
        scale² ν/(ν - 2) for Student's t; infinite for 1 < ν ≤ 2 and NaN for ν ≤ 1, where there is none;
        scale² for Huber's and Tukey's loss.
    coef_std_errors_, intercept_std_error_ : array of shape (n_features,), float
        Standard errors: of the posterior for Laplace's and Student's noise, Huber's asymptotic ones for the
        losses; infinite where the rows do not determine a coefficient.
    row_weights_ : array of shape (n_samples,)
        Weight of each row in the last least squares: small for outliers, at most 1e16. Of rows in memory; a
        stream has none.
    noise_ : LaplaceNoise, StudentNoise, GaussianNoise or RobustLoss
        The noise, or the loss, as a value.
    objective_trace_ : array of shape (n_iter_ + 1,), or (1,) where least squares is the maximum
        The mean log-likelihood of a row at the start of the search and after each iteration; for Laplace
        noise of absolute errors that are smoothed less and less, and then of the best vertex so far. Of
        Huber's and Tukey's loss minus the loss at the end alone.
    lower_bound_ : float
        The last of these; infinite where y is fitted without error.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether the search ended by `tol`, or at a vertex that is proven optimal.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> x = np.arange(10.0)
    >>> y = 1.0 + 2.0 * x + np.array([0.1, -0.2, 0.0, 0.2, -0.1, 0.1, 0.0, -0.1, 0.2, 60.0])
    >>> tractable.LinearRegression().fit(x[:, None], y).coef_.round(2)
    array([5.28])
    >>> model = tractable.RobustRegression("student", dof=2.0).fit(x[:, None], y)
    >>> model.coef_.round(2), bool(model.row_weights_[-1] < 1e-4)
    (array([2.01]), True)
    """

    _supervised = True
    #: The search runs once, from least squares.
    n_init, random_state = 1, None
    _params_: RobustParameters
    _target_: Standardizer
    _factor_: Any
    _posterior_: RobustPosterior

    _sklearn_options = SklearnOptions(ignored=("warm_start",))

    @property
    def model_tags(self) -> ModelTags:  # type: ignore[override]
        """See `tractable.tags`: the vertices of Laplace noise are of rows in memory."""
        streaming = "no" if self.noise in ("laplace", *TUNING) else "exact over several passes"
        return ModelTags(kind="discriminative", parametric=True, streaming=streaming)  # type: ignore[arg-type]

    def __init__(
        self,
        noise: str = "laplace",
        *,
        dof: float | None = None,
        tuning: float | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-15,
        max_iter: int = 5000,
    ) -> None:
        self.noise, self.dof, self.tuning, self.fit_intercept = noise, dof, tuning, fit_intercept
        self.tol, self.max_iter = tol, max_iter

    @by_blocks
    def predict(self, X: Any, return_std: bool = False, *, include_noise: bool = True) -> Any:
        """Return intercept + xᵀ coef, the median of the predictive distribution; on request its deviation.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        return_std : bool
            Whether to return the standard deviation as well.
        include_noise : bool
            Whether that is the deviation of a new target (default) or of the linear predictor.
        """
        check_fitted(self)
        found = self._linear_predictor(check_columns(self, X).astype(np.float64))
        if return_std and self.noise in TUNING:
            raise ValueError(
                f"return_std: noise={self.noise!r} is a loss, and has no predictive distribution"
            )
        return (found, np.sqrt(self.predict_var(X, include_noise=include_noise))) if return_std else found

    @available_if(_is_noise)
    @of_held_rows
    def predict_dist(self, X: Any, *, include_noise: bool = True) -> Any:
        """Return the predictive distribution of each row's target: the noise about the linear predictor.

        A mixture over draws of the coefficients and of the scale from their posterior, with a flat prior of
        the coefficients and of the logarithm of the scale: intervals cover, also of few rows, where the
        family of the noise is known. Gaussian noise needs no draws, and has Student's t. Where `dof` is
        estimated it is taken as known, and fewer than ten rows a parameter are refused.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        include_noise : bool
            Whether it is the distribution of a new target (default) or of the linear predictor: then
            Student's t of the same spread as the draws of the linear predictor.
        """
        check_fitted(self)
        rows = check_columns(self, X).astype(np.float64)
        self._check_predictable(rows)
        location, fit = self._linear_predictor(rows), self._estimate
        if self.noise == "gaussian" or not include_noise:
            scale = np.sqrt(fit.scale * (fit.leverage(rows) + float(include_noise)))
            return StudentT(dof=fit.dof, location=location, scale=scale)
        posterior, unit = self._posterior_, 1.0 / self._target_.scale
        columns = self._least_squares_.predictor_root(rows)
        noise = replace(self.noise_, scale=unit * np.concatenate([posterior.scale, posterior.scale]))
        return Mixture(
            components=noise.around(location[:, None] + unit * posterior.linear_predictor(columns))
        )

    def summary(self, *, coverage: float = 0.95) -> RegressionSummary:  # type: ignore[override]
        """Return the regression table: coefficients, standard errors, intervals, and tests of M-estimates.

        Huber's and Tukey's M-estimates have Huber's asymptotic covariance, as statsmodels' RLM, and t tests.
        Of Laplace's and Student's noise the covariance is that of the posterior with a flat prior, whose
        intervals are those of `coef_interval`, and there are no tests. Gaussian noise has the table of least
        squares.

        Parameters
        ----------
        coverage : float
            Of the intervals.
        """
        check_fitted(self)
        self._check_predictable()
        whole = self._least_squares_
        kinds = {"gaussian": "nonrobust", "laplace": "posterior", "student": "posterior"}
        table = self._table(
            model=f"{type(self).__name__}({self.noise!r})",
            n_rows=whole.n_rows,
            n_parameters=whole.n_parameters,
            residual_dof=whole.residual_dof,
            covariance_type=kinds.get(self.noise, "asymptotic"),
            **of_columns(self._factor_, intercept=whole.has_intercept),
            statistics={"scale": self.scale_, **({"dof": self.dof_} if self.noise == "student" else {})},
            tested=self.noise in ("gaussian", *TUNING),
            coverage=coverage,
        )
        table.warn_of_collinearity()
        return table

    @property
    def _estimate(self) -> LinearEstimate:
        """The coefficients with Huber's covariance, or that of the posterior, in the units of y."""
        check_fitted(self)
        self._check_predictable()
        whole, unit = self._least_squares_, 1.0 / float(self._target_.scale)
        root, scale, dof = whole.covariance_root, whole.noise_variance, whole.dof
        if self.noise in TUNING:
            scale = np.array([self._variance_])
        elif self.noise != "gaussian":
            root = replace(root, factor=root.factor @ self._posterior_.root)
            scale, dof = np.ones(1), self._posterior_.dof
        return LinearEstimate(
            coef=self.coef_[None, :],
            centre=whole.centre,
            offset=self._linear_predictor(whole.centre[None, :]),
            intercept=np.array([self.intercept_]),
            root=root,
            scale=unit**2 * scale,
            dof=dof,
            has_intercept=whole.has_intercept,
        )

    def _check_predictable(self, rows: np.ndarray | None = None) -> None:
        """Refuse distributions that the rows of the fit do not determine, of parameters or of rows."""
        if self.scale_ == 0.0:
            raise ValueError("y is fitted without error, so there is no noise to predict: scale_ is 0")
        if not hasattr(self, "_least_squares_"):
            raise ValueError(
                "statistic: what from_statistic is given does not determine the posterior of the "
                "coefficients; fit to rows before distributions are predicted"
            )
        whole = self._least_squares_
        n_parameters = whole.rank + whole.has_intercept
        if not whole.residual_dof > 0:
            raise ValueError(
                f"X has too few rows to estimate the noise: a weight of {float(whole.weight):g} for "
                f"{n_parameters} parameters; more rows are needed"
            )
        if self.noise in TUNING and whole.weight < FEW_ROWS_OF_LOSS * n_parameters:
            raise ValueError(
                f"X has too few rows for intervals of noise={self.noise!r}: a weight of "
                f"{float(whole.weight):g} for {n_parameters} parameters, and {FEW_ROWS_OF_LOSS:g} a "
                "parameter are needed"
            )
        if self.noise == "student" and self.dof is None and whole.weight < FEW_ROWS * n_parameters:
            raise ValueError(
                f"X has too few rows to estimate the tails of the noise: a weight of {float(whole.weight):g} "
                f"for {n_parameters} parameters; give dof, or more rows"
            )
        if rows is not None and not np.all(np.isfinite(whole.leverage(rows))):
            raise ValueError(
                "X has rows outside of the span of the rows of the fit, whose columns are linearly "
                "dependent: their linear predictor is not determined"
            )

    def _posterior_sampler(self, X: Any, y: Any, sample_weight: Any) -> PosteriorSampler:
        """Return how coefficients and scale are sampled, at `dof_`: see `tractable.sample_posterior`."""
        rows = self._validate_rows(X, y, sample_weight, reset=False)
        held = rows.source.collect()
        self._check_predictable(np.asarray(held.X, dtype=np.float64)[:1])
        return robust_sampler(self, held)

    def _linear_predictor(self, X: np.ndarray) -> np.ndarray:
        return self._target_.inverse_transform(self._params_.linear.predict(X)[:, 0])

    def _check_parameters(self) -> None:
        check_choice("noise", self.noise, (*NOISES, *TUNING))
        if self.tuning is not None:
            if self.noise not in TUNING:
                raise ValueError(f"tuning is for the losses {list(TUNING)}, got noise={self.noise!r}")
            check_number("tuning", self.tuning, above=0.0)
        if self.dof is not None and self.noise != "student":
            raise ValueError(f"dof is for Student's noise alone, got {self.dof!r} with noise={self.noise!r}")
        if self.dof is not None:
            check_number("dof", self.dof, above=0.0)
        super()._check_parameters()

    def _validate_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Rows:
        rows = super()._validate_rows(X, y, sample_weight, reset=reset)
        if not isinstance(rows.data, Source):
            return replace(rows, y=column_or_1d(rows.y, warn=True))
        if self.noise in ("laplace", *TUNING) and not rows.data.in_memory:
            what = "fits single rows exactly" if self.noise == "laplace" else "has a median of residuals"
            raise ValueError(
                f'X must be rows in memory for noise="{self.noise}", which {what}; got '
                f'{type(X).__name__}. noise="student" takes streams'
            )
        return rows

    def _em_problem(self, rows: Rows | None, *, fitted: bool) -> RobustProblem:
        source = factor = None
        if rows is not None:
            source = rows.source
            y = check_factor(source.reduce(target_factor))
            check_one_target(y.n_targets)
            if not float(y.weight) > 0.0:
                raise ValueError("sample_weight must have a positive entry, all are zero")
        if rows is None or fitted:
            target = self._target_
        else:
            # One shift keeps the digits of residuals at any level; exact, it rounds no targets.
            options = {"exact": True, "centered": bool(self.fit_intercept)}
            target = Standardizer.from_stddev(y.mean, y.stddev, **options)[0]
        if source is not None:
            factor = check_factor(source.reduce(StandardizedRows(target=target)))
        return RobustProblem(
            data=source,
            target=target,
            rows=factor,
            noise=self.noise,
            dof=self.dof,
            fit_intercept=bool(self.fit_intercept),
        )

    def _fitted_params(self, problem: RobustProblem) -> RobustParameters:
        return self._params_

    def _search(self, problem: RobustProblem, earlier: Any) -> EMResult:
        if self.noise in TUNING:
            tuning = TUNING[self.noise] if self.tuning is None else float(self.tuning)
            found = m_estimate(problem, kind=self.noise, tuning=tuning, max_iter=int(self.max_iter))
            self._variance_, self._n_steps_ = found.variance, found.n_iter
            return found.result
        if problem.is_exact or self.noise == "gaussian":
            # Where the search would begin is the maximum.
            return EMResult(params=problem.initial(), trace=(problem.log_likelihood,), converged=True)
        if self.noise != "laplace":
            return super()._search(problem, earlier)
        return least_absolute_errors(
            problem,
            tol=self.tol,
            max_iter=self.max_iter,
            label=self._label(),
            options=self.get_params(deep=False),
        )

    def _set_fitted(self, params: RobustParameters, problem: RobustProblem) -> None:
        self._params_, self._target_, unit = params, problem.target, 1.0 / float(problem.target.scale)
        with np.errstate(over="ignore"):
            self.coef_ = check_coefficients(unit * params.linear.coef[0])
        self.intercept_ = float(problem.target.inverse_transform(params.linear.intercept[0]))
        self.noise_ = params.noise.rescaled(unit)
        exact = problem.is_exact
        self.scale_ = 0.0 if exact else self.noise_.scale
        self.noise_variance_ = 0.0 if exact else self.noise_.variance
        self.dof_ = {"gaussian": np.inf, "laplace": np.nan}.get(
            self.noise, getattr(self.noise_, "dof", np.nan)
        )
        self._forget("_least_squares_", "_factor_", "_posterior_", "row_weights_")
        if problem.data is not None:
            self._set_rows(problem, exact=exact)

    def _set_rows(self, problem: RobustProblem, *, exact: bool) -> None:
        """Set what the rows of a fit determine besides the likeliest parameters."""
        whole, step = problem.least_squares, problem.expect(self._params_)
        self._least_squares_, self._factor_ = whole, problem.rows
        if problem.data.in_memory:
            held = problem.data.collect()
            self.row_weights_ = np.ones(held.n_rows) if exact else step.row_weights(held)
        if not exact and self.noise not in ("gaussian", *TUNING) and whole.residual_dof > 0:
            self._posterior_ = robust_posterior(problem.data, whole, step)

    def _set_search(self, result: EMResult, problem: RobustProblem) -> None:
        super()._set_search(result, problem)
        self.n_iter_ = max(result.n_iter, getattr(self, "_n_steps_", 1), 1)

    def _check_statistic(self, statistic: Any) -> None:
        if not isinstance(statistic, RobustStatistic):
            raise ValueError(f"statistic must be a RobustStatistic, got {type(statistic).__name__}")

    @property
    def _collapsed(self) -> bool:
        """Whether the noise is no more than rounding, though not all rows are fitted without error."""
        return self.scale_ > 0.0 and self._params_.noise.scale <= 4.0 * LEAST_SCALE

    def _not_converged(self, result: EMResult) -> str:
        if self._collapsed:
            return self._collapse()
        looser = "" if self.noise == "laplace" else " or tol"
        learnt = ", or give dof" if self.noise == "student" and self.dof is None else ""
        return (
            f"RobustRegression did not converge in {self.n_iter_} iterations; raise max_iter{looser}{learnt}"
        )

    def _collapse(self) -> str:
        return (
            f"the scale of the noise collapsed to {self.scale_:.1g}, the rounding of y: so many rows are "
            "fitted exactly that the likelihood has no bound. coef_ fits those rows, but the predictive "
            'distribution is meaningless; that of noise="laplace" is not'
        )

    def _warn_fitted(self) -> None:
        if self.converged_ and self._collapsed:
            warnings.warn(self._collapse(), ConvergenceWarning, stacklevel=5)
