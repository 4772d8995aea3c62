"""Ridge regression, with a given penalty or with one chosen by cross-validation."""

from typing import Any, Self

import numpy as np

from tractable.arrays.namespace import is_sparse, to_numpy
from tractable.base import Estimator, ModelTags, all_or_nothing, check_fitted, check_rows
from tractable.base.parameters import check_choice, check_number
from tractable.inference import RegressionSummary, coefficient_names, of_columns
from tractable.linear_model.least_squares import LinearPredictions, check_target
from tractable.linear_model.ridge.leave_one_out import METHODS, search
from tractable.linear_model.ridge.solution import RidgeSolution, ridge
from tractable.linear_model.rows import LinearFit, check_factor, check_penalized_intercept
from tractable.linear_model.sparse_rows import solve_sparse
from tractable.metrics.penalties import check_penalties
from tractable.primitives.sparse_rows import GRAM_COLUMNS


class Ridge(LinearPredictions, LinearFit):
    """Ridge regression: y = intercept + xᵀw + noise, with |y - Xw|² + α|w|² minimal.

    The posterior mode (and mean) of the coefficients under Gaussian noise of variance σ² and the prior
    coef ~ N(0, τ²), with α = σ²/τ²; see `Ridge.from_prior`. The penalty is scikit-learn's `alpha`; objectives
    with ½ on both terms have the same. The intercept is not penalised unless asked, so that shifting the
    targets shifts the predictions.

    Exact in one pass, with the digits of a QR of all rows and of √α I below them. With fewer rows than
    columns, rows in memory are solved in the space of the rows. X may be a sparse matrix or array of SciPy,
    as in :class:`LinearRegression`.

    Parameters
    ----------
    alpha : float
        α, not negative; 0 is :class:`LinearRegression`.
    fit_intercept : bool
        Whether to fit an intercept.
    penalize_intercept : bool
        Whether the intercept is penalised like the other coefficients: the textbooks' (XᵀX + αI)⁻¹ Xᵀy with a
        column of ones in X.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or array of shape (n_targets,)
        The intercept; zero with ``fit_intercept=False``.
    effective_dof_ : float
        Effective number of parameters, the trace of the hat matrix: Σ λ/(λ + α) over the eigenvalues λ of
        XᵀX, and 1 for a free intercept.
    residual_dof_ : float
        Degrees of freedom of the residuals, n - effective_dof_.
    noise_variance_ : float or array of shape (n_targets,)
        Estimate Σ r² / residual_dof_; NaN where `residual_dof_` is not positive. Zero where the residuals
        are no more than the rounding of the targets: asking such a fit for distributions is an error.
    coef_std_errors_, intercept_std_error_ : arrays of the shapes of `coef_` and `intercept_`
        Scales of the posterior of coefficients and intercept, under the prior coef ~ N(0, σ²/α): Student's t
        of `residual_dof_` degrees of freedom, with `noise_variance_` for σ². `coef_interval` covers
        coefficients that are drawn from the prior.
    statistic_ : LinearFactor
        The sufficient statistic of the rows.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    RidgeCV : chooses the penalty.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 3.1, 4.9, 7.0])
    >>> model = tractable.Ridge(alpha=5.0).fit(X, y)
    >>> model.coef_, round(float(model.intercept_), 3), model.effective_dof_
    (array([0.99]), 2.515, 1.5)
    >>> tractable.Ridge.from_prior(noise_variance=0.5, prior_variance=0.1).alpha
    5.0
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact in one pass")
    _takes_sparse = True

    def __init__(
        self, alpha: float = 1.0, *, fit_intercept: bool = True, penalize_intercept: bool = False
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept

    @classmethod
    def from_prior(cls, *, noise_variance: float, prior_variance: float, **options: Any) -> Self:
        """Return the ridge regression with alpha = σ²/τ², the posterior mode for coef ~ N(0, τ²).

        Parameters
        ----------
        noise_variance, prior_variance : float
            σ² of the noise, and τ² of the coefficients.
        **options
            Other parameters of the estimator.
        """
        for name, x in (("noise_variance", noise_variance), ("prior_variance", prior_variance)):
            check_number(name, x, above=0.0)
        alpha = float(noise_variance) / float(prior_variance)
        if alpha == float("inf"):
            raise ValueError(f"prior_variance must be larger, got {prior_variance!r}: alpha overflows")
        return cls(alpha=alpha, **options)

    def summary(self, *, coverage: float = 0.95, target: int | None = None) -> RegressionSummary:
        """Return the table of the posterior: coefficients, their scales and intervals, R²; no tests.

        Student's t of `residual_dof_` degrees of freedom about the coefficients, under the prior
        coef ~ N(0, σ²/α) with `noise_variance_` for σ²: the intervals are those of `coef_interval`, and a
        coefficient that is shrunk has no p-value. Without a penalty there are the tests of least squares.

        Parameters
        ----------
        coverage : float
            Of the intervals.
        target : int, optional
            Which target, where there are several.
        """
        check_fitted(self)
        fit = self._solution_with_noise()
        columns = of_columns(self.statistic_, intercept=bool(self.fit_intercept))
        return _posterior_table(self, fit, coverage, target, columns)

    def _check_parameters(self) -> None:
        check_number("alpha", self.alpha, least=0.0)
        check_penalized_intercept(self)

    def _learn(self, statistic: Any) -> None:
        self.statistic_ = check_factor(statistic)
        found = ridge(
            statistic,
            float(self.alpha),
            fit_intercept=bool(self.fit_intercept),
            penalize_intercept=bool(self.penalize_intercept),
        )
        self._set_solution(found, flat=statistic.flat)
        self.effective_dof_ = found.effective_dof

    def _iterate(self, rows: Any) -> None:
        if self.penalize_intercept:
            raise ValueError(
                f"penalize_intercept=True is not taken with sparse rows of more than {GRAM_COLUMNS} columns"
            )
        found = solve_sparse(rows, float(self.alpha), fit_intercept=bool(self.fit_intercept))
        self._set_coefficients(found, flat=np.ndim(rows.y) == 1)

    def _report(self) -> None:
        self._warn_of_light_weights()


class RidgeCV(LinearPredictions, Estimator):
    """Ridge regression whose penalty is chosen by leave-one-out or generalised cross-validation.

    Every row is left out in turn, exactly, without fitting again: the error of a row that is left out is
    (y - ŷ) / (1 - h), with the fitted value ŷ and the leverage h of the fit to all rows. Generalised
    cross-validation puts the mean of the leverages, Tr H / n, in place of each:
    (Σ r² / n) / (1 - Tr H / n)². One decomposition serves all penalties and all rows. With several targets,
    scores are averaged over them.

    Rows are read twice by ``method="loo"``, once by ``"gcv"``; both read sources larger than memory. A row
    of weight above one (`sample_weight`) is left out one copy at a time. X may be a sparse matrix or array of
    SciPy of at most 2,000 columns, which is read in dense blocks.

    Parameters
    ----------
    alphas : array of shape (n_alphas,)
        The penalties to try, not negative; as scikit-learn's `alpha`.
    method : {"loo", "gcv"}
        Leave-one-out, or generalised cross-validation.
    fit_intercept : bool
        Whether to fit an intercept.
    penalize_intercept : bool
        Whether the intercept is penalised like the other coefficients.

    Attributes
    ----------
    alpha_ : float
        The penalty chosen.
    best_score_ : float
        Minus its score, as in scikit-learn: greater is better.
    cv_curve_ : CVCurve
        The score of every penalty; ``tractable.plot(model.cv_curve_)`` draws it.
    coef_ : array of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or array of shape (n_targets,)
        The intercept; zero with ``fit_intercept=False``.
    effective_dof_, residual_dof_, noise_variance_
        See :class:`Ridge`.
    coef_std_errors_, intercept_std_error_ : arrays of the shapes of `coef_` and `intercept_`
        Scales of the posterior of coefficients and intercept, under the prior coef ~ N(0, σ²/α): Student's t
        of `residual_dof_` degrees of freedom, with `noise_variance_` for σ². `coef_interval` covers
        coefficients that are drawn from the prior.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    Ridge : for a penalty that is known.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> x = np.linspace(1, 5, 15)[:, None]
    >>> model = tractable.RidgeCV([0.0, 0.01, 0.1, 1.0], penalize_intercept=True).fit(x, np.exp(x[:, 0]))
    >>> model.alpha_, model.cv_curve_.scores.round(2)
    (0.1, array([579.43, 578.75, 574.75, 620.27]))
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact over several passes")
    _takes_sparse = True

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        method: str = "loo",
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
    ) -> None:
        self.alphas = alphas
        self.method = method
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the penalty and learn with it, from rows in memory, in a file, or in a stream.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n_samples, n_features), one target or several, and how often each row counts.
        """
        check_choice("method", self.method, METHODS)
        check_penalized_intercept(self)
        alphas = check_penalties("alphas", self.alphas)
        rows = check_rows(self, X, y, sample_weight, reset=True, min_rows=2, supervised=True)
        if is_sparse(X) and X.shape[1] > GRAM_COLUMNS:
            raise ValueError(
                f"X is sparse and has {X.shape[1]} columns: RidgeCV takes sparse rows of at most "
                f"{GRAM_COLUMNS}; fit Ridge for each alpha, in a GridSearchCV"
            )
        found = search(
            rows,
            alphas,
            self.method,
            fit_intercept=bool(self.fit_intercept),
            penalize_intercept=bool(self.penalize_intercept),
        )
        self.cv_curve_ = found.curve
        self.alpha_, self.best_score_ = found.curve.best_alpha, -found.curve.best_score
        self._set_solution(found.solution, flat=found.flat)
        self.effective_dof_ = found.solution.effective_dof
        return self

    def summary(self, *, coverage: float = 0.95, target: int | None = None) -> RegressionSummary:
        """Return the table of the posterior at the penalty that was chosen, as `Ridge.summary`.

        Parameters
        ----------
        coverage : float
            Of the intervals.
        target : int, optional
            Which target, where there are several.
        """
        check_fitted(self)
        return _posterior_table(self, self._solution_with_noise(), coverage, target, {})


def _posterior_table(
    model: Any, fit: RidgeSolution, coverage: float, target: int | None, columns: dict[str, Any]
) -> RegressionSummary:
    t, intercept, shrunk = check_target(target, int(fit.coef.shape[0])), fit.has_intercept, fit.alpha > 0.0
    own = [float(fit.intercept[t])] if intercept else []
    return RegressionSummary(
        model=type(model).__name__,
        names=coefficient_names(model, intercept=intercept),
        coefficients=np.append(own, to_numpy(fit.coef)[t]),
        covariance=fit.parameter_covariance(t),
        n_rows=fit.n_rows,
        n_parameters=fit.effective_dof,
        residual_dof=fit.residual_dof,
        t_dof=fit.residual_dof,
        covariance_type="posterior" if shrunk else "nonrobust",
        residual_squares=float(fit.rss[t]),
        total_squares=float(fit.target_squares[t]),
        has_intercept=fit.centering.free_intercept,
        statistics={"penalty alpha": float(fit.alpha)},
        tested=not shrunk,
        coverage=coverage,
        **columns,
    )
