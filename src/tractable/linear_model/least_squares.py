"""Linear regression by least squares, and the predictions of solved linear models."""

import copy
import warnings
from functools import partial
from typing import Any, Self

import numpy as np

from tractable.arrays import Array, namespace_of
from tractable.arrays.linalg import column_lengths
from tractable.arrays.namespace import to_numpy
from tractable.base import (
    ModelTags,
    RegressorMixin,
    all_or_nothing,
    check_fitted,
    check_rows,
    refuse_foreign,
)
from tractable.base.linear_inference import LinearInference
from tractable.base.one_pass import check_weight
from tractable.base.options import SklearnOptions
from tractable.base.parameters import check_choice, check_number
from tractable.base.validation import check_row_noise
from tractable.data import ArraySource, Source
from tractable.engines import LeastSquares, least_squares
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
from tractable.regression_tables import Influence, RegressionSummary, RowScores, of_columns
from tractable.value import replace


def set_solution(model: Any, fit: Any, *, flat: bool) -> None:
    """Set the solution of a linear model, a `LeastSquares` or a `PointSolution`, and its coefficients."""
    model._solution_ = fit
    model.coef_ = fit.coef[0, :] if flat else fit.coef
    model.intercept_ = fit.intercept[0] if flat else fit.intercept


def warn_of_light_weights(fit: LeastSquares) -> None:
    """Warn that weights are frequencies where they count fewer rows than there are parameters.

    Residuals tell them from too few rows, which leave none.
    """
    if fit.residual_dof <= -1e-9 * fit.n_rows and bool(namespace_of(fit.rss).any(fit.rss > 0)):
        warnings.warn(
            f"sample_weight sums to {fit.n_rows:g}, fewer rows than there are parameters, "
            f"{fit.n_parameters:g}: noise_variance_ and standard errors are NaN. "
            "Weights are frequencies; scale them so that their sum is the number of rows, or give "
            "fit(..., noise_variance=1/weight) where they are precisions",
            UserWarning,
            stacklevel=5,
        )


def check_target(target: int | None, n_targets: int) -> int:
    """Return the position of the target that is asked about; it is named where there are several."""
    if target is None and n_targets > 1:
        raise ValueError(f"target must be given, a number below {n_targets}: y has {n_targets} targets")
    check_number("target", target or 0, least=0, most=n_targets - 1, whole=True)
    return int(target or 0)


