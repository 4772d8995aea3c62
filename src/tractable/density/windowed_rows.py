"""Rows and the windows on them, before anything is asked of the distribution they make."""

from functools import cached_property
from typing import Any

import numpy as np

from tractable.distributions import SmoothedEmpirical
from tractable.smoothing import WINDOWS
from tractable.value import value

__all__ = ["WindowedRows"]

#: Bandwidths whose squares, and those of their inverses, are ordinary numbers.
_SMALLEST, _LARGEST = 1e-140, 1e140


@value
class WindowedRows:
    """A copy of checked rows, a bandwidth and a domain; the distribution is built when first asked for.

    A density of many numbers on a grid reads them once: a fit for it should neither sort nor sum them.
    """

    points: np.ndarray  # (n, d)
    bandwidth: np.ndarray  # (d,) or (d, d)
    weights: np.ndarray | None
    window: Any
    bounds: Any
    period: Any
    names: tuple[str, ...] | None

    @property
    def plain(self) -> bool:
        """Whether these are numbers under a window of the library without a domain: nothing else to check."""
        h = self.bandwidth
        return (
            self.points.shape[1] == h.size == 1
            and self.bounds is None
            and self.period is None
            and isinstance(self.window, str)
            and self.window in WINDOWS
            and bool(_SMALLEST < h[0] < _LARGEST)
        )

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest of one column."""
        return float(self.points.min()), float(self.points.max())

    @cached_property
    def distribution(self) -> SmoothedEmpirical:
        """The rows, smoothed."""
        return SmoothedEmpirical(
            points=self.points,
            bandwidth=self.bandwidth,
            weights=self.weights,
            window=self.window,
            bounds=self.bounds,
            period=self.period,
            names=self.names,
        )

    @cached_property
    def numbers(self) -> Any:
        """The same of one column, as a distribution of numbers."""
        return self.distribution.as_univariate()
