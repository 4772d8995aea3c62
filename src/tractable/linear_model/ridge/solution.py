"""Where a penalised plane may lie: moved freely, through the origin, or moved at a price."""

from typing import Any

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.primitives.linear import triangle
from tractable.statistics import LinearFactor
from tractable.value import value

__all__ = ["DualSpread", "Placement", "PrimalSpread", "RidgeSolution", "place"]


@value
class Placement:
    """How rows become the p columns whose coefficients are penalised.

    Parameters
    ----------
    centre : array (d,)
        Taken off the rows: their mean where the intercept is free, else zeros.
    offset : array (t,)
        Taken off the targets likewise.
    n_located : int
        1 where there is a free intercept, else 0.
    ones : bool
        Whether a column of ones comes first, so that the intercept is penalised like any other coefficient.
    """

    centre: Array
    offset: Array
    n_located: int = 1
    ones: bool = False

    def columns(self, x: Array) -> Array:
        """Return the penalised columns of rows, (n, p)."""
        xp = namespace_of(x)
        moved = x - self.centre
        return xp.concat([xp.ones_like(moved[:, :1]), moved], axis=1) if self.ones else moved

    def split(self, weights: Array) -> tuple[Array, Array]:
        """Return the coefficients (t, d) and the intercepts (t,) of solved columns (p, t)."""
        if self.ones:
            return weights[1:, :].T, weights[0, :]
        return weights.T, self.offset - self.centre @ weights

    def factor(self, statistic: LinearFactor) -> Array:
        """Return a factor of the penalised columns and the targets, (m, p + t): triangular, or few rows."""
        if self.n_located:
            return statistic.factor
        if self.ones:
            return statistic.with_ones()
        xp = namespace_of(statistic.mean)
        root = xp.sqrt(xp.asarray(statistic.weight, dtype=xp.float64))
        rows = xp.concat([(root * statistic.mean)[None, :], statistic.factor])
        return triangle(rows) if rows.shape[0] > rows.shape[1] else rows


def place(mean: Array, n_targets: int, *, fit_intercept: bool, penalize_intercept: bool) -> Placement:
    """Return the placement of rows and targets with the given means."""
    d = mean.shape[0] - n_targets
    if fit_intercept and not penalize_intercept:
        return Placement(centre=mean[:d], offset=mean[d:])
    xp = namespace_of(mean)
    origin: Any = xp.zeros(d + n_targets, dtype=mean.dtype, device=device(mean))
    return Placement(centre=origin[:d], offset=origin[d:], n_located=0, ones=bool(fit_intercept))


@value
class PrimalSpread:
    """(AᵀA + αI)⁻¹ as S Sᵀ, for as many columns as the rows could tell apart.

    Parameters
    ----------
    factor : array (p, r)
        S.
    """

    factor: Array

    def quadratic(self, z: Array) -> Array:
        """Return zᵀ (AᵀA + αI)⁻¹ z for each row of z."""
        return namespace_of(z).sum((z @ self.factor) ** 2, axis=1)

    def inner(self, z: Array) -> Array:
        """Return Z (AᵀA + αI)⁻¹ Zᵀ."""
        turned = z @ self.factor
        return turned @ turned.T


@value
class DualSpread:
    """(AᵀA + αI)⁻¹ for fewer rows than columns: known along the rows of A, 1/α beyond them.

    Parameters
    ----------
    rows : array (m, p)
        A.
    basis : array (m, r)
        Q of A Aᵀ = Q diag(λ) Qᵀ, without the λ that are zero.
    eigenvalues : array (r,)
        λ.
    alpha : float
        Where it is zero, directions beyond the rows count as certain, as in a shortest solution.
    """

    rows: Array
    basis: Array
    eigenvalues: Array
    alpha: float

    def quadratic(self, z: Array) -> Array:
        """Return zᵀ (AᵀA + αI)⁻¹ z for each row of z."""
        xp = namespace_of(z)
        along, length = self._along(z), xp.sum(z * z, axis=1)
        inside = xp.sum(along**2 / (self.eigenvalues + self.alpha), axis=1)
        if self.alpha == 0.0:
            return inside
        beyond = length - xp.sum(along**2, axis=1)
        rounding = 10.0 * self.rows.shape[0] * float(xp.finfo(z.dtype).eps) * length
        return inside + xp.where(beyond > rounding, beyond, xp.zeros_like(beyond)) / self.alpha

    def inner(self, z: Array) -> Array:
        """Return Z (AᵀA + αI)⁻¹ Zᵀ."""
        along = self._along(z)
        inside = (along / (self.eigenvalues + self.alpha)) @ along.T
        return inside if self.alpha == 0.0 else inside + (z @ z.T - along @ along.T) / self.alpha

    def _along(self, z: Array) -> Array:
        """Coordinates of z along the rows of A."""
        return (z @ self.rows.T) @ self.basis / namespace_of(z).sqrt(self.eigenvalues)


@value
class RidgeSolution:
    """The minimum of |y - Xw|² + α|w|², and what is known about it.

    Parameters
    ----------
    coef : array (t, d)
    intercept : array (t,)
    residual : array (t,)
        Sum of squared residuals.
    weight : float
        How many rows there were.
    alpha : float
    effective_dof : float
        Trace of the hat matrix: parameters that the penalty left free.
    placement : Placement
    spread : PrimalSpread or DualSpread
    """

    coef: Array
    intercept: Array
    residual: Array
    weight: float
    alpha: float
    effective_dof: float
    placement: Placement
    spread: Any

    @property
    def dof(self) -> float:
        """Rows left to estimate the noise from, n - effective_dof."""
        return self.weight - self.effective_dof

    @property
    def sigma2(self) -> Array:
        """Noise variance, Σ r² / dof, (t,); NaN where no row is left to estimate it from."""
        left = self.dof > 1e-9 * self.weight
        return self.residual / (self.dof if left else float("nan"))

    def predict(self, x: Array) -> Array:
        """Return the plane at the rows of x, (n, t)."""
        level = self.intercept if not self.placement.n_located else self.placement.offset
        return level + (x - self.placement.centre) @ self.coef.T

    def leverage(self, x: Array) -> Array:
        """Return 1/n + zᵀ (XᵀX + αI)⁻¹ z for each row, z its distance from the centre."""
        return self.placement.n_located / self.weight + self.spread.quadratic(self.placement.columns(x))

    def hat(self, x: Array) -> Array:
        """Return the matrix whose diagonal is the leverage, (n, n)."""
        return self.placement.n_located / self.weight + self.spread.inner(self.placement.columns(x))
