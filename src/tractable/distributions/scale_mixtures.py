"""Expectations under normals of random scale: what the divergences of heavy-tailed vectors need.

For x ~ N(μ, vΣ) with a random v, the squared distance Q of x from any point, in any metric, has the Laplace
transform E exp(-sQ) = E Π_i (1 + 2svλ_i)^(-1/2) exp(-sδ_i² / (1 + 2svλ_i)), and log(1 + q) and √q are
mixtures of the 1 - exp(-sq). So their expectations are integrals over log s and log v, smooth and quickly
vanishing at both ends, on which the trapezoid rule converges faster than any power of its step.
"""

from collections.abc import Callable
from math import ceil, log, pi, prod
from typing import Any

from tractable.arrays.linalg import cholesky, solve_triangular
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.value import value

__all__ = ["expected_distance", "student_t_divergence"]

_STEP = 0.25  # of the trapezoid rule in log s and log v: its error is about exp(-π²/step) ≈ 1e-17
_DECAY = 40.0  # how far out the integrands are followed: until they have fallen by exp(-40)


@value
class Spread:
    """The law of a squared distance: Q = Σ_i (√(vλ_i) z_i + δ_i)² with z standard normal and v random."""

    eigenvalues: Array  # (*batch, d), λ
    shifts: Array  # (*batch, d), δ²
    log_scales: Array  # (n, *batch), nodes of log v
    weights: Array  # (n, *batch)

    def lacks(self, s: Array) -> Array:
        """Return 1 - E exp(-sQ), with all its digits however small it is."""
        xp = namespace_of(s)
        growth = 2.0 * (s * xp.exp(self.log_scales))[..., None] * self.eigenvalues
        exponent = 0.5 * xp.log1p(growth) + s[..., None] * self.shifts / (1.0 + growth)
        return xp.sum(self.weights * -xp.expm1(-xp.sum(exponent, axis=-1)), axis=0)

    @property
    def typical(self) -> Array:
        """A size of Q, (*batch,)."""
        return namespace_of(self.shifts).sum(self.eigenvalues + self.shifts, axis=-1)


def student_t_divergence(p: Any, q: Any) -> Array:
    """Return E_p[log p - log q] for two multivariate Student-t distributions."""
    divergence = _cross_entropy(p, q) - q.log_peak - p.entropy()
    xp = namespace_of(divergence)
    return xp.where(divergence > 0, divergence, xp.zeros_like(divergence))


def _cross_entropy(p: Any, q: Any) -> Array:
    """Return ½ (ν + d) E_p log(1 + Δ²/ν) with ν and Δ of q, for two multivariate Student-t distributions.

    Frullani: log(1 + x) = ∫ (1 - exp(-sx)) exp(-s)/s ds.
    """
    xp = namespace_of(p.location)
    root = cholesky(q.scale)
    eigenvalues, shifts = _against(root, cholesky(p.scale), p.location - q.location)
    dof = q.dof + xp.zeros_like(eigenvalues[..., 0])
    shape = 0.5 * p.dof + xp.zeros_like(dof)
    log_scales, weights = _log_gamma_nodes(shape)
    spread = Spread(
        eigenvalues=eigenvalues / dof[..., None],
        shifts=shifts / dof[..., None],
        log_scales=-log_scales,
        weights=weights,
    )
    slowest = xp.where(shape < 1, shape, xp.ones_like(shape))
    low = -_DECAY / slowest - xp.log1p(spread.typical)
    high = xp.full_like(low, log(_DECAY))
    return 0.5 * (dof + p.dim) * _trapezoid(lambda y: xp.exp(-xp.exp(y)) * spread.lacks(xp.exp(y)), low, high)


def expected_distance(offset: Array, scale: Array) -> Array:
    """Return E |x| for x with density ∝ exp(-|x - offset| / scale), the Euclidean norm in both.

    Such a vector is N(offset, v I) with v/2b² ~ Gamma((d + 1)/2, 1), and
    √x = ∫ (1 - exp(-sx)) s^(-3/2) ds / 2√π.
    """
    xp = namespace_of(offset)
    dim = offset.shape[-1]
    shifts = (offset / scale[..., None]) ** 2
    shape = xp.full_like(shifts[..., 0], 0.5 * (dim + 1))
    log_scales, weights = _log_gamma_nodes(shape)
    spread = Spread(
        eigenvalues=xp.ones_like(shifts),
        shifts=shifts,
        log_scales=log_scales + log(dim + 1),
        weights=weights,
    )
    size = xp.log(spread.typical * (dim + 1))
    low, high = -2.0 * _DECAY - size, 2.0 * _DECAY - 0.0 * size
    total = _trapezoid(lambda y: xp.exp(-0.5 * y) * spread.lacks(xp.exp(y)), low, high)
    return scale * total / (2.0 * pi**0.5)


def _against(root: Array, other: Array, offset: Array) -> tuple[Array, Array]:
    """Return the variances λ and squared shifts δ² of x ~ N(offset, L₁L₁ᵀ) in the metric of L₂L₂ᵀ."""
    xp = namespace_of(root)
    white = solve_triangular(root, other)
    eigenvalues, axes = xp.linalg.eigh(white @ xp.matrix_transpose(white))
    shift = xp.matrix_transpose(axes) @ solve_triangular(root, offset[..., None])
    eigenvalues = xp.where(eigenvalues > 0, eigenvalues, xp.zeros_like(eigenvalues))
    return eigenvalues, shift[..., 0] ** 2


def _log_gamma_nodes(shape: Array) -> tuple[Array, Array]:
    """Return nodes (n, *batch) of log g and their weights, for g ~ Gamma(a, rate a)."""
    xp = namespace_of(shape)
    ratio = _DECAY / shape
    root = xp.sqrt(2.0 * ratio)
    y = _nodes(-(ratio + root), xp.log1p(ratio + root))
    mass = xp.exp(shape * (y - xp.expm1(y)))
    return y, mass / xp.sum(mass, axis=0)


def _trapezoid(integrand: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Integrate from low to high, (*batch,), an integrand that vanishes at both ends."""
    y = _nodes(low, high)
    n = y.shape[0]
    total = 0.0 * low
    for i in range(n):
        total = total + integrand(y[i, ...])
    return total * (high - low) / (n - 1)


def _nodes(low: Array, high: Array) -> Array:
    """Return evenly spaced points from low to high, (n, *batch), at most a step apart, at least 128."""
    xp = namespace_of(low)
    n = max(128, ceil(float(xp.max(high - low)) / _STEP) if prod(low.shape) else 0)
    share = xp.arange(n, dtype=low.dtype, device=device(low)) / (n - 1)
    return low + xp.reshape(share, (-1,) + (1,) * low.ndim) * (high - low)
