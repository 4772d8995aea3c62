"""Least squares from the triangular factor of the rows: coefficients, rank, standard errors, refinement."""

from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from math import log, pi
from typing import Any

import numpy as np

from tractable.arrays.double_double import Pair, dd_add, dd_multiply, dd_sum
from tractable.arrays.limits import check_coefficients
from tractable.arrays.linalg import SMALLEST_SQUARE, column_lengths, solve_triangular
from tractable.arrays.namespace import Array, as_float_array, device, is_numpy_array, namespace_of
from tractable.engines.fold import fold
from tractable.engines.linear_estimate import (
    OUTSIDE,
    CovarianceRoot,
    LinearEstimate,
    NotComputedError,
    RowSpan,
    with_offset,
)
from tractable.engines.long_rows import row_products
from tractable.primitives.linear import residual_sums, triangle
from tractable.primitives.threads import blas_for_columns
from tractable.statistics import LinearFactor
from tractable.statistics.rows import as_weights, counts
from tractable.value import parameters, replace, set_fields, value

#: Passes after which a refinement that still changes the coefficients is given up.
MAX_REFINEMENTS = 10


@value
class PointSolution:
    """The coefficients of a linear model whose standard errors are not computed, for a reason it states.

    Parameters
    ----------
    coef : array (t, d)
        Coefficients of each target.
    intercept : array (t,)
        The prediction at x = 0.
    rss : array (t,)
        Residual sums of squares.
    reason : str
        Why standard errors are not computed, and what has them.
    """

    coef: Array
    intercept: Array
    rss: Array
    reason: str

    def predict(self, x: Any) -> Array:
        """Return the predictions at the rows of x, dense or sparse, (n, t)."""
        return x @ self.coef.T + self.intercept

    def __getattr__(self, name: str) -> Any:
        reason = vars(self).get("reason")  # not yet there while a copy is made
        if name.startswith("__") or reason is None:
            raise AttributeError(name)
        raise NotComputedError(f"{name} is not computed: {reason}")


@value
class LeastSquares(LinearEstimate):
    """The coefficients of (penalised) least squares with their errors: a `LinearEstimate` of Gaussian noise.

    Its scale is the noise variance rss / residual_dof, NaN without degrees of freedom.

    Parameters
    ----------
    coef, centre, offset, root, has_intercept, intercept
        As of a `LinearEstimate`: the root is that of (XᵀX + αI)⁻¹, X centred where there is an intercept.
    rss : array (t,)
        Residual sums of squares.
    weight : float
        Total weight of the rows, n; of their precisions, where their noise variances are unlike.
    n_parameters : float
        Number of parameters that the rows determine, the intercept included; with a penalty the trace of the
        hat matrix.
    target_squares : array (t,), optional
        Squares of the targets, about their means where there is an intercept.
    alpha : float
        The penalty.
    count : float, optional
        Number of rows, where it is not their weight.
    log_noise : float
        Sum over the rows of the log of their noise variances, relative to σ².
    """

    rss: Array
    weight: Any
    n_parameters: float
    target_squares: Any = None
    alpha: float = 0.0
    count: Any = None
    log_noise: float = 0.0
    scale: Any = field(init=False)
    dof: Any = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        dof = self.n_rows - self.n_parameters
        some = dof > 1e-9 * self.n_rows
        set_fields(self, dof=dof, scale=self.rss / (dof if some else float("nan")))

    @property
    def n_rows(self) -> float:
        """Number of rows, as their frequencies count them."""
        return float(self.weight if self.count is None else self.count)

    @property
    def rank(self) -> int:
        """Rank of the columns, centred where there is an intercept."""
        return round(self.n_parameters - self.has_intercept)

    @property
    def effective_dof(self) -> float:
        """The (effective) number of parameters, the trace of the hat matrix."""
        return float(self.n_parameters)

    @property
    def residual_dof(self) -> float:
        """Degrees of freedom of the residuals, n less the (effective) number of parameters."""
        return float(self.dof)

    @property
    def noise_variance(self) -> Array:
        """Estimate of the noise variance, rss / residual_dof, (t,); NaN without degrees of freedom."""
        return self.scale

    @property
    def noise_variance_ml(self) -> Array:
        """Maximum likelihood estimate of the noise variance, rss / n, (t,)."""
        return self.rss / self.n_rows

    @property
    def log_likelihood(self) -> float:
        """Greatest log-likelihood, Σ_t -n/2 (log 2πσ² + 1) - ½ Σ log v; infinite for an exact fit."""
        return self.log_likelihood_at(self.rss)

    def log_likelihood_at(self, rss: Array) -> float:
        """Return the greatest log-likelihood of targets with these residual sums of squares."""
        xp = namespace_of(rss)
        if bool(xp.any(rss == 0)):
            return float("inf")
        level = self.n_rows * (xp.log(rss / self.n_rows) + log(2.0 * pi) + 1.0) + self.log_noise
        return float(-0.5 * xp.sum(level))


