"""Derivatives of log Π Γ(α_k) / Γ(Σ α), which normalises beliefs about shares."""

import numpy as np

from tractable.arrays.gamma import trigamma
from tractable.arrays.special import digamma

__all__ = ["shares_curvature", "shares_slope"]


def shares_slope(alpha: np.ndarray) -> np.ndarray:
    """Return ψ(α_k) - ψ(Σ α), (..., K)."""
    slope: np.ndarray = digamma(alpha) - digamma(alpha.sum(axis=-1, keepdims=True))
    return slope


def shares_curvature(alpha: np.ndarray) -> np.ndarray:
    """Return ψ′(α_k) on the diagonal, less ψ′(Σ α) everywhere, (..., K, K)."""
    own = trigamma(alpha)[..., None] * np.eye(alpha.shape[-1])
    curvature: np.ndarray = own - trigamma(alpha.sum(axis=-1))[..., None, None]
    return curvature
