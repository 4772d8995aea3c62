"""Linear regression by least squares, and the predictions of solved linear models."""

import copy
import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from tractable.arrays import Array, namespace_of
from tractable.arrays.linalg import column_lengths
from tractable.arrays.namespace import is_sparse, to_numpy
from tractable.arrays.weights import check_weights
from tractable.base import (
    ModelTags,
    RegressorMixin,
    all_or_nothing,
    check_columns,
    check_fitted,
    check_rows,
    refuse_foreign,
)
from tractable.base.by_blocks import by_blocks, of_held_rows
from tractable.base.one_pass import check_weight
from tractable.base.options import SklearnOptions
from tractable.base.parameters import check_choice, check_number
from tractable.base.regressor import check_levels, spread
from tractable.base.scores import held_with_weights
from tractable.base.validation import check_row_noise
from tractable.data.frames import split_frame
from tractable.distributions import StudentT
from tractable.engines import LeastSquares, fold, least_squares
from tractable.engines.least_squares import SOLVERS, reduced_rows, refine
from tractable.engines.nonnegative import nonnegative_least_squares
from tractable.linear_model.noise_floor import without_rounding
from tractable.linear_model.rows import (
    LinearFit,
    as_floats,
    check_factor,
    checked_factor,
    refuse_positive,
)
from tractable.linear_model.sparse_rows import solve_sparse
from tractable.regression_tables import (
    ROBUST,
    Influence,
    RegressionSummary,
    check_covariance_type,
    clustered_products,
    coefficient_names,
    of_columns,
    sandwich,
    score_products,
    squared_factor,
    wald_interval,
)
from tractable.value import replace, value


class LinearPredictions(RegressorMixin):
    """`predict`, `predict_dist`, `leverage` and `hat_matrix` of a solved linear model.

    A model supplies `coef_` and `_solution_`: a `LeastSquares` or a `RidgeSolution`.
    """

    _several_targets: ClassVar[bool] = True
    _sparse_methods: ClassVar[tuple[str, ...]] = ("predict",)
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
        if is_sparse(X):
            found = self._flat(np.asarray(X @ self._solution_.coef.T) + self._solution_.intercept)
        else:
            found = self._flat(self._solution_.predict(as_floats(check_columns(self, X))))
        if not return_std:
            return found
        return found, namespace_of(found).sqrt(self.predict_var(X, include_noise=include_noise))

    @available_if(lambda self: not getattr(self, "positive", False))
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
        return namespace_of(*found).stack(found, axis=-1)

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

    def coef_interval(self, coverage: float = 0.95) -> Array:
        """Return an interval of each coefficient, by Student's t, of shape (*coef_.shape, 2).

        A confidence interval without a penalty; with one, that of the posterior under coef ~ N(0, σ²/α).
        """
        check_fitted(self)
        return self._interval(self.coef_, self.coef_std_errors_, coverage)

    def intercept_interval(self, coverage: float = 0.95) -> Array:
        """Return a confidence interval of the intercept, by Student's t, (2,) or (n_targets, 2)."""
        check_fitted(self)
        return self._interval(self.intercept_, self.intercept_std_error_, coverage)

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
    def noise_variance_(self) -> Array:
        """Estimate of the noise variance."""
        check_fitted(self)
        return self._flat(self._solution_.noise_variance)

    @property
    def residual_dof_(self) -> Any:
        """Degrees of freedom of the residuals."""
        check_fitted(self)
        return self._solution_.residual_dof

    def _set_solution(self, fit: Any, *, flat: bool) -> None:
        self._solution_ = fit
        self.coef_ = fit.coef[0, :] if flat else fit.coef
        self.intercept_ = self._flat(fit.intercept)

    def _warn_of_light_weights(self) -> None:
        """Warn that weights are frequencies where they count fewer rows than there are parameters.

        Residuals tell them from too few rows, which leave none.
        """
        fit, xp = self._solution_, namespace_of(self._solution_.rss)
        most = min(self.n_features_in_ + 1, self.statistic_.factor.shape[0])
        if fit.n_rows >= most:  # degrees of freedom may take a while to compute
            return
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

    def _interval(self, estimate: Array, error: Array, coverage: float) -> Array:
        return wald_interval(estimate, error, coverage, self._solution_with_noise().residual_dof)

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


