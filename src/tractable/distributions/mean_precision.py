"""Joint distributions of the mean and the precision of a normal: normal-gamma and normal-Wishart priors."""

from abc import abstractmethod
from collections.abc import Mapping
from math import e, log, pi, prod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from tractable.arrays.gamma import gammaln
from tractable.arrays.linalg import log_det_cholesky, solve_triangular
from tractable.arrays.log_space import LOG_2PI
from tractable.arrays.namespace import Array, as_float_array, namespace_of
from tractable.arrays.random import standard_gamma, standard_normal
from tractable.arrays.saddle_point import log_gamma_kernel
from tractable.covariance import Full
from tractable.distributions.checks import check_finite, check_positive, check_sample_weight
from tractable.distributions.distribution import Distribution, as_parameters
from tractable.distributions.gamma import Gamma
from tractable.distributions.student_t import MultivariateStudentT, StudentT
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


class MeanPrecision(NamedTuple):
    """A mean and a precision: one event, or arrays of them with the same leading axes.

    Examples
    --------
    >>> MeanPrecision(mean=1.0, precision=4.0).precision
    4.0
    """

    mean: Array
    precision: Array


class MeanPrecisionDistribution(Distribution):
    """A joint distribution of a mean and a precision.

    Its events are pairs: `log_prob` takes one, ``(mean, precision)``, and `sample` returns a
    :class:`MeanPrecision`, as do the properties `mean`, `variance`, `stddev` and `mode`. What is given as
    `mean` is kept as `location`, since `mean` is the expected pair.
    """

    support = None  # any mean with any positive (definite) precision is no box

    location: Array
    strength: Array

    def _store(self, **given: Any) -> None:
        """Make the parameters arrays of one library, dtype and batch shape."""
        for name, x in as_parameters(self.parameter_ndims, **given).items():
            object.__setattr__(self, "location" if name == "mean" else name, x)

    def _arrays(self) -> dict[str, Array]:
        return {k: getattr(self, "location" if k == "mean" else k) for k in self.parameter_ndims}

    def _parameters(self) -> dict[str, Any]:
        return self._arrays()

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return tuple(self.strength.shape)

    @property
    def mean(self) -> MeanPrecision:
        """Expected mean, NaN where there is none, and expected precision."""
        return MeanPrecision(self.mean_marginal().mean, self.precision_marginal().mean)

    @property
    def variance(self) -> MeanPrecision:
        """Variance of each entry of the mean, where it exists, and of the precision."""
        return MeanPrecision(self.mean_marginal().variance, self.precision_marginal().variance)

    @property
    def stddev(self) -> MeanPrecision:
        xp = namespace_of(self.location)
        return MeanPrecision(*(xp.sqrt(part) for part in self.variance))

    @abstractmethod
    def mean_marginal(self) -> Any:
        """Return the distribution of the mean, whatever the precision."""

    @abstractmethod
    def precision_marginal(self) -> Any:
        """Return the distribution of the precision, whatever the mean."""

    @property
    @abstractmethod
    def _mean_log_det(self) -> Array:
        """E log |Λ|, (*batch,)."""

    @abstractmethod
    def _mean_square(self, gap: Array) -> Array:
        """Return E gapᵀ Λ gap, (*batch,)."""

    def entropy(self) -> Array:
        """Return the entropy of the precision, and the expected one of the normal given it."""
        normal = self._n_columns * (log(2.0 * pi * e) - namespace_of(self.strength).log(self.strength))
        return self.precision_marginal().entropy() + 0.5 * (normal - self._mean_log_det)

    def _divergence(self, other: Any) -> Array:
        """Return the divergence of the precisions, and the expected one of the normals."""
        xp = namespace_of(self.strength)
        excess = (other.strength - self.strength) / self.strength
        shift = other.strength * self._mean_square(self.location - other.location)
        normals = 0.5 * (self._n_columns * (excess - xp.log1p(excess)) + shift)
        return self.precision_marginal().kl_divergence(other.precision_marginal()) + normals

    @property
    def _n_columns(self) -> int:
        return prod(self.event_shape.mean)  # type: ignore[attr-defined]

    def _pair(self, x: Any) -> MeanPrecision:
        """Return an argument as two float arrays of the parameters' library, their event axes checked."""
        if not isinstance(x, (tuple, list)) or len(x) != 2:
            raise ValueError(f"x must be a pair (mean, precision), got {type(x).__name__}")
        parts = zip(("mean", "precision"), x, self.event_shape, strict=True)
        return MeanPrecision(
            *(self._event(x, f"{name} of x", like=self.location, shape=shape) for name, x, shape in parts)
        )


