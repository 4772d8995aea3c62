"""Where distances are measured: rows about their mean, in units of their spread."""

import math
from typing import Any

import numpy as np

from tractable.engines import fold
from tractable.statistics import DiagonalMoments
from tractable.value import value

__all__ = ["Frame", "frame_about", "frame_of"]


@value
class Frame:
    """A shift and one scale for all columns, so that distances keep their order.

    Both are chosen so that whole numbers stay exact: the shift is the mean, rounded to a fraction of the
    spread, and the scale a power of two.
    """

    shift: np.ndarray  # (d,)
    scale: float
    variance: float = 1.0  # of a column on average, in these units

    def inside(self, points: np.ndarray) -> np.ndarray:
        """Return points of the data's space in this frame."""
        return (np.asarray(points, dtype=np.float64) - self.shift) * self.scale

    def outside(self, points: np.ndarray) -> np.ndarray:
        """Return points of this frame in the data's space."""
        return points / self.scale + self.shift


def frame_about(mean: np.ndarray, variances: np.ndarray) -> Frame:
    """Return the frame of columns with these means and variances.

    Examples
    --------
    >>> frame = frame_about(np.array([100.3]), np.array([9.0]))
    >>> frame.shift.tolist(), frame.scale
    ([100.25], 0.5)
    """
    size = math.sqrt(float(np.mean(variances)))
    # The square of the scale must be a number too.
    scale = 2.0 ** -min(max(math.floor(math.log2(size)), -500), 500) if size > 0.0 else 1.0
    grid = 0.125 / scale
    rounded = np.round(mean / grid) * grid
    shift = np.where(np.isfinite(rounded), rounded, mean)
    return Frame(shift=shift, scale=scale, variance=float(np.mean(variances * scale * scale)))


def frame_of(data: Any, weights: Any = None) -> Frame:
    """Return the frame of rows held in memory or in a stream; NaN is refused."""
    if weights is not None and np.any(weights):
        # The frame is the same, and no weight so small that squares are lost.
        weights = np.ldexp(weights, -int(np.frexp(np.max(weights))[1]))
    moments = fold(_moments, data, weights=weights)
    if not float(moments.total) > 0.0:
        raise ValueError("sample_weight must have a positive entry, all are zero")
    return frame_about(moments.mean, moments.scatter / float(moments.total))


def _moments(x: np.ndarray, weights: np.ndarray | None = None) -> DiagonalMoments:
    """Return the moments of the rows that count."""
    # A sum is infinite or NaN where an entry is, and seldom otherwise.
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = not np.isfinite(np.sum(x))
    if suspect and not np.all(np.isfinite(x)):
        raise ValueError("X contains NaN or infinity, and k-means has no place for missing values")
    if weights is None or np.all(weights > 0.0):
        return DiagonalMoments.of(x, weights)
    return DiagonalMoments.of(x[weights > 0.0], weights[weights > 0.0])
