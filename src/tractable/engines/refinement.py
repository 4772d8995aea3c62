"""Least squares to the last digit: corrections from residuals that are computed in twice the digits."""

from typing import Any

from tractable.arrays.double_double import Pair, dd_add, dd_multiply, dd_sum
from tractable.arrays.namespace import Array, as_float_array, namespace_of
from tractable.engines.fold import fold
from tractable.engines.least_squares import LeastSquares
from tractable.primitives.linear import residual_sums
from tractable.value import replace, value

__all__ = ["refine"]

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
