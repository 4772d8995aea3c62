"""See `tractable.primitives.linear_binning`."""

import numpy as np
from numba import njit

__all__ = ["linear_binning"]


@njit(nogil=True, cache=True, error_model="numpy")
def linear_binning(x: np.ndarray, weights: np.ndarray, low: float, step: float, n: int) -> np.ndarray:
    """See `tractable.primitives.linear_binning.linear_binning`; empty weights are ones."""
    masses = np.zeros(n)
    for i in range(len(x)):
        place = (x[i] - low) / step
        k = min(max(int(place), 0), n - 2)
        share = place - k
        w = weights[i] if weights.size else 1.0
        masses[k] += w * (1.0 - share)
        masses[k + 1] += w * share
    return masses