def check_target(target: int | None, n_targets: int) -> int:
    """Return the position of the target that is asked about; it is named where there are several."""
    if target is None and n_targets > 1:
        raise ValueError(f"target must be given, a number below {n_targets}: y has {n_targets} targets")
    check_number("target", target or 0, least=0, most=n_targets - 1, whole=True)
    return int(target or 0)


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

    X may be a sparse matrix or array of SciPy, and is not made dense: up to 2,000 columns the statistic is
    that of the products of the columns (of nearly dependent columns, the QR of one dense block after
    another); more columns are solved by iteration (LSQR), which gives `coef_`, `intercept_` and `predict`
    alone: standard errors, distributions, `partial_fit` and `merge` are refused.

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
    positive : bool
        Whether no coefficient may be negative (the intercept may): the same statistic, solved by active sets.
        There are `coef_`, `intercept_` and `predict` then, and no `predict_dist`: coefficients at a bound
        have no standard errors in closed form.
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
        Standard errors of the coefficients; infinite where the rows do not determine them, as of a constant
        column beside the intercept (:class:`Ridge` has a prior, and gives its scale there).
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
    _takes_sparse = True
    _solution_: Any  # LeastSquares, or PointSolution
    intercept_: Array

    _sklearn_options = SklearnOptions(ignored=("tol",))

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        solver: str = "qr",
        rank_tol: float | None = None,
        positive: bool = False,
        refine: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.positive = positive
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
        if self._learns_by_iteration(X, y, sample_weight, noise_variance):
            return self
        rows, factor = checked_factor(self, X, y, sample_weight, noise_variance=noise_variance, reset=True)
        check_weight(factor)
        self._learn(factor)
        if self.refine:
            found, self.n_refinements_ = refine(self._solution_, rows.data, rows.y, weights=rows.weights)
            self._set_fitted(found)
        self._report()
        return self

    def summary(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        covariance: str | None = None,
        clusters: Any = None,
        noise_variance: Any = None,
        coverage: float = 0.95,
        target: int | None = None,
    ) -> RegressionSummary:
        """Return the regression table: t and F tests, R², AIC, BIC, variance inflation, notes.

        It follows from the statistic of the fit, whether that was of rows in memory, of a file or of a
        stream. Robust covariances need the rows again, in one more pass. A `CollinearityWarning` says where
        columns are so nearly dependent that standard errors are more than ten times as large.

        Parameters
        ----------
        X, y, sample_weight, covariance, clusters, noise_variance
            As in `robust_covariance`, for a covariance that is not "nonrobust"; t tests keep `residual_dof_`
            degrees of freedom, those of clusters have one fewer than there are clusters.
        coverage : float
            Of the intervals.
        target : int, optional
            Which target, where there are several.
        """
        check_fitted(self)
        t, fit, kind = self._target(target), self._solution_, check_covariance_type(covariance, clusters)
        found, t_dof = self._parameter_covariance(float(fit.noise_variance[t])), fit.residual_dof
        if kind != "nonrobust":
            rows = {"covariance": kind, "clusters": clusters, "noise_variance": noise_variance}
            found, n_clusters = self._robust_covariance(X, y, sample_weight, target=t, **rows)
            t_dof = t_dof if n_clusters is None else n_clusters - 1.0
        total, intercept = float(self._total_squares()[t]), fit.has_intercept
        none = replace(fit, rss=fit.rss[t : t + 1], coef=fit.coef[t : t + 1])
        table = RegressionSummary(
            model=type(self).__name__,
            names=coefficient_names(self, intercept=intercept),
            coefficients=np.append(fit.intercept[t : t + 1] if intercept else [], to_numpy(fit.coef)[t]),
            covariance=found,
            n_rows=fit.n_rows,
            n_parameters=fit.n_rows - fit.residual_dof,
            residual_dof=fit.residual_dof,
            log_likelihood=none.log_likelihood,
            null_log_likelihood=replace(none, rss=fit.rss[:1] * 0.0 + total).log_likelihood,
            t_dof=t_dof,
            covariance_type=kind,
            residual_squares=float(fit.rss[t]),
            total_squares=total,
            has_intercept=intercept,
            **of_columns(self.statistic_, intercept=intercept),
            coverage=coverage,
            notes=()
            if float(fit.rss[t]) > 0.0
            else ("y is fitted without error: there is no noise to test by",),
        )
        table.warn_of_collinearity()
        return table

    def robust_covariance(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        covariance: str | None = None,
        clusters: Any = None,
        noise_variance: Any = None,
        target: int | None = None,
    ) -> np.ndarray:
        """Return a covariance of the parameters, the intercept first, that does not assume equal noise.

        By a pass over the rows of the fit: A⁻¹ (Σ f r² x xᵀ) A⁻¹ with A = XᵀX, residuals r, and the factor f
        of the kind: 1 (HC0), n / (n - p) (HC1), 1 / (1 - h) (HC2) or 1 / (1 - h)² (HC3) with the leverage h.
        Of clusters, whose rows may depend on each other, the products are of sums over each cluster, with
        the factor G / (G - 1) · (n - 1) / (n - p) for G clusters.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit, as in `fit`. Clusters need rows in memory, or a source that is read into it.
        covariance : {"HC0", "HC1", "HC2", "HC3", "clustered"}, optional
            Which; "HC3" when not given, "clustered" where there are clusters.
        clusters : array of shape (n_samples,) or column name, optional
            The cluster of each row.
        noise_variance : float or array of shape (n_samples,), optional
            As in `fit`, where it was given there.
        target : int, optional
            Which target, where there are several.
        """
        check_fitted(self)
        kind = covariance or ("HC3" if clusters is None else "clustered")
        check_choice("covariance", kind, (*ROBUST, "clustered"))
        rows = {"covariance": kind, "clusters": clusters, "noise_variance": noise_variance}
        return self._robust_covariance(X, y, sample_weight, target=self._target(target), **rows)[0]

    def influence(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, target: int | None = None
    ) -> Influence:
        """Return each row's influence: leverage, studentized residuals, Cook's distance, DFFITS.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit, as in `fit`; a source is read into memory.
        target : int, optional
            Which target, where there are several.
        """
        check_fitted(self)
        t, fit = self._target(target), self._solution_
        rows, y, _ = self._held(X, y, sample_weight)
        n_parameters = fit.n_rows - fit.residual_dof
        return Influence.of(
            y[:, t] - fit.predict(rows)[:, t],
            np.minimum(fit.leverage(rows), 1.0),
            n_parameters=n_parameters,
            residual_dof=fit.residual_dof,
            residual_squares=float(fit.rss[t]),
        )

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
    def log_likelihood_(self) -> float:
        """Log-likelihood of the rows at the maximum likelihood estimates."""
        check_fitted(self)
        return self._solution_.log_likelihood

    def _target(self, target: int | None) -> int:
        """Return the position of the target that is asked about."""
        return check_target(target, int(self._solution_.coef.shape[0]))

    def _total_squares(self) -> np.ndarray:
        """Return the squares of the targets, about their means where there is an intercept, (t,)."""
        statistic, d = self.statistic_, self.statistic_.dim
        factor = statistic.factor if self._solution_.has_intercept else statistic.uncentred()
        return to_numpy(column_lengths(factor[:, d:])) ** 2

    def _parameter_covariance(self, noise_variance: float) -> np.ndarray:
        """Return the covariance of intercept and coefficients under equal noise."""
        fit = self._solution_
        root = to_numpy(fit.root)
        slopes = noise_variance * (root @ root.T)
        if not fit.has_intercept:
            return self._with_open(slopes)
        return self._with_open(_about_origin(slopes, noise_variance / float(fit.weight), fit))

    def _with_open(self, covariance: np.ndarray) -> np.ndarray:
        """Return the covariance, infinite on the diagonal for what the rows do not determine."""
        fit = self._solution_
        if fit.span is None:
            return covariance
        known = to_numpy(fit.span.determined())
        if fit.has_intercept:
            at_origin = fit.leverage(namespace_of(fit.centre).zeros_like(fit.centre)[None, :])
            known = np.append(np.isfinite(to_numpy(at_origin)), known)
        found = np.where(known[:, None] & known, covariance, np.nan)
        found[~known, ~known] = np.inf
        return found

    def _held(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return rows, targets (n, t) and weights in memory."""
        refuse_foreign(X)
        rows = check_rows(copy.copy(self), X, y, sample_weight, reset=False, supervised=True)
        held = rows.source.collect()
        if held.y is None:
            raise ValueError("y is missing: the rows have no target; give it, or name its column")
        x, targets = as_floats(np.asarray(held.X)), np.asarray(held.y, dtype=np.float64)
        return x, targets.reshape(len(x), -1), held.weights

    def _robust_covariance(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        covariance: str,
        clusters: Any,
        noise_variance: Any,
        target: int,
    ) -> tuple[np.ndarray, int | None]:
        """Return the robust covariance of the parameters, and the number of clusters."""
        if X is None:
            raise ValueError(f"X must be given, the rows of the fit, for covariance={covariance!r}")
        fit, n_clusters = self._solution_, None
        if (fit.count is None) != (noise_variance is None):
            raise ValueError("noise_variance must be given where it was given to fit, and only there")
        of = _ScoreProducts(fit=fit, kind=covariance, target=target)
        if isinstance(clusters, str):
            X, clusters, _ = split_frame(X, clusters, None)
        if clusters is None and noise_variance is None:
            refuse_foreign(X)
            rows = check_rows(copy.copy(self), X, y, sample_weight, reset=False, supervised=True)
            products = fold(of, rows.data, rows.y, weights=rows.weights, label="robust covariance")
        else:
            x, targets, w = self._held(X, y, sample_weight)
            precision = 1.0 if noise_variance is None else 1.0 / check_row_noise(noise_variance, x)
            scores = of.scores(x, targets, precision)
            if clusters is None:
                products = score_products(scores, w)
            else:
                products, n_clusters = clustered_products(scores, w, clusters)
        n, p = fit.n_rows, fit.n_rows - fit.residual_dof
        if not n > p:
            raise ValueError(f"X must have more rows than the {p:g} parameters for a robust covariance")
        root = to_numpy(fit.root)
        inverse = root @ root.T
        if fit.has_intercept:
            inverse = np.pad(inverse, ((1, 0), (1, 0)))
            inverse[0, 0] = 1.0 / float(fit.weight)
        sizes: Any = {"n_rows": n, "n_parameters": p, "n_clusters": n_clusters}
        found = sandwich(inverse, products, kind=covariance, **sizes)
        return self._with_open(_to_origin(found, fit) if fit.has_intercept else found), n_clusters

    def _check_parameters(self) -> None:
        check_choice("solver", self.solver, SOLVERS)
        if self.rank_tol is not None:
            check_number("rank_tol", self.rank_tol, least=0.0, below=1.0)
        if self.positive and self.refine:
            raise ValueError("positive=True is not taken with refine=True, which corrects free coefficients")

    def _iterate(self, rows: Any) -> None:
        refuse_positive(self)
        found = solve_sparse(rows, 0.0, fit_intercept=bool(self.fit_intercept))
        self._set_solution(found, flat=np.ndim(rows.y) == 1)

    def _learn(self, statistic: Any) -> None:
        self.statistic_ = check_factor(statistic)
        self.n_refinements_ = 0
        if self.positive:
            found = nonnegative_least_squares(statistic, fit_intercept=bool(self.fit_intercept))
            self._set_solution(found, flat=statistic.flat)
            return
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
        self.rank_ = fit.rank

    @property
    def noise_variance_ml_(self) -> Array:
        """Maximum likelihood estimate of the noise variance."""
        check_fitted(self)
        return self._flat(self._solution_.noise_variance_ml)

    def _report(self) -> None:
        if self.positive:
            return
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


@value
class _ScoreProducts:
    """Products of the scores r √f (1, x - centre) of a block of rows."""

    fit: LeastSquares
    kind: str
    target: int

    def __call__(self, x: Any, y: Any, weights: Any = None) -> np.ndarray:
        targets = np.asarray(y, dtype=np.float64).reshape(len(x), -1)
        return score_products(self.scores(as_floats(np.asarray(x)), targets), weights)

    def scores(self, x: np.ndarray, targets: np.ndarray, precision: Any = 1.0) -> np.ndarray:
        """Return the scores of rows, (n, p), whose noise variances are the inverse of the precision."""
        fit = self.fit
        r = targets[:, self.target] - fit.predict(x)[:, self.target]
        z = x - fit.centre
        if fit.has_intercept:
            z = np.column_stack([np.ones(len(z)), z])
        kind = "HC0" if self.kind == "clustered" else self.kind
        factor = squared_factor(kind, np.minimum(precision * fit.leverage(x), 1.0))
        return (precision * r * np.sqrt(factor))[:, None] * z


def _to_origin(covariance: np.ndarray, fit: LeastSquares) -> np.ndarray:
    """Return the covariance of intercept and coefficients from that of offset and coefficients."""
    carry = np.eye(len(covariance))
    carry[0, 1:] = -to_numpy(fit.centre)
    return carry @ covariance @ carry.T


def _about_origin(slopes: np.ndarray, offset_variance: float, fit: LeastSquares) -> np.ndarray:
    covariance = np.pad(slopes, ((1, 0), (1, 0)))
    covariance[0, 0] = offset_variance
    return _to_origin(covariance, fit)
