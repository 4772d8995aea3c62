"""Solving ridge regression: centering, the solution in the space of the columns or of few rows, leverages."""

from functools import cached_property
from math import ceil, inf, log
from typing import Any

import numpy as np

from tractable.arrays.linalg import SMALLEST_SQUARE, column_lengths, column_squares, solve_triangular
from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of, to_numpy
from tractable.engines.least_squares import OUTSIDE, NotComputedError, RowSpan, least_squares
from tractable.engines.long_rows import ReferredRows, row_products
from tractable.engines.spectrum import ColumnSpectrum, RowSpectrum
from tractable.linear_model.noise_floor import without_rounding
from tractable.primitives.linear import safe_factor, triangle
from tractable.primitives.threads import (
    FEW_COLUMNS,
    blas_for_columns,
    blas_for_products,
    single_threaded_blas,
)
from tractable.statistics import LinearFactor
from tractable.value import parameters, replace, set_fields, value


@value
class Centering:
    """How rows become the p columns whose coefficients are penalised."""

    centre: Array  # (d,), subtracted from the rows: their mean where the intercept is free, else zeros
    offset: Array  # (t,), subtracted from the targets likewise
    free_intercept: bool = True  # whether there is an intercept without a penalty
    # Whether a column of ones comes first: an intercept that is penalised like any other coefficient
    ones: bool = False

    @classmethod
    def of(cls, mean: Array, n_targets: int, *, fit_intercept: bool, penalize_intercept: bool) -> "Centering":
        """Return the centering of rows and targets with these means.

        Parameters
        ----------
        mean : array (d + t,)
            The means of the columns and of the targets.
        n_targets : int
            Number t of targets.
        fit_intercept : bool
            Whether there is an intercept.
        penalize_intercept : bool
            Whether it is penalised like the other coefficients.
        """
        d = mean.shape[0] - n_targets
        if fit_intercept and not penalize_intercept:
            return cls(centre=mean[:d], offset=mean[d:])
        origin = namespace_of(mean).zeros_like(mean)
        return cls(centre=origin[:d], offset=origin[d:], free_intercept=False, ones=bool(fit_intercept))

    def columns(self, x: Array) -> Array:
        """Return the penalised columns of rows, (n, p)."""
        xp = namespace_of(x)
        centred = x - self.centre
        return xp.concat([xp.ones_like(centred[:, :1]), centred], axis=1) if self.ones else centred

    def sizes(self, x: Array) -> Array:
        """Return the sizes of the numbers whose differences the columns of rows are, (n, p)."""
        xp = namespace_of(x)
        size = xp.abs(x) + xp.abs(self.centre)
        return xp.concat([xp.ones_like(size[:, :1]), size], axis=1) if self.ones else size

    def split(self, weights: Array) -> tuple[Array, Array]:
        """Return the coefficients (t, d) and the intercepts (t,) from those of the columns, (p, t)."""
        if self.ones:
            return weights[1:, :].T, weights[0, :]
        return weights.T, self.offset - self.centre @ weights

    def factor(self, statistic: LinearFactor) -> Array:
        """Return a factor of the penalised columns and the targets, (m, p + t): triangular, or few rows."""
        if self.free_intercept:
            return statistic.factor
        if self.ones:
            return statistic.with_ones()
        xp = namespace_of(statistic.mean)
        root = xp.sqrt(xp.asarray(statistic.weight, dtype=xp.float64))
        rows = xp.concat([(root * statistic.mean)[None, :], statistic.factor])
        return triangle(rows) if rows.shape[0] > rows.shape[1] else rows


@value
class PrimalInverse:
    """(AᵀA + αI)⁻¹ as S Sᵀ, over the directions in which the columns vary."""

    factor: Array  # (p, r), S
    effective_dof: float  # trace of A (AᵀA + αI)⁻¹ Aᵀ
    span: RowSpan | None = None  # of the rows, where there is no penalty and they do not determine all

    def quadratic(self, z: Array, size: Array) -> Array:
        """Return zᵀ (AᵀA + αI)⁻¹ z for each row of z; infinite outside of the span of the rows.

        z is the difference of numbers of this size.
        """
        xp = namespace_of(z)
        found = xp.sum((z @ self.factor) ** 2, axis=1)
        if self.span is None:
            return found
        return xp.where(self.span.contains(z, size), found, xp.full_like(found, float("inf")))

    def inner(self, z: Array) -> Array:
        """Return Z (AᵀA + αI)⁻¹ Zᵀ."""
        projections = z @ self.factor
        return projections @ projections.T