@value
class NormalGamma(MeanPrecisionDistribution):
    """The normal-gamma distribution of a mean and a precision.

    NG(μ, λ) = N(μ | m, 1/bλ) Gamma(λ | α, β), a joint distribution of a mean and a precision.

    The conjugate prior of a normal of which neither mean nor precision is known: b counts the observations
    behind the mean, 2α those behind the precision. Events are pairs ``(mean, precision)``; a precision below
    0 has log probability -inf.

    Parameters
    ----------
    mean : array (*batch,)
        m, stored as `location`: the property `mean` is the expected pair.
    strength : array (*batch,)
        b, positive.
    shape : array (*batch,)
        α, positive.
    rate : array (*batch,)
        β, positive: the expected precision is α/β.

    Examples
    --------
    >>> d = NormalGamma(mean=1.0, strength=2.0, shape=3.0, rate=6.0)
    >>> float(d.mean.mean), float(d.mean.precision)
    (1.0, 0.5)
    >>> x = d.sample(100, rng=0)
    >>> x.mean.shape, d.log_prob(x).shape
    ((100,), (100,))
    >>> float(d.mean_marginal().dof), float(d.precision_marginal().shape)
    (6.0, 3.0)
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"mean": 0, "strength": 0, "shape": 0, "rate": 0}

    location: Array
    strength: Array
    shape: Array
    rate: Array

    def __init__(self, *, mean: Any, strength: Any, shape: Any, rate: Any) -> None:
        self._store(mean=mean, strength=strength, shape=shape, rate=rate)
        check_finite("mean", self.location)
        for name in ("strength", "shape", "rate"):
            check_positive(name, getattr(self, name))

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None) -> Self:
        """Return the maximum likelihood estimate from pairs: X = (means (n,), precisions (n,)).

        The precisions are fitted by a Gamma; m is the mean weighted by precision, and 1/b the mean of
        λ (μ - m)².
        """
        means, precisions = as_pairs(X)
        means = as_float_array(means)
        xp = namespace_of(means)
        if means.ndim != 1:
            raise ValueError(f"X must hold means of shape (n,), got {tuple(means.shape)}")
        check_finite("X", means)
        precision = Gamma.fit(precisions, sample_weight)
        weights = check_sample_weight(sample_weight, means.shape[0], means)
        weights = xp.ones_like(means) if weights is None else weights
        weighted = weights * as_float_array(precisions, xp)
        mean = xp.sum(weighted * means) / xp.sum(weighted)
        # The mean of the residuals corrects the rounding of the mean itself, far from the origin.
        mean = mean + xp.sum(weighted * (means - mean)) / xp.sum(weighted)
        spread = xp.sum(weighted * (means - mean) ** 2) / xp.sum(weights)
        if not float(spread) > 0:
            raise ValueError("X must hold means that differ: the likelihood of equal ones has no maximum")
        return cls(mean=mean, strength=1.0 / spread, shape=precision.shape, rate=precision.rate)

    @property
    def event_shape(self) -> Any:
        """Shapes of the two parts of an event: two numbers."""
        return MeanPrecision(mean=(), precision=())

    @property
    def mode(self) -> MeanPrecision:
        """(m, (α - ½)/β) for α > ½; else (m, 0), at the edge, where for α < ½ the density is unbounded."""
        xp = namespace_of(self.shape)
        left = self.shape - 0.5
        left = xp.where(left > 0, left, xp.zeros_like(left))
        return MeanPrecision(mean=self.location, precision=left / self.rate)

    def mean_marginal(self) -> StudentT:
        """Return the Student-t distribution of μ: 2α degrees of freedom, scale² β/αb."""
        squared = self.rate / (self.shape * self.strength)
        scale = namespace_of(squared).sqrt(squared)
        return StudentT(dof=2.0 * self.shape, location=self.location, scale=scale)

    def precision_marginal(self) -> Gamma:
        """Return the Gamma distribution of λ."""
        return Gamma(shape=self.shape, rate=self.rate)

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`: x is a pair (mean, precision)."""
        mean, precision = self._pair(x)
        xp = namespace_of(mean)
        some = xp.where(precision > 0, precision, xp.ones_like(precision))
        some = xp.where(xp.isinf(some), xp.ones_like(some), some)
        gap = mean - self.location
        with np.errstate(over="ignore"):
            inside = (
                log_gamma_kernel(self.shape, self.rate * some)
                - 0.5 * (xp.log(some) + self.strength * some * gap * gap)
                + 0.5 * (xp.log(self.strength) - LOG_2PI)
            )
        found = xp.where(precision > 0, inside, self._at_edge() + xp.zeros_like(inside))
        impossible = (precision < 0) | xp.isinf(precision)
        found = xp.where(impossible, xp.full_like(found, -xp.inf), found)
        return xp.where(xp.isnan(mean) | xp.isnan(precision), xp.full_like(found, xp.nan), found)

    @property
    def _mean_log_det(self) -> Array:
        return self.precision_marginal().mean_log

    def _mean_square(self, gap: Array) -> Array:
        return self.shape / self.rate * gap * gap

    def interval(self, coverage: float = 0.9) -> tuple[MeanPrecision, MeanPrecision]:
        """Return the equal-tailed intervals of mean and precision, each by itself, as (low, high)."""
        pairs = zip(
            self.mean_marginal().interval(coverage), self.precision_marginal().interval(coverage), strict=True
        )
        low, high = (MeanPrecision(*pair) for pair in pairs)
        return low, high

    def _at_edge(self) -> Array:
        """Return the log density where λ = 0: finite for α = ½ alone."""
        xp = namespace_of(self.shape)
        level = self.shape * xp.log(self.rate) - gammaln(self.shape) + 0.5 * (xp.log(self.strength) - LOG_2PI)
        level = xp.where(self.shape > 0.5, xp.full_like(level, -xp.inf), level)
        return xp.where(self.shape < 0.5, xp.full_like(level, xp.inf), level)

    def _sample(self, n: int, rng: Any) -> Any:
        xp = namespace_of(self.location)
        precision = standard_gamma(rng, self.shape, n) / self.rate
        noise = standard_normal(rng, (n, *self.batch_shape), like=self.location)
        return MeanPrecision(
            mean=self.location + noise / xp.sqrt(self.strength * precision), precision=precision
        )


