"""Laplace distributions of numbers and of vectors, and the medians that fit them."""

from collections.abc import Mapping
from math import lgamma, log, pi
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.batched import diagonal_matrix
from tractable.arrays.linalg import symmetrize
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.random import standard_gamma, standard_normal, uniform
from tractable.arrays.saddle_point import deviance
from tractable.distributions.checks import check_finite, check_positive, check_varies, row_weights
from tractable.distributions.distribution import Univariate, as_columns, like_columns
from tractable.distributions.student_t import expected_distance
from tractable.distributions.vectors import VectorDistribution, as_vectors
from tractable.engines.newton import newton
from tractable.value import value


@value
class Laplace(Univariate):
    """The Laplace (double exponential) distribution of a number.

    Lap(x | μ, b) = exp(-|x - μ| / b) / 2b.

    Parameters
    ----------
    location : array (*batch,)
        μ: mean, median and mode.
    scale : array (*batch,)
        b, the mean distance from μ; the variance is 2b².

    Examples
    --------
    >>> d = Laplace(location=1.0, scale=2.0)
    >>> float(d.variance), float(d.cdf(1.0)), float(d.prob(1.0))
    (8.0, 0.5, 0.25)
    >>> Laplace.fit([1.0, 2.0, 9.0]).location
    array(2.)
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"location": 0, "scale": 0}

    location: Array
    scale: Array

    def __post_init__(self) -> None:
        self._settle(location=check_finite, scale=check_positive)

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None) -> Self:
        """Return the maximum likelihood estimate: the median, and the mean distance from it.

        Where half the weight lies on either side of a gap every point of it is likeliest, as between the
        middle two of an even number of observations; its middle is given. Arguments as of `Normal.fit`.
        """
        X, columns, weights = as_columns(X, sample_weight)
        xp = namespace_of(X)
        weights = row_weights(weights, X)
        weights = xp.astype(weights / xp.sum(weights), X.dtype)
        location = coordinate_medians(columns, weights) if columns.shape[1] else columns[0, :]
        scale = weights @ xp.abs(columns - location)
        check_varies(scale > 0.0)
        return like_columns(cls(location=location, scale=scale), X)

    @property
    def mean(self) -> Array:
        return self.location

    @property
    def variance(self) -> Array:
        return 2.0 * self.scale * self.scale

    @property
    def mode(self) -> Array:
        return self.location

    def _log_density(self, x: Array) -> Array:
        xp = namespace_of(self.scale)
        return -xp.abs(self._standardized(x)) - (xp.log(self.scale) + log(2.0))

    def _cdf(self, x: Array) -> Array:
        return _lower(self._standardized(x))

    def _survival(self, x: Array) -> Array:
        return _lower(-self._standardized(x))

    def _icdf(self, q: Array) -> Array:
        return self.location + self.scale * _standard_quantile(q)

    def _log_cdf(self, x: Array) -> Array:
        return _log_lower(self._standardized(x))

    def _log_survival(self, x: Array) -> Array:
        return _log_lower(-self._standardized(x))

    def _isf(self, q: Array) -> Array:
        return self.location - self.scale * _standard_quantile(q)

    def entropy(self) -> Array:
        return 1.0 + log(2.0) + namespace_of(self.scale).log(self.scale)

    def _divergence(self, other: "Laplace") -> Array:
        """Return r - 1 - log r + r (δ - 1 + exp(-δ)), with r = b₁/b₂ and δ = |μ₁ - μ₂|/b₁."""
        xp = namespace_of(self.scale)
        ratio = self.scale / other.scale
        shift = xp.abs(self.location - other.location) / self.scale
        return deviance(xp.ones_like(ratio), ratio) + ratio * (shift + xp.expm1(-shift))

    def _sample(self, n: int, rng: Any) -> Array:
        # The difference of two exponentials.
        u = uniform(rng, (2, n, *self.batch_shape), like=self.location)
        e = namespace_of(u).log1p(-u)
        return self.location + self.scale * (e[0, ...] - e[1, ...])

    def _standardized(self, x: Array) -> Array:
        return (x - self.location) / self.scale


@value
class MultivariateLaplace(VectorDistribution):
    """The multivariate Laplace distribution, by the L1 or the L2 norm.

    p(x) = exp(-‖x - μ‖/b) / Z, with Z = (2b)^d for the L1 norm and 2π^(d/2) Γ(d)/Γ(d/2) b^d for L2.

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

    #: Fields that are arguments of :meth:`fit`, not estimated by it.
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

        Parameters
        ----------
        X : array (n, d)
            Rows.
        sample_weight : array (n,), optional
            How often each row counts.
        norm : {"l1", "l2"}
            The norm in the density exp(-|x - μ| / b).
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

    def _one_column(self) -> Laplace:
        return Laplace(location=self.location[..., 0], scale=self.scale)

    @property
    def mean(self) -> Array:
        return self.location

    @property
    def mode(self) -> Array:
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
        return -_norm(self._event(x) - self.location, self.norm) / self.scale + self.log_peak

    def entropy(self) -> Array:
        return self.dim - self.log_peak

    def _divergence(self, other: "MultivariateLaplace") -> Array:
        """See `Distribution.kl_divergence`, for the same norm; with L2 and d > 1 by quadrature, to 1e-12."""
        if other.norm != self.norm and self.dim > 1:
            raise ValueError(f"other must have the norm {self.norm!r}, got {other.norm!r}")
        xp = namespace_of(self.location)
        offset = self.location - other.location
        by_coordinates = self.norm == "l1" or self.dim == 1
        scale = self.scale + xp.zeros_like(offset[..., 0])
        distance = _mean_sum(offset, scale) if by_coordinates else expected_distance(offset, scale)
        return distance / other.scale - other.log_peak - self.entropy()

    @property
    def log_peak(self) -> Array:
        """The greatest log density, -log Z, (*batch,)."""
        return -self.dim * namespace_of(self.scale).log(self.scale) - _log_volume(self.dim, self.norm)

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


