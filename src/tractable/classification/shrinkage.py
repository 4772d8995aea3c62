"""Covariances drawn towards simpler ones, where rows are few for their columns."""

from typing import Any

import numpy as np

from tractable.base import check_number
from tractable.statistics.moments import FourthMoments, over

__all__ = ["check_shrinkage", "ledoit_wolf", "shrunk"]


def check_shrinkage(shrinkage: Any) -> None:
    """Refuse what is neither None, "auto" nor a share."""
    if shrinkage is None or (isinstance(shrinkage, str) and shrinkage == "auto"):
        return
    if isinstance(shrinkage, str):
        raise ValueError(f"shrinkage must be None, 'auto' or a number from 0 to 1, got {shrinkage!r}")
    check_number("shrinkage", shrinkage, least=0.0, most=1.0)


def shrunk(matrix: np.ndarray, share: float) -> np.ndarray:
    """Return (1 - s) Σ + s (tr Σ / d) I: the mean of the variances is kept.

    Examples
    --------
    >>> shrunk(np.array([[3.0, 1.0], [1.0, 1.0]]), 0.5).tolist()
    [[2.5, 0.5], [0.5, 1.5]]
    """
    return (1.0 - share) * matrix + share * np.mean(np.diagonal(matrix)) * np.eye(len(matrix))


def ledoit_wolf(statistic: FourthMoments) -> tuple[np.ndarray, float]:
    """Return the covariance of maximum likelihood with its correlations shrunk, and by what share.

    The share is the one of least expected squared error (Ledoit and Wolf 2004) for standardised columns, so
    that it does not depend on their units: the estimated error of the correlations over their distance from
    none. Both follow from sums of products of squares, which one pass over the rows gives.
    """
    moments, n = statistic.moments, float(statistic.weight)
    covariance = moments.scatter / n
    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    varies = deviation > 0
    per = over(1.0, deviation)
    correlation = covariance * per[:, None] * per
    in_units = over(statistic.unit, deviation) ** 2
    squares = float(np.sum(statistic.fourth * in_units[:, None] * in_units)) / n
    target = np.sum(varies) / len(varies)
    length = float(np.sum(correlation**2))
    distance = length - len(varies) * target**2
    error = (squares - length) / n
    # Columns without correlations, but for rounding, have nothing that could be drawn in.
    some = distance > 16.0 * np.finfo(np.float64).eps * length
    share = float(np.clip(error / distance, 0.0, 1.0)) if some else 0.0
    drawn = (1.0 - share) * correlation + share * target * np.eye(len(varies))
    return drawn * deviation[:, None] * deviation, share
