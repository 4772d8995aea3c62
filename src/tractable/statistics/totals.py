"""Weight and sum of columns of counts."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.statistics.rows import as_weights, check_rate, counts
from tractable.statistics.whole_numbers import as_whole_numbers
from tractable.value import value

__all__ = ["Totals"]


@value
class Totals:
    """Weight of the rows and weighted sum of each column of counts.

    Everything that Bernoulli, binomial, multinomial and Poisson distributions need to know about the data.

    Parameters
    ----------
    weight : float
        Total weight of the rows; the number of rows where none were given.
    total : array of shape (...)
        Sum of ``w x``, one for each column.

    Examples
    --------
    >>> s = Totals.of([[3, 0], [1, 4]]) + Totals.of([[2, 2]], weights=[10.0])
    >>> float(s.weight), s.total.tolist()
    (12.0, [24.0, 24.0])
    """

    weight: Any
    total: Array

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "Totals":
        """Summarise a block of counts, (n,) or (n, ...): whole numbers from 0 on."""
        x = as_whole_numbers(x)
        one = counts(as_weights(weights, x), x)
        xp = namespace_of(x)
        rows = xp.reshape(x, (x.shape[0], int(np.prod(x.shape[1:]))))
        return cls(weight=xp.sum(one), total=xp.reshape(one @ rows, tuple(x.shape[1:])))

    @classmethod
    def empty(cls, dim: int) -> "Totals":
        """Return the statistic of no rows of `dim` columns."""
        return cls.of(np.zeros((0, dim)))

    @property
    def dim(self) -> int:
        """Number of columns."""
        return int(np.prod(self.total.shape))

    @property
    def mean(self) -> Array:
        """Mean of each column; there must be rows."""
        if not float(self.weight) > 0.0:
            raise ValueError("a mean needs rows of positive weight, and there are none")
        return self.total / self.weight

    def __add__(self, other: "Totals") -> "Totals":
        """Merge: weights and sums add up."""
        if not isinstance(other, Totals):
            return NotImplemented
        if self.total.shape != other.total.shape:
            raise ValueError(
                f"cannot merge totals of columns {tuple(self.total.shape)} "
                f"and of columns {tuple(other.total.shape)}"
            )
        return Totals(weight=self.weight + other.weight, total=self.total + other.total)

    def discount(self, rate: float) -> "Totals":
        """Forget: the same means, believed `rate` times as strongly."""
        rate = check_rate(rate)
        return Totals(weight=self.weight * rate, total=self.total * rate)