@value
class CholeskyInverse:
    """(AᵀA + αI)⁻¹ as (UᵀU)⁻¹, by the Cholesky factor of the products of columns."""

    columns: np.ndarray  # (m, p), A
    alpha: float

    @cached_property
    def upper(self) -> np.ndarray:
        """U, (p, p), computed when it is asked for."""
        with blas_for_columns(self.columns.shape[1]):
            return _penalised_factor(self.columns, self.alpha, inflation=inf)

    def with_upper(self, upper: np.ndarray) -> "CholeskyInverse":
        """Return the same with U, which is known already."""
        found = replace(self)
        set_fields(found, upper=upper)
        return found

    def __getstate__(self) -> dict[str, Any]:
        return parameters(self)

    @cached_property
    def effective_dof(self) -> float:
        """The trace of A (AᵀA + αI)⁻¹ Aᵀ."""
        from scipy.linalg import lapack

        with blas_for_columns(len(self.upper)):
            root = lapack.dtrtri(self.upper.T, lower=1)[0].T  # the transpose is in the order of Fortran
            return _effective_dof(self.columns, root, self.alpha)

    def quadratic(self, z: np.ndarray, size: np.ndarray) -> np.ndarray:
        """Return zᵀ (AᵀA + αI)⁻¹ z for each row of z."""
        return np.sum(self._white(z) ** 2, axis=0)

    def inner(self, z: np.ndarray) -> np.ndarray:
        """Return Z (AᵀA + αI)⁻¹ Zᵀ."""
        white = self._white(z)
        return white.T @ white

    def _white(self, z: np.ndarray) -> np.ndarray:
        with blas_for_products(z.size * len(self.upper)):
            return solve_triangular(self.upper.T, z.T)


@value
class DualInverse:
    """(AᵀA + αI)⁻¹ for fewer rows than columns: from A Aᵀ in the span of the rows, 1/α orthogonal to it."""

    rows: Array | ReferredRows  # (m, p), A
    alpha: float  # where it is zero, nothing determines what is orthogonal to the rows
    # (m, r) and (r,), Q and λ of A Aᵀ = Q diag(λ) Qᵀ without the λ that are zero, if they are known already
    known: tuple[Array, Array] | None = None
    # (t, m) and (t, p), v = (A Aᵀ + αI)⁻¹ y and vᵀA: they tell whether rows that are referred to were changed
    sums: tuple[Array, Array] | None = None

    @cached_property
    def _rows(self) -> Array:
        """A as an array; of rows that are referred to, after a look at whether they were changed."""
        if not isinstance(self.rows, ReferredRows):
            return self.rows
        found = self.rows.unchanged(*self.sums)  # type: ignore[misc]
        if found is None:
            raise NotComputedError(
                "X was changed after the fit, and standard errors and distributions are computed from it "
                "when they are asked for: fit again, or ask for them before X is changed"
            )
        return found

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        if self.known is not None:
            return self.known
        return RowSpectrum.of(self._rows, self._rows[:, :0], self.alpha).nonzero()

    def __getstate__(self) -> dict[str, Any]:
        return parameters(self)  # without another copy of the rows

    @cached_property
    def effective_dof(self) -> float:
        """The trace of A (AᵀA + αI)⁻¹ Aᵀ, Σ λ/(λ + α)."""
        _, values = self._spectrum
        return float(namespace_of(values).sum(values / (values + self.alpha)))

    def quadratic(self, z: Array, size: Array) -> Array:
        """Return zᵀ (AᵀA + αI)⁻¹ z for each row of z; without a penalty, infinite outside of their span.

        z is the difference of numbers of this size.
        """
        xp = namespace_of(z)
        (basis, values), along, length = self._spectrum, self._along(z), xp.sum(z * z, axis=1)
        inside = xp.sum(along**2 / (values + self.alpha), axis=1)
        if self.alpha == 0.0:
            apart = column_lengths((z - (along / xp.sqrt(values)) @ basis.T @ self._rows).T)
            inside_span = apart <= OUTSIDE * column_lengths(size.T)
            return xp.where(inside_span, inside, xp.full_like(inside, float("inf")))
        outside = length - xp.sum(along**2, axis=1)
        rounding = 10.0 * basis.shape[0] * float(xp.finfo(z.dtype).eps) * length
        return inside + xp.where(outside > rounding, outside, xp.zeros_like(outside)) / self.alpha

    def inner(self, z: Array) -> Array:
        """Return Z (AᵀA + αI)⁻¹ Zᵀ."""
        along = self._along(z)
        inside = (along / (self._spectrum[1] + self.alpha)) @ along.T
        return inside if self.alpha == 0.0 else inside + (z @ z.T - along @ along.T) / self.alpha

    def _along(self, z: Array) -> Array:
        """Return the coordinates of z in the orthonormal basis Aᵀ Q λ^(-1/2) of the span of the rows."""
        basis, values = self._spectrum
        return (z @ self._rows.T) @ basis / namespace_of(z).sqrt(values)


