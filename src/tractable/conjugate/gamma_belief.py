"""Belief about a rate, Gamma(shape, rate), as symbols that data add to."""

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.special import digamma, gammaln
from tractable.arrays.trigamma import trigamma

__all__ = ["gamma_curvature", "gamma_log_normalizer", "gamma_slope"]


def gamma_log_normalizer(symbols: Array) -> Array:
    """Return log ∫ λ^(a-1) e^(-bλ) dλ = log Γ(a) - a log b, of (a, b) on the last axis."""
    shape, rate = symbols[..., 0], symbols[..., 1]
    return gammaln(shape) - shape * namespace_of(rate).log(rate)


def gamma_slope(symbols: np.ndarray) -> np.ndarray:
    """Return its derivatives by a and b: ψ(a) - log b and -a / b."""
    shape, rate = symbols[..., 0], symbols[..., 1]
    return np.stack([digamma(shape) - np.log(rate), -shape / rate], axis=-1)


def gamma_curvature(symbols: np.ndarray) -> np.ndarray:
    """Return its second derivatives: ψ′(a), -1 / b and a / b²."""
    shape, rate = symbols[..., 0], symbols[..., 1]
    across = -1.0 / rate
    first = np.stack([trigamma(shape), across], axis=-1)
    return np.stack([first, np.stack([across, shape / rate**2], axis=-1)], axis=-2)
