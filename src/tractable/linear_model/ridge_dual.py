"""Ridge regression with fewer rows than columns: everything happens in the space of the rows."""

from typing import Any

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.linear_model.placement import Placement
from tractable.linear_model.ridge_solution import DualSpread, RidgeSolution
from tractable.value import value

__all__ = ["SAFE", "DualSpectrum", "dual_spectrum", "left_over"]

#: Squaring the condition is safe up to here: ten digits are left.
SAFE = 1e6


@value
class DualSpectrum:
    """A Aᵀ = Q diag(λ) Qᵀ, of which the answers for all penalties follow.

    Parameters
    ----------
    rows : array (m, p)
        A, the penalised columns of the rows, times the roots of their weights.
    basis : array (m, r)
        Q, without the direction that a free intercept takes.
    eigenvalues : array (r,)
        λ; what is rounding is zero.
    turned : array (r, t)
        Qᵀ y of the targets.
    placement : Placement
    weight : float
    """

    rows: Array
    basis: Array
    eigenvalues: Array
    turned: Array
    placement: Placement
    weight: float

    def residuals(self, alphas: Array) -> tuple[Array, Array]:
        """Return, of the weighted rows, residuals (m, t, k) and 1 - leverage (m, k), for every penalty."""
        xp = namespace_of(alphas)
        share = left_over(self.eigenvalues, alphas)
        parts = xp.reshape(self.turned[:, :, None] * share[:, None, :], (share.shape[0], -1))
        shape = (self.basis.shape[0], self.turned.shape[1], share.shape[1])
        return xp.reshape(self.basis @ parts, shape), (self.basis * self.basis) @ share

    def squares(self, alphas: Array) -> tuple[Array, Array]:
        """Return sums of squared residuals (t, k), and n - Tr H (k,), for every penalty."""
        xp = namespace_of(alphas)
        share = left_over(self.eigenvalues, alphas)
        absent = self.weight - self.placement.n_located - share.shape[0]
        return (self.turned.T**2) @ (share**2), absent + xp.sum(share, axis=0)

    def solution(self, alpha: float) -> RidgeSolution:
        """Return the solution for one penalty: w = Aᵀ (A Aᵀ + αI)⁻¹ y."""
        xp = namespace_of(self.rows)
        seen = xp.nonzero(self.eigenvalues > 0)[0]
        basis, turned = xp.take(self.basis, seen, axis=1), xp.take(self.turned, seen, axis=0)
        values = xp.take(self.eigenvalues, seen)
        weights = self.rows.T @ (basis @ (turned / (values + alpha)[:, None]))
        coef, intercept = self.placement.split(weights)
        squares, _ = self.squares(xp.asarray([alpha], dtype=self.rows.dtype, device=device(self.rows)))
        return RidgeSolution(
            coef=coef,
            intercept=intercept,
            residual=squares[:, 0],
            weight=self.weight,
            alpha=alpha,
            effective_dof=self.placement.n_located + float(xp.sum(values / (values + alpha))),
            placement=self.placement,
            spread=DualSpread(rows=self.rows, basis=basis, eigenvalues=values, alpha=alpha),
        )


def left_over(eigenvalues: Array, alphas: Array) -> Array:
    """Return α / (λ + α), the share of each direction that stays in the residuals, (r, k).

    No penalty is the limit of small ones, so that ratios of such shares stay what they should be.
    """
    xp = namespace_of(alphas)
    top = float(xp.max(eigenvalues)) if eigenvalues.shape[0] else 0.0
    alphas = xp.where(alphas > 0, alphas, 1e-60 * top if top > 0.0 else 1.0)
    return alphas / (eigenvalues[:, None] + alphas)


def dual_spectrum(
    rows: Array, y: Array, placement: Placement, weight: float, least_alpha: float, free: Any = None
) -> DualSpectrum:
    """Decompose few rows: by A Aᵀ where the smallest penalty makes that safe, else by singular values.

    Parameters
    ----------
    rows : array (m, p)
    y : array (m, t)
        Targets less their offset, times the roots of the weights.
    placement : Placement
    weight : float
    least_alpha : float
        The smallest penalty that will be asked for.
    free : array (m,), optional
        The unit vector along which a free intercept moves the rows; it is orthogonal to `rows` and `y`.
    """
    basis, values = _by_gram(rows, free)
    if values.shape[0] and not float(values[-1]) <= SAFE * (float(values[0]) + least_alpha):
        basis, values = _by_svd(rows, free)
    return DualSpectrum(
        rows=rows,
        basis=basis,
        eigenvalues=values,
        turned=basis.T @ y,
        placement=placement,
        weight=weight,
    )


def _by_gram(rows: Array, free: Any) -> tuple[Array, Array]:
    xp = namespace_of(rows)
    gram = rows @ rows.T
    if free is None:
        values, basis = xp.linalg.eigh(gram)
    else:
        mirror = _mirror(free)
        values, inner = xp.linalg.eigh(_reflected(_reflected(gram, mirror).T, mirror)[1:, 1:])
        basis = _reflected(_below(inner), mirror)
    return basis, xp.where(values > 0, values, xp.zeros_like(values))


def _by_svd(rows: Array, free: Any) -> tuple[Array, Array]:
    xp = namespace_of(rows)
    mirror = None if free is None else _mirror(free)
    inside = rows if mirror is None else _reflected(rows, mirror)[1:, :]
    basis, s, _ = xp.linalg.svd(inside, full_matrices=False)
    tol = 10.0 * max(inside.shape) * float(xp.finfo(s.dtype).eps)
    s = xp.where(s > tol * (s[0] if s.shape[0] else 0.0), s, xp.zeros_like(s))
    return basis if mirror is None else _reflected(_below(basis), mirror), s * s


def _mirror(free: Array) -> Array:
    """Return the unit vector v of the reflection I - 2 v vᵀ that turns `free` into the first axis."""
    xp = namespace_of(free)
    first = xp.concat([xp.ones_like(free[:1]), xp.zeros_like(free[1:])])
    # The sign that does not cancel.
    v = free + xp.where(free[0] < 0, -first, first)
    return v / xp.sqrt(xp.sum(v * v))


def _reflected(a: Array, v: Array) -> Array:
    return a - 2.0 * v[:, None] * (v @ a)[None, :]


def _below(a: Array) -> Array:
    """Put a line of zeros on top."""
    xp = namespace_of(a)
    return xp.concat([xp.zeros_like(a[:1, :]) if a.shape[0] else a[:0, :], a])