@value
class RidgeSolution:
    """The minimum of |y - Xw|² + α|w|², with the noise variance and leverages that follow."""

    coef: Array  # (t, d)
    intercept: Array  # (t,)
    rss: Array  # (t,), residual sum of squares
    target_squares: Array  # (t,), of the targets, about their means where the intercept is free
    weight: float  # total weight of the rows, n
    alpha: float
    centering: Centering
    inverse: Any  # (XᵀX + αI)⁻¹
    count: Any = None  # number of rows, where it is not their weight

    @classmethod
    def at(
        cls, weights: Array, rss: Array, lengths: Array, centering: Centering, **parts: Any
    ) -> "RidgeSolution":
        """Return the solution with given coefficients of the columns.

        Parameters
        ----------
        weights : array (p, t)
            The coefficients, the intercept first where it is penalised.
        rss : array (t,)
            Residual sums of squares.
        lengths : array (t,)
            Lengths of the targets.
        centering : Centering
            How rows become columns.
        **parts
            Other fields of the solution.
        """
        coef, intercept = centering.split(weights)
        return cls(
            coef=coef,
            intercept=intercept,
            rss=without_rounding(rss, lengths, centering.offset, parts["weight"]),
            target_squares=lengths**2,
            centering=centering,
            **parts,
        )

    @property
    def n_rows(self) -> float:
        """Number of rows, as their frequencies count them."""
        return float(self.weight if self.count is None else self.count)

    @property
    def effective_dof(self) -> float:
        """Trace of the hat matrix: the effective number of parameters."""
        return self.centering.free_intercept + self.inverse.effective_dof

    @property
    def residual_dof(self) -> float:
        """Degrees of freedom of the residuals, n - effective_dof."""
        return self.n_rows - self.effective_dof

    @property
    def noise_variance(self) -> Array:
        """Estimate of the noise variance, rss / residual_dof, (t,); NaN without degrees of freedom."""
        some = self.residual_dof > 1e-9 * self.n_rows
        return self.rss / (self.residual_dof if some else float("nan"))

    @property
    def coef_std_errors(self) -> Array:
        """Scales of the posterior of the coefficients, σ √((XᵀX + αI)⁻¹)_jj, (t, d)."""
        xp = namespace_of(self.coef)
        z = xp.eye(self.coef.shape[1], dtype=self.coef.dtype, device=device(self.coef))
        if self.centering.ones:
            z = xp.concat([xp.zeros_like(z[:, :1]), z], axis=1)
        return xp.sqrt(self.noise_variance[:, None] * self.inverse.quadratic(z, z)[None, :])

    @property
    def intercept_std_errors(self) -> Array:
        """Scales of the posterior of the intercepts, (t,); zeros without one."""
        xp = namespace_of(self.coef)
        if not self.has_intercept:
            return xp.zeros_like(self.noise_variance)
        return xp.sqrt(self.noise_variance * self.leverage(xp.zeros_like(self.coef[:1, :]))[0])

    @property
    def has_intercept(self) -> bool:
        """Whether there is an intercept, penalised or not."""
        return self.centering.free_intercept or self.centering.ones

    def parameter_covariance(self, target: int) -> np.ndarray:
        """Return the covariance of intercept and coefficients of a target: σ² (XᵀX + αI)⁻¹, in all columns.

        Infinite on the diagonal, and NaN beside it, for what rows and penalty do not determine.
        """
        xp, centre, d = namespace_of(self.coef), self.centering.centre, self.coef.shape[1]
        z = xp.eye(d, dtype=self.coef.dtype, device=device(self.coef))
        if self.centering.free_intercept:  # offset - centreᵀ coef
            z = xp.concat([-centre[None, :], z])
        elif self.centering.ones:
            z = xp.eye(d + 1, dtype=self.coef.dtype, device=device(self.coef))
        known = np.isfinite(to_numpy(self.inverse.quadratic(z, xp.abs(z))))
        found = to_numpy(self.inverse.inner(z))
        if self.centering.free_intercept:
            found = found + np.pad([[1.0 / self.weight]], (0, d))
        found = np.where(known[:, None] & known, float(self.noise_variance[target]) * found, np.nan)
        found[~known, ~known] = np.inf
        return found

    def predict(self, x: Array) -> Array:
        """Return the predictions at the rows of x, (n, t)."""
        at_centre = self.centering.offset if self.centering.free_intercept else self.intercept
        return at_centre + (x - self.centering.centre) @ self.coef.T

    def leverage(self, x: Array) -> Array:
        """Return 1/n + zᵀ (XᵀX + αI)⁻¹ z for each row, with z = x - centre."""
        columns = self.centering.columns(x)
        return self._mean_leverage + self.inverse.quadratic(columns, self.centering.sizes(x))

    def hat(self, x: Array) -> Array:
        """Return the matrix whose diagonal is the leverage, (n, n)."""
        return self._mean_leverage + self.inverse.inner(self.centering.columns(x))

    @property
    def _mean_leverage(self) -> float:
        return self.centering.free_intercept / self.weight


