"""Where a penalised plane may lie: moved freely, through the origin, or moved at a price."""

from typing import Any

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.primitives.linear import triangle
from tractable.statistics import LinearFactor
from tractable.value import value

__all__ = ["Placement", "place"]


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