@value
class DeferredRoot:
    """The root of (XᵀX)⁻¹ of rows X fewer than their columns, which are decomposed when it is asked for."""

    rows: Array  # (m, d), X
    lengths: Array  # (d,), of the columns about the origin
    tol: float  # directions in which the columns vary less than this, relative to these, are rounding
    offset_variance: float

    @cached_property
    def known(self) -> CovarianceRoot:
        """The root."""
        targets = np.zeros_like(self.rows[:, :0])
        found = _by_qr_of_rows(self.rows, targets, self.lengths, self.tol)
        if found is None:
            root = _in_units(_by_svd(self.rows / self.lengths, targets, self.tol), self.lengths, self.tol)[1]
        else:
            root = _root_of(found, np.ones_like(self.lengths))
        return replace(root, factor=with_offset(root.factor, self.offset_variance))

    def __getstate__(self) -> dict[str, Any]:
        return parameters(self)


def _root_of(found: "_Solved", scale: Array, tol: float = OUTSIDE) -> CovarianceRoot:
    """Return a root, with the span of the rows where they do not determine all coefficients."""
    d, rank = found.root.shape
    span = None if rank == d else RowSpan(scale=scale, directions=found.directions, tol=tol)
    return CovarianceRoot(factor=found.root, span=span)


def least_squares(
    statistic: LinearFactor, *, fit_intercept: bool = True, solver: str = "qr", rank_tol: float | None = None
) -> LeastSquares:
    """Solve least squares from the statistic of the rows.

    Of several solutions, the one with the shortest coefficients is returned.

    Parameters
    ----------
    statistic : LinearFactor
        The triangular factor of the rows and targets, from ``fold(LinearFactor.of, X, y)``.
    fit_intercept : bool
        Whether the linear predictor has an intercept.
    solver : {"qr", "svd", "normal"}
        Orthogonal factorisation, singular values, or the normal equations (fast, half the digits).
    rank_tol : float, optional
        Directions in which the columns vary less than this, relative to their lengths about the origin, are
        taken for rounding; 10 d ε by default.

    Examples
    --------
    >>> import numpy as np
    >>> rows = LinearFactor.of([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]], [1.0, 6.0, 11.0])
    >>> fit = least_squares(rows)
    >>> fit.rank, fit.coef.round(12), fit.intercept.round(12)
    (1, array([[1., 2.]]), array([1.]))
    """
    xp = namespace_of(statistic.mean)
    d = statistic.dim
    with blas_for_columns(min(d, statistic.factor.shape[0])):
        # The rounding error of a column is ε times its length about the origin: a constant one has rank 0.
        scale = statistic.root_mean_square[:d] * float(statistic.weight) ** 0.5
        tol = 10.0 * max(d, 1) * float(xp.finfo(scale.dtype).eps) if rank_tol is None else rank_tol
        varies = scale > 0
        if fit_intercept:
            varies = varies & (column_lengths(statistic.factor[:, :d]) > tol * scale)
            statistic = statistic.without(~varies)
        scale = xp.where(varies, scale, xp.ones_like(scale))
        weight = float(statistic.weight)
        found = _by_rows(statistic, scale, tol) if solver == "qr" and fit_intercept else None
        if found is None:
            r, z, rest = reduced_rows(statistic, fit_intercept=fit_intercept)
            solved = _of_varying(SOLVERS[solver], r / scale, z, tol)
            coef, root = _in_units(solved, scale, tol)
            found = coef, root, solved.root.shape[1], solved.rss + rest
        coef, root, rank, rss = found
        if fit_intercept and isinstance(root, CovarianceRoot):
            root = replace(root, factor=with_offset(root.factor, 1.0 / weight if weight else np.inf))
        # Exactly zero, as a constant column may have a mean that makes an intercept of rounding.
        coef = check_coefficients(xp.where(varies[:, None], coef, xp.zeros_like(coef)))
    mean = statistic.mean if fit_intercept else xp.zeros_like(statistic.mean)
    centre, offset = mean[:d], mean[d:]
    return LeastSquares(
        coef=coef.T,
        centre=centre,
        offset=offset,
        root=root,
        rss=rss,
        target_squares=column_lengths(statistic.factor[:, d:]) ** 2
        + (0.0 if fit_intercept else weight * statistic.mean[d:] ** 2),
        n_parameters=rank + bool(fit_intercept),
        weight=statistic.weight,
        has_intercept=bool(fit_intercept),
        count=statistic.count,
        log_noise=statistic.log_noise,
    )


