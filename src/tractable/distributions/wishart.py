"""The Wishart distribution of precision matrices, and the inverse Wishart distribution of covariances."""

from collections.abc import Mapping
from functools import cached_property
from math import exp, log
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.gamma import digamma, multigammaln, stirling_error
from tractable.arrays.linalg import (
    asymmetric,
    cholesky,
    equilibrated,
    log_det_cholesky,
    solve_cholesky,
    solve_triangular,
    symmetrize,
    try_cholesky,
)
from tractable.arrays.log_space import LOG_2PI
from tractable.arrays.namespace import Array, device, freeze, namespace_of
from tractable.arrays.random import standard_gamma, standard_normal
from tractable.arrays.saddle_point import deviance
from tractable.distributions.checks import check_finite, row_weights
from tractable.distributions.distribution import Distribution
from tractable.value import value


class WishartFamily(Distribution):
    """A distribution of symmetric positive definite matrices with degrees of freedom ν and a scale matrix."""

    parameter_ndims: ClassVar[Mapping[str, int]] = {"dof": 0, "scale": 2}
    support = None  # the cone of positive definite matrices is no box

    dof: Array
    scale: Array

    def __post_init__(self) -> None:
        self._settle(scale=check_definite)
        check_dof(self.dof, self.dim)

    @property
    def dim(self) -> int:
        """Number of rows of an event."""
        return int(self.scale.shape[-1])

    @property
    def event_shape(self) -> tuple[int, ...]:
        return (self.dim, self.dim)

    @cached_property
    def cholesky(self) -> Array:
        """Lower factor of the scale, (*batch, d, d)."""
        return freeze(cholesky(self.scale))

    @cached_property
    def log_det(self) -> Array:
        """Log-determinant of the scale, (*batch,)."""
        return freeze(log_det_cholesky(self.cholesky))


@value
class Wishart(WishartFamily):
    """The Wishart distribution of a precision or scatter matrix.

    W(Λ | ν, W) = |Λ|^((ν-d-1)/2) exp(-½ tr W⁻¹Λ) / (2^(νd/2) |W|^(ν/2) Γ_d(ν/2)), ν > d - 1.

    The distribution of Σ_n x_n x_nᵀ for ν vectors x_n ~ N(0, W), and the conjugate prior of the precision of
    a normal of known mean. Matrices that are not symmetric positive definite have log probability -inf.

    Parameters
    ----------
    dof : array (*batch,)
        Degrees of freedom ν, above d - 1.
    scale : array (*batch, d, d)
        W, symmetric positive definite; the mean is ν W.

    Examples
    --------
    >>> d = Wishart(dof=4.0, scale=[[1.0, 0.5], [0.5, 2.0]])
    >>> d.mean
    array([[4., 2.],
           [2., 8.]])
    >>> float(d.log_prob([[3.0, 1.0], [1.0, 5.0]]).round(4))
    -5.881
    """

    dof: Array
    scale: Array

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None) -> Self:
        """Return the maximum likelihood estimate from matrices X (n, d, d).

        ν W is the mean matrix, and ν solves ψ_d(ν/2) - d log(ν/2) = mean log |Λ| - log |mean Λ|, which has
        one root unless all matrices are equal.
        """
        X, weights = as_matrices(X, sample_weight)
        mean, log_det = mean_and_log_det(X, weights)
        dof = fitted_dof(log_det, log_det_cholesky(cholesky(mean, name="X")), mean)
        return cls(dof=dof, scale=mean / dof)

    @property
    def mean(self) -> Array:
        return self.dof[..., None, None] * self.scale

    @property
    def variance(self) -> Array:
        """See `Distribution.variance`: ν (W_ij² + W_ii W_jj) of each entry."""
        diagonal = namespace_of(self.scale).linalg.diagonal(self.scale)
        both = diagonal[..., :, None] * diagonal[..., None, :]
        return self.dof[..., None, None] * (self.scale**2 + both)

    @property
    def mode(self) -> Array:
        """(ν - d - 1) W for ν ≥ d + 1.

        At ν = d + 1 that is the zero matrix, a corner of the cone; below it the density grows without bound
        towards singular matrices, there is no mode, and the entries are NaN.
        """
        xp = namespace_of(self.scale)
        left = self.dof - (self.dim + 1.0)
        left = xp.where(left >= 0, left, xp.full_like(left, xp.nan))
        return left[..., None, None] * self.scale

    @property
    def mean_log_det(self) -> Array:
        """E log |Λ| = ψ_d(ν/2) + d log 2 + log |W|, (*batch,)."""
        return wishart_mean_log_det(self.dof, self.log_det, self.dim)

    def log_prob(self, x: Any) -> Array:
        x = self._event(x)
        lower, inside = factored(x)
        found = standard_wishart_log_prob(solve_triangular(self.cholesky, lower), self.dof)
        return outside_is_impossible(found - 0.5 * (self.dim + 1) * self.log_det, inside, x)

    def entropy(self) -> Array:
        d, half = self.dim, 0.5 * self.dof
        log_2_scale = self.log_det + d * log(2.0)
        spread = (half - 0.5 * (d + 1)) * multidigamma(half, d)
        return 0.5 * (d + 1) * log_2_scale + multigammaln(half, d) - spread + half * d

    def _divergence(self, other: "Wishart") -> Array:
        root = solve_triangular(other.cholesky, self.cholesky)
        spread = namespace_of(root).sum(root * root, axis=(-2, -1))
        return wishart_divergence(self.dof, other.dof, spread, other.log_det - self.log_det, self.dim)

    def _sample(self, n: int, rng: Any) -> Array:
        root = self.cholesky @ bartlett(rng, n, self.dof, self.dim)
        return root @ namespace_of(root).matrix_transpose(root)


