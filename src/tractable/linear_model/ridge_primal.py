"""Ridge regression with at least as many rows as columns: from the triangular factor of the rows."""

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.engines import least_squares
from tractable.engines.least_squares import column_lengths
from tractable.linear_model.noise_floor import without_rounding
from tractable.linear_model.placement import place
from tractable.linear_model.ridge_dual import dual_spectrum
from tractable.linear_model.ridge_solution import PrimalSpread, RidgeSolution
from tractable.primitives.linear import triangle
from tractable.statistics import LinearFactor

__all__ = ["ridge"]


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