def reduced_rows(statistic: LinearFactor, *, fit_intercept: bool) -> tuple[Array, Array, Array]:
    """Return R and z with |y - Xw|² = |z - Rw|² + rest for all w, and `rest`, (t,).

    R is triangular, (d, d), or has fewer rows than columns; X and y are centred where there is an intercept.
    """
    xp = namespace_of(statistic.mean)
    d = statistic.dim
    n_rows = statistic.factor.shape[0] + (not fit_intercept)
    if n_rows < d:
        factor = statistic.factor if fit_intercept else statistic.with_ones()[:, 1:]
        return factor[:, :d], factor[:, d:], xp.zeros_like(statistic.mean[d:])
    factor = statistic.triangular() if fit_intercept else statistic.uncentred()
    return factor[:d, :d], factor[:d, d:], xp.sum(factor[d:, d:] ** 2, axis=0)


@value
class _Solved:
    """A solution of R w = z for columns of length one."""

    coef: Array  # (d, t)
    root: Array  # (d, rank), a factor of (RᵀR)⁻¹
    directions: Array  # (d, rank), an orthonormal basis of the span of the rows
    rss: Array  # (t,), of z


def _in_units(found: _Solved, scale: Array, tol: float) -> tuple[Array, CovarianceRoot]:
    """Return coefficients (d, t) and the root in the units of the data, whose columns have these lengths."""
    xp = namespace_of(scale)
    with np.errstate(over="ignore"):
        found = replace(found, root=found.root / scale[:, None], coef=found.coef / scale[:, None])
    root = _root_of(found, scale, max(OUTSIDE, 10.0 * tol))
    varies = xp.any(found.directions != 0, axis=1)
    # Where the columns that vary are independent
    if root.span is None or found.root.shape[1] == int(xp.sum(xp.astype(varies, xp.int64))):
        return found.coef, root
    # The shortest coefficients, in the units of the data, lie in the span of the rows.
    basis = xp.linalg.qr(found.directions * scale[:, None] / xp.max(scale))[0]
    return basis @ (basis.T @ found.coef), replace(root, factor=basis @ (basis.T @ found.root))


#: Up to this ratio of the lengths of columns, their units do not matter to the rank of rows.
LIKE_UNITS = 1e3
#: Least condition, as a fraction, of rows that a QR without pivots finds independent; and of their products.
INDEPENDENT_ROWS, INDEPENDENT_PRODUCTS = 1e-9, 1e-7


def _by_rows(statistic: LinearFactor, scale: Array, tol: float) -> tuple[Array, Any, int, Array] | None:
    """Return the shortest w of no more rows A than columns, the root, the rank, and residual sums of squares.

    By the products of the rows, or by their QR where these are nearly dependent; None where rows are, or the
    units of columns are unlike.
    """
    factor, (m, d) = statistic.factor, (statistic.factor.shape[0], statistic.dim)
    if not (is_numpy_array(factor) and 0 < m <= d) or not scale.max() <= LIKE_UNITS * scale.min():
        return None
    rows, z = factor[:, :d], factor[:, d:]
    found = _by_products_of_rows(rows, z, scale, tol)
    if found is not None:
        coef, rank = found
        root = DeferredRoot(rows=rows, lengths=scale, tol=tol, offset_variance=1.0 / float(statistic.weight))
        return coef, root, rank, np.zeros(z.shape[1])  # rows that are independent are met exactly
    solved = _by_qr_of_rows(rows, z, scale, tol)
    if solved is None:
        return None
    return solved.coef, _root_of(solved, np.ones_like(scale)), solved.root.shape[1], solved.rss


