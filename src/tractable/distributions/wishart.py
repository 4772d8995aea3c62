"""The Wishart distribution of positive definite matrices."""

from collections.abc import Mapping
from functools import cached_property
from math import log
from typing import Any, ClassVar, Self

from tractable.arrays.linalg import cholesky, log_det_cholesky, solve_triangular
from tractable.arrays.namespace import Array, freeze, namespace_of
from tractable.arrays.special import multigammaln
from tractable.distributions.distribution import Distribution
from tractable.distributions.matrices import (
    bartlett,
    check_definite,
    check_dof,
    factored,
    multidigamma,
    outside_is_impossible,
    standard_wishart_log_prob,
    wishart_divergence,
    wishart_mean_log_det,
)
from tractable.distributions.wishart_fit import as_matrices, fitted_dof, mean_and_log_det
from tractable.value import value

__all__ = ["Wishart"]


@value
class Wishart(Distribution):
    """W(Λ | ν, W) = |Λ|^((ν-d-1)/2) exp(-½ tr W⁻¹Λ) / (2^(νd/2) |W|^(ν/2) Γ_d(ν/2)), ν > d - 1.

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

    parameter_ndims: ClassVar[Mapping[str, int]] = {"dof": 0, "scale": 2}

    dof: Array
    scale: Array

    def __post_init__(self) -> None:
        self._settle(scale=check_definite)
        check_dof(self.dof, self.dim)

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
    def dim(self) -> int:
        """Number of rows of an event."""
        return int(self.scale.shape[-1])

    @property
    def event_shape(self) -> tuple[int, ...]:
        """See `Distribution.event_shape`."""
        return (self.dim, self.dim)

    @property
    def support(self) -> None:
        """The cone of positive definite matrices, which is no box."""
        return

    @cached_property
    def cholesky(self) -> Array:
        """Lower factor of the scale, (*batch, d, d)."""
        return freeze(cholesky(self.scale))

    @cached_property
    def log_det(self) -> Array:
        """Log-determinant of the scale, (*batch,)."""
        return freeze(log_det_cholesky(self.cholesky))

    @property
    def mean(self) -> Array:
        """See `Distribution.mean`: ν W."""
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
        """See `Distribution.log_prob`."""
        x = self._event(x)
        lower, inside = factored(x)
        found = standard_wishart_log_prob(solve_triangular(self.cholesky, lower), self.dof)
        return outside_is_impossible(found - 0.5 * (self.dim + 1) * self.log_det, inside, x)

    def entropy(self) -> Array:
        """See `Distribution.entropy`."""
        d, half = self.dim, 0.5 * self.dof
        log_2_scale = self.log_det + d * log(2.0)
        spread = (half - 0.5 * (d + 1)) * multidigamma(half, d)
        return 0.5 * (d + 1) * log_2_scale + multigammaln(half, d) - spread + half * d

    def kl_divergence(self, other: "Wishart") -> Array:
        """See `Distribution.kl_divergence`."""
        if not isinstance(other, Wishart):
            raise TypeError(f"other must be a Wishart, got {type(other).__name__}")
        if other.dim != self.dim:
            raise ValueError(f"other must have {self.dim} rows, got {other.dim}")
        root = solve_triangular(other.cholesky, self.cholesky)
        spread = namespace_of(root).sum(root * root, axis=(-2, -1))
        return wishart_divergence(self.dof, other.dof, spread, other.log_det - self.log_det, self.dim)

    def _sample(self, n: int, rng: Any) -> Array:
        root = self.cholesky @ bartlett(rng, n, self.dof, self.dim)
        return root @ namespace_of(root).matrix_transpose(root)
