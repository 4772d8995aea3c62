"""What distributions of positive definite matrices share: factors, the standard Wishart density, draws."""

from math import log
from typing import Any

from tractable.arrays.gamma import stirling_error
from tractable.arrays.linalg import asymmetric, cholesky, equilibrated, symmetrize, try_cholesky
from tractable.arrays.log_space import LOG_2PI
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.random import standard_gamma, standard_normal
from tractable.arrays.saddle_point import deviance
from tractable.arrays.special import digamma, multigammaln

__all__ = [
    "bartlett",
    "check_definite",
    "check_dof",
    "factored",
    "multidigamma",
    "outside_is_impossible",
    "standard_wishart_log_prob",
    "wishart_divergence",
    "wishart_mean_log_det",
]


def factored(x: Array) -> tuple[Array, Array]:
    """Return the lower factor of each matrix, and whether it is positive definite; the identity where not."""
    xp = namespace_of(x)
    identity = xp.eye(x.shape[-1], dtype=x.dtype, device=device(x))
    finite = xp.all(xp.isfinite(x), axis=(-2, -1))
    _, scale, unit = equilibrated(xp.where(finite[..., None, None], x, identity), "x")
    lower, good = try_cholesky(xp, symmetrize(unit))
    inside = finite & good & ~asymmetric(xp, unit)
    return xp.where(inside[..., None, None], scale[..., :, None] * lower, identity), inside


def outside_is_impossible(log_prob: Array, inside: Array, x: Array) -> Array:
    """Return -inf for matrices that are not positive definite, and NaN for those that hold one."""
    xp = namespace_of(x)
    log_prob = xp.where(inside, log_prob, xp.full_like(log_prob, -xp.inf))
    unknown = xp.any(xp.isnan(x), axis=(-2, -1))
    return xp.where(unknown, xp.full_like(log_prob, xp.nan), log_prob)


def check_definite(name: str, x: Array) -> None:
    """Refuse matrices that are not symmetric positive definite."""
    if not x.shape[-1]:
        raise ValueError(f"{name} must have at least one row")
    cholesky(x, name=name)


def check_dof(dof: Array, dim: int) -> None:
    """Refuse degrees of freedom that leave no density on matrices: ν > d - 1."""
    xp = namespace_of(dof)
    good = (dof > dim - 1) & xp.isfinite(dof)
    if not bool(xp.all(good)):
        raise ValueError(f"dof must be finite and exceed d - 1 = {dim - 1}, got {dof}")


def multidigamma(a: Array, dim: int) -> Array:
    """Return ψ_d(a) = Σ_{i<d} ψ(a - ½ i), the derivative of log Γ_d."""
    return namespace_of(a).sum(digamma(_descending(a, dim)), axis=-1)


def wishart_mean_log_det(dof: Array, log_det: Array, dim: int) -> Array:
    """Return E log |Λ| = ψ_d(ν/2) + d log 2 + log |W|."""
    return multidigamma(0.5 * dof, dim) + dim * log(2.0) + log_det


def standard_wishart_log_prob(root: Array, dof: Array) -> Array:
    """Return log W(M | ν, I) of M = B Bᵀ or BᵀB, from its triangular root B.

    The i-th term is that of a Gamma variable ½ B_ii² of shape a_i = ½ (ν - i), in Loader's form, in which
    large terms cancel on paper.
    """
    xp = namespace_of(root)
    dim = root.shape[-1]
    a = _descending(0.5 * dof, dim)
    squares = root * root
    diagonal = xp.linalg.diagonal(squares)
    i = xp.arange(dim, dtype=a.dtype, device=device(a))
    terms = (
        0.5 * (xp.log(a) - LOG_2PI)
        - deviance(a, 0.5 * diagonal)
        - stirling_error(a)
        + 0.5 * (i - dim - 1.0) * xp.log(diagonal)
    )
    below = xp.sum(xp.tril(squares, k=-1), axis=(-2, -1))
    return xp.sum(terms, axis=-1) - 0.5 * below - 0.25 * dim * (dim - 1) * LOG_2PI


def wishart_divergence(dof: Array, other: Array, spread: Array, log_ratio: Array, dim: int) -> Array:
    """Return KL between Wisharts, with spread = tr W₂⁻¹W₁ and log_ratio = log |W₂|/|W₁|."""
    xp = namespace_of(dof)
    half, half_other = 0.5 * dof, 0.5 * other
    divergence = (
        half * (spread - dim)
        + half_other * log_ratio
        + multigammaln(half_other, dim)
        - multigammaln(half, dim)
        + (half - half_other) * multidigamma(half, dim)
    )
    return xp.where(divergence > 0, divergence, xp.zeros_like(divergence))


def bartlett(rng: Any, n: int, dof: Array, dim: int) -> Array:
    """Draw lower factors A of standard Wishart matrices A Aᵀ, (n, *batch, d, d) (Bartlett 1933).

    The squares on the diagonal are chi-square with ν - i degrees of freedom, the rest standard normal.
    """
    xp = namespace_of(dof)
    diagonal = xp.sqrt(2.0 * standard_gamma(rng, _descending(0.5 * dof, dim), n))
    noise = standard_normal(rng, (n, *dof.shape, dim, dim), like=dof)
    identity = xp.eye(dim, dtype=dof.dtype, device=device(dof))
    return xp.tril(noise, k=-1) + diagonal[..., None] * identity


def _descending(a: Array, dim: int) -> Array:
    """Return a - ½ i for i < d, on a new last axis."""
    xp = namespace_of(a)
    return a[..., None] - 0.5 * xp.arange(dim, dtype=a.dtype, device=device(a))