def _by_products_of_rows(
    rows: np.ndarray, z: np.ndarray, scale: np.ndarray, tol: float
) -> tuple[np.ndarray, int] | None:
    """Return w = Aᵀ (A Aᵀ)⁻¹ z, and the rank; None where rows are nearly dependent.

    The last row alone may depend on the others, as the last of centred rows does. One step of iterative
    refinement, by the residuals of the rows, gives w the digits of a QR.
    """
    from scipy.linalg import lapack

    m = len(rows)
    top = scale.max()
    products = row_products(rows)
    if not products.diagonal().min() > SMALLEST_SQUARE:
        return None
    factor, info = lapack.dpotrf(products.T, lower=0)
    rank = m if info == 0 and factor[-1, -1] ** 2 > INDEPENDENT_PRODUCTS * products[-1, -1] else m - 1
    if not rank or info not in (0, m):
        return None
    inner, upper, own = products[:rank, :rank], factor[:rank, :rank], rows[:rank]
    if not lapack.dpocon(upper, np.abs(inner).sum(axis=0).max())[0] > INDEPENDENT_PRODUCTS:
        return None
    if rank < m:
        of_last = lapack.dpotrs(upper, products[:rank, -1])[0]  # the last row, as a sum of the others
        apart = np.abs(of_last @ own - rows[-1]).max(), np.abs(of_last @ z[:rank] - z[-1]).max(initial=0.0)
        if apart[0] > tol * top or apart[1] > tol * np.abs(z).max(initial=0.0):
            return None
    coef = own.T @ lapack.dpotrs(upper, z[:rank])[0]
    coef += own.T @ lapack.dpotrs(upper, z[:rank] - own @ coef)[0]
    return coef, rank


def _by_qr_of_rows(rows: np.ndarray, z: np.ndarray, scale: np.ndarray, tol: float) -> _Solved | None:
    """Return the shortest w of no more rows A than columns, in the units of the data.

    By A = L Qᵀ, and the QR of L: a complete orthogonal decomposition, in a third of the time of singular
    values. The last rows may depend on those before, as centred rows do. None where others do, and where
    rows are nearly dependent.
    """
    from scipy.linalg import blas, lapack

    (m, d), top = rows.shape, scale.max()
    reflectors, taus, _, _ = lapack.dgeqrf((rows / top).T, lwork=32 * d, overwrite_a=1)
    upper = np.triu(reflectors[:m])
    dependent = np.abs(upper.diagonal()) <= tol
    rank = int(np.argmax(dependent)) if dependent.any() else m
    if not rank or np.abs(upper[rank:, rank:]).max(initial=0.0) > tol:
        return None
    if lapack.dtrcon(upper[:rank, :rank])[0] < INDEPENDENT_ROWS:
        return None
    basis = lapack.dorgqr(reflectors[:, :rank], taus[:rank], lwork=32 * d, overwrite_a=1)[0]
    lower, own_taus, _, _ = lapack.dgeqrf(upper[:rank].T, lwork=32 * rank)
    along = solution = z[:rank]
    if z.shape[1]:
        along, _, _ = lapack.dormqr("L", "T", lower, own_taus, z, lwork=32 * m)
        solution = lapack.dtrtrs(lower[:rank], along[:rank])[0]
    return _Solved(
        coef=basis @ solution / top,
        root=blas.dtrmm(1.0 / top, lapack.dtrtri(lower[:rank])[0], basis, side=1),
        directions=basis,
        rss=np.sum(along[rank:] ** 2, axis=0),
    )


def _of_varying(solver: "Solver", r: Array, z: Array, tol: float) -> _Solved:
    """Solve R w = z without the columns that are zero, whose coefficients are."""
    xp = namespace_of(r)
    varies = xp.any(r != 0, axis=0)
    if not bool(xp.any(varies)) or bool(xp.all(varies)):
        return solver(r, z, tol)
    kept, zero = xp.nonzero(varies)[0], xp.nonzero(~varies)[0]
    r, rest, k = xp.take(r, kept, axis=1), xp.zeros_like(z[0, :]), kept.shape[0]
    if r.shape[0] == varies.shape[0] and not bool(xp.any(xp.take(r, zero, axis=0) != 0)):
        rest = xp.sum(xp.take(z, zero, axis=0) ** 2, axis=0)
        r, z = xp.take(r, kept, axis=0), xp.take(z, kept, axis=0)  # a triangle as before
    elif r.shape[0] >= k:
        factor = triangle(xp.concat([r, z], axis=1))
        r, z, rest = factor[:k, :k], factor[:k, k:], xp.sum(factor[k:, k:] ** 2, axis=0)
    found = solver(r, z, tol)
    place = xp.where(varies, xp.cumulative_sum(xp.astype(varies, xp.int64)) - 1, k)

    def with_zeros(x: Array) -> Array:
        return xp.take(xp.concat([x, xp.zeros_like(x[:1, :])]), place, axis=0)

    return _Solved(
        coef=with_zeros(found.coef),
        root=with_zeros(found.root),
        directions=with_zeros(found.directions),
        rss=found.rss + rest,
    )


