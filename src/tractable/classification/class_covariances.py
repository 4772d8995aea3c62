"""Covariances of classes: one within all, or one for each; shrunk where asked."""

from typing import Any

import numpy as np

from tractable.base import NotYetDetermined
from tractable.classification.shrinkage import ledoit_wolf, shrunk
from tractable.statistics import ByClass, Moments

__all__ = ["LEAST_SHARE", "own_covariances", "pooled_covariance", "scatter_over"]

#: The share of each variance that is added to a singular covariance: ten digits of answers are left.
LEAST_SHARE = 2.0**-20


def pooled_covariance(
    moments: Moments, statistic: ByClass, shrinkage: Any, ddof: float
) -> tuple[np.ndarray, Any]:
    """Return Σ_k S_k / (n - ddof), and how far it was shrunk; with "auto" every class by itself."""
    weight = moments.weight.sum()
    scatter = moments.scatter.sum(axis=0)
    if shrinkage == "auto":
        found = [ledoit_wolf(part) for part in statistic.parts]
        scatter = sum(part.weight * matrix for part, (matrix, _) in zip(statistic.parts, found, strict=True))
        shares = np.zeros(len(moments.weight))
        shares[moments.weight > 0] = [share for _, share in found]
        return scatter_over(scatter, weight, ddof), shares
    matrix = scatter_over(scatter, weight, ddof)
    return (matrix, 0.0) if shrinkage is None else (shrunk(matrix, shrinkage), float(shrinkage))


def own_covariances(
    moments: Moments, statistic: ByClass, shrinkage: Any, ddof: float
) -> tuple[np.ndarray, Any]:
    """Return S_k / (n_k - ddof) of every class, and how far they were shrunk.

    The covariance of all rows stands for that of a class without rows.
    """
    seen = moments.weight > 0
    scatters = zip(moments.scatter[seen], moments.weight[seen], strict=True)
    matrices = np.broadcast_to(_of_all(moments, ddof), moments.scatter.shape).copy()
    if shrinkage == "auto":
        found = [ledoit_wolf(part) for part in statistic.parts]
        shares = np.zeros(len(seen))
        shares[seen] = [share for _, share in found]
        matrices[seen] = [
            scatter_over(part.weight * matrix, float(part.weight), ddof)
            for part, (matrix, _) in zip(statistic.parts, found, strict=True)
        ]
        return matrices, shares
    matrices[seen] = [scatter_over(s, w, ddof) for s, w in scatters]
    if shrinkage is None:
        return matrices, 0.0
    return np.stack([shrunk(matrix, shrinkage) for matrix in matrices]), float(shrinkage)


def _of_all(moments: Moments, ddof: float) -> np.ndarray:
    """Return the covariance of all rows, whatever their class; zeros where no class wants for it."""
    if np.all(moments.weight > 0):
        return np.zeros(moments.scatter.shape[1:])
    step = moments.mean - moments.mean[int(np.argmin(moments.weight))]  # that of a class without rows: of all
    scatter = moments.scatter.sum(axis=0) + (moments.weight * step.T) @ step
    return scatter_over(scatter, float(moments.weight.sum()), ddof)


def scatter_over(scatter: np.ndarray, weight: float, ddof: float) -> np.ndarray:
    """Return scatter / (weight - ddof); rows that are too few have no scatter, or no covariance yet."""
    rest = weight - ddof
    if rest <= 0 and np.any(scatter != 0):
        raise NotYetDetermined(f"ddof={ddof} needs a total weight of X above it, got {weight:g}")
    return scatter / (rest if rest > 0 else 1.0)
