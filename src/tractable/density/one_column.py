"""Distribution functions of densities of one column."""

from typing import Any

from tractable.arrays.namespace import Array
from tractable.base import check_columns

__all__ = ["OneColumn"]


class OneColumn:
    """`cdf`, `icdf` and `interval` of a density that supplies `_numbers()`, its distribution of numbers."""

    def _numbers(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must give its distribution of numbers")

    def cdf(self, X: Any) -> Array:
        """Return the probability below each row of one column.

        Parameters
        ----------
        X : array or frame of shape (n_samples, 1)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._numbers().cdf(check_columns(self, X)[:, 0])

    def icdf(self, q: Any) -> Array:
        """Return the quantiles of one column, of the shape of the probabilities q."""
        return self._numbers().icdf(q)

    def interval(self, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return the ends of the interval that holds one column with probability `coverage`."""
        return self._numbers().interval(coverage)
