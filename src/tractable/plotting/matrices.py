"""Covariance matrices as ellipses."""

from typing import Any

import numpy as np

__all__ = ["edge", "radius_holding"]


def edge(mean: Any, covariance: Any, radius: float, n: int = 120) -> np.ndarray:
    """Return the points (n, 2) at a Mahalanobis distance from a mean."""
    angle = np.linspace(0, 2 * np.pi, n)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    # By columns of their own scale: a covariance of entries far apart has no factor otherwise.
    scale = np.sqrt(np.diagonal(covariance))
    scale = np.where(scale > 0.0, scale, 1.0)
    unit = np.asarray(covariance) / scale / scale[:, None]
    values, vectors = np.linalg.eigh(unit)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(mean) + radius * (circle @ root.T) * scale


def radius_holding(coverage: float) -> float:
    """Return the Mahalanobis radius of the ellipse that holds a Gaussian pair with a probability."""
    return float(np.sqrt(-2.0 * np.log1p(-coverage)))  # the squared radius is exponential
