"""A ridge regression that was solved: the plane, its errors, and how far each row pulls it."""

from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.linear_model.placement import Placement
from tractable.value import value

__all__ = ["DualSpread", "PrimalSpread", "RidgeSolution"]


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
