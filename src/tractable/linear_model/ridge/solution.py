"""Solving ridge regression: centering, and the solution in the space of the columns or of few rows."""

from typing import Any

import numpy as np

from tractable.arrays.linalg import column_lengths, column_squares
from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of
from tractable.engines import CovarianceRoot, LeastSquares, RootOfRows, RowSpan, least_squares
from tractable.engines.linear_estimate import with_offset
from tractable.engines.long_rows import row_products
from tractable.engines.spectrum import ColumnSpectrum, RowSpectrum
from tractable.linear_model.noise_floor import without_rounding
from tractable.primitives.linear import safe_factor, triangle
from tractable.primitives.threads import blas_for_columns
from tractable.statistics import LinearFactor
from tractable.value import replace, value


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


def ridge(
    statistic: LinearFactor, alpha: float, *, fit_intercept: bool = True, penalize_intercept: bool = False
) -> LeastSquares:
    """Solve ridge regression from the statistic of the rows.

    The penalty is rows √α I below the factor, with targets zero: the QR of both has only the condition of the
    columns, not its square. A statistic that holds fewer rows than columns is solved in the space of its
    rows.

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


def _ridge(statistic: LinearFactor, alpha: float, centering: Centering) -> LeastSquares:
    factor = centering.factor(statistic)
    p = factor.shape[1] - statistic.n_targets
    columns, targets = factor[:, :p], factor[:, p:]
    of: dict[str, Any] = {"alpha": alpha, "weight": float(statistic.weight), "count": statistic.count}
    lengths = column_lengths(targets)
    if alpha > 0.0 and factor.shape[0] < p:
        return _of_few_rows(columns, targets, centering, **of)
    xp = namespace_of(factor)
    fit = least_squares(
        LinearFactor(
            weight=statistic.weight,
            mean=statistic.mean if centering.free_intercept else xp.zeros_like(factor[0, :]),
            factor=_penalised(factor, p, alpha),
            n_targets=statistic.n_targets,
        )
    )
    slopes = replace(fit.covariance_root, factor=fit.slopes_root)
    rss = column_squares(targets - columns @ fit.coef.T) if alpha > 0.0 else fit.rss
    dof = _effective_dof(columns, slopes.factor, alpha)
    return solution(fit.coef.T, slopes, rss, lengths, centering, effective_dof=dof, **of)


def solution(
    weights: Array,
    root: Any,
    rss: Array,
    lengths: Array,
    centering: Centering,
    *,
    effective_dof: float,
    weight: float,
    **of: Any,
) -> LeastSquares:
    """Return the solution with given coefficients of the penalised columns.

    Parameters
    ----------
    weights : array (p, t)
        The coefficients, the intercept first where it is penalised.
    root : CovarianceRoot or RootOfRows
        Of (AᵀA + αI)⁻¹, A the columns; a free intercept is added to it here.
    rss, lengths : arrays (t,)
        Residual sums of squares, and lengths of the targets.
    centering : Centering
        How rows become columns.
    effective_dof : float
        Trace of A (AᵀA + αI)⁻¹ Aᵀ.
    weight : float
        Total weight of the rows.
    **of
        Other fields of the solution.
    """
    coef, intercept = centering.split(weights)
    if centering.free_intercept and isinstance(root, RootOfRows):
        root = replace(root, offset_variance=1.0 / weight)
    elif centering.free_intercept:
        root = replace(root, factor=with_offset(root.factor, 1.0 / weight))
    return LeastSquares(
        coef=coef,
        centre=centering.centre,
        offset=centering.offset if centering.free_intercept else intercept,
        intercept=intercept,
        root=root,
        has_intercept=centering.free_intercept or centering.ones,
        rss=without_rounding(rss, lengths, centering.offset, weight),
        target_squares=lengths**2,
        weight=weight,
        n_parameters=centering.free_intercept + effective_dof,
        **of,
    )


#: The most digits, as a factor, that products of rows lose; coefficients are refined.
PRODUCT_INFLATION = 1e5


def _of_few_rows(
    rows: Array, targets: Array, centering: Centering, *, alpha: float, weight: float, **of: Any
) -> LeastSquares:
    """Return w = Aᵀ (A Aᵀ + αI)⁻¹ y of fewer rows A than columns.

    By the products of the rows and one step of iterative refinement, by the residuals of the rows; by their
    spectrum where these would lose digits.
    """
    upper = _penalised_products(rows, alpha) if is_numpy_array(rows) else None
    if upper is None:
        spectrum = RowSpectrum.of(rows, targets, alpha)
        return replace(dual_solution(spectrum, centering, weight, alpha), **of)
    from scipy.linalg import lapack

    def solved(b: np.ndarray) -> np.ndarray:
        return lapack.dpotrs(upper.T, b, lower=1)[0]  # the transpose is in the order of Fortran

    dual = solved(targets)
    dual += solved(targets - rows @ (rows.T @ dual) - alpha * dual)
    coef = rows.T @ dual
    root = lapack.dtrtri(upper.T, lower=1)[0]
    dof = _effective_dof(rows.T, root.T, alpha)
    of = {"effective_dof": dof, "weight": weight, "alpha": alpha, **of}
    rss, lengths = column_squares(targets - rows @ coef), column_lengths(targets)
    return solution(coef, RootOfRows(rows=rows, alpha=alpha), rss, lengths, centering, **of)


def _penalised_products(rows: np.ndarray, alpha: float) -> np.ndarray | None:
    """Return the Cholesky factor U of A Aᵀ + αI; None where it has lost more digits than allowed."""
    products = row_products(rows)
    products.flat[:: len(products) + 1] += alpha
    return safe_factor(products, inflation=PRODUCT_INFLATION)


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
) -> LeastSquares:
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
    root = CovarianceRoot(factor=spectrum.basis * xp.sqrt(inverse), span=span)
    of: dict[str, Any] = {"weight": weight, "alpha": alpha, "effective_dof": dof}
    return solution(weights, root, rss, spectrum.target_lengths, centering, **of)


def dual_solution(spectrum: RowSpectrum, centering: Centering, weight: float, alpha: float) -> LeastSquares:
    """Return the solution for one penalty, w = Aᵀ (A Aᵀ + αI)⁻¹ y, from the spectrum of the rows."""
    xp = namespace_of(spectrum.basis)
    penalty = xp.asarray([alpha], dtype=spectrum.basis.dtype, device=device(spectrum.basis))
    rss = spectrum.residuals(penalty)[0][:, 0]
    dual = spectrum.dual(alpha)
    coef = spectrum.coefficients(dual)
    root = RootOfRows(rows=spectrum.rows, alpha=alpha, spectrum=spectrum.nonzero(), sums=(dual.T, coef.T))
    of: dict[str, Any] = {"weight": weight, "alpha": alpha, "effective_dof": root.effective_dof}
    return solution(coef, root, rss, spectrum.target_lengths, centering, **of)
