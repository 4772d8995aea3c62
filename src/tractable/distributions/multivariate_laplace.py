"""The Laplace distribution of vectors, by the sum of absolute values or by the Euclidean distance."""

from collections.abc import Mapping
from math import lgamma, log, pi
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.batched import diagonal_matrix
from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.random import standard_gamma, standard_normal, uniform
from tractable.distributions.checks import check_finite, check_positive, row_weights
from tractable.distributions.laplace import Laplace, coordinate_medians, geometric_median
from tractable.distributions.multivariate_student_t import expected_distance
from tractable.distributions.vectors import VectorDistribution, as_vectors
from tractable.value import value

__all__ = ["MultivariateLaplace"]


@value
class MultivariateLaplace(VectorDistribution):
    """p(x) = exp(-‖x - μ‖/b) / Z, with Z = (2b)^d for the L1 norm and 2π^(d/2) Γ(d)/Γ(d/2) b^d for L2.

    With the L1 norm the coordinates are independent Laplace variables, and maximum likelihood is their
    medians; with the L2 norm the density is the same in all directions, the distance from μ is Gamma(d, 1/b),
    and maximum likelihood is the geometric median. In one dimension the two agree: Z = 2b.

    Parameters
    ----------
    location : array (*batch, d)
        μ: mean, mode and median.
    scale : array (*batch,)
        b, positive.
    norm : {"l1", "l2"}
        How distance is measured.

    Examples
    --------
    >>> d = MultivariateLaplace(location=[0.0, 0.0], scale=0.5, norm="l1")
    >>> float(d.prob([0.0, 0.0])), d.variance
    (1.0, array([0.5, 0.5]))
    >>> e = MultivariateLaplace(location=[0.0, 0.0], scale=0.5, norm="l2")
    >>> e.variance
    array([0.75, 0.75])
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"location": 1, "scale": 0}

    #: What :meth:`fit` is told, not what it learns.
    known: ClassVar[tuple[str, ...]] = ("norm",)

    location: Array
    scale: Array
    norm: str = "l2"

    def __post_init__(self) -> None:
        _check_norm(self.norm)
        self._settle(location=check_finite, scale=check_positive)
        if not self.dim:
            raise ValueError("location must have at least one entry on its last axis")

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None, *, norm: str = "l2") -> Self:
        """Return the maximum likelihood estimate from rows (n, d): the median, and b = mean norm / d.

        The median is that of each coordinate with the L1 norm (the middle, where there is a choice), and the
        geometric median with L2.
        """
        _check_norm(norm)
        X = as_vectors(X)
        xp, weights = namespace_of(X), row_weights(sample_weight, X)
        if not X.shape[1]:
            raise ValueError("X must have at least one column")
        by_coordinates = norm == "l1" or X.shape[1] == 1
        location = coordinate_medians(X, weights) if by_coordinates else geometric_median(X, weights)
        scale = xp.sum(weights * _norm(X - location, norm)) / xp.sum(weights) / X.shape[1]
        if not float(scale) > 0:
            raise ValueError("X must hold rows that differ: the likelihood of equal ones has no maximum")
        return cls(location=location, scale=scale, norm=norm)

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return int(self.location.shape[-1])

    @property
    def mean(self) -> Array:
        """See `Distribution.mean`."""
        return self.location

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`."""
        return self.location

    @property
    def variance(self) -> Array:
        """See `Distribution.variance`: 2b² with L1, (d + 1) b² with L2."""
        factor = 2.0 if self.norm == "l1" else self.dim + 1.0
        return namespace_of(self.location).zeros_like(self.location) + factor * self.scale[..., None] ** 2

    @property
    def covariance(self) -> Array:
        """The variances on the diagonal: coordinates are uncorrelated, with L2 not independent."""
        return diagonal_matrix(self.variance)

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`."""
        return -_norm(self._event(x) - self.location, self.norm) / self.scale + self.log_peak

    def entropy(self) -> Array:
        """See `Distribution.entropy`: d + log Z."""
        return self.dim - self.log_peak

    def kl_divergence(self, other: "MultivariateLaplace") -> Array:
        """See `Distribution.kl_divergence`, for the same norm; with L2 and d > 1 by quadrature, to 1e-12."""
        self._check_family(other)
        if other.norm != self.norm and self.dim > 1:
            raise ValueError(f"other must have the norm {self.norm!r}, got {other.norm!r}")
        xp = namespace_of(self.location)
        offset = self.location - other.location
        by_coordinates = self.norm == "l1" or self.dim == 1
        scale = self.scale + xp.zeros_like(offset[..., 0])
        distance = _mean_sum(offset, scale) if by_coordinates else expected_distance(offset, scale)
        divergence = distance / other.scale - other.log_peak - self.entropy()
        return xp.where(divergence > 0, divergence, xp.zeros_like(divergence))

    @property
    def log_peak(self) -> Array:
        """The greatest log density, -log Z, (*batch,)."""
        return -self.dim * namespace_of(self.scale).log(self.scale) - _log_volume(self.dim, self.norm)

    def _one_column(self) -> Laplace:
        return Laplace(location=self.location[..., 0], scale=self.scale)

    def _sample(self, n: int, rng: Any) -> Array:
        shape = (n, *self.batch_shape, self.dim)
        xp = namespace_of(self.location)
        if self.norm == "l1":
            size = standard_gamma(rng, xp.ones_like(self.location), n)
            sign = 1.0 - 2.0 * xp.astype(uniform(rng, shape, self.location) < 0.5, size.dtype)
            return self.location + self.scale[..., None] * sign * size
        noise = standard_normal(rng, shape, like=self.location)
        radius = self.scale * standard_gamma(rng, xp.full_like(self.scale, float(self.dim)), n)
        return self.location + (radius / _norm(noise, "l2"))[..., None] * noise


def _check_norm(norm: Any) -> None:
    if norm not in ("l1", "l2"):
        raise ValueError(f"norm must be 'l1' or 'l2', got {norm!r}")


def _norm(z: Array, norm: str) -> Array:
    xp = namespace_of(z)
    if norm == "l1":
        with np.errstate(over="ignore"):
            return xp.sum(xp.abs(z), axis=-1)
    size = xp.max(xp.abs(z), axis=-1, keepdims=True)
    usual = (size > 0) & xp.isfinite(size)
    safe = xp.where(usual, size, xp.ones_like(size))
    # Divided by the largest entry first, so that no square overflows.
    return xp.sqrt(xp.sum((z / safe) ** 2, axis=-1)) * safe[..., 0]


def _log_volume(dim: int, norm: str) -> float:
    """Return log Z at b = 1: ∫ exp(-‖x‖) dx."""
    if norm == "l1":
        return dim * log(2.0)
    return log(2.0) + 0.5 * dim * log(pi) + lgamma(dim) - lgamma(0.5 * dim)


def _mean_sum(offset: Array, scale: Array) -> Array:
    """Return E Σ |x_i| for independent Laplace variables: Σ |m_i| + b exp(-|m_i|/b)."""
    xp = namespace_of(offset)
    size = xp.abs(offset)
    return xp.sum(size + scale[..., None] * xp.exp(-size / scale[..., None]), axis=-1)
