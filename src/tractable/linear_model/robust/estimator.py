"""Robust linear regression: maximum likelihood in heavy-tailed noise."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import column_or_1d

from tractable.arrays.limits import power_of_two
from tractable.base import (
    Estimator,
    FitInterrupted,
    ModelTags,
    RegressorMixin,
    all_or_nothing,
    check_columns,
    check_fitted,
)
from tractable.base.parameters import check_choice, check_number
from tractable.distributions import Mixture, StudentT
from tractable.engines import EMResult, LeastSquares
from tractable.linear_model.robust.noise import NOISES
from tractable.linear_model.robust.posterior import robust_posterior
from tractable.linear_model.robust.steps import (
    RobustParameters,
    independent_columns,
    initial_parameters,
    robust_search,
)
from tractable.linear_model.rows import check_rows_in_memory
from tractable.value import replace

#: Rows a parameter from which on the degrees of freedom of Student's noise may be learned and taken as known.
FEW_ROWS = 10.0


class RobustRegression(RegressorMixin, Estimator):
    """Linear regression in heavy-tailed noise, y = intercept + xᵀ coef + noise, by maximum likelihood.

    Minus the log density of the noise is the loss: Laplace noise has absolute errors (median regression);
    Student's t a loss that grows as a logarithm, so that outliers hardly count; Gaussian noise squared ones.
    Both heavy tails are scale mixtures of normals, and expectation-maximisation is iteratively reweighted
    least squares, each row weighted by its expected precision. Absolute errors are minimal where as many rows
    as there are parameters are fitted exactly: the search ends at such a vertex, and has converged where dual
    values prove that it is optimal. Exact over several passes, with the rows in memory. Student's likelihood
    can have several maxima; this is the one reached from least squares.

    Parameters
    ----------
    noise : {"laplace", "student", "gaussian"}
        The distribution of the noise.
    dof : float, optional
        Degrees of freedom of Student's t; by default they are estimated, between 1 and 1e6 (where the tails
        are a normal's).
    fit_intercept : bool
        Whether to fit an intercept.
    tol : float
        Relative growth of the mean log-likelihood below which the search stops; with Laplace noise it stops
        at the best vertex, and nowhere else.
    max_iter : int
        Most least squares solved and, for Laplace noise, most vertices visited.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients.
    intercept_ : float
        The intercept; zero with ``fit_intercept=False``.
    scale_ : float
        Of the noise, Laplace's b or Student's scale; 0 where y is fitted without error.
    dof_ : float
        Degrees of freedom of Student's t; infinite for Gaussian, NaN for Laplace noise.
    noise_variance_ : float
        Variance of the noise at the likeliest scale: scale² for Gaussian, 2 scale² for Laplace noise, and
        scale² ν/(ν - 2) for Student's t; infinite for 1 < ν ≤ 2 and NaN for ν ≤ 1, where there is none.
    row_weights_ : array of shape (n_samples,)
        Weight of each row in the last least squares: small for outliers, at most 1e16.
    noise_ : LaplaceNoise, StudentNoise or GaussianNoise
        The noise as a value.
    objective_trace_ : array
        The mean log-likelihood of a row after each iteration; for Laplace noise of absolute errors that are
        smoothed less and less, and then of the best vertex so far.
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

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="no")

    def __init__(
        self,
        noise: str = "laplace",
        *,
        dof: float | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-15,
        max_iter: int = 5000,
    ) -> None:
        self.noise, self.dof, self.fit_intercept = noise, dof, fit_intercept
        self.tol, self.max_iter = tol, max_iter

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows held in memory, (n_samples, n_features), and one target; sample_weight counts rows."""
        self._check_parameters()
        rows = check_rows_in_memory(self, X, y, sample_weight)
        X, y = rows.data.astype(np.float64), column_or_1d(rows.y, warn=True)
        w = np.ones(len(y)) if rows.weights is None else rows.weights.astype(np.float64)
        fit_intercept = bool(self.fit_intercept)
        counted = y[w > 0]
        # The targets less their median, in a unit that is a power of two: both steps are exact, and the
        # level of the targets costs no digits of their residuals.
        level = float(np.quantile(counted, 0.5, method="inverted_cdf")) if fit_intercept else 0.0
        unit = power_of_two(float(np.abs(counted - level).max()))
        y, eps = (y - level) / unit, np.finfo(float).eps
        rounding = 8.0 * eps * float(np.abs(counted / unit).max())
        start = initial_parameters(X, y, w, self.noise, self.dof, fit_intercept=fit_intercept)
        self._least_squares_ = _rescaled(start.linear, level, unit)
        if start.noise.scale <= max(1e-10 * float(np.ptp(y[w > 0])), rounding):
            exact = EMResult(params=start, trace=(np.inf,), converged=True)
            self._set_fitted(exact, level, unit, exact=True)
            self.row_weights_ = np.ones(len(y))
            return self
        floor = 8.0 * eps * float(np.abs(y[w > 0]).max())
        found = robust_search(
            X, y, w, start, floor, fit_intercept=fit_intercept, tol=self.tol, max_iter=self.max_iter
        )
        self._set_fitted(found, level, unit, exact=False)
        residuals = y - found.params.linear.predict(X)[:, 0]
        self.row_weights_ = found.params.noise.irls_weights(residuals)
        if self.noise != "gaussian" and start.linear.residual_dof > 0:
            some = w > 0
            columns = independent_columns(X[some], start.linear)
            self._posterior_ = robust_posterior(columns, unit * residuals[some], w[some], self.noise_)
        if found.interrupted:
            raise FitInterrupted
        self._report(collapsed=found.params.noise.scale <= 4.0 * floor)
        return self

    def predict(self, X: Any, return_std: bool = False, *, include_noise: bool = True) -> Any:
        """Return intercept + xᵀ coef, the median of the predictive distribution; on request its deviation."""
        check_fitted(self)
        found = self._linear_predictor(check_columns(self, X).astype(np.float64))
        return (found, np.sqrt(self.predict_var(X, include_noise=include_noise))) if return_std else found

    def predict_dist(self, X: Any, *, include_noise: bool = True) -> Any:
        """Return the predictive distribution of each row's target: the noise about the linear predictor.

        A mixture over draws of the coefficients and of the scale from their posterior, with a flat prior of
        the coefficients and of the logarithm of the scale: intervals cover, also of few rows, where the
        family of the noise is known. Gaussian noise needs no draws, and has Student's t. Where `dof` is
        estimated it is taken as known, and fewer than ten rows a parameter are refused. Without noise, it is
        Student's t of the same spread as the draws of the linear predictor.
        """
        check_fitted(self)
        rows = check_columns(self, X).astype(np.float64)
        self._check_predictable(rows)
        location, whole = self._linear_predictor(rows), self._least_squares_
        if self.noise == "gaussian":
            factor = whole.leverage(rows) + float(include_noise)
            scale = np.sqrt(whole.noise_variance[0] * factor)
            return StudentT(dof=whole.residual_dof, location=location, scale=scale)
        columns, posterior = independent_columns(rows, whole), self._posterior_
        if not include_noise:
            scale = posterior.predictor_scale(columns)
            return StudentT(dof=posterior.dof, location=location, scale=scale)
        noise = replace(self.noise_, scale=np.concatenate([posterior.scale, posterior.scale]))
        return Mixture(components=noise.around(location[:, None] + posterior.linear_predictor(columns)))

    def _check_predictable(self, rows: np.ndarray) -> None:
        """Refuse distributions that the rows of the fit do not determine."""
        if self.scale_ == 0.0:
            raise ValueError("y is fitted without error, so there is no noise to predict: scale_ is 0")
        whole = self._least_squares_
        n_parameters = whole.rank + whole.has_intercept
        if not whole.residual_dof > 0:
            raise ValueError(
                f"X has too few rows to estimate the noise: a weight of {float(whole.weight):g} for "
                f"{n_parameters} parameters; more rows are needed"
            )
        if self.noise == "student" and self.dof is None and whole.weight < FEW_ROWS * n_parameters:
            raise ValueError(
                f"X has too few rows to estimate the tails of the noise: a weight of {float(whole.weight):g} "
                f"for {n_parameters} parameters; give dof, or more rows"
            )
        if not np.all(np.isfinite(whole.leverage(rows))):
            raise ValueError(
                "X has rows outside of the span of the rows of the fit, whose columns are linearly "
                "dependent: their linear predictor is not determined"
            )

    def _linear_predictor(self, X: np.ndarray) -> np.ndarray:
        return self._linear_.predict(X)[:, 0]

    def _set_fitted(self, found: EMResult, level: float, unit: float, *, exact: bool) -> None:
        params: RobustParameters = found.params
        self._linear_, self.noise_ = _rescaled(params.linear, level, unit), params.noise.rescaled(unit)
        self.coef_, self.intercept_ = self._linear_.coef[0, :], float(self._linear_.intercept[0])
        self.scale_ = 0.0 if exact else self.noise_.scale
        self.noise_variance_ = 0.0 if exact else self.noise_.variance
        self.dof_ = {"gaussian": np.inf, "laplace": np.nan}.get(
            self.noise, getattr(self.noise_, "dof", np.nan)
        )
        self.objective_trace_ = np.asarray(found.trace) - np.log(unit)
        self.n_iter_, self.converged_ = max(found.n_iter, 1), found.converged

    def _report(self, *, collapsed: bool) -> None:
        if collapsed:
            warnings.warn(
                f"the scale of the noise collapsed to {self.scale_:.1g}, the rounding of y: so many rows are "
                "fitted exactly that the likelihood has no bound. coef_ fits those rows, but the predictive "
                'distribution is meaningless; that of noise="laplace" is not',
                ConvergenceWarning,
                stacklevel=4,
            )
        elif not self.converged_:
            looser = "" if self.noise == "laplace" else " or tol"
            learnt = ", or give dof" if self.noise == "student" and self.dof is None else ""
            warnings.warn(
                f"RobustRegression did not converge in {self.n_iter_} iterations; raise max_iter"
                f"{looser}{learnt}",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _check_parameters(self) -> None:
        check_choice("noise", self.noise, NOISES)
        if self.dof is not None and self.noise != "student":
            raise ValueError(f"dof is for Student's noise alone, got {self.dof!r} with noise={self.noise!r}")
        if self.dof is not None:
            check_number("dof", self.dof, above=0.0)
        check_number("tol", self.tol, least=0.0)
        check_number("max_iter", self.max_iter, least=1, whole=True)


def _rescaled(linear: LeastSquares, level: float, unit: float) -> LeastSquares:
    """Return the solution for targets that are multiplied by a unit and shifted by a level."""
    return replace(
        linear,
        coef=linear.coef * unit,
        intercept=linear.intercept * unit + level,
        offset=linear.offset * unit + level,
        rss=linear.rss * unit * unit,
    )
