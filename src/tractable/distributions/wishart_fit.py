"""Maximum likelihood for matrices: mean, mean log-determinant, and the degrees of freedom they imply."""

from math import exp, log
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.distributions.checks import check_finite, check_sample_weight
from tractable.distributions.matrices import factored

__all__ = ["as_matrices", "fitted_dof", "mean_and_log_det"]


def as_matrices(X: Any, sample_weight: Any, name: str = "X") -> tuple[Array, Array]:
    """Return matrices (n, d, d) and weights (n,) that add up to one."""
    X = as_reals("X", X)
    xp = namespace_of(X)
    if X.ndim != 3 or not X.shape[0] or X.shape[1] != X.shape[2]:
        raise ValueError(
            f"{name} must be matrices of shape (n, d, d) with n at least 1, got {tuple(X.shape)}"
        )
    check_finite(name, X)
    weights = check_sample_weight(sample_weight, X.shape[0], X)
    weights = xp.ones(X.shape[0], dtype=X.dtype, device=device(X)) if weights is None else weights
    return X, weights / xp.sum(weights)


def mean_and_log_det(X: Array, weights: Array, name: str = "X") -> tuple[Array, Array]:
    """Return the mean matrix and the mean log-determinant."""
    xp = namespace_of(X)
    lower, inside = factored(X)
    if not bool(xp.all(inside)):
        raise ValueError(f"{name} must be symmetric positive definite matrices")
    log_dets = 2.0 * xp.sum(xp.log(xp.linalg.diagonal(lower)), axis=-1)
    return xp.sum(weights[:, None, None] * X, axis=0), xp.sum(weights * log_dets)


def fitted_dof(mean_log_det: Array, log_det_mean: Array, like: Array) -> Array:
    """Return the ν that solves ψ_d(ν/2) - d log(ν/2) = mean log |Λ| - log |mean Λ|, as an array like W."""
    from scipy.optimize import brentq
    from scipy.special import digamma

    xp, d = namespace_of(like), int(like.shape[-1])
    gap = float(mean_log_det - log_det_mean)
    # Jensen: the gap is negative, and zero only if all matrices are equal.
    if not gap < -8.0 * d * float(xp.finfo(like.dtype).eps):
        raise ValueError("X must hold matrices that differ: the likelihood of equal ones has no maximum")

    def excess(u: float) -> float:
        half = 0.5 * (d - 1 + exp(u))
        return float(np.sum(digamma(half - 0.5 * np.arange(d))) - d * log(half)) - gap

    u = brentq(excess, -30.0, 80.0, xtol=1e-13, rtol=1e-15)
    return xp.asarray(d - 1 + exp(u), dtype=like.dtype, device=device(like))