def ridge(
    statistic: LinearFactor, alpha: float, *, fit_intercept: bool = True, penalize_intercept: bool = False
) -> RidgeSolution:
    """Solve ridge regression from the statistic of the rows.

    The penalty is rows √α I below the factor, with targets zero: the QR of both has only the condition of the
    columns, not its square. Where the penalty bounds that, products of columns do; where it is small, the
    factor of many columns solves by iteration. A statistic that holds fewer rows than columns is solved in
    the space of its rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = LinearFactor.of([[-1.0], [0.0], [1.0]], [-2.0, 0.0, 2.0])
    >>> ridge(rows, 2.0).coef
    array([[1.]])
    """
    centering = Centering.of(
        statistic.mean,
        statistic.n_targets,
        fit_intercept=fit_intercept,
        penalize_intercept=penalize_intercept,
    )
    if fit_intercept and not penalize_intercept:
        statistic = statistic.without_constant_columns()
    with blas_for_columns(min(statistic.dim, statistic.factor.shape[0])):
        return _ridge(statistic, alpha, centering)


def _ridge(statistic: LinearFactor, alpha: float, centering: Centering) -> RidgeSolution:
    factor, weight = centering.factor(statistic), float(statistic.weight)
    p = factor.shape[1] - statistic.n_targets
    columns, targets = factor[:, :p], factor[:, p:]
    of: dict[str, Any] = {"weight": weight, "alpha": alpha, "count": statistic.count}
    products = alpha > 0.0 and is_numpy_array(factor)
    if alpha > 0.0 and factor.shape[0] < p:
        solved = _by_products_of_rows(columns, targets, alpha) if products else None
        if solved is None:
            spectrum = RowSpectrum.of(columns, targets, alpha)
            return replace(dual_solution(spectrum, centering, weight, alpha), count=statistic.count)
    elif products:
        solved = _by_iteration(columns, targets, alpha) or _by_products(columns, targets, alpha)
    else:
        solved = None
    if solved is None:
        xp = namespace_of(factor)
        fit = least_squares(
            LinearFactor(
                weight=statistic.weight,
                mean=statistic.mean if centering.free_intercept else xp.zeros_like(factor[0, :]),
                factor=_penalised(factor, p, alpha),
                n_targets=statistic.n_targets,
            )
        )
        dof = _effective_dof(columns, fit.root, alpha)
        solved = fit.coef.T, PrimalInverse(factor=fit.root, effective_dof=dof, span=fit.span)
    coef, inverse = solved
    rss = column_squares(targets - columns @ coef) if alpha > 0.0 else fit.rss
    return RidgeSolution.at(coef, rss, column_lengths(targets), centering, inverse=inverse, **of)


