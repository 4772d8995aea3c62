"""Least squares from the triangular factor of the rows."""

from collections.abc import Callable
from math import log, pi
from typing import Any

import numpy as np

from tractable.arrays.double_double import Pair, dd_add, dd_multiply, dd_sum
from tractable.arrays.linalg import solve_triangular
from tractable.arrays.namespace import Array, as_float_array, device, namespace_of
from tractable.engines.fold import fold
from tractable.primitives.linear import residual_sums, triangle
from tractable.statistics import LinearFactor
from tractable.value import replace, value

__all__ = ["SOLVERS", "LeastSquares", "column_lengths", "least_squares", "reduced_rows", "refine"]


@value
class LeastSquares:
    """The plane of least squared distance to t targets, y ≈ offset + (x - centre)ᵀ coef, and its errors.

    Parameters
    ----------
    coef : array (t, d)
    intercept : array (t,)
    centre : array (d,)
        Mean of the rows; zeros where the plane goes through the origin.
    offset : array (t,)
        The plane at the centre.
    spread : array (d, rank)
        A factor of the covariance of the coefficients, which is σ² spread spreadᵀ.
    residual : array (t,)
        Sum of squared residuals.
    weight : float
        How many rows there were.
    n_located : int
        1 where there is an intercept, else 0.
    """

    coef: Array
    intercept: Array
    centre: Array
    offset: Array
    spread: Array
    residual: Array
    weight: Any
    n_located: int = 1

    @property
    def rank(self) -> int:
        """Number of directions of the (centred) rows that the fit could see."""
        return int(self.spread.shape[1])

    @property
    def dof(self) -> float:
        """Rows left to estimate the noise from, after the parameters: n - rank - 1."""
        return float(self.weight) - self.rank - self.n_located

    @property
    def sigma2_ml(self) -> Array:
        """Noise variance of maximum likelihood, the mean squared residual, (t,)."""
        return self.residual / self.weight

    @property
    def sigma2(self) -> Array:
        """Unbiased noise variance, (t,); NaN where no row is left to estimate it from."""
        return self.residual / (self.dof if self.dof > 0 else float("nan"))

    @property
    def log_likelihood(self) -> float:
        """Greatest log-likelihood, -n/2 (log 2πσ² + 1) for each target; infinite for an exact fit."""
        xp = namespace_of(self.residual)
        if bool(xp.any(self.residual == 0)):
            return float("inf")
        return float(-0.5 * self.weight * xp.sum(xp.log(self.sigma2_ml) + log(2.0 * pi) + 1.0))

    @property
    def covariance(self) -> Array:
        """Covariance of the coefficients of each target, (t, d, d)."""
        return self.sigma2[:, None, None] * (self.spread @ self.spread.T)[None, ...]

    @property
    def std_errors(self) -> Array:
        """Standard error of every coefficient, (t, d)."""
        xp = namespace_of(self.spread)
        return xp.sqrt(self.sigma2[:, None] * xp.sum(self.spread**2, axis=1)[None, :])

    @property
    def intercept_std_errors(self) -> Array:
        """Standard error of the intercepts, (t,)."""
        xp = namespace_of(self.spread)
        return xp.sqrt(self.sigma2 * self.leverage(xp.zeros_like(self.centre)[None, :]))

    def predict(self, x: Array) -> Array:
        """Return the plane at the rows of x, (n, t)."""
        return self.offset + (x - self.centre) @ self.coef.T

    def leverage(self, x: Array) -> Array:
        """Return 1/n + |spreadᵀ (x - centre)|² a row: the variance of the plane there, in units of σ²."""
        xp = namespace_of(self.spread)
        return self.n_located / self.weight + xp.sum(((x - self.centre) @ self.spread) ** 2, axis=1)