@value
class InverseWishart(WishartFamily):
    """The inverse Wishart distribution of a covariance matrix.

    IW(Σ | ν, Ψ) = |Ψ|^(ν/2) |Σ|^(-(ν+d+1)/2) exp(-½ tr ΨΣ⁻¹) / (2^(νd/2) Γ_d(ν/2)), ν > d - 1.

    The distribution of the inverse of a Wishart matrix of scale Ψ⁻¹, and the conjugate prior of the
    covariance of a normal of known mean. Matrices that are not symmetric positive definite have log
    probability -inf.

    Parameters
    ----------
    dof : array (*batch,)
        Degrees of freedom ν, above d - 1.
    scale : array (*batch, d, d)
        Ψ, symmetric positive definite; the mean is Ψ / (ν - d - 1).

    Examples
    --------
    >>> d = InverseWishart(dof=5.0, scale=[[4.0, 1.0], [1.0, 2.0]])
    >>> d.mean
    array([[2. , 0.5],
           [0.5, 1. ]])
    >>> d.mode
    array([[0.5  , 0.125],
           [0.125, 0.25 ]])
    """

    dof: Array
    scale: Array

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None) -> Self:
        """Return the maximum likelihood estimate from matrices X (n, d, d): that of a Wishart of inverses."""
        X, weights = as_matrices(X, sample_weight)
        _, log_det = mean_and_log_det(X, weights)
        mean = namespace_of(X).sum(weights[:, None, None] * _inverse(cholesky(X, name="X")), axis=0)
        lower = cholesky(mean, name="X")
        dof = fitted_dof(-log_det, log_det_cholesky(lower), mean)
        return cls(dof=dof, scale=dof * _inverse(lower))

    @property
    def mean(self) -> Array:
        """Ψ / (ν - d - 1) for ν > d + 1; NaN below, where there is none."""
        return self.scale / self._above(self.dim + 1)

    @property
    def variance(self) -> Array:
        """((ν-d+1) Ψ_ij² + (ν-d-1) Ψ_ii Ψ_jj) / ((ν-d) (ν-d-1)² (ν-d-3)) of each entry, for ν > d + 3.

        Infinite for d + 1 < ν ≤ d + 3, and NaN where there is no mean.
        """
        xp = namespace_of(self.scale)
        diagonal = xp.linalg.diagonal(self.scale)
        both = diagonal[..., :, None] * diagonal[..., None, :]
        left = self._above(self.dim + 1)
        far = left > 2.0
        rest = xp.where(far, left - 2.0, xp.ones_like(left))
        found = ((left + 2.0) * self.scale**2 + left * both) / ((left + 1.0) * left**2 * rest)
        return xp.where(far | xp.isnan(left), found, xp.full_like(found, xp.inf))

    @property
    def mode(self) -> Array:
        return self.scale / (self.dof + (self.dim + 1.0))[..., None, None]

    def log_prob(self, x: Any) -> Array:
        x = self._event(x)
        lower, inside = factored(x)
        # The density of M = LᵀΣ⁻¹L, with Ψ = L Lᵀ, and the volume that M takes up for a unit of Σ.
        found = standard_wishart_log_prob(solve_triangular(lower, self.cholesky), self.dof)
        volume = (self.dim + 1) * (0.5 * self.log_det - log_det_cholesky(lower))
        return outside_is_impossible(found + volume, inside, x)

    def entropy(self) -> Array:
        d, half = self.dim, 0.5 * self.dof
        spread = (half + 0.5 * (d + 1)) * multidigamma(half, d)
        return 0.5 * (d + 1) * (self.log_det - d * log(2.0)) + multigammaln(half, d) - spread + half * d

    def _divergence(self, other: "InverseWishart") -> Array:
        """Return the divergence of the two Wisharts of the inverses."""
        root = solve_triangular(self.cholesky, other.cholesky)
        spread = namespace_of(root).sum(root * root, axis=(-2, -1))
        return wishart_divergence(self.dof, other.dof, spread, self.log_det - other.log_det, self.dim)

    def _above(self, bound: float) -> Array:
        """Return ν less a bound, to stand beside matrices; NaN where it is not above."""
        xp = namespace_of(self.dof)
        left = self.dof - bound
        return xp.where(left > 0, left, xp.full_like(left, xp.nan))[..., None, None]

    def _sample(self, n: int, rng: Any) -> Array:
        xp = namespace_of(self.scale)
        root = solve_triangular(bartlett(rng, n, self.dof, self.dim), xp.matrix_transpose(self.cholesky))
        return xp.matrix_transpose(root) @ root