def _by_qr(r: Array, z: Array, tol: float) -> _Solved:
    """Solve R w = z by substitution, or by the SVD where R may be singular."""
    xp = namespace_of(r)
    n, d = r.shape
    if n != d or (d and float(xp.min(xp.abs(xp.linalg.diagonal(r)))) <= tol):
        return _by_svd(r, z, tol)
    identity = xp.eye(d, dtype=r.dtype, device=device(r))
    if d and is_numpy_array(r):
        from scipy.linalg import lapack

        # The transpose, of rows in order, is a lower factor in the order of Fortran.
        inverse = lapack.dtrtri(r.T, lower=1)[0].T
        coef = lapack.dtrtrs(r.T, z, lower=1, trans=1)[0]
    else:
        solved = solve_triangular(r.T, xp.concat([identity, z], axis=1), transposed=True)
        inverse, coef = solved[:, :d], solved[:, d:]
    # |R⁻¹| ≥ 1/σ_min: a short inverse proves full rank, a long one calls for the singular values.
    if float(xp.sqrt(xp.sum(inverse**2))) * tol >= 1.0 and float(xp.min(xp.linalg.svdvals(r))) <= tol:
        return _by_svd(r, z, tol)
    return _Solved(coef=coef, root=inverse, directions=identity, rss=xp.zeros_like(xp.sum(z, axis=0)))


def _by_svd(r: Array, z: Array, tol: float) -> _Solved:
    """Return w = V Σ⁻¹ Uᵀ z over the singular values above the tolerance."""
    xp = namespace_of(r)
    u, s, vt = xp.linalg.svd(r, full_matrices=False)
    rank = int(xp.sum(xp.astype(s > tol, xp.int64)))
    u, v = u[:, :rank], vt.T[:, :rank]
    root, projections = v / s[:rank], u.T @ z
    rss = xp.sum((z - u @ projections) ** 2, axis=0)
    return _Solved(coef=root @ projections, root=root, directions=v, rss=rss)


def _by_normal_equations(r: Array, z: Array, tol: float) -> _Solved:
    """Return w = (RᵀR)⁻¹ Rᵀz; the square of the condition costs half of the digits."""
    xp = namespace_of(r)
    d = r.shape[1]
    lengths = column_lengths(r)
    lengths = xp.where(lengths > tol, lengths, xp.ones_like(lengths))
    unit = r / lengths
    eigenvalues, v = xp.linalg.eigh(unit.T @ unit)
    rank = int(xp.sum(xp.astype(eigenvalues > 10.0 * d * float(xp.finfo(r.dtype).eps), xp.int64)))
    v = v[:, d - rank :]
    root = v / xp.sqrt(eigenvalues[d - rank :])
    coef = root @ (root.T @ (unit.T @ z))
    directions = xp.linalg.qr(v * lengths[:, None])[0]
    rss = xp.sum((z - unit @ coef) ** 2, axis=0)
    return _Solved(coef=coef / lengths[:, None], root=root / lengths[:, None], directions=directions, rss=rss)


Solver = Callable[[Array, Array, float], _Solved]

SOLVERS: dict[str, Solver] = {
    "qr": _by_qr,
    "svd": _by_svd,
    "normal": _by_normal_equations,
}


