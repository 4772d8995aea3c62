"""Least squares from the triangular factor of the rows: the plane, its rank, and how sure it is."""

from collections.abc import Callable
from math import log, pi
from typing import Any

from tractable.arrays.linalg import solve_triangular
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.statistics import LinearFactor
from tractable.value import value

__all__ = ["SOLVERS", "LeastSquares", "least_squares"]


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
    factor = statistic.factor if fit_intercept else statistic.uncentred()
    # Columns are known to a rounding of their length about the origin, so a constant column is no direction.
    scale = xp.hypot(_lengths(xp, statistic.factor), xp.abs(statistic.mean) * float(statistic.weight) ** 0.5)[
        :d
    ]
    scale = xp.where(scale > 0, scale, xp.ones_like(scale))
    tol = 10.0 * max(d, 1) * float(xp.finfo(scale.dtype).eps) if rank_tol is None else rank_tol
    coef, spread, null, lost = SOLVERS[solver](factor[:d, :d] / scale, factor[:d, d:], tol)
    coef, spread, null = (part / scale[:, None] for part in (coef, spread, null))
    if null.shape[1]:
        basis = xp.linalg.qr(null / _lengths(xp, null))[0]
        coef, spread = (part - basis @ (basis.T @ part) for part in (coef, spread))
    mean = statistic.mean if fit_intercept else xp.zeros_like(statistic.mean)
    centre, offset = mean[:d], mean[d:]
    return LeastSquares(
        coef=coef.T,
        intercept=offset - centre @ coef,
        centre=centre,
        offset=offset,
        spread=spread,
        residual=lost + xp.sum(factor[d:, d:] ** 2, axis=0),
        weight=statistic.weight,
        n_located=int(fit_intercept),
    )


#: Coefficients, the factor of their covariance, the directions not seen, and the squares lost in those.
Solved = tuple[Array, Array, Array, Array]


def _by_qr(r: Array, z: Array, tol: float) -> Solved:
    """Solve R w = z by substitution; where R may be singular, ask the SVD."""
    xp = namespace_of(r)
    d = r.shape[0]
    if d and float(xp.min(xp.abs(xp.linalg.diagonal(r)))) <= tol:
        return _by_svd(r, z, tol)
    # The lower triangle is Rᵀ, so transposing is all there is to do.
    inverse = solve_triangular(r.T, xp.eye(d, dtype=r.dtype, device=device(r)), transposed=True)
    # |R⁻¹| ≥ 1/σ_min: a short inverse is a proof of full rank, a long one a doubt.
    if float(xp.sqrt(xp.sum(inverse**2))) * tol >= 1.0 and float(xp.min(xp.linalg.svdvals(r))) <= tol:
        return _by_svd(r, z, tol)
    return solve_triangular(r.T, z, transposed=True), inverse, r[:, :0], xp.zeros_like(z[0, :] if d else z)


def _by_svd(r: Array, z: Array, tol: float) -> Solved:
    """Return w = V Σ⁻¹ Uᵀ z over the singular values above the tolerance."""
    xp = namespace_of(r)
    u, s, vt = xp.linalg.svd(r, full_matrices=False)
    rank = int(xp.sum(xp.astype(s > tol, xp.int64)))
    spread, turned = vt.T[:, :rank] / s[:rank], u.T @ z
    return spread @ turned[:rank, :], spread, vt.T[:, rank:], xp.sum(turned[rank:, :] ** 2, axis=0)


def _by_normal_equations(r: Array, z: Array, tol: float) -> Solved:
    """Return w = (RᵀR)⁻¹ Rᵀz: squares the condition, so half of the digits are gone before it begins."""
    xp = namespace_of(r)
    d = r.shape[0]
    lengths = _lengths(xp, r)
    lengths = xp.where(lengths > tol, lengths, xp.ones_like(lengths))
    r = r / lengths
    eigenvalues, v = xp.linalg.eigh(r.T @ r)
    rank = int(xp.sum(xp.astype(eigenvalues > 10.0 * d * float(xp.finfo(r.dtype).eps), xp.int64)))
    spread = v[:, d - rank :] / xp.sqrt(eigenvalues[d - rank :])
    coef = spread @ (spread.T @ (r.T @ z))
    lost = xp.sum(z**2, axis=0) - xp.sum((spread.T @ (r.T @ z)) ** 2, axis=0)
    spread, coef, null = (part / lengths[:, None] for part in (spread, coef, v[:, : d - rank]))
    return coef, spread, null, xp.where(lost > 0, lost, xp.zeros_like(lost))


SOLVERS: dict[str, Callable[[Array, Array, float], Solved]] = {
    "qr": _by_qr,
    "svd": _by_svd,
    "normal": _by_normal_equations,
}


def _lengths(xp: Any, a: Array) -> Array:
    """Return the Euclidean lengths of the columns, without overflow."""
    if not a.shape[0]:
        return xp.sum(a, axis=0)
    peak = xp.max(xp.abs(a), axis=0)
    peak = xp.where(peak > 0, peak, xp.ones_like(peak))
    return peak * xp.sqrt(xp.sum((a / peak) ** 2, axis=0))
