"""Ridge regression with fewer rows than columns: everything happens in the space of the rows."""

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of
from tractable.data.blocks import tree_sum
from tractable.engines import least_squares
from tractable.engines.least_squares import column_lengths
from tractable.linear_model.noise_floor import without_rounding
from tractable.linear_model.ridge.solution import DualSpread, Placement, PrimalSpread, RidgeSolution, place
from tractable.primitives.linear import triangle
from tractable.primitives.threads import ordered_map
from tractable.statistics import LinearFactor, Moments
from tractable.statistics.rows import as_rows
from tractable.value import value

__all__ = [
    "SAFE",
    "DualSpectrum",
    "LeftOutErrors",
    "PrimalSpectrum",
    "column_sums",
    "dual_spectrum",
    "left_over",
    "penalised_rows",
    "ridge",
]

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


#: A leverage this near to one leaves nothing to predict a row from.
NOTHING = 1e-13


@value
class LeftOutErrors:
    """Sums over rows, for every penalty: a statistic, which adds up over blocks.

    Parameters
    ----------
    squares : array (k,)
        Of the errors of rows left out, averaged over the targets.
    fourths : array (k,)
        Of the squares of those averages.
    residual : array (t, k)
        Of the residuals of rows left in.
    """

    squares: Array
    fourths: Array
    residual: Array

    def __add__(self, other: "LeftOutErrors") -> "LeftOutErrors":
        return LeftOutErrors(
            squares=self.squares + other.squares,
            fourths=self.fourths + other.fourths,
            residual=self.residual + other.residual,
        )

    @classmethod
    def of(cls, residuals: Array, stays: Array, least: float, weights: Array | None) -> "LeftOutErrors":
        """Sum the squares of residuals (n, t, k), and of those over what stays, 1 - leverage (n, k).

        Where no more than `least` stays, a row alone holds a direction of the plane and cannot be predicted.
        """
        xp = namespace_of(residuals)
        known = stays > least
        all_known = bool(xp.all(known))
        out = residuals / (stays if all_known else xp.where(known, stays, 1.0))[:, None, :]
        out = out * out
        out = xp.mean(out, axis=1) if out.shape[1] > 1 else out[:, 0, :]
        out = out if all_known else xp.where(known, out, xp.inf)
        one = xp.ones_like(out[:, 0]) if weights is None else weights
        shape = tuple(residuals.shape)
        squared = xp.reshape(residuals * residuals, (shape[0], -1))
        return cls(
            squares=one @ out, fourths=one @ (out * out), residual=xp.reshape(one @ squared, shape[1:])
        )


@value
class PrimalSpectrum:
    """The penalised columns A = U diag(s) Vᵀ, of which the answers for all penalties follow.

    Parameters
    ----------
    basis : array (p, p)
        V.
    singular : array (p,)
        s; zero in directions in which the columns do not vary.
    turned : array (p, t)
        Uᵀ y of the targets.
    beyond : array (t,)
        Squares of the targets that no plane can reach.
    placement : Placement
    weight : float
    """

    basis: Array
    singular: Array
    turned: Array
    beyond: Array
    placement: Placement
    weight: float

    @classmethod
    def of_factor(cls, statistic: LinearFactor, placement: Placement) -> "PrimalSpectrum":
        """Decompose the triangular factor of the rows: nothing is squared."""
        factor = placement.factor(statistic)
        xp = namespace_of(factor)
        p = factor.shape[1] - statistic.n_targets
        u, s, vt = xp.linalg.svd(factor[:, :p], full_matrices=False)
        seen = s > 10.0 * p * float(xp.finfo(s.dtype).eps) * s[0]
        turned = xp.where(seen[:, None], u.T @ factor[:, p:], 0.0)
        return cls(
            basis=vt.T,
            singular=xp.where(seen, s, 0.0),
            turned=turned,
            beyond=column_lengths(factor[:, p:] - u @ turned) ** 2,
            placement=placement,
            weight=float(statistic.weight),
        )

    @classmethod
    def of_moments(
        cls, moments: Moments, placement: Placement, least_alpha: float
    ) -> "PrimalSpectrum | None":
        """Decompose the scatter of centred rows; None where the smallest penalty leaves too few digits."""
        xp = namespace_of(moments.scatter)
        p = placement.centre.shape[0]
        if not bool(xp.all(xp.isfinite(moments.scatter))):
            return None
        values, basis = xp.linalg.eigh(moments.scatter[:p, :p])
        if (
            not 0.0 < float(values[-1]) <= SAFE * (float(values[0]) + least_alpha)
            or not float(values[0]) > 0.0
        ):
            return None
        s = xp.sqrt(values)
        turned = (basis.T @ moments.scatter[:p, p:]) / s[:, None]
        beyond = xp.linalg.diagonal(moments.scatter[p:, p:]) - xp.sum(turned**2, axis=0)
        return cls(
            basis=basis,
            singular=s,
            turned=turned,
            beyond=xp.where(beyond > 0, beyond, xp.zeros_like(beyond)),
            placement=placement,
            weight=float(moments.weight),
        )

    @property
    def lengths(self) -> Array:
        """Lengths of the targets, less their offsets, (t,)."""
        xp = namespace_of(self.turned)
        return xp.hypot(column_lengths(self.turned), xp.sqrt(self.beyond))

    @property
    def unit(self) -> float:
        """Root mean square of the largest target, less its offset, or one: the unit of errors left out."""
        return float(namespace_of(self.turned).max(self.lengths)) / self.weight**0.5 or 1.0

    def left_out(self, alphas: Array) -> Callable[..., LeftOutErrors]:
        """Return what sums the errors of rows left out, (y - ŷ) / (1 - h), for all penalties, in `unit`.

        Fitted values and leverages are two products of the rows in the basis V: with V s/(s² + α) Uᵀy, and,
        squared, with 1/(s² + α). A row that counts several times is left out once; one that counts less
        than once is left out whole.
        """
        xp = namespace_of(alphas)
        # The rows themselves have nothing but rounding in directions that were not seen.
        inverse = xp.where(self.singular[:, None] > 0, self._inverse(alphas), 0.0)
        shrunk = (self.singular[:, None] * self.turned)[:, :, None] * inverse[:, None, :]
        shrunk = xp.reshape(shrunk, (shrunk.shape[0], -1)) / self.unit
        located, unit = self.placement.n_located / self.weight, self.unit

        def of(x: Any, y: Any, weights: Any = None) -> LeftOutErrors:
            z = self.placement.columns(as_rows(x)) @ self.basis
            y = xp.astype(xp.asarray(y), xp.float64)
            y = ((y[:, None] if y.ndim == 1 else y) - self.placement.offset) / unit
            fitted = xp.reshape(z @ shrunk, (*y.shape, alphas.shape[0]))
            leverage = (z * z) @ inverse
            if weights is None:
                stays = (1.0 - located) - leverage
            else:
                stays = 1.0 - (located + leverage) * xp.minimum(weights, xp.ones_like(weights))[:, None]
            return LeftOutErrors.of(y[:, :, None] - fitted, stays, NOTHING, weights)

        return of

    def squares(self, alphas: Array) -> tuple[Array, Array]:
        """Return sums of squared residuals (t, k), and n - Tr H (k,), for every penalty."""
        xp = namespace_of(alphas)
        share = left_over(self.singular**2, alphas)
        absent = self.weight - self.placement.n_located - share.shape[0]
        return self.beyond[:, None] + (self.turned.T**2) @ (share**2), absent + xp.sum(share, axis=0)

    def solution(self, alpha: float, residual: Array) -> RidgeSolution:
        """Return the solution for one penalty, w = V s/(s² + α) Uᵀy."""
        xp = namespace_of(self.basis)
        inverse = self._inverse(xp.asarray([alpha], dtype=self.basis.dtype, device=device(self.basis)))[:, 0]
        gain = self.singular * inverse
        coef, intercept = self.placement.split(self.basis @ (gain[:, None] * self.turned))
        return RidgeSolution(
            coef=coef,
            intercept=intercept,
            residual=without_rounding(residual, self.lengths, self.placement.offset, self.weight),
            weight=self.weight,
            alpha=alpha,
            effective_dof=self.placement.n_located + float(xp.sum(self.singular * gain)),
            placement=self.placement,
            spread=PrimalSpread(factor=self.basis * xp.sqrt(inverse)),
        )

    def _inverse(self, alphas: Array) -> Array:
        """Return 1 / (s² + α), (p, k); nothing where both are zero."""
        xp = namespace_of(alphas)
        total = self.singular[:, None] ** 2 + alphas
        return xp.where(total > 0, 1.0 / xp.where(total > 0, total, 1.0), 0.0)


