"""Ridge regression with fewer rows than columns: everything happens in the space of the rows."""

from collections import deque
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of
from tractable.data.blocks import tree_sum
from tractable.engines.least_squares import column_lengths
from tractable.engines.threads import ordered_map
from tractable.linear_model.noise_floor import without_rounding
from tractable.linear_model.placement import Placement
from tractable.linear_model.ridge_solution import DualSpread, RidgeSolution
from tractable.value import value

__all__ = ["SAFE", "DualSpectrum", "column_sums", "dual_spectrum", "left_over", "penalised_rows"]

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

    @property
    def unit(self) -> float:
        """Root mean square of the largest target, or one: the unit of errors left out."""
        xp = namespace_of(self.turned)
        return float(xp.max(column_lengths(self.turned))) / self.weight**0.5 or 1.0

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
            residual=without_rounding(
                squares[:, 0], column_lengths(self.turned), self.placement.offset, self.weight
            ),
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
        The unit vector along which a free intercept moves the rows; what `rows` and `y` have along it is
        rounding, and is left out.
    """
    basis, values = _by_gram(rows, free)
    if values.shape[0] and not float(values[-1]) <= SAFE * (float(values[0]) + least_alpha):
        basis, values = _by_svd(rows, free)
    if free is not None:
        # What was decomposed are the rows reflected, so that `free` is the first axis, and without that.
        basis = _reflected(namespace_of(basis).concat([0.0 * basis[:1, :], basis]), free)
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
    gram = _gram(rows)
    if not bool(xp.all(xp.isfinite(gram))):
        raise ValueError("X must be in units nearer to one: its squares overflow")
    if free is not None:
        gram = _reflected(_reflected(gram, free).T, free)[1:, 1:]
    values, basis = xp.linalg.eigh(gram)
    return basis, xp.where(values > 0, values, xp.zeros_like(values))


def _by_svd(rows: Array, free: Any) -> tuple[Array, Array]:
    xp = namespace_of(rows)
    rows = rows if free is None else _reflected(rows, free)[1:, :]
    basis, s, _ = xp.linalg.svd(rows, full_matrices=False)
    tol = 10.0 * max(rows.shape) * float(xp.finfo(s.dtype).eps) * (float(s[0]) if s.shape[0] else 0.0)
    s = xp.where(s > tol, s, xp.zeros_like(s))
    return basis, s * s


def _reflected(rows: Array, free: Array) -> Array:
    """Return the rows in the mirror that swaps a unit vector and the first axis (Householder)."""
    xp = namespace_of(rows)
    sign = 1.0 if float(free[0]) >= 0.0 else -1.0
    mirror = xp.concat([free[:1] + sign, free[1:]])
    return rows - mirror[:, None] * ((mirror @ rows) / (1.0 + abs(float(free[0]))))[None, :]


def _gram(rows: Array) -> Array:
    """Return A Aᵀ: the sum over blocks of columns, on all cores."""
    if not is_numpy_array(rows):
        return rows @ rows.T
    return tree_sum(ordered_map(lambda part: _squared(rows[:, part]), _column_blocks(rows)))


def column_sums(rows: Array, weights: Array) -> Array:
    """Return wᵀ A, by blocks of columns on all cores."""
    if not is_numpy_array(rows):
        return weights @ rows
    return np.concatenate(list(ordered_map(lambda part: weights @ rows[:, part], _column_blocks(rows))))


def penalised_rows(x: Array, placement: Placement, root: Array | None) -> Array:
    """Return the penalised columns of rows, times the roots of their weights; centred on all cores."""
    if placement.ones or not is_numpy_array(x):
        moved = placement.columns(x)
        return moved if root is None else moved * root[:, None]
    moved = np.empty(x.shape)

    def centre(part: slice) -> None:
        np.subtract(x[:, part], placement.centre[part], out=moved[:, part])
        if root is not None:
            moved[:, part] *= root[:, None]

    deque(ordered_map(centre, _column_blocks(x)), maxlen=0)
    return moved


def _column_blocks(x: Array) -> list[slice]:
    step = max(512, -(-x.shape[1] // 16))
    return [slice(a, a + step) for a in range(0, x.shape[1], step)]


def _squared(part: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        return part @ part.T
