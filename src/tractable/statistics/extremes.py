"""The smallest and the largest entry of each column."""

from typing import Any

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.statistics.rows import Statistic, as_rows, as_weights, counts
from tractable.value import value


@value
class Extremes(Statistic):
    """Weight, least and greatest entry of each column: everything a uniform distribution needs of the data.

    Forgetting lowers the weight alone: what was seen stays possible.

    Parameters
    ----------
    weight : float
        Total weight of the rows; rows without weight are not looked at.
    low, high : arrays of shape (d,)
        Infinite, and the wrong way round, where no row was seen.

    Examples
    --------
    >>> s = Extremes.of([[1.0], [4.0]]) + Extremes.of([[-2.0]])
    >>> s.low.tolist(), s.high.tolist()
    ([-2.0], [4.0])
    """

    weight: Any
    low: Array
    high: Array

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "Extremes":
        """Summarise a block of rows."""
        x = as_rows(x)
        xp = namespace_of(x)
        if weights is None and x.shape[0]:
            return cls._of_all(x)
        if not bool(xp.all(xp.isfinite(x))):
            raise ValueError("X contains NaN or infinity; remove the rows")
        one = counts(as_weights(weights, x), x)
        seen = (one > 0)[:, None]
        bound = xp.full((1, x.shape[1]), xp.inf, dtype=x.dtype, device=device(x))
        return cls(
            weight=xp.sum(one),
            low=xp.min(xp.concat([xp.where(seen, x, xp.full_like(x, xp.inf)), bound]), axis=0),
            high=xp.max(xp.concat([xp.where(seen, x, xp.full_like(x, -xp.inf)), -bound]), axis=0),
        )

    @classmethod
    def _of_all(cls, x: Array) -> "Extremes":
        """Summarise rows that all count: NaN and infinity are among the extremes, if anywhere."""
        xp = namespace_of(x)
        # A single column is read fastest as one row of numbers.
        columns, axis = (xp.reshape(x, (1, -1)), 1) if x.shape[1] == 1 else (x, 0)
        low, high = xp.min(columns, axis=axis), xp.max(columns, axis=axis)
        if not bool(xp.all(xp.isfinite(low) & xp.isfinite(high))):
            raise ValueError("X contains NaN or infinity; remove the rows")
        n = xp.full(1, float(x.shape[0]), dtype=x.dtype, device=device(x))
        return cls(weight=xp.sum(n), low=low, high=high)

    @property
    def dim(self) -> int:
        """Number of columns."""
        return int(self.low.shape[-1])

    def _merged(self, other: "Extremes") -> "Extremes":
        """Merge: the lower of the least, the higher of the greatest."""
        xp = namespace_of(self.low)
        return Extremes(
            weight=self.weight + other.weight,
            low=xp.minimum(self.low, other.low),
            high=xp.maximum(self.high, other.high),
        )