def ridge(
    statistic: LinearFactor, alpha: float, *, fit_intercept: bool = True, penalize_intercept: bool = False
) -> RidgeSolution:
    """Solve ridge regression from the statistic of the rows.

    A penalty is rows √α I under the factor, with targets zero: the QR of both has only the condition of the
    columns, not its square. A statistic that holds fewer rows than columns is solved in the space of its
    rows.

    Parameters
    ----------
    statistic : LinearFactor
    alpha : float
    fit_intercept : bool
    penalize_intercept : bool

    Examples
    --------
    >>> import numpy as np
    >>> rows = LinearFactor.of([[-1.0], [0.0], [1.0]], [-2.0, 0.0, 2.0])
    >>> ridge(rows, 2.0).coef
    array([[1.]])
    """
    placement = place(
        statistic.mean,
        statistic.n_targets,
        fit_intercept=fit_intercept,
        penalize_intercept=penalize_intercept,
    )
    factor = placement.factor(statistic)
    p = factor.shape[1] - statistic.n_targets
    weight = float(statistic.weight)
    if alpha > 0.0 and factor.shape[0] < p:
        return dual_spectrum(factor[:, :p], factor[:, p:], placement, weight, alpha).solution(alpha)
    xp = namespace_of(factor)
    mean = statistic.mean if placement.n_located else xp.zeros_like(factor[0, :])
    fit = least_squares(
        LinearFactor(
            weight=statistic.weight,
            mean=mean,
            factor=_penalised(factor, p, alpha),
            n_targets=statistic.n_targets,
        )
    )
    coef, intercept = placement.split(fit.coef.T)
    left = factor[:, p:] - factor[:, :p] @ fit.coef.T
    with np.errstate(over="ignore"):  # targets beyond 1e154 have a plane, and squares that are infinite
        squares = xp.sum(left**2, axis=0)
    return RidgeSolution(
        coef=coef,
        intercept=intercept,
        residual=without_rounding(
            fit.residual if alpha == 0.0 else squares, column_lengths(factor[:, p:]), placement.offset, weight
        ),
        weight=weight,
        alpha=alpha,
        effective_dof=placement.n_located + float(xp.sum((factor[:, :p] @ fit.spread) ** 2)),
        placement=placement,
        spread=PrimalSpread(factor=fit.spread),
    )


def _penalised(factor: Array, p: int, alpha: float) -> Array:
    """Return the triangular factor of the rows and of √α I below them."""
    if alpha == 0.0:
        return factor
    xp = namespace_of(factor)
    rows = alpha**0.5 * xp.eye(p, factor.shape[1], dtype=factor.dtype, device=device(factor))
    return triangle(xp.concat([factor, rows]))
