"""The normal-Wishart distribution of a mean vector and a precision matrix."""

from collections.abc import Mapping
from math import e, log, pi
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.linalg import log_det_cholesky, solve_triangular
from tractable.arrays.log_space import LOG_2PI
from tractable.arrays.namespace import Array, as_float_array, namespace_of
from tractable.arrays.random import standard_normal
from tractable.covariance import Full
from tractable.distributions.checks import check_finite, check_positive
from tractable.distributions.mean_precision import MeanPrecision, MeanPrecisionDistribution, as_pairs
from tractable.distributions.multivariate_student_t import MultivariateStudentT
from tractable.distributions.wishart import (
    Wishart,
    as_matrices,
    bartlett,
    check_definite,
    check_dof,
    factored,
    outside_is_impossible,
    standard_wishart_log_prob,
)
from tractable.value import value

__all__ = ["NormalWishart"]


@value
class NormalWishart(MeanPrecisionDistribution):
    """NW(μ, Λ) = N(μ | m, (bΛ)⁻¹) W(Λ | ν, W), a joint distribution of a mean and a precision matrix.

    The conjugate prior of a multivariate normal of which neither mean nor precision is known: b counts the
    observations behind the mean, ν those behind the precision. Events are pairs ``(mean, precision)``; a
    precision that is not symmetric positive definite has log probability -inf.

    Parameters
    ----------
    mean : array (*batch, d)
        m, kept as `location`: the property `mean` is the expected pair.
    strength : array (*batch,)
        b, positive.
    dof : array (*batch,)
        ν, above d - 1.
    scale : array (*batch, d, d)
        W, symmetric positive definite: the expected precision is νW.

    Examples
    --------
    >>> d = NormalWishart(mean=[0.0, 1.0], strength=2.0, dof=4.0, scale=[[1.0, 0.0], [0.0, 0.5]])
    >>> d.mean.precision
    array([[4., 0.],
           [0., 2.]])
    >>> d.mode
    MeanPrecision(mean=array([0., 1.]), precision=array([[2., 0.],
           [0., 1.]]))
    >>> x = d.sample(3, rng=0)
    >>> x.mean.shape, x.precision.shape, d.log_prob(x).shape
    ((3, 2), (3, 2, 2), (3,))
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"mean": 1, "strength": 0, "dof": 0, "scale": 2}

    location: Array
    strength: Array
    dof: Array
    scale: Array

    def __init__(self, *, mean: Any, strength: Any, dof: Any, scale: Any) -> None:
        self._store(mean=mean, strength=strength, dof=dof, scale=scale)
        check_definite("scale", self.scale)
        if self.location.shape[-1] != self.dim:
            raise ValueError(f"mean must have {self.dim} entries, as scale has rows")
        check_finite("mean", self.location)
        check_positive("strength", self.strength)
        check_dof(self.dof, self.dim)

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None) -> Self:
        """Return the maximum likelihood estimate from pairs: X = (means (n, d), precisions (n, d, d)).

        The precisions are fitted by a Wishart; m is the mean weighted by precision, and 1/b the mean of
        (μ - m)ᵀ Λ (μ - m) / d.
        """
        means, precisions = as_pairs(X)
        wishart = Wishart.fit(precisions, sample_weight)
        precisions, weights = as_matrices(precisions, sample_weight)
        xp = namespace_of(precisions)
        means = as_float_array(means, xp)
        if tuple(means.shape) != tuple(precisions.shape[:-1]):
            raise ValueError(f"X must hold means of shape {tuple(precisions.shape[:-1])}")
        check_finite("X", means)
        together = Full(matrix=xp.sum(weights[:, None, None] * precisions, axis=0))
        mean = xp.zeros_like(means[0, :])
        for _ in range(2):  # the second time corrects the rounding of the first, far from the origin
            residual = weights[:, None] * _rows(precisions, means - mean)
            mean = mean + together.solve(xp.sum(residual, axis=0))
        gap = means - mean
        spread = xp.sum(weights[:, None] * gap * _rows(precisions, gap)) / wishart.dim
        if not float(spread) > 0:
            raise ValueError("X must hold means that differ: the likelihood of equal ones has no maximum")
        return cls(mean=mean, strength=1.0 / spread, dof=wishart.dof, scale=wishart.scale)

    @property
    def dim(self) -> int:
        """Number of coordinates of the mean."""
        return int(self.scale.shape[-1])

    @property
    def event_shape(self) -> Any:
        """Shapes of the two parts of an event: (d,) and (d, d)."""
        return MeanPrecision(mean=(self.dim,), precision=(self.dim, self.dim))

    @property
    def mean(self) -> MeanPrecision:
        """Expected mean, NaN for ν ≤ d where there is none, and expected precision νW."""
        return MeanPrecision(mean=self.mean_marginal().mean, precision=self.precision_marginal().mean)

    @property
    def variance(self) -> MeanPrecision:
        """Variance of each entry of the mean (infinite or NaN for ν ≤ d + 1) and of the precision."""
        return MeanPrecision(mean=self.mean_marginal().variance, precision=self.precision_marginal().variance)

    @property
    def mode(self) -> MeanPrecision:
        """(m, (ν - d) W) for ν ≥ d; below there is no mode, and the precision is NaN.

        At ν = d the precision is the zero matrix, a corner of the cone.
        """
        xp = namespace_of(self.scale)
        left = self.dof - float(self.dim)
        left = xp.where(left >= 0, left, xp.full_like(left, xp.nan))
        return MeanPrecision(mean=self.location, precision=left[..., None, None] * self.scale)

    def mean_marginal(self) -> MultivariateStudentT:
        """Return the Student-t distribution of μ: ν - d + 1 degrees of freedom, scale (b (ν - d + 1) W)⁻¹."""
        dof = self.dof - (self.dim - 1.0)
        scale = Full.from_precision(self.scale).scaled(1.0 / (self.strength * dof))
        return MultivariateStudentT(dof=dof, location=self.location, scale=scale)

    def precision_marginal(self) -> Wishart:
        """Return the Wishart distribution of Λ."""
        return Wishart(dof=self.dof, scale=self.scale)

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`: x is a pair (mean, precision)."""
        mean, precision = self._pair(x)
        xp = namespace_of(mean)
        marginal = self.precision_marginal()
        lower, inside = factored(precision)
        wishart = standard_wishart_log_prob(solve_triangular(marginal.cholesky, lower), self.dof)
        near = xp.all(~xp.isinf(mean), axis=-1)
        gap = xp.where(near[..., None], mean - self.location, xp.zeros_like(mean))
        with np.errstate(over="ignore"):
            white = _rows(xp.matrix_transpose(lower), gap)
            distance = self.strength * xp.sum(white * white, axis=-1)
        found = (
            wishart
            - 0.5 * (self.dim + 1) * marginal.log_det
            + 0.5 * self.dim * (xp.log(self.strength) - LOG_2PI)
            + 0.5 * log_det_cholesky(lower)
            - 0.5 * distance
        )
        return outside_is_impossible(found, inside & near, precision)

    def entropy(self) -> Array:
        """See `Distribution.entropy`."""
        marginal = self.precision_marginal()
        normal = self.dim * (log(2.0 * pi * e) - namespace_of(self.strength).log(self.strength))
        return marginal.entropy() + 0.5 * (normal - marginal.mean_log_det)

    def kl_divergence(self, other: "NormalWishart") -> Array:
        """See `Distribution.kl_divergence`: that of the Wisharts, and the expected one of the normals."""
        self._check_family(other)
        xp = namespace_of(self.scale)
        wisharts = self.precision_marginal().kl_divergence(other.precision_marginal())
        excess = (other.strength - self.strength) / self.strength
        gap = self.location - other.location
        shift = other.strength * self.dof * xp.sum(gap * _rows(self.scale, gap), axis=-1)
        return wisharts + 0.5 * (self.dim * (excess - xp.log1p(excess)) + shift)

    def _sample(self, n: int, rng: Any) -> Any:
        xp = namespace_of(self.location)
        root = self.precision_marginal().cholesky @ bartlett(rng, n, self.dof, self.dim)
        noise = standard_normal(rng, (n, *self.batch_shape, self.dim), like=self.location)
        spread = solve_triangular(root, noise[..., None], transposed=True)[..., 0]
        return MeanPrecision(
            mean=self.location + spread / xp.sqrt(self.strength)[..., None],
            precision=root @ xp.matrix_transpose(root),
        )


def _rows(matrices: Array, vectors: Array) -> Array:
    """Multiply each matrix (..., d, d) with its vector (..., d); batches broadcast."""
    return (matrices @ vectors[..., None])[..., 0]
