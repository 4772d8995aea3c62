"""What a plane that was solved answers: predictions, their spread, leverages."""

import warnings
from collections.abc import Callable
from typing import Any, Self

from sklearn.base import RegressorMixin

from tractable.arrays import Array, namespace_of
from tractable.base import (
    Estimator,
    ModelTags,
    OnePassMixin,
    PredictiveMixin,
    all_or_nothing,
    check_columns,
    check_fitted,
    check_rows,
)
from tractable.base.parameters import check_choice, check_number
from tractable.distributions import StudentT
from tractable.engines import LeastSquares, least_squares
from tractable.engines.least_squares import SOLVERS, column_lengths, reduced_rows, refine
from tractable.linear_model.noise_floor import without_rounding
from tractable.linear_model.rows import as_floats, blas_for, check_factor, factor_of
from tractable.statistics import LinearFactor
from tractable.value import replace

__all__ = ["CoefficientsMixin", "LinearRegression", "SolvedPlane"]


class SolvedPlane(PredictiveMixin):
    """`predict`, `predict_dist` and `leverage`, from `solution_`.

    A model supplies `coef_` and its `solution_`: a value with the plane, its leverages, its noise and the
    rows that are left to tell it.
    """

    solution_: Any
    coef_: Array
    #: What would help where there are too few rows.
    _needed = "more rows"

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()  # type: ignore[misc]
        found.target_tags.multi_output = True
        return found

    def predict(self, X: Any, return_std: bool = False, *, include_noise: bool = True) -> Any:
        """Return the plane at each row, and on request the standard deviation of the predictive distribution.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        return_std : bool
        include_noise : bool
            Whether the spread is that of a new observation (default) or of the plane.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets), or two of them
        """
        if return_std:
            return super().predict(X, return_std, include_noise=include_noise)
        check_fitted(self)
        return self._flat(self.solution_.predict(as_floats(check_columns(self, X))))

    def predict_dist(self, X: Any, *, include_noise: bool = True) -> StudentT:
        """Return the predictive distribution of each row's target: Student's t about the plane.

        Its scale is σ √(1 + h) with the leverage h of the row, or σ √h for the plane itself, and it has
        `dof_` degrees of freedom. Without penalty it covers new targets with the stated probability, exactly
        so under Gaussian noise. A penalty α is taken for the prior that it comes from, coef ~ N(0, σ²/α),
        with `sigma2_` for σ²; that it was chosen is not known.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        include_noise : bool

        Returns
        -------
        StudentT
            Of batch shape (n_samples,) or (n_samples, n_targets).
        """
        check_fitted(self)
        rows = as_floats(check_columns(self, X))
        xp = namespace_of(rows)
        fit = self._with_noise()
        factor = fit.leverage(rows) + float(include_noise)
        return StudentT(
            dof=fit.dof,
            location=self._flat(fit.predict(rows)),
            scale=self._flat(xp.sqrt(factor[:, None] * fit.sigma2)),
        )

    def leverage(self, X: Any) -> Array:
        """Return the leverage of each row: how far its own target would pull the plane at it.

        The diagonal of the hat matrix, X (XᵀX)⁻¹ Xᵀ without penalty, but not the matrix. Over the rows of the
        fit it sums to the number of parameters, as far as a penalty leaves them free; a row that counts w
        times has w times this.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_fitted(self)
        return self.solution_.leverage(as_floats(check_columns(self, X)))

    def _flat(self, x: Array, *, axis: int = -1) -> Array:
        """Drop the axis of the targets where there is one target, given as a vector."""
        if self.coef_.ndim > 1:
            return x
        if x.ndim == 1:
            return x[0]
        return x[0, ...] if axis == 0 else x[..., 0]

    def _with_noise(self) -> Any:
        """Return the solution if its noise can be told."""
        fit, xp = self.solution_, namespace_of(self.solution_.residual)
        if bool(xp.any(xp.isnan(fit.sigma2))):
            raise ValueError(
                f"X has too few rows to tell the noise from the fit: a weight of {float(fit.weight):g} for "
                f"{float(fit.weight) - fit.dof:g} parameters; {self._needed} are needed"
            )
        if not bool(xp.all(fit.residual > 0)):
            raise ValueError("y is fitted without error, so there is no noise to predict: sigma2_ is 0")
        return fit


class CoefficientsMixin(SolvedPlane):
    """`coef_interval`, `coef_std_errors_`, `covariance_` and more, from `solution_`, and what it predicts."""

    solution_: LeastSquares
    intercept_: Array
    _needed = "more rows, or a model with a prior,"

    def coef_interval(self, coverage: float = 0.95) -> Array:
        """Return the interval that holds each coefficient with the given confidence, by Student's t.

        Parameters
        ----------
        coverage : float

        Returns
        -------
        array of shape (n_features, 2) or (n_targets, n_features, 2)
        """
        check_fitted(self)
        return self._interval(self.coef_, self.coef_std_errors_, coverage)

    def intercept_interval(self, coverage: float = 0.95) -> Array:
        """Return the interval that holds the intercept with the given confidence, by Student's t.

        Parameters
        ----------
        coverage : float

        Returns
        -------
        array of shape (2,) or (n_targets, 2)
        """
        check_fitted(self)
        return self._interval(self.intercept_, self.intercept_std_error_, coverage)

    @property
    def covariance_(self) -> Array:
        """Covariance of the coefficients."""
        check_fitted(self)
        return self._flat(self.solution_.covariance, axis=0)

    @property
    def coef_std_errors_(self) -> Array:
        """Standard errors of the coefficients."""
        check_fitted(self)
        return self._flat(self.solution_.std_errors, axis=0)

    @property
    def intercept_std_error_(self) -> Array:
        """Standard error of the intercept."""
        check_fitted(self)
        return self._flat(self.solution_.intercept_std_errors)

    @property
    def log_likelihood_(self) -> float:
        """Log-likelihood of the rows at the maximum likelihood estimates."""
        check_fitted(self)
        return self.solution_.log_likelihood

    def _interval(self, estimate: Array, error: Array, coverage: float) -> Array:
        check_number("coverage", coverage, above=0.0, below=1.0)
        xp = namespace_of(estimate)
        width = StudentT(dof=self._with_noise().dof, location=0.0, scale=1.0).interval(coverage)[1]
        reach = float(width) * error
        return xp.stack([xp.asarray(estimate - reach), xp.asarray(estimate + reach)], axis=-1)


class LinearRegression(OnePassMixin, CoefficientsMixin, RegressorMixin, Estimator):
    """The plane nearest to the targets: y = intercept + xᵀ coef + noise, the sum of squared noise least.

    Maximum likelihood under Gaussian noise. Exact in one pass, with the digits of a QR of all rows: the rows
    are folded into a triangular factor of their centred columns, so streams, files larger than memory and
    merged models lose nothing, nor do columns far from the origin. Columns that follow from others, or more
    columns than rows, leave many planes that fit equally well: the one with the shortest `coef_` is taken,
    and `rank_` says so.

    Parameters
    ----------
    fit_intercept : bool
        Whether the plane may miss the origin.
    solver : {"qr", "svd", "normal"}
        How the triangular factor R is solved: by substitution; by its singular value decomposition; or by the
        normal equations RᵀR w = Rᵀz of the textbooks, which square the condition number and lose twice the
        digits; a warning says where they lose whole directions, which `refine` cannot bring back.
    rank_tol : float, optional
        A direction in which the columns vary less than this, relative to their lengths about the origin, is
        taken for rounding; 10 n_features ε by default. `solver="normal"` cannot see below the root of that.
    refine : bool
        Read the rows again, twice as a rule, to correct the fit with residuals in double-double arithmetic:
        all digits of the solution, where the columns are not singular to floating point. `partial_fit`,
        `merge` and `from_statistic` have no rows to read again and give the answer of one pass.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array of shape (n_targets,)
    rank_ : int
        Rank of the columns, centred where there is an intercept.
    singular_ : array of shape (min(n_samples, n_features),)
        Their singular values.
    sigma2_ : float or array of shape (n_targets,)
        Unbiased variance of the noise, Σ r² / dof; NaN where `dof_` is not positive. Zero where residuals
        cannot be told from the rounding of the targets: such a fit is exact, and asking it for intervals or
        distributions is an error.
    sigma2_ml_ : float or array of shape (n_targets,)
        Its maximum likelihood estimate, the mean squared residual Σ r² / n.
    dof_ : float
        Rows that are left after the parameters, n - rank - 1.
    covariance_ : array of shape (n_features, n_features) or (n_targets, n_features, n_features)
        Covariance of the coefficients, sigma2_ (XᵀX)⁻¹; of the shortest ones where the rank is deficient.
    coef_std_errors_ : array of the shape of `coef_`
    intercept_std_error_ : float or array of shape (n_targets,)
    log_likelihood_ : float
        Of all targets, at `sigma2_ml_`; infinite for an exact fit.
    statistic_ : LinearFactor
        Everything the model knows about the rows.
    solution_ : LeastSquares
    n_refinements_ : int
        How often the rows were read again.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

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
    _supervised = True

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
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows held in memory, in a file, or in a stream.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets), or column name
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.

        Returns
        -------
        self
        """
        self._statistic()
        rows = check_rows(self, X, y, sample_weight, reset=True, supervised=True)
        with blas_for(rows):
            self._learn(factor_of(rows))
        if self.refine:
            found, self.n_refinements_ = refine(self.solution_, rows.data, rows.y, weights=rows.weights)
            self._name(found)
        self._report()
        return self

    @property
    def singular_(self) -> Array:
        """Singular values of the columns, centred where there is an intercept."""
        check_fitted(self)
        rows = reduced_rows(self.statistic_, fit_intercept=bool(self.solution_.n_located))[0]
        return namespace_of(rows).linalg.svdvals(rows)

    def _statistic(self) -> Callable[..., Any]:
        check_choice("solver", self.solver, SOLVERS)
        if self.rank_tol is not None:
            check_number("rank_tol", self.rank_tol, least=0.0, below=1.0)
        return LinearFactor.of

    def _learn(self, statistic: Any) -> None:
        self._statistic()
        self.statistic_ = check_factor(statistic)
        self.n_refinements_ = 0
        self._name(
            least_squares(
                statistic,
                fit_intercept=bool(self.fit_intercept),
                solver=self.solver,
                rank_tol=self.rank_tol,
            )
        )

    def _report(self) -> None:
        if self.solver != "normal" or self.solution_.rank == min(
            self.statistic_.factor.shape[0], self.n_features_in_
        ):
            return
        seen = least_squares(
            self.statistic_, fit_intercept=bool(self.fit_intercept), rank_tol=self.rank_tol
        ).rank
        if seen > self.solution_.rank:
            warnings.warn(
                f"the normal equations see {self.solution_.rank} of the {seen} directions in which X varies: "
                "squaring the columns lost the others, and the digits of coef_ with them; "
                'solver="qr" keeps them',
                UserWarning,
                stacklevel=4,
            )

    def _name(self, fit: LeastSquares) -> None:
        known, d = self.statistic_, self.statistic_.dim
        lengths = column_lengths(known.factor[:, d:])
        fit = replace(fit, residual=without_rounding(fit.residual, lengths, known.mean[d:], known.weight))
        self.solution_ = fit
        self.coef_ = fit.coef[0, :] if known.flat else fit.coef
        self.intercept_ = self._flat(fit.intercept)
        self.rank_, self.dof_ = fit.rank, fit.dof
        self.sigma2_, self.sigma2_ml_ = self._flat(fit.sigma2), self._flat(fit.sigma2_ml)
