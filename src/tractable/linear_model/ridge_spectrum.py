"""Ridge regression for many penalties at once: one decomposition of the columns serves them all."""

from collections.abc import Callable
from typing import Any

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.engines.least_squares import column_lengths
from tractable.linear_model.noise_floor import without_rounding
from tractable.linear_model.placement import Placement
from tractable.linear_model.ridge_dual import SAFE, left_over
from tractable.linear_model.ridge_solution import PrimalSpread, RidgeSolution
from tractable.statistics import LinearFactor, Moments
from tractable.statistics.rows import as_rows
from tractable.value import value

__all__ = ["LeftOutErrors", "PrimalSpectrum"]

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