#: The most digits, as a factor, that products of columns lose in the inverse; coefficients are refined.
PRODUCT_INFLATION = 1e5

#: The most that a step leaves of the error, as a factor, of an iteration that takes few steps.
LARGEST_RATE = 0.02

EPS = float(np.finfo(np.float64).eps)


def _by_iteration(columns: np.ndarray, targets: np.ndarray, alpha: float) -> Any:
    """Return w of (RᵀR + αI) w = Rᵀy for a triangular R of many columns and a small penalty; or None.

    By w ← w + (RᵀR)⁻¹ (Rᵀ(y - Rw) - αw) from w = 0: the error of w is multiplied by -α (RᵀR)⁻¹ in each step,
    whose norm is at most α f / min |r_j|², with the columns r_j and the largest column sum f of their inverse
    correlations. The steps are iterative refinement as well, and w has the digits of a QR. Products of the
    columns, which the inverse needs, are left until it is asked for.
    """
    from scipy.linalg import lapack

    p = columns.shape[1]
    if p <= FEW_COLUMNS or len(columns) != p + targets.shape[1] or np.tril(columns, -1).any():
        return None
    lengths = column_lengths(columns)
    least = lengths.min() ** 2
    if not (least > SMALLEST_SQUARE and lengths.max() ** 2 < 1.0 / SMALLEST_SQUARE):
        return None
    with single_threaded_blas():
        inverse_sum = lapack.dpocon((columns[:p] / lengths).T, 1.0, uplo="L")[0]  # 1 / f
        if not (PRODUCT_INFLATION * inverse_sum >= 1.0 and alpha <= LARGEST_RATE * inverse_sum * least):
            return None
        rate = max(alpha / (inverse_sum * least), EPS)
        upper, w = np.ascontiguousarray(columns[:p]), np.zeros((p, targets.shape[1]))
        for _ in range(1 + ceil(log(EPS) / log(rate))):
            step = _solve(upper, columns.T @ (targets - columns @ w) - alpha * w)
            w += step
            size, change = (column_lengths(lengths[:, None] * each) for each in (w, step))
            if np.all(rate * change <= 0.1 * EPS * size):
                break
    return w, CholeskyInverse(columns=columns, alpha=alpha)


def _by_products(columns: np.ndarray, targets: np.ndarray, alpha: float) -> Any:
    """Return w of (AᵀA + αI) w = Aᵀy, and (AᵀA + αI)⁻¹; None where they would lose digits.

    One step of iterative refinement, by the residuals of the rows, gives w the digits of a QR.
    """
    upper = _penalised_factor(columns, alpha, inflation=PRODUCT_INFLATION)
    if upper is None:
        return None
    w = _solve(upper, columns.T @ targets)
    w += _solve(upper, columns.T @ (targets - columns @ w) - alpha * w)
    return w, CholeskyInverse(columns=columns, alpha=alpha).with_upper(upper)


def _penalised_factor(columns: np.ndarray, alpha: float, *, inflation: float) -> Any:
    """Return the Cholesky factor U of AᵀA + αI; None where it has lost more digits than allowed."""
    scatter = columns.T @ columns
    scatter.flat[:: len(scatter) + 1] += alpha
    return safe_factor(scatter, inflation=inflation)