def as_matrices(X: Any, sample_weight: Any) -> tuple[Array, Array]:
    """Return matrices (n, d, d) and weights (n,) that add up to one."""
    X = as_reals("X", X)
    xp = namespace_of(X)
    if X.ndim != 3 or not X.shape[0] or X.shape[1] != X.shape[2]:
        raise ValueError(f"X must be matrices of shape (n, d, d) with n at least 1, got {tuple(X.shape)}")
    check_finite("X", X)
    weights = row_weights(sample_weight, X)
    return X, weights / xp.sum(weights)


def mean_and_log_det(X: Array, weights: Array) -> tuple[Array, Array]:
    """Return the mean matrix and the mean log-determinant."""
    xp = namespace_of(X)
    lower, inside = factored(X)
    if not bool(xp.all(inside)):
        raise ValueError("X must be symmetric positive definite matrices")
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
    xp, half, half_other = namespace_of(dof), 0.5 * dof, 0.5 * other
    constants = multigammaln(xp.stack(xp.broadcast_arrays(half_other, half)), dim)
    divergence = (
        half * (spread - dim)
        + half_other * log_ratio
        + constants[0, ...]
        - constants[1, ...]
        + (half - half_other) * multidigamma(half, dim)
    )
    return xp.where(divergence > 0, divergence, 0.0 * divergence)


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


def _inverse(lower: Array) -> Array:
    xp = namespace_of(lower)
    return solve_cholesky(lower, xp.eye(lower.shape[-1], dtype=lower.dtype, device=device(lower)))