def _lower(z: Array) -> Array:
    """Return ½ eᶻ below zero and 1 - ½ e⁻ᶻ above."""
    xp = namespace_of(z)
    tail = 0.5 * xp.exp(-xp.abs(z))
    return xp.where(z > 0.0, 1.0 - tail, tail)


def _log_lower(z: Array) -> Array:
    """Return z - log 2 below zero and log(1 - ½ e⁻ᶻ) above."""
    xp = namespace_of(z)
    return xp.where(z > 0.0, xp.log1p(-0.5 * xp.exp(-xp.abs(z))), -xp.abs(z) - log(2.0))


def _standard_quantile(q: Array) -> Array:
    """Return log 2q below the median and -log 2(1 - q) above."""
    xp = namespace_of(q)
    with np.errstate(divide="ignore"):
        tail = xp.log(2.0 * xp.minimum(q, 1.0 - q))
    return xp.where(q < 0.5, tail, -tail)


def coordinate_medians(X: Array, weights: Array) -> Array:
    """Return a weighted median of each column, (d,): the middle of the interval where there is a choice."""
    xp = namespace_of(X)
    half = 0.5 * xp.sum(weights)
    middles = []
    for j in range(X.shape[1]):
        order = xp.argsort(X[:, j])
        column, below = X[:, j][order], xp.cumulative_sum(weights[order])
        low, high = (
            int(xp.sum(xp.astype(below < half, xp.int64))),
            int(xp.sum(xp.astype(below <= half, xp.int64))),
        )
        middles.append(0.5 * column[low] + 0.5 * column[min(high, X.shape[0] - 1)])
    return xp.stack(middles)


def geometric_median(X: Array, weights: Array, *, n_steps: int = 50) -> Array:
    """Return the point with the least weighted sum of Euclidean distances to the rows.

    Weiszfeld's steps, mended by Vardi and Zhang (2000) for points that coincide with a row, lead near it;
    then Newton's method finds its digits, unless it is a row: one is the median where the sum of the unit
    vectors to the other rows is no longer than its own weight.
    """
    xp = namespace_of(X)
    weights = weights / xp.sum(weights)
    point = weights @ X
    for _ in range(n_steps):
        point = _step(X, weights, point)
    if _is_median(X, weights, nearest := _nearest(X, point)):
        return nearest
    point = newton(lambda y: _expansion(X, weights, y), point, tol=1e-15, max_iter=200).x
    nearest = _nearest(X, point)
    return nearest if _is_median(X, weights, nearest) else point


def _directions(X: Array, weights: Array, point: Array) -> tuple[Array, Array, Array]:
    """Return weights over distances, the sum of unit vectors to rows, and the weight of rows at the point."""
    xp = namespace_of(X)
    gap = X - point
    distance = _length(gap)
    away = distance > 0
    inverse = xp.where(away, weights / xp.where(away, distance, xp.ones_like(distance)), 0.0 * weights)
    return inverse, inverse @ gap, xp.sum(xp.where(away, 0.0 * weights, weights))


def _step(X: Array, weights: Array, point: Array) -> Array:
    xp = namespace_of(X)
    inverse, unit_sum, here = _directions(X, weights, point)
    total, strength = xp.sum(inverse), _length(unit_sum)
    if float(strength) <= float(here) or not float(total) > 0:
        return point
    return point + (1.0 - here / strength) * unit_sum / total


def _is_median(X: Array, weights: Array, row: Array) -> bool:
    """Return whether a row is the median: the unit vectors to the others add up to at most its weight."""
    _, unit_sum, here = _directions(X, weights, row)
    return bool(_length(unit_sum) <= here)


def _nearest(X: Array, point: Array) -> Array:
    return X[int(namespace_of(X).argmin(_length(X - point))), :]


def _expansion(X: Array, weights: Array, point: Array) -> tuple[Any, Array, Array]:
    """Return the mean distance from a point, its gradient and its Hessian."""
    xp = namespace_of(X)
    inverse, unit_sum, _ = _directions(X, weights, point)
    gap = X - point
    distance = _length(gap)
    unit = gap / xp.where(distance > 0, distance, xp.ones_like(distance))[:, None]
    identity = xp.eye(X.shape[1], dtype=X.dtype, device=device(X))
    across = xp.matrix_transpose(unit) @ (inverse[:, None] * unit)
    return xp.sum(weights * distance), -unit_sum, symmetrize(xp.sum(inverse) * identity - across)


def _length(x: Array) -> Array:
    xp = namespace_of(x)
    return xp.sqrt(xp.sum(x * x, axis=-1))


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
