"""Derivatives of log Γ(a) - a log b, which normalises a belief about a rate."""

import numpy as np

from tractable.arrays.gamma import trigamma
from tractable.arrays.special import digamma

__all__ = ["gamma_curvature", "gamma_slope"]


def gamma_slope(symbols: np.ndarray) -> np.ndarray:
    """Return ψ(a) - log b and -a / b, of (a, b) on the last axis."""
    shape, rate = symbols[..., 0], symbols[..., 1]
    return np.stack([digamma(shape) - np.log(rate), -shape / rate], axis=-1)


def gamma_curvature(symbols: np.ndarray) -> np.ndarray:
    """Return the second derivatives ψ′(a), -1 / b and a / b², (..., 2, 2)."""
    shape, rate = symbols[..., 0], symbols[..., 1]
    across = -1.0 / rate
    first = np.stack([trigamma(shape), across], axis=-1)
    return np.stack([first, np.stack([across, shape / rate**2], axis=-1)], axis=-2)
