"""Wishart priors of a precision matrix: posterior, evidence and intervals, without an inverse."""

from math import log, pi

import numpy as np

from tractable.arrays.incomplete import gammainccinv, gammaincinv
from tractable.arrays.linalg import cholesky, log_det_cholesky, solve_triangular, symmetrize
from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.arrays.saddle_point import log_gamma_kernel
from tractable.conjugate.increments import log_gamma_ratio
from tractable.distributions.checks import check_coverage

__all__ = ["seen_scale", "wishart_increment", "wishart_interval"]


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


def wishart_increment(dof: Array, weight: Array, scale: Array, growth: Array) -> Array:
    """Return the log ratio of the normalising constants of posterior and prior of `weight` normal rows.

    With ν' = ν + n it is ½ ν' log |W'| - ½ ν log |W| + log Γ_d(ν'/2) - log Γ_d(ν/2) - ½ n d log π, and
    `growth` is log |W| - log |W'|.
    """
    xp = namespace_of(scale)
    dim = scale.shape[-1]
    half = 0.5 * (dof - xp.arange(dim, dtype=scale.dtype, device=device(scale)))
    ratios = xp.sum(log_gamma_ratio(half, 0.5 * weight + 0.0 * half))
    log_det = log_det_cholesky(cholesky(scale))
    return ratios + 0.5 * (weight * (log_det - dim * log(pi)) - (dof + weight) * growth)


_STEPS = 400  # the trapezoid rule on the whole line converges geometrically


def wishart_interval(dof: Array, scale: Array, coverage: float) -> tuple[Array, Array]:
    """Return equal-tailed intervals of each entry of Λ ~ Wishart(ν, W), (low, high) of shape (d, d).

    On the diagonal Λ_jj ~ W_jj χ²_ν. Off it Λ_ij given g = Λ_jj is N(W_ij g / W_jj, (W_ii - W_ij²/W_jj) g):
    its distribution function is an average over g, by the trapezoid rule in log g, inverted by root finding.
    """
    tail = 0.5 * (1.0 - check_coverage(coverage))
    nu, w = float(dof), to_numpy(scale).astype(np.float64)
    low, high = (_quantiles(nu, w, q) for q in (tail, 1.0 - tail))
    xp = namespace_of(scale)
    return xp.asarray(low, dtype=scale.dtype), xp.asarray(high, dtype=scale.dtype)


def _quantiles(nu: float, w: np.ndarray, q: float) -> np.ndarray:
    found = np.diag(2.0 * np.diag(w) * gammaincinv(0.5 * nu, q))
    for i, j in zip(*np.tril_indices(len(w), -1), strict=True):
        found[i, j] = found[j, i] = _across(nu, w[i, j] / w[j, j], w[i, i] / w[j, j], w[j, j], q)
    return found


def _across(nu: float, slope: float, ratio: float, size: float, q: float) -> float:
    """Return the q-quantile of Λ_ij, in units of W_jj, times W_jj."""
    from scipy.optimize import brentq
    from scipy.special import ndtr

    a = 0.5 * nu
    ends = np.log(2.0 * gammaincinv(a, 1e-18)), np.log(2.0 * gammainccinv(a, 1e-18))
    log_g, step = np.linspace(*ends, _STEPS, retstep=True)
    g = np.exp(log_g)
    weight = step * np.exp(log_gamma_kernel(a, 0.5 * g))
    spread = np.sqrt((ratio - slope**2) * g)
    reach = 40.0 * np.sqrt(nu * (ratio + slope**2)) + nu * abs(slope) + 40.0 * np.sqrt(ratio)
    total = q * weight.sum()
    end = brentq(
        lambda x: weight @ ndtr((x - slope * g) / spread) - total, -reach, reach, xtol=1e-300, rtol=1e-15
    )
    return float(size * end)