class LinearRegression(LinearInference, RegressorMixin, LinearFit):
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
    _takes_sparse = _gaussian = _several_targets = True
    _sparse_methods = ("predict",)
    _default_covariance = "HC3"
    _of_fit = ("noise_variance", "target")
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
        held = self._checked_rows(X, y, sample_weight).collect()
        rows, targets = _floats(held.X, held.y)
        return Influence.of(
            targets[:, t] - fit.predict(rows)[:, t],
            np.minimum(fit.leverage(rows), 1.0),
            n_parameters=fit.n_parameters,
            residual_dof=fit.residual_dof,
            residual_squares=float(fit.rss[t]),
        )

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
        fit, xp = self._solution_, namespace_of(self._solution_.coef)
        found = xp.stack([fit.covariance(t) for t in range(fit.coef.shape[0])])
        return self._flat(found[:, int(fit.has_intercept) :, int(fit.has_intercept) :], axis=0)

    @property
    def log_likelihood_(self) -> float:
        """Log-likelihood of the rows at the maximum likelihood estimates."""
        check_fitted(self)
        return self._solution_.log_likelihood

    def _target(self, target: int | None) -> int:
        """Return the position of the target that is asked about."""
        return check_target(target, int(self._solution_.coef.shape[0]))

    def _regression_table(self, parts: dict[str, Any], *, target: int | None = None) -> RegressionSummary:
        t, fit = self._target(target), self._solution_
        rss, total = float(fit.rss[t]), float(fit.target_squares[t])
        return self._table(
            target=t,
            n_rows=fit.n_rows,
            n_parameters=fit.n_parameters,
            residual_dof=fit.residual_dof,
            log_likelihood=fit.log_likelihood_at(fit.rss[t : t + 1]),
            null_log_likelihood=fit.log_likelihood_at(fit.target_squares[t : t + 1]),
            residual_squares=rss,
            total_squares=total,
            **of_columns(self.statistic_, intercept=fit.has_intercept),
            notes=() if rss > 0.0 else ("y is fitted without error: there is no noise to test by",),
            **parts,
        )

    def _checked_rows(self, X: Any, y: Any, sample_weight: Any) -> Source:
        refuse_foreign(X)
        return check_rows(copy.copy(self), X, y, sample_weight, reset=False, supervised=True).source

    def _rows_of_fit(
        self, X: Any, y: Any, sample_weight: Any, *, what: str, noise_variance: Any = None
    ) -> Source:
        """Return the rows of the fit, the precisions of their noise, if they have any, after the targets."""
        if X is None:
            raise ValueError(f"X must be given, the rows of the fit, for {what}")
        if (self._solution_.count is None) != (noise_variance is None):
            raise ValueError("noise_variance must be given where it was given to fit, and only there")
        data = self._checked_rows(X, y, sample_weight)
        if noise_variance is None:
            return data
        held = data.collect()
        x, targets = _floats(held.X, held.y)
        precision = 1.0 / check_row_noise(noise_variance, x)
        return ArraySource(X=x, y=np.column_stack([targets, precision]), weights=held.weights)

    def _row_scores(self, data: Source, *, target: int | None = None) -> RowScores:
        fit = self._solution_
        terms = partial(_terms, fit=fit, target=self._target(target))
        return RowScores(
            terms=terms,
            estimate=fit,
            inverse=to_numpy(fit.centred_covariance),
            n_rows=fit.n_rows,
            n_parameters=fit.n_parameters,
        )

    def _check_parameters(self) -> None:
        check_choice("solver", self.solver, SOLVERS)
        if self.rank_tol is not None:
            check_number("rank_tol", self.rank_tol, least=0.0, below=1.0)
        if self.positive and self.refine:
            raise ValueError("positive=True is not taken with refine=True, which corrects free coefficients")

    def _iterate(self, rows: Any) -> None:
        refuse_positive(self)
        found = solve_sparse(rows, 0.0, fit_intercept=bool(self.fit_intercept))
        set_solution(self, found, flat=np.ndim(rows.y) == 1)

    def _learn(self, statistic: Any) -> None:
        self.statistic_ = check_factor(statistic)
        self.n_refinements_ = 0
        if self.positive:
            found = nonnegative_least_squares(statistic, fit_intercept=bool(self.fit_intercept))
            set_solution(self, found, flat=statistic.flat)
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
        set_solution(self, replace(fit, rss=rss), flat=statistic.flat)
        self.rank_ = fit.rank

    @property
    def noise_variance_ml_(self) -> Array:
        """Maximum likelihood estimate of the noise variance."""
        check_fitted(self)
        return self._flat(self._solution_.noise_variance_ml)

    def _report(self) -> None:
        if self.positive:
            return
        warn_of_light_weights(self._solution_)
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


def _floats(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and targets (n, t) in double precision."""
    if y is None:
        raise ValueError("y is missing: the rows have no target; give it, or name its column")
    return as_floats(np.asarray(x)), np.asarray(y, dtype=np.float64).reshape(len(x), -1)


def _terms(x: np.ndarray, y: Any, *, fit: LeastSquares, target: int) -> tuple[np.ndarray, Any, None]:
    """Return slope and curvature of the log-likelihood of rows, over σ², with their precisions after y."""
    targets = _floats(x, y)[1]
    residuals = targets[:, target] - to_numpy(fit.predict(x))[:, target]
    precision = targets[:, -1] if targets.shape[1] > fit.coef.shape[0] else np.ones(len(x))
    return (precision * residuals)[:, None], precision, None
