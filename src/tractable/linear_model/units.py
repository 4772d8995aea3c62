"""The units in which the precisions of prior and noise are near one, whatever those of the data are."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.engines.least_squares import column_lengths
from tractable.linear_model.noise_floor import ROUNDING
from tractable.statistics import LinearFactor
from tractable.value import replace, value

__all__ = ["Units"]


@value
class Units:
    """Sizes of the columns and of the target.

    Parameters
    ----------
    columns : array (d,)
        Root mean square of each column, or of all of them; one where it is zero.
    target : float
        Standard deviation of the target; of a constant one its size, or one.
    """

    columns: Array
    target: float

    @classmethod
    def of(cls, statistic: LinearFactor, *, fit_intercept: bool, common: bool) -> "Units":
        """Measure rows, about their mean where there is an intercept; with `common`, all columns as one."""
        xp = namespace_of(statistic.mean)
        d, root = statistic.dim, float(statistic.weight) ** 0.5
        spread, mean = column_lengths(statistic.factor) / root, xp.abs(statistic.mean)
        sizes = (spread if fit_intercept else xp.hypot(spread, mean))[:d]
        if common:
            sizes = xp.ones_like(sizes) * column_lengths(sizes[:, None]) / d**0.5
        square = float(xp.hypot(spread[d], mean[d]))
        target = float(spread[d])
        return cls(
            columns=xp.where(sizes > 0, sizes, xp.ones_like(sizes)),
            target=target if target > ROUNDING * square else square or 1.0,
        )

    def without(self, statistic: LinearFactor) -> LinearFactor:
        """Return what the statistic of rows and targets in these units would be."""
        xp = namespace_of(statistic.mean)
        sizes = xp.concat([self.columns, xp.full_like(self.columns[:1], self.target)])
        return replace(statistic, mean=statistic.mean / sizes, factor=statistic.factor / sizes)

    def prior(self, precision: Any) -> Array:
        """Return the precision of every coefficient in the units of the data, (d,)."""
        with np.errstate(over="ignore", under="ignore"):
            return self._checked(precision * (self.columns / self.target) ** 2)

    def noise(self, precision: float) -> float:
        """Return the precision of the noise in the units of the data."""
        xp = namespace_of(self.columns)
        inverse = xp.ones_like(self.columns[:1]) / self.target
        with np.errstate(over="ignore", under="ignore"):
            return float(self._checked(precision * inverse**2)[0])

    def _checked(self, precisions: Array) -> Array:
        xp = namespace_of(precisions)
        if not bool(xp.all((precisions > 1e-307) & (precisions < 1e307))):
            raise ValueError(
                f"X and y must be in units nearer to one: of sizes up to {float(xp.max(self.columns)):.1g} "
                f"and of {self.target:.1g}, their precisions are no floating-point numbers"
            )
        return precisions
