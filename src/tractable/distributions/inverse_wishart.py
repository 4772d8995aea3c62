"""The inverse Wishart distribution of covariance matrices."""

from collections.abc import Mapping
from functools import cached_property
from math import log
from typing import Any, ClassVar, Self

from tractable.arrays.linalg import cholesky, log_det_cholesky, solve_cholesky, solve_triangular
from tractable.arrays.namespace import Array, device, freeze, namespace_of
from tractable.arrays.special import multigammaln
from tractable.distributions.distribution import Distribution
from tractable.distributions.wishart import (
    as_matrices,
    bartlett,
    check_definite,
    check_dof,
    factored,
    fitted_dof,
    mean_and_log_det,
    multidigamma,
    outside_is_impossible,
    standard_wishart_log_prob,
    wishart_divergence,
)
from tractable.value import value

__all__ = ["InverseWishart"]


@value
class InverseWishart(Distribution):
    """IW(Σ | ν, Ψ) = |Ψ|^(ν/2) |Σ|^(-(ν+d+1)/2) exp(-½ tr ΨΣ⁻¹) / (2^(νd/2) Γ_d(ν/2)), ν > d - 1.

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

    parameter_ndims: ClassVar[Mapping[str, int]] = {"dof": 0, "scale": 2}

    dof: Array
    scale: Array

    def __post_init__(self) -> None:
        self._settle(scale=check_definite)
        check_dof(self.dof, self.dim)

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
        """See `Distribution.mode`: Ψ / (ν + d + 1)."""
        return self.scale / (self.dof + (self.dim + 1.0))[..., None, None]

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`."""
        x = self._event(x)
        lower, inside = factored(x)
        # The density of M = LᵀΣ⁻¹L, with Ψ = L Lᵀ, and the volume that M takes up for a unit of Σ.
        found = standard_wishart_log_prob(solve_triangular(lower, self.cholesky), self.dof)
        volume = (self.dim + 1) * (0.5 * self.log_det - log_det_cholesky(lower))
        return outside_is_impossible(found + volume, inside, x)

    def entropy(self) -> Array:
        """See `Distribution.entropy`."""
        d, half = self.dim, 0.5 * self.dof
        spread = (half + 0.5 * (d + 1)) * multidigamma(half, d)
        return 0.5 * (d + 1) * (self.log_det - d * log(2.0)) + multigammaln(half, d) - spread + half * d

    def kl_divergence(self, other: "InverseWishart") -> Array:
        """See `Distribution.kl_divergence`: that of the two Wisharts of the inverses."""
        if not isinstance(other, InverseWishart):
            raise TypeError(f"other must be an InverseWishart, got {type(other).__name__}")
        if other.dim != self.dim:
            raise ValueError(f"other must have {self.dim} rows, got {other.dim}")
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


def _inverse(lower: Array) -> Array:
    xp = namespace_of(lower)
    return solve_cholesky(lower, xp.eye(lower.shape[-1], dtype=lower.dtype, device=device(lower)))