@value
class NormalWishart(MeanPrecisionDistribution):
    """The normal-Wishart distribution of a mean vector and a precision matrix.

    NW(μ, Λ) = N(μ | m, (bΛ)⁻¹) W(Λ | ν, W), a joint distribution of a mean and a precision matrix.

    The conjugate prior of a multivariate normal of which neither mean nor precision is known: b counts the
    observations behind the mean, ν those behind the precision. Events are pairs ``(mean, precision)``; a
    precision that is not symmetric positive definite has log probability -inf.

    Parameters
    ----------
    mean : array (*batch, d)
        m, stored as `location`: the property `mean` is the expected pair.
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

    @property
    def _mean_log_det(self) -> Array:
        return self.precision_marginal().mean_log_det

    def _mean_square(self, gap: Array) -> Array:
        return self.dof * namespace_of(gap).sum(gap * _rows(self.scale, gap), axis=-1)

    def _sample(self, n: int, rng: Any) -> Any:
        xp = namespace_of(self.location)
        root = self.precision_marginal().cholesky @ bartlett(rng, n, self.dof, self.dim)
        noise = standard_normal(rng, (n, *self.batch_shape, self.dim), like=self.location)
        spread = solve_triangular(root, noise[..., None], transposed=True)[..., 0]
        return MeanPrecision(
            mean=self.location + spread / xp.sqrt(self.strength)[..., None],
            precision=root @ xp.matrix_transpose(root),
        )


def as_pairs(X: Any) -> tuple[Any, Any]:
    """Return what is to be learnt from: many means, and as many precisions."""
    if not isinstance(X, (tuple, list)) or len(X) != 2:
        raise ValueError(f"X must be a pair (means, precisions), got {type(X).__name__}")
    return X[0], X[1]


def _rows(matrices: Array, vectors: Array) -> Array:
    """Multiply each matrix (..., d, d) with its vector (..., d); batches broadcast."""
    return (matrices @ vectors[..., None])[..., 0]