def _by_products_of_rows(rows: np.ndarray, targets: np.ndarray, alpha: float) -> Any:
    """Return w = Aᵀ (A Aᵀ + αI)⁻¹ y of few rows, refined likewise, and (AᵀA + αI)⁻¹."""
    products = row_products(rows)
    products.flat[:: len(products) + 1] += alpha
    upper = safe_factor(products, inflation=PRODUCT_INFLATION)
    if upper is None:
        return None
    dual = _solve(upper, targets)
    dual += _solve(upper, targets - rows @ (rows.T @ dual) - alpha * dual)
    return rows.T @ dual, DualInverse(rows=rows, alpha=alpha)


def _solve(upper: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return (UᵀU)⁻¹ b."""
    from scipy.linalg import lapack

    return lapack.dpotrs(upper.T, b, lower=1)[0]  # the transpose is in the order of Fortran


def _effective_dof(columns: Array, root: Array, alpha: float) -> float:
    """Return the trace of A (AᵀA + αI)⁻¹ Aᵀ: p - α tr (AᵀA + αI)⁻¹, where that is no small difference."""
    xp, p = namespace_of(root), root.shape[0]
    shrunk = float(xp.sum((alpha**0.5 * root) ** 2))
    if alpha > 0.0 and shrunk <= 0.9 * p:
        return p - shrunk
    return float(xp.sum((columns @ root) ** 2))


def _penalised(factor: Array, p: int, alpha: float) -> Array:
    """Return the triangular factor of the rows and of √α I below them."""
    if alpha == 0.0:
        return factor
    xp = namespace_of(factor)
    rows = alpha**0.5 * xp.eye(p, factor.shape[1], dtype=factor.dtype, device=device(factor))
    return triangle(xp.concat([factor, rows]))


def primal_solution(
    spectrum: ColumnSpectrum, centering: Centering, weight: float, alpha: float, rss: Array
) -> RidgeSolution:
    """Return the solution for one penalty, w = V s/(s² + α) Uᵀy, from the spectrum of the columns."""
    xp = namespace_of(spectrum.basis)
    penalty = xp.asarray([alpha], dtype=spectrum.basis.dtype, device=device(spectrum.basis))
    inverse = spectrum.inverse(penalty)[:, 0]
    gain = spectrum.singular * inverse
    weights = spectrum.basis @ (gain[:, None] * spectrum.projections)
    dof = float(xp.sum(spectrum.singular * gain))
    span = None
    if alpha == 0.0:
        seen = xp.take(spectrum.basis, xp.nonzero(inverse > 0)[0], axis=1)
        if seen.shape[1] < seen.shape[0]:
            span = RowSpan(scale=xp.ones_like(seen[:, 0]), directions=seen)
    root = PrimalInverse(factor=spectrum.basis * xp.sqrt(inverse), effective_dof=dof, span=span)
    of: dict[str, Any] = {"weight": weight, "alpha": alpha, "inverse": root}
    return RidgeSolution.at(weights, rss, spectrum.target_lengths, centering, **of)


def dual_solution(spectrum: RowSpectrum, centering: Centering, weight: float, alpha: float) -> RidgeSolution:
    """Return the solution for one penalty, w = Aᵀ (A Aᵀ + αI)⁻¹ y, from the spectrum of the rows."""
    xp = namespace_of(spectrum.basis)
    penalty = xp.asarray([alpha], dtype=spectrum.basis.dtype, device=device(spectrum.basis))
    rss = spectrum.residuals(penalty)[0][:, 0]
    dual = spectrum.dual(alpha)
    coef = spectrum.coefficients(dual)
    inverse = DualInverse(rows=spectrum.rows, alpha=alpha, known=spectrum.nonzero(), sums=(dual.T, coef.T))
    of: dict[str, Any] = {"weight": weight, "alpha": alpha, "inverse": inverse}
    return RidgeSolution.at(coef, rss, spectrum.target_lengths, centering, **of)
