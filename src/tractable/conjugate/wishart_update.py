"""What data do to a Wishart belief about a precision matrix, without an inverse."""

from math import log, pi
from typing import Any

from tractable.arrays.linalg import cholesky, log_det_cholesky, solve_triangular, symmetrize
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.special import multigammaln

__all__ = ["seen_scale", "wishart_rise"]


def seen_scale(scale: Array, scatter: Array) -> tuple[Array, Array]:
    """Return (W⁻¹ + S)⁻¹ = L (I + Lᵀ S L)⁻¹ Lᵀ with W = L Lᵀ, and log |I + Lᵀ S L|.

    S may be singular, as that of few rows is.
    """
    xp = namespace_of(scale)
    lower = cholesky(scale)
    identity = xp.eye(scale.shape[-1], dtype=scale.dtype, device=device(scale))
    inner = cholesky(identity + symmetrize(xp.matrix_transpose(lower) @ scatter @ lower))
    root = solve_triangular(inner, xp.matrix_transpose(lower))
    return symmetrize(xp.matrix_transpose(root) @ root), log_det_cholesky(inner)


def wishart_rise(dof: Any, weight: Any, scale: Array, growth: Array) -> Array:
    """Return the log evidence of `weight` normal rows, but for the mean: what normalises after over before.

    With ν' = ν + n it is ½ ν' log |W'| - ½ ν log |W| + log Γ_d(ν'/2) - log Γ_d(ν/2) - ½ n d log π, and
    `growth` is log |W| - log |W'|.
    """
    dim = scale.shape[-1]
    after = dof + weight
    log_det = log_det_cholesky(cholesky(scale))
    constants = multigammaln(0.5 * after, dim) - multigammaln(0.5 * dof, dim) - 0.5 * dim * log(pi) * weight
    return 0.5 * (weight * log_det - after * growth) + constants
