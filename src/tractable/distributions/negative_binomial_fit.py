"""Maximum likelihood of the shape of a negative binomial distribution."""

import numpy as np

from tractable.arrays.namespace import to_numpy
from tractable.arrays.saddle_point import deviance
from tractable.statistics.counts import Counts

__all__ = ["fitted_shape"]

_STEPS = 200
_LARGEST = 1e8


def fitted_shape(statistic: Counts) -> tuple[float, float]:
    """Return the shape and the mean that make the counts most probable.

    The mean is the sample's, m. The slope of the log likelihood in the shape is
    Σ_j N_j / (a + j) - n log(1 + m/a), N_j the weight of counts above j, and changes sign at most once: from
    plus to minus where the counts vary more than Poisson ones. The root is found by bisection in log a.
    """
    seen = to_numpy(statistic.counts)
    if seen.ndim != 1:
        raise ValueError(f"X must have shape (n,), got counts of shape {seen.shape}")
    total, k = seen.sum(), np.arange(len(seen))
    if not total > 0 or not seen[1:].any():
        raise ValueError("X must have a count above 0")
    mean = float(seen @ k / total)
    above = total - np.cumsum(seen)[:-1]

    def rises(shape: float) -> bool:
        # Less m/a on both sides: near the limit of large shapes the two almost cancel.
        left = np.sum(above * (-k[:-1] / (shape * (shape + k[:-1]))))
        t = mean / shape
        return bool(left > -total * float(deviance(np.array(1.0), np.array(1.0 + t), t - ((1.0 + t) - 1.0))))

    low, high = np.log(1e-8 * mean), np.log(_LARGEST * mean)
    if rises(float(np.exp(high))):
        return float(np.exp(high)), mean
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if rises(float(np.exp(middle))) else (low, middle)
    return float(np.exp(0.5 * (low + high))), mean
