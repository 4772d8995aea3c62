"""Covariance estimates shrunk towards simpler ones, for few rows or many columns."""

import numpy as np

from tractable.statistics.moments import FourthMoments, over


def shrunk(matrix: np.ndarray, shrinkage: float) -> np.ndarray:
    """Return (1 - s) Σ + s (tr Σ / d) I, which has the same mean variance."""
    return (1.0 - shrinkage) * matrix + shrinkage * np.mean(np.diagonal(matrix)) * np.eye(len(matrix))


def ledoit_wolf(statistic: FourthMoments) -> tuple[np.ndarray, float]:
    """Return the maximum-likelihood covariance with its correlations shrunk, and the shrinkage.

    The shrinkage is that of least expected squared error (Ledoit and Wolf 2004) for standardized columns, so
    that it does not depend on their units: the estimated squared error of the correlations over their squared
    distance from the identity. Both follow from sums of products of squares, which one pass over the rows
    gives.
    """
    moments, n = statistic.moments, float(statistic.weight)
    covariance = moments.scatter / n
    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    varies = deviation > 0
    per = over(1.0, deviation)
    correlation = covariance * per[:, None] * per
    scales = over(statistic.scale, deviation) ** 2
    squares = float(np.sum(statistic.fourth * scales[:, None] * scales)) / n
    target = np.sum(varies) / len(varies)
    length = float(np.sum(correlation**2))
    distance = length - len(varies) * target**2
    error = (squares - length) / n
    # Columns that are uncorrelated up to rounding are left alone.
    some = distance > 16.0 * np.finfo(np.float64).eps * length
    shrinkage = float(np.clip(error / distance, 0.0, 1.0)) if some else 0.0
    found = (1.0 - shrinkage) * correlation + shrinkage * target * np.eye(len(varies))
    return found * deviation[:, None] * deviation, shrinkage
