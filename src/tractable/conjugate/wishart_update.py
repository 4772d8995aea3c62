"""What data do to a Wishart belief about a precision matrix, without an inverse."""

from math import log, pi

from tractable.arrays.linalg import cholesky, log_det_cholesky, solve_triangular, symmetrize
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.conjugate.rises import log_gamma_ratio

__all__ = ["seen_scale", "wishart_rise"]


def seen_scale(scale: Array, scatter: Array) -> tuple[Array, Array]:
    """Return (W⁻¹ + S)⁻¹ = L (I + Lᵀ S L)⁻¹ Lᵀ with W = L Lᵀ, and log |I + Lᵀ S L|.

    S may be singular, as that of few rows is.
    """
    xp = namespace_of(scale)
    lower = cholesky(scale)
    identity = xp.eye(scale.shape[-1], dtype=scale.dtype, device=device(scale))
    seen = symmetrize(xp.matrix_transpose(lower) @ scatter @ lower)
    root = solve_triangular(cholesky(identity + seen), xp.matrix_transpose(lower))
    growth = xp.sum(xp.log1p(xp.linalg.eigvalsh(seen)))
    return symmetrize(xp.matrix_transpose(root) @ root), growth


def wishart_rise(dof: Array, weight: Array, scale: Array, growth: Array) -> Array:
    """Return the log evidence of `weight` normal rows, but for the mean: what normalises after over before.

    With ν' = ν + n it is ½ ν' log |W'| - ½ ν log |W| + log Γ_d(ν'/2) - log Γ_d(ν/2) - ½ n d log π, and
    `growth` is log |W| - log |W'|.
    """
    xp = namespace_of(scale)
    dim = scale.shape[-1]
    half = 0.5 * (dof - xp.arange(dim, dtype=scale.dtype, device=device(scale)))
    ratios = xp.sum(log_gamma_ratio(half, 0.5 * weight + 0.0 * half))
    log_det = log_det_cholesky(cholesky(scale))
    return ratios + 0.5 * (weight * (log_det - dim * log(pi)) - (dof + weight) * growth)
