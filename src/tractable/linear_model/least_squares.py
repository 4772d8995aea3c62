"""Linear regression by least squares, and the predictions of solved linear models."""

import warnings
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays import Array, namespace_of
from tractable.arrays.linalg import column_lengths
from tractable.arrays.weights import check_weights
from tractable.base import (
    ModelTags,
    RegressorMixin,
    all_or_nothing,
    check_columns,
    check_fitted,
    check_rows,
)
from tractable.base.by_blocks import by_blocks, of_held_rows
from tractable.base.parameters import check_choice, check_number
from tractable.base.regressor import check_levels, spread
from tractable.base.scores import held_with_weights
from tractable.distributions import StudentT
from tractable.engines import LeastSquares, least_squares
from tractable.engines.least_squares import SOLVERS, reduced_rows, refine
from tractable.linear_model.noise_floor import without_rounding
from tractable.linear_model.rows import (
    LinearFit,
    as_floats,
    check_factor,
    linear_factor,
    precision_weighted,
)
from tractable.value import replace


class LinearPredictions(RegressorMixin):
    """`predict`, `predict_dist`, `leverage` and `hat_matrix` of a solved linear model.

    A model supplies `coef_` and `_solution_`: a `LeastSquares` or a `RidgeSolution`.
    """

    _several_targets: ClassVar[bool] = True
    _solution_: Any
    coef_: Array

    @by_blocks
    def predict(self, X: Any, return_std: bool = False, *, include_noise: bool = True) -> Any:
        """Return intercept + xᵀ coef for each row, and on request the predictive standard deviation.

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
        found = self._flat(self._solution_.predict(as_floats(check_columns(self, X))))
        if not return_std:
            return found
        return found, namespace_of(found).sqrt(self.predict_var(X, include_noise=include_noise))

    @of_held_rows
    def predict_dist(self, X: Any, *, include_noise: bool = True) -> StudentT:
        """Return the predictive distribution of each row's target: Student's t about the linear predictor.

        Its scale is σ √(1 + h) with the leverage h of the row, or σ √h for the linear predictor alone, and it
        has `residual_dof_` degrees of freedom. Without a penalty its intervals cover new targets with the
        stated probability, exactly so under Gaussian noise; where linearly dependent columns leave the linear
        predictor of a row undetermined, its scale is infinite. A penalty α is read as the prior
        coef ~ N(0, σ²/α), with `noise_variance_` for σ²; that α was chosen from the data is not accounted
        for.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        include_noise : bool
            Whether it is the distribution of a new target (default) or of the linear predictor.
        """
        dist, undetermined = self._predictive(X, include_noise=include_noise)
        xp = namespace_of(undetermined)
        if bool(xp.any(undetermined)):
            first = int(xp.argmax(xp.astype(undetermined, xp.int64)))
            raise ValueError(
                f"X has rows, the first is row {first}, outside of the span of the rows of the fit, whose "
                "columns are linearly dependent: their linear predictor is not determined, and its "
                "distribution has no finite scale. predict_interval and predict_var are infinite there"
            )
        return dist

    @by_blocks
    def predict_var(self, X: Any, *, include_noise: bool = True) -> Array:
        dist, undetermined = self._predictive(X, include_noise=include_noise)
        return _infinite(spread(dist.variance), undetermined)

    @by_blocks
    def predict_quantiles(
        self, X: Any, alpha: Any = (0.05, 0.95), *, include_noise: bool = True
    ) -> np.ndarray:
        levels = check_levels(alpha)
        dist, undetermined = self._predictive(X, include_noise=include_noise)
        found = [_infinite(dist.icdf(q), undetermined, (q > 0.5) - float(q < 0.5)) for q in levels]
        return np.stack(found, axis=-1)

    def _predictive(self, X: Any, *, include_noise: bool) -> tuple[StudentT, Array]:
        """Return the predictive distribution, and of which rows its scale should be infinite, not one."""
        check_fitted(self)
        rows = as_floats(check_columns(self, X))
        xp = namespace_of(rows)
        fit = self._solution_with_noise()
        factor = fit.leverage(rows) + float(include_noise)
        undetermined = xp.isinf(factor)
        factor = xp.where(undetermined, xp.ones_like(factor), factor)
        dist = StudentT(
            dof=fit.residual_dof,
            location=self._flat(fit.predict(rows)),
            scale=self._flat(xp.sqrt(factor[:, None] * fit.noise_variance)),
        )
        return dist, undetermined

    @by_blocks
    def leverage(self, X: Any) -> Array:
        """Return the leverage of each row, ∂ŷ/∂y: the diagonal of the hat matrix, without the matrix.

        Over the rows of the fit it sums to the (effective) number of parameters; a row of weight w counts w
        times, and this is the leverage of one of its copies.
        """
        check_fitted(self)
        return self._solution_.leverage(as_floats(check_columns(self, X)))

    def hat_matrix(self, X: Any, sample_weight: Any = None) -> Array:
        """Return the hat (smoothing) matrix H = X (XᵀWX + αI)⁻¹ XᵀW, plus 1/n where the intercept is free.

        X is centred where the intercept is free, and α is 0 without a penalty. W has the weights of the rows
        on its diagonal, one by default. For the rows and the weights of the fit, H y are the fitted values,
        and the trace is the (effective) number of parameters.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows; those of a source are read into memory, with its weights.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        """
        check_fitted(self)
        X, sample_weight = held_with_weights(self, X, sample_weight)
        rows = as_floats(check_columns(self, X))
        hat = self._solution_.hat(rows)
        if sample_weight is None:
            return hat
        return hat * check_weights(sample_weight, rows.shape[0], like=rows)[None, :]

    def _set_solution(self, fit: Any, *, flat: bool) -> None:
        self._solution_ = fit
        self.coef_ = fit.coef[0, :] if flat else fit.coef
        self.intercept_, self.noise_variance_ = self._flat(fit.intercept), self._flat(fit.noise_variance)
        self.residual_dof_ = fit.residual_dof

    def _warn_of_light_weights(self) -> None:
        """Warn that weights are frequencies where they count fewer rows than there are parameters.

        Residuals tell them from too few rows, which leave none.
        """
        fit, xp = self._solution_, namespace_of(self._solution_.rss)
        if fit.residual_dof <= -1e-9 * fit.n_rows and bool(xp.any(fit.rss > 0)):
            warnings.warn(
                f"sample_weight sums to {fit.n_rows:g}, fewer rows than there are parameters, "
                f"{fit.n_rows - fit.residual_dof:g}: noise_variance_ and standard errors are NaN. "
                "Weights are frequencies; scale them so that their sum is the number of rows, or give "
                "fit(..., noise_variance=1/weight) where they are precisions",
                UserWarning,
                stacklevel=5,
            )

    def _flat(self, x: Array, *, axis: int = -1) -> Array:
        """Drop the axis of the targets where there is one target, given as a vector."""
        if self.coef_.ndim > 1:
            return x
        if x.ndim == 1:
            return x[0]
        return x[0, ...] if axis == 0 else x[..., 0]

    def _solution_with_noise(self) -> Any:
        """Return the solution if it has an estimate of the noise variance."""
        fit, xp = self._solution_, namespace_of(self._solution_.rss)
        if bool(xp.any(xp.isnan(fit.noise_variance))):
            raise ValueError(
                f"X has too few rows to estimate the noise: a weight of {fit.n_rows:g} for "
                f"{fit.n_rows - fit.residual_dof:g} parameters; more rows, a larger penalty or "
                "a model with a prior are needed"
            )
        if not bool(xp.all(fit.rss > 0)):
            raise ValueError(
                "y is fitted without error, so there is no noise to predict: noise_variance_ is 0"
            )
        return fit


def _infinite(x: Array, undetermined: Array, sign: float = 1.0) -> Array:
    """Return x, infinite for the rows whose linear predictor is not determined; medians stay."""
    xp = namespace_of(x)
    if sign == 0.0:
        return x
    undetermined = undetermined if x.ndim == 1 else undetermined[:, None]
    return xp.where(undetermined, xp.full_like(x, sign * xp.inf), x)


class LinearRegression(LinearPredictions, LinearFit):
    """Linear regression by least squares: y = intercept + xᵀ coef + noise, Σ (y - ŷ)² minimal.

    Maximum likelihood under Gaussian noise. Exact in one pass, with the digits of a QR of all rows: the rows
    are folded into a triangular factor of their centred columns, so streams, files larger than memory and
    merged models lose nothing, nor do columns far from the origin. Where columns are linearly dependent, or
    more than the rows, the solution with the shortest `coef_` is taken, and `rank_` is less than the number
    of columns.

    Parameters
    ----------
    fit_intercept : bool
        Whether to fit an intercept.
    solver : {"qr", "svd", "normal"}
        How the triangular factor R is solved: by substitution; by its singular value decomposition; or by the
        normal equations RᵀR w = Rᵀz of the textbooks, which square the condition number and lose twice the
        digits; a warning says where they lose whole directions, which `refine` cannot bring back.
    rank_tol : float, optional
        Directions in which the columns vary less than this, relative to their lengths about the origin, are
        taken for rounding; 10 n_features ε by default. `solver="normal"` cannot resolve below its root.
    refine : bool
        Iterative refinement: read the rows again, twice as a rule, and correct the coefficients by residuals
        in double-double arithmetic. All digits of the solution, where the columns are not numerically
        singular. `partial_fit`, `merge` and `from_statistic` have no rows to read again and give the answer
        of one pass.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or array of shape (n_targets,)
        The intercept; zero with ``fit_intercept=False``.
    rank_ : int
        Rank of the columns, centred where there is an intercept.
    singular_ : array of shape (min(n_samples, n_features),)
        Their singular values.
    noise_variance_ : float or array of shape (n_targets,)
        Unbiased estimate Σ r² / residual_dof_; NaN where `residual_dof_` is not positive. Zero where the
        residuals are no more than the rounding of the targets: such a fit is exact, and asking it for
        intervals or distributions is an error.
    noise_variance_ml_ : float or array of shape (n_targets,)
        Maximum likelihood estimate of the noise variance, Σ r² / n.
    residual_dof_ : float
        Degrees of freedom of the residuals, n - rank - 1 (n - rank without an intercept).
    coef_covariance_ : array of shape (n_features, n_features) or (n_targets, n_features, n_features)
        Covariance of the coefficients, noise_variance_ (XᵀX)⁻¹; where the rank is deficient, infinite on the
        diagonal for coefficients that the rows do not determine, and NaN beside it.
    coef_std_errors_ : array of the shape of `coef_`
        Standard errors of the coefficients; infinite where the rows do not determine them.
    intercept_std_error_ : float or array of shape (n_targets,)
        Standard error of the intercept; infinite likewise.
    log_likelihood_ : float
        Of all targets, at `noise_variance_ml_`; infinite for an exact fit.
    statistic_ : LinearFactor
        The sufficient statistic of the rows.
    n_refinements_ : int
        Number of passes of iterative refinement.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    tractable.engines.least_squares : the solution of a statistic, as a value.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([3.1, 4.9, 7.1, 8.9])
    >>> model = tractable.LinearRegression().fit(X, y)
    >>> model.coef_.round(3), round(float(model.intercept_), 3)
    (array([1.96]), 1.1)
    >>> model.coef_interval(0.95).round(2)
    array([[1.72, 2.2 ]])
    >>> model.predict_interval([[5.0]], coverage=0.95).round(2)
    array([[10.04, 11.76]])

    Half of the rows here and half there make the same model:

    >>> a, b = (tractable.LinearRegression().partial_fit(X[half], y[half]) for half in ([0, 1], [2, 3]))
    >>> bool(np.allclose(a.merge(b).coef_, model.coef_))
    True
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact in one pass")
    _solution_: LeastSquares
    intercept_: Array

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        solver: str = "qr",
        rank_tol: float | None = None,
        refine: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.rank_tol = rank_tol
        self.refine = refine

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, noise_variance: Any = None) -> Self:
        """Learn from rows held in memory, in a file, or in a stream.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n_samples, n_features), one target or several, and how often each row counts.
        noise_variance : float or array of shape (n_samples,), optional
            Of each row in memory, relative to `noise_variance_`; 1 when not given.
        """
        self._check_parameters()
        rows = check_rows(self, X, y, sample_weight, reset=True, supervised=True)
        sums: dict[str, Any] = {}
        if noise_variance is not None:
            rows, sums = precision_weighted(rows, noise_variance)
        self._learn(replace(linear_factor(rows), **sums))
        if self.refine:
            found, self.n_refinements_ = refine(self._solution_, rows.data, rows.y, weights=rows.weights)
            self._set_fitted(found)
        self._report()
        return self

    def coef_interval(self, coverage: float = 0.95) -> Array:
        """Return a confidence interval of each coefficient, by Student's t, of shape (*coef_.shape, 2)."""
        check_fitted(self)
        return self._interval(self.coef_, self.coef_std_errors_, coverage)

    def intercept_interval(self, coverage: float = 0.95) -> Array:
        """Return a confidence interval of the intercept, by Student's t, (2,) or (n_targets, 2)."""
        check_fitted(self)
        return self._interval(self.intercept_, self.intercept_std_error_, coverage)

    @property
    def singular_(self) -> Array:
        """Singular values of the columns, centred where there is an intercept."""
        check_fitted(self)
        rows = reduced_rows(self.statistic_, fit_intercept=self._solution_.has_intercept)[0]
        return namespace_of(rows).linalg.svdvals(rows)

    @property
    def coef_covariance_(self) -> Array:
        """Covariance of the coefficients."""
        check_fitted(self)
        return self._flat(self._solution_.coef_covariance, axis=0)

    @property
    def coef_std_errors_(self) -> Array:
        """Standard errors of the coefficients."""
        check_fitted(self)
        return self._flat(self._solution_.coef_std_errors, axis=0)

    @property
    def intercept_std_error_(self) -> Array:
        """Standard error of the intercept."""
        check_fitted(self)
        return self._flat(self._solution_.intercept_std_errors)

    @property
    def log_likelihood_(self) -> float:
        """Log-likelihood of the rows at the maximum likelihood estimates."""
        check_fitted(self)
        return self._solution_.log_likelihood

    def _check_parameters(self) -> None:
        check_choice("solver", self.solver, SOLVERS)
        if self.rank_tol is not None:
            check_number("rank_tol", self.rank_tol, least=0.0, below=1.0)

    def _learn(self, statistic: Any) -> None:
        self.statistic_ = check_factor(statistic)
        self.n_refinements_ = 0
        self._set_fitted(self._solved(self.solver))

    def _solved(self, solver: str) -> LeastSquares:
        return least_squares(
            self.statistic_, fit_intercept=bool(self.fit_intercept), solver=solver, rank_tol=self.rank_tol
        )

    def _set_fitted(self, fit: LeastSquares) -> None:
        statistic, d = self.statistic_, self.statistic_.dim
        lengths = column_lengths(statistic.factor[:, d:])
        rss = without_rounding(fit.rss, lengths, statistic.mean[d:], statistic.weight)
        self._set_solution(replace(fit, rss=rss), flat=statistic.flat)
        self.rank_, self.noise_variance_ml_ = fit.rank, self._flat(self._solution_.noise_variance_ml)

    def _report(self) -> None:
        self._warn_of_light_weights()
        full = min(self.statistic_.factor.shape[0], self.n_features_in_)
        if self.solver != "normal" or self._solution_.rank == full:
            return
        rank = self._solved("qr").rank
        if rank > self._solution_.rank:
            warnings.warn(
                f"the normal equations resolve {self._solution_.rank} of the {rank} directions in which X "
                "varies: squaring the columns lost the others, and the digits of coef_ with them; "
                'solver="qr" keeps them',
                UserWarning,
                stacklevel=4,
            )

    def _interval(self, estimate: Array, error: Array, coverage: float) -> Array:
        check_number("coverage", coverage, above=0.0, below=1.0)
        xp = namespace_of(estimate)
        dof = self._solution_with_noise().residual_dof
        half = float(StudentT(dof=dof, location=0.0, scale=1.0).interval(coverage)[1]) * error
        return xp.stack([xp.asarray(estimate - half), xp.asarray(estimate + half)], axis=-1)
