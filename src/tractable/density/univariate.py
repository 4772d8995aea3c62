"""The distribution function and quantiles of a fitted density of one column."""

from typing import Any

from tractable.arrays.namespace import Array
from tractable.base import check_columns
from tractable.base.by_blocks import by_blocks


class UnivariateMixin:
    """`cdf`, `icdf` and `interval` of a density that was fitted to one column."""

    def _univariate(self) -> Any:
        """Return the fitted distribution of one column as a distribution of numbers."""
        density: Any = self._density()  # type: ignore[attr-defined]
        if density.dim != 1:
            raise ValueError(f"X has {density.dim} columns: distribution functions are of one")
        return density.as_univariate()

    @by_blocks
    def cdf(self, X: Any) -> Array:
        """Return the probability below each row of X (n_samples, 1)."""
        return self._univariate().cdf(check_columns(self, X)[:, 0])

    def icdf(self, q: Any) -> Array:
        """Return the quantiles of one column, of the shape of the probabilities q."""
        return self._univariate().icdf(q)

    def interval(self, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return the ends of the interval that holds one column with probability `coverage`."""
        return self._univariate().interval(coverage)