def refine(fit: LeastSquares, data: Any, y: Any = None, *, weights: Any = None) -> tuple[LeastSquares, int]:
    """Return the fit with all its digits, and how many passes over the rows that took.

    Each pass computes the gradient Xᵀ(y - Xw) in double-double arithmetic and corrects w by (XᵀX)⁻¹ times it,
    with the inverse that the QR of the rows gave (iterative refinement). The error shrinks by the condition
    number times ε, so two passes serve up to a condition of 1e10 of the scaled columns; far from the origin,
    where rounding of the centre couples the coefficients and the offset, one or two more. The rows are taken
    as exact.

    Parameters
    ----------
    fit : LeastSquares
        From the same rows.
    data, y, weights
        As for `fold`.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([[1.0], [2.0], [4.0]]) / 3, np.array([1.0, 2.0, 4.0])
    >>> fit, passes = refine(least_squares(LinearFactor.of(x, y), fit_intercept=False), x, y)
    >>> float(fit.coef[0, 0]), passes
    (3.0, 1)
    """
    xp = namespace_of(fit.coef)
    coef, offset = (fit.coef, xp.zeros_like(fit.coef)), (fit.offset, xp.zeros_like(fit.offset))
    rss, before = fit.rss, float("inf")
    slopes = fit.slopes_root
    passes = 0
    while passes < MAX_REFINEMENTS:
        passes += 1
        of = _ResidualSums(centre=fit.centre, coef=coef, offset=offset)
        high, low = fold(of, data, y, weights=weights, label="refining").pair
        gradient = high + low
        coef_step = (gradient[:, 1:-1] @ slopes) @ slopes.T
        offset_step = gradient[:, 0] / fit.weight if fit.has_intercept else xp.zeros_like(fit.offset)
        change = _relative_change(fit, coef_step, offset_step, coef[0], offset[0])
        if not change < 0.5 * before:
            break
        rss = gradient[:, -1]
        coef = dd_add(coef, (coef_step, xp.zeros_like(coef_step)))
        offset = dd_add(offset, (offset_step, xp.zeros_like(offset_step)))
        rate = change / before if before < float("inf") else change
        coupled = _coupled_step(fit, offset_step)
        induced = _relative_change(fit, coupled, xp.zeros_like(offset_step), coef[0], offset[0])
        if max(change * rate, induced) <= 0.1 * float(xp.finfo(coef_step.dtype).eps):
            break
        before = max(change, 2.0 * induced)
    return _rounded(fit, coef, offset, rss), passes


@value
class _PairSums:
    """Sums over rows in double-double arithmetic; they merge with ``+``."""

    pair: Pair

    def __add__(self, other: "_PairSums") -> "_PairSums":
        return _PairSums(pair=dd_add(self.pair, other.pair))


@value
class _ResidualSums:
    """The gradient and the sum of squared residuals of a block of rows."""

    centre: Array
    coef: Pair
    offset: Pair

    def __call__(self, x: Any, y: Any, weights: Any = None) -> _PairSums:
        xp = namespace_of(x)
        x, y = (xp.astype(as_float_array(part, xp), xp.float64) for part in (x, y))
        one = counts(as_weights(weights, x), x)
        y = y[:, None] if y.ndim == 1 else y
        place = {"centre": self.centre, "coef": self.coef, "offset": self.offset}
        return _PairSums(pair=residual_sums(x, y, one, **place))


def _coupled_step(fit: LeastSquares, offset_step: Array) -> Array:
    """Bound the step of the coefficients that a step of the offset induces, since Σ (x - centre) is not 0.

    The centre is the mean up to rounding, a few ε of it.
    """
    xp = namespace_of(offset_step)
    off = 4.0 * float(xp.finfo(offset_step.dtype).eps) * fit.weight * xp.abs(fit.centre)
    return (
        xp.abs(offset_step)[:, None] * (xp.abs(fit.slopes_root) @ (xp.abs(fit.slopes_root).T @ off))[None, :]
    )


def _relative_change(
    fit: LeastSquares, coef_step: Array, offset_step: Array, coef: Array, offset: Array
) -> float:
    """Return the largest step of a coefficient or an intercept, relative to it."""
    xp = namespace_of(coef_step)
    steps = [(coef_step, coef)]
    if fit.has_intercept:
        steps.append((offset_step - coef_step @ fit.centre, offset - coef @ fit.centre))
    sizes = [(xp.abs(step), xp.where(at != 0, xp.abs(at), xp.ones_like(at))) for step, at in steps]
    return max((float(xp.max(step / size)) for step, size in sizes if 0 not in step.shape), default=0.0)


def _rounded(fit: LeastSquares, coef: Pair, offset: Pair, rss: Array) -> LeastSquares:
    """Round the coefficients and the intercept, offset - centreᵀ coef, once."""
    xp = namespace_of(fit.coef)
    centre = xp.broadcast_to(fit.centre, fit.coef.shape)
    slope = dd_multiply((centre, xp.zeros_like(centre)), coef)
    total = dd_sum((slope[0].T, slope[1].T))
    intercept = dd_add(offset, (-total[0], -total[1]))
    return replace(fit, coef=coef[0], offset=offset[0], intercept=intercept[0], rss=rss)