def least_squares(
    statistic: LinearFactor, *, fit_intercept: bool = True, solver: str = "qr", rank_tol: float | None = None
) -> LeastSquares:
    """Solve least squares from the statistic of the rows.

    Of the planes that fit equally well, the one with the shortest coefficients is taken.

    Parameters
    ----------
    statistic : LinearFactor
    fit_intercept : bool
    solver : {"qr", "svd", "normal"}
    rank_tol : float, optional
        A direction in which the columns vary less than this, relative to their lengths about the origin, is
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
    r, z, rest = reduced_rows(statistic, fit_intercept=fit_intercept)
    # Columns are known to a rounding of their length about the origin, so a constant column is no direction.
    scale = xp.hypot(
        column_lengths(statistic.factor), xp.abs(statistic.mean) * float(statistic.weight) ** 0.5
    )[:d]
    scale = xp.where(scale > 0, scale, xp.ones_like(scale))
    tol = 10.0 * max(d, 1) * float(xp.finfo(scale.dtype).eps) if rank_tol is None else rank_tol
    found = SOLVERS[solver](r / scale, z, tol)
    spread = found.spread / scale[:, None]
    coef = found.coef / scale[:, None]
    if spread.shape[1] < d:
        # The shortest coefficients are combinations of rows, in the units that were given.
        basis = xp.linalg.qr(found.directions * scale[:, None] / xp.max(scale))[0]
        coef, spread = (basis @ (basis.T @ part) for part in (coef, spread))
    mean = statistic.mean if fit_intercept else xp.zeros_like(statistic.mean)
    centre, offset = mean[:d], mean[d:]
    return LeastSquares(
        coef=coef.T,
        intercept=offset - centre @ coef,
        centre=centre,
        offset=offset,
        spread=spread,
        residual=found.lost + rest,
        weight=statistic.weight,
        n_located=int(fit_intercept),
    )


def reduced_rows(statistic: LinearFactor, *, fit_intercept: bool) -> tuple[Array, Array, Array]:
    """Return rows R and targets z with the same least squares as all rows, and the squares beyond them, (t,).

    R is triangular, (d, d), or has fewer rows than columns.
    """
    xp = namespace_of(statistic.mean)
    d = statistic.dim
    factor = statistic.factor
    if not fit_intercept:
        middle = xp.sqrt(xp.asarray(statistic.weight, dtype=xp.float64)) * statistic.mean
        factor = xp.concat([middle[None, :], factor])
    if factor.shape[0] < d:
        return factor[:, :d], factor[:, d:], xp.zeros_like(statistic.mean[d:])
    factor = statistic.triangular() if fit_intercept else triangle(factor)
    with np.errstate(over="ignore"):  # targets beyond 1e154 have a plane, and squares that are infinite
        return factor[:d, :d], factor[:d, d:], xp.sum(factor[d:, d:] ** 2, axis=0)


@value
class _Solved:
    """Coefficients in scaled units, (d, t), and what was found on the way."""

    coef: Array
    spread: Array  # (d, rank), a factor of their covariance
    directions: Array  # (d, rank), orthonormal: those in which the rows vary
    lost: Array  # (t,), squares of the targets in no such direction


def _by_qr(r: Array, z: Array, tol: float) -> _Solved:
    """Solve R w = z by substitution; where R may be singular, ask the SVD."""
    xp = namespace_of(r)
    n, d = r.shape
    if n < d or (d and float(xp.min(xp.abs(xp.linalg.diagonal(r)))) <= tol):
        return _by_svd(r, z, tol)
    identity = xp.eye(d, dtype=r.dtype, device=device(r))
    inverse = solve_triangular(r.T, identity, transposed=True)
    # |R⁻¹| ≥ 1/σ_min: a short inverse is a proof of full rank, a long one a doubt.
    if float(xp.sqrt(xp.sum(inverse**2))) * tol >= 1.0 and float(xp.min(xp.linalg.svdvals(r))) <= tol:
        return _by_svd(r, z, tol)
    coef = solve_triangular(r.T, z, transposed=True)
    return _Solved(coef=coef, spread=inverse, directions=identity, lost=xp.zeros_like(xp.sum(z, axis=0)))


def _by_svd(r: Array, z: Array, tol: float) -> _Solved:
    """Return w = V Σ⁻¹ Uᵀ z over the singular values above the tolerance."""
    xp = namespace_of(r)
    u, s, vt = xp.linalg.svd(r, full_matrices=False)
    rank = int(xp.sum(xp.astype(s > tol, xp.int64)))
    u, v = u[:, :rank], vt.T[:, :rank]
    spread, turned = v / s[:rank], u.T @ z
    return _Solved(
        coef=spread @ turned, spread=spread, directions=v, lost=xp.sum((z - u @ turned) ** 2, axis=0)
    )


def _by_normal_equations(r: Array, z: Array, tol: float) -> _Solved:
    """Return w = (RᵀR)⁻¹ Rᵀz: squares the condition, so half of the digits are gone before it begins."""
    xp = namespace_of(r)
    d = r.shape[1]
    lengths = column_lengths(r)
    lengths = xp.where(lengths > tol, lengths, xp.ones_like(lengths))
    unit = r / lengths
    eigenvalues, v = xp.linalg.eigh(unit.T @ unit)
    seen = int(xp.sum(xp.astype(eigenvalues > 10.0 * d * float(xp.finfo(r.dtype).eps), xp.int64)))
    v = v[:, d - seen :]
    spread = v / xp.sqrt(eigenvalues[d - seen :])
    coef = spread @ (spread.T @ (unit.T @ z))
    directions = xp.linalg.qr(v * lengths[:, None])[0]
    lost = xp.sum((z - unit @ coef) ** 2, axis=0)
    return _Solved(
        coef=coef / lengths[:, None], spread=spread / lengths[:, None], directions=directions, lost=lost
    )


SOLVERS: dict[str, Callable[[Array, Array, float], _Solved]] = {
    "qr": _by_qr,
    "svd": _by_svd,
    "normal": _by_normal_equations,
}


def column_lengths(a: Array) -> Array:
    """Return the Euclidean lengths of the columns, without overflow."""
    xp = namespace_of(a)
    if not a.shape[0]:
        return xp.sum(a, axis=0)
    peak = xp.max(xp.abs(a), axis=0)
    peak = xp.where(peak > 0, peak, xp.ones_like(peak))
    return peak * xp.sqrt(xp.sum((a / peak) ** 2, axis=0))


#: Passes after which a fit that still moves is left as it is.
MOST = 10


@value
class _Sums:
    """Sums over rows as pairs; they merge with ``+`` in twice the digits."""

    pair: Pair

    def __add__(self, other: "_Sums") -> "_Sums":
        return _Sums(pair=dd_add(self.pair, other.pair))


def refine(fit: LeastSquares, data: Any, y: Any = None, *, weights: Any = None) -> tuple[LeastSquares, int]:
    """Return the fit with all its digits, and how often the rows were read for it.

    Each pass computes the gradient Xᵀ(y - Xw) in double-double arithmetic and corrects w by (XᵀX)⁻¹ times it,
    with the inverse that the QR of the rows gave. The error shrinks by the condition number times ε, so two
    passes serve up to a condition of 1e10 of the scaled columns; far from the origin, where a rounded centre
    ties the coefficients to the offset, one or two more. Rows are taken for exact.

    Parameters
    ----------
    fit : LeastSquares
        From the same rows.
    data, y, weights
        As for `fold`.

    Examples
    --------
    >>> import numpy as np
    >>> from tractable.engines import least_squares
    >>> from tractable.statistics import LinearFactor
    >>> x, y = np.array([[1.0], [2.0], [4.0]]) / 3, np.array([1.0, 2.0, 4.0])
    >>> fit, passes = refine(least_squares(LinearFactor.of(x, y), fit_intercept=False), x, y)
    >>> float(fit.coef[0, 0]), passes
    (3.0, 1)
    """
    xp = namespace_of(fit.coef)
    coef, offset = (fit.coef, xp.zeros_like(fit.coef)), (fit.offset, xp.zeros_like(fit.offset))
    residual = fit.residual
    before = float("inf")
    for passes in range(1, MOST + 1):
        high, low = fold(_sums_at(fit.centre, coef, offset), data, y, weights=weights, label="refining").pair
        gradient = high + low
        step = (gradient[:, 1:-1] @ fit.spread) @ fit.spread.T
        up = gradient[:, 0] / fit.weight if fit.n_located else xp.zeros_like(fit.offset)
        moved = _relative(fit, step, up, coef[0], offset[0])
        if not moved < 0.5 * before:
            return _refined(fit, coef, offset, residual), passes
        residual = gradient[:, -1]
        coef = dd_add(coef, (step, xp.zeros_like(step)))
        offset = dd_add(offset, (up, xp.zeros_like(up)))
        shrinking = moved / before if before < float("inf") else moved
        tied = _relative(fit, _tied(fit, up), xp.zeros_like(up), coef[0], offset[0])
        if max(moved * shrinking, tied) <= 0.1 * float(xp.finfo(step.dtype).eps):
            break
        before = max(moved, 2.0 * tied)
    return _refined(fit, coef, offset, residual), passes


def _sums_at(centre: Array, coef: Pair, offset: Pair) -> Any:
    def of(x: Any, y: Any, weights: Any = None) -> _Sums:
        xp = namespace_of(x)
        x, y = (xp.astype(as_float_array(part, xp), xp.float64) for part in (x, y))
        one = xp.ones_like(x[:, 0]) if weights is None else xp.astype(as_float_array(weights, xp), xp.float64)
        return _Sums(
            pair=residual_sums(
                x, y[:, None] if y.ndim == 1 else y, one, centre=centre, coef=coef, offset=offset
            )
        )

    return of


def _tied(fit: LeastSquares, up: Array) -> Array:
    """Bound the step of the coefficients that a step of the offset calls for, Σ (x - centre) not being 0.

    The centre is the mean but for its rounding, a few ε of it.
    """
    xp = namespace_of(up)
    off = 4.0 * float(xp.finfo(up.dtype).eps) * fit.weight * xp.abs(fit.centre)
    return xp.abs(up)[:, None] * (xp.abs(fit.spread) @ (xp.abs(fit.spread).T @ off))[None, :]


def _relative(fit: LeastSquares, step: Array, up: Array, coef: Array, offset: Array) -> float:
    """Return the largest step of a coefficient or an intercept, relative to it."""
    xp = namespace_of(step)
    moves = [(step, coef)]
    if fit.n_located:
        moves.append((up - step @ fit.centre, offset - coef @ fit.centre))
    sizes = [(xp.abs(move), xp.where(at != 0, xp.abs(at), xp.ones_like(at))) for move, at in moves]
    return max((float(xp.max(move / size)) for move, size in sizes if 0 not in move.shape), default=0.0)


def _refined(fit: LeastSquares, coef: Pair, offset: Pair, residual: Array) -> LeastSquares:
    """Round once: the coefficients, and the intercept, offset - centreᵀ coef."""
    xp = namespace_of(fit.coef)
    centre = xp.broadcast_to(fit.centre, fit.coef.shape)
    slope = dd_multiply((centre, xp.zeros_like(centre)), coef)
    total = dd_sum((slope[0].T, slope[1].T))
    intercept = dd_add(offset, (-total[0], -total[1]))
    return replace(fit, coef=coef[0], offset=offset[0], intercept=intercept[0], residual=residual)
