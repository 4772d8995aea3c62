"""Normal distributions of numbers and of vectors."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from math import e, log, pi, sqrt
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.batched import as_reals, matvec, on_columns, principal_block
from tractable.arrays.error_function import erfc, log_ndtr, ndtri
from tractable.arrays.linalg import cholesky, solve_cholesky
from tractable.arrays.log_space import HALF_LOG_2PI, LOG_2PI
from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.arrays.random import standard_normal
from tractable.covariance import Covariance, Full, as_structure, other_dims, resolve_dims
from tractable.data.blocks import BLOCK_ENTRIES, map_entries
from tractable.distributions.checks import (
    check_coverage,
    check_finite,
    check_positive,
    check_sample_weight,
    check_varies,
    exactly_one,
)
from tractable.distributions.distribution import ScalarFamily, as_parameters
from tractable.distributions.vectors import Elliptical, as_location, as_names, as_values, as_vectors, taken
from tractable.primitives.em import scores_by_pattern
from tractable.statistics.moments import DiagonalMoments, Moments
from tractable.value import set_fields, value


@value
class Normal(ScalarFamily):
    """The normal distribution of a number.

    N(x | μ, σ²) = (2πσ²)^(-1/2) exp(-(x - μ)² / 2σ²).

    The scale is given by name, as a variance or as a standard deviation, so that one cannot be taken for the
    other. The variance is stored; the standard deviation comes back to the last bit.

    Parameters
    ----------
    mean : array (*batch,)
        The mean μ.
    variance : array (*batch,)
        σ²; give this or `stddev`.
    stddev : array (*batch,)
        σ.

    Examples
    --------
    >>> d = Normal(mean=1.0, stddev=2.0)
    >>> float(d.variance), float(d.cdf(1.0))
    (4.0, 0.5)
    >>> low, high = d.interval(0.95)
    >>> float(low.round(2)), float(high.round(2))
    (-2.92, 4.92)
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"mean": 0, "variance": 0}
    statistic: ClassVar[type[DiagonalMoments]] = DiagonalMoments

    mean: Array
    variance: Array

    def __init__(self, *, mean: Any, variance: Any = None, stddev: Any = None) -> None:
        name, scale = exactly_one(variance=variance, stddev=stddev)
        given = as_parameters({"mean": 0, name: 0}, **{"mean": mean, name: scale})
        check_positive(name, given[name])
        set_fields(
            self,
            mean=given["mean"],
            variance=given[name] if name == "variance" else squared(name, given[name]),
        )
        self._settle(mean=check_finite)

    @classmethod
    def from_statistic(cls, statistic: DiagonalMoments, *, ddof: float = 0.0) -> Self:
        """Return the maximum likelihood estimate of each column: mean, and scatter / (weight - ddof).

        ddof=1 makes the variance unbiased (Bessel); 0 is maximum likelihood.
        """
        rest = statistic.weight - ddof
        if not bool(namespace_of(rest).all(rest > 0.0)):
            raise ValueError(f"X must have a weight above ddof={ddof}, got {statistic.weight}")
        check_varies(statistic.scatter > 0.0)
        return cls(mean=statistic.mean, variance=statistic.scatter / rest)

    @property
    def mode(self) -> Array:
        return self.mean

    def _log_density(self, x: Array) -> Array:
        if is_numpy_array(x) and max(x.size, self.mean.size) > BLOCK_ENTRIES:
            return map_entries(_fill_log_density, x, self.mean, self.variance, self._log_peak)
        gap = x - self.mean
        # One factor is divided first: so that no intermediate result overflows.
        return -0.5 * (gap * (gap / self.variance)) + self._log_peak

    def _cdf(self, x: Array) -> Array:
        """Return P(X ≤ x) = ½ erfc(-(x - μ) / σ√2), accurate in the lower tail."""
        return 0.5 * erfc(self._standardized(x) / -sqrt(2.0))

    def _icdf(self, q: Array) -> Array:
        return self.mean + self.stddev * ndtri(q)

    def _survival(self, x: Array) -> Array:
        """Return P(X > x) = ½ erfc((x - μ) / σ√2), accurate in the upper tail."""
        return 0.5 * erfc(self._standardized(x) / sqrt(2.0))

    def _log_cdf(self, x: Array) -> Array:
        return log_ndtr(self._standardized(x))

    def _log_survival(self, x: Array) -> Array:
        return log_ndtr(-self._standardized(x))

    def _isf(self, q: Array) -> Array:
        return self.mean - self.stddev * ndtri(q)

    def probability_between(self, low: Any, high: Any) -> Array:
        """See `Univariate.probability_between`; exact in both tails."""
        xp = namespace_of(self.mean)
        with np.errstate(over="ignore"):
            a, b = self._standardized(self._event(low, "low")), self._standardized(self._event(high, "high"))
        flip = xp.where(a + b > 0, -xp.ones_like(a + b), xp.ones_like(a + b))
        return flip * 0.5 * (erfc(flip * b / -sqrt(2.0)) - erfc(flip * a / -sqrt(2.0)))

    def entropy(self) -> Array:
        return 0.5 * (namespace_of(self.variance).log(self.variance) + log(2.0 * pi * e))

    def _divergence(self, other: "Normal") -> Array:
        """Return ½ (r - 1 - log r + (μ₁ - μ₂)²/σ₂²) with r = σ₁²/σ₂²."""
        xp = namespace_of(self.mean)
        with np.errstate(over="ignore", invalid="ignore"):
            excess = (self.variance - other.variance) / other.variance
            shift = (self.mean - other.mean) / other.stddev
            spread = xp.where(xp.isinf(excess), excess, excess - xp.log1p(excess))
            return 0.5 * (spread + shift * shift)

    def __add__(self, other: Any) -> "Normal":
        """Return the distribution of the sum of two independent variables."""
        if not isinstance(other, Normal):
            return NotImplemented
        return Normal(mean=self.mean + other.mean, variance=self.variance + other.variance)

    def _sample(self, n: int, rng: Any) -> Array:
        noise = standard_normal(rng, (n, *self.batch_shape), like=self.mean)
        return self.mean + self.stddev * noise

    @cached_property
    def _log_peak(self) -> Array:
        """The greatest log density, log p(μ)."""
        return -0.5 * namespace_of(self.variance).log(self.variance) - HALF_LOG_2PI

    def _standardized(self, x: Array) -> Array:
        return (x - self.mean) / self.stddev


def _fill_log_density(
    x: np.ndarray, mean: np.ndarray, variance: np.ndarray, log_peak: np.ndarray, out: np.ndarray
) -> None:
    gap = x - mean
    np.divide(gap, variance, out=out)
    out *= gap
    out *= -0.5
    out += log_peak


def squared(name: str, stddev: Array) -> Array:
    """Return σ², or raise ValueError that names what overflows."""
    xp = namespace_of(stddev)
    with np.errstate(over="ignore", under="ignore"):
        variance = stddev * stddev
    if not bool(xp.all((variance > 0) & xp.isfinite(variance))):
        raise ValueError(f"{name} must have a square that is neither zero nor infinite in floating point")
    return variance


@value
class MultivariateNormal(Elliptical):
    """The multivariate normal distribution.

    N(x | μ, Σ) = (2π)^(-d/2) |Σ|^(-1/2) exp(-½ (x - μ)ᵀ Σ⁻¹ (x - μ)).

    Parameters
    ----------
    mean : array (*batch, d)
        The mean vector μ.
    covariance : array (*batch, d, d) or Covariance
        A symmetric positive definite matrix, or a structure: ``Diagonal(variances=…)`` and so on.
    names : sequence of str, optional
        What the coordinates are called; names then work wherever positions do.

    Attributes
    ----------
    covariance : array (*batch, d, d)
        The dense matrix, whatever the structure.
    structure : Covariance
        The structure; it may have a smaller batch, shared by several means.

    Examples
    --------
    >>> d = MultivariateNormal(mean=[1.0, 2.0], covariance=[[2.0, 1.0], [1.0, 2.0]], names=["a", "b"])
    >>> float(d.log_prob([1.0, 2.0]).round(4))
    -2.3872
    >>> d.condition({"b": 4.0}).mean, d.marginal("a").covariance
    (array([2.]), array([[2.]]))
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"mean": 1}
    _center_name: ClassVar[str] = "mean"
    _structure_name: ClassVar[str] = "covariance"

    mean: Array
    structure: Covariance
    names: tuple[str, ...] | None

    def __init__(self, *, mean: Any, covariance: Any, names: Iterable[str] | None = None) -> None:
        try:
            structure = as_structure(covariance, like=mean)
        except ValueError as error:
            raise ValueError(str(error).replace("matrix", "covariance", 1)) from None
        set_fields(
            self,
            mean=as_location("mean", mean, structure),
            structure=structure,
            names=as_names(names, structure.dim),
        )

    def _parameters(self) -> dict[str, Any]:
        return {"mean": self.mean, "covariance": self.structure, "names": self.names}

    @classmethod
    def fit(
        cls,
        X: Any,
        sample_weight: Any = None,
        *,
        ddof: float = 0.0,
        structure: type[Covariance] = Full,
        names: Iterable[str] | None = None,
    ) -> Self:
        """Return the maximum likelihood estimate from rows: their mean and their scatter / (n - ddof).

        Parameters
        ----------
        X : array (n, d)
            Rows.
        sample_weight : array (n,), optional
            How often each row counts.
        ddof : float
            1 makes the covariance unbiased (Bessel).
        structure : type of Covariance
            The shape of covariance to fit.
        names : iterable of d str, optional
            Names of the columns.
        """
        X = as_vectors(X)
        moments = Moments.of(X, check_sample_weight(sample_weight, X.shape[0], X))
        return cls(mean=moments.mean, covariance=structure.from_moments(moments, ddof), names=names)

    @property
    def covariance(self) -> Array:
        """Σ as an array, (*batch, d, d)."""
        return self._over_batch(self.structure.dense(), 2)

    @property
    def precision(self) -> Array:
        """Σ⁻¹ as an array, (*batch, d, d)."""
        return self._over_batch(self.structure.precision(), 2)

    @property
    def variance(self) -> Array:
        return self._over_batch(self.structure.diagonal, 1)

    def entropy(self) -> Array:
        return self._over_batch(0.5 * (self.dim * (1.0 + LOG_2PI) + self.structure.log_det), 0)

    def _divergence(self, other: "MultivariateNormal") -> Array:
        """Return ½ (tr Σ₂⁻¹Σ₁ + (μ₂-μ₁)ᵀ Σ₂⁻¹ (μ₂-μ₁) - d + log |Σ₂|/|Σ₁|)."""
        xp = namespace_of(self.mean)
        root = self.structure.root(len(other.structure.batch_shape))
        spread = xp.sum(other.structure.whiten(root) ** 2, axis=(0, -1))
        shift = other.structure.mahalanobis(self.mean, other.mean)
        ratio = other.structure.log_det - self.structure.log_det
        return 0.5 * (spread - self.dim + shift + ratio)

    def affine(self, A: Any, b: Any = None, *, names: Iterable[str] | None = None) -> "MultivariateNormal":
        """Return the distribution of A x + b: N(A μ + b, A Σ Aᵀ).

        Parameters
        ----------
        A : array (*batch, m, d)
            A matrix of full row rank.
        b : array (*batch, m), optional
            What is added; nothing when not given.
        names : iterable of m str, optional
            Names of the new coordinates.
        """
        A = as_reals("A", A, self.mean)
        if A.ndim < 2 or A.shape[-1] != self.dim:
            raise ValueError(f"A must have shape (*batch, m, {self.dim}), got {tuple(A.shape)}")
        mean = matvec(A, self.mean)
        if b is not None:
            b = as_reals("b", b, self.mean)
            if b.ndim < 1 or b.shape[-1] != A.shape[-2]:
                raise ValueError(f"b must have shape (*batch, {A.shape[-2]}), got {tuple(b.shape)}")
            mean = mean + b
        return MultivariateNormal(mean=mean, covariance=self.structure.affine(A), names=names)

    def product(self, other: "MultivariateNormal") -> tuple["MultivariateNormal", Array]:
        """Return the product of two densities: the normal it is proportional to, and the log of the scale.

        N(x | μ₁, Σ₁) N(x | μ₂, Σ₂) = c N(x | μ, Σ) with Σ = (Σ₁⁻¹ + Σ₂⁻¹)⁻¹ and c = N(μ₁ | μ₂, Σ₁ + Σ₂). It
        is the product of the densities of one variable, not the density of a product of variables.
        """
        self._check_family(other)
        together = self.structure.parallel(other.structure)
        apart = MultivariateNormal(mean=other.mean, covariance=self.structure + other.structure)
        step = together.multiply(other.structure.solve(other.mean - self.mean))
        both = MultivariateNormal(mean=self.mean + step, covariance=together, names=self.names)
        return both, apart.log_prob(self.mean)

    def __add__(self, other: Any) -> "MultivariateNormal":
        """Return the distribution of the sum of two independent vectors."""
        if not isinstance(other, MultivariateNormal):
            return NotImplemented
        self._check_family(other)
        covariance = self.structure + other.structure
        return MultivariateNormal(mean=self.mean + other.mean, covariance=covariance, names=self.names)

    def principal_axes(self) -> tuple[Array, Array]:
        """Return the axes U, one a row, and the variances λ along them, largest first: Σ = Uᵀ diag(λ) U.

        ``y = (x - mean) @ axes.T`` has covariance diag(λ). The largest entry of each axis is positive.
        """
        xp = namespace_of(self.mean)
        variances, vectors = xp.linalg.eigh(self.structure.dense())
        axes = xp.flip(xp.matrix_transpose(vectors), axis=-2)
        size = xp.abs(axes)
        largest = xp.sum(xp.where(size == xp.max(size, axis=-1, keepdims=True), axes, 0.0 * axes), axis=-1)
        axes = xp.where(largest[..., None] < 0, -axes, axes)
        return self._over_batch(axes, 2), self._over_batch(xp.flip(variances, axis=-1), 1)

    def interval(self, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return the equal-tailed interval (low, high) of each coordinate by itself, (*batch, d) both."""
        from scipy.special import ndtri

        half = float(ndtri(0.5 + 0.5 * check_coverage(coverage))) * self.stddev
        return self.mean - half, self.mean + half

    def credible_radius(self, coverage: float = 0.95) -> float:
        """Return the Mahalanobis distance within which a draw falls with probability `coverage`.

        The region ``mean + radius · structure.color(unit vectors)`` is the smallest with that probability.
        """
        from scipy.special import gammaincinv

        return float(np.sqrt(2.0 * gammaincinv(0.5 * self.dim, check_coverage(coverage))))

    def _of(
        self, dims: tuple[int, ...], center: Array, structure: Covariance, **changes: Any
    ) -> "MultivariateNormal":
        return MultivariateNormal(mean=center, covariance=structure, names=self._named(dims))

    def _one_column(self) -> Normal:
        return Normal(mean=self.mean[..., 0], variance=self.variance[..., 0])

    def _sample(self, n: int, rng: Any) -> Array:
        noise = standard_normal(rng, (n, *self.batch_shape, self.structure.noise_dim), like=self.mean)
        return self.mean + self.structure.color(noise)

    def _incomplete(self, x: Array, measure: str) -> Array:
        """Measure rows (n, d), or (n, 1, d) of a batch of K, by one factor for each missing pattern."""
        n_batch, d = len(self.batch_shape), self.dim
        rows = is_numpy_array(x) and n_batch <= 1 and x.shape[1:] == (*(1,) * n_batch, d)
        doubles = rows and x.dtype == self.mean.dtype == np.float64
        if not (doubles and isinstance(self.structure, Full) and measure == "_log_density"):
            return super()._incomplete(x, measure)
        covariances = self.structure.dense().reshape(-1, d, d)
        found = scores_by_pattern(x.reshape(-1, d), self.mean.reshape(-1, d), covariances)
        finite = ~np.isinf(x).any(axis=-1).reshape(-1)
        if np.isnan(found[finite]).any():  # a factor was lost in rounding
            return super()._incomplete(x, measure)
        return found if n_batch else found[:, 0]

    def _log_density(self, x: Array) -> Array:
        return -0.5 * (self._squared(x) + (self.dim * LOG_2PI + self.structure.log_det))


def gaussian_from_quadratic(precision: Any, linear: Any) -> MultivariateNormal:
    """Return the normal whose log density is -½ xᵀ Λ x + xᵀ η + constant: mean Λ⁻¹ η, covariance Λ⁻¹.

    Parameters
    ----------
    precision : array (*batch, d, d)
        Λ, symmetric positive definite.
    linear : array (*batch, d)
        η.

    Examples
    --------
    >>> d = gaussian_from_quadratic([[2.0, 0.0], [0.0, 4.0]], [2.0, 8.0])
    >>> d.mean, d.variance
    (array([1., 2.]), array([0.5 , 0.25]))
    """
    precision = as_reals("precision", precision)
    linear = as_reals("linear", linear, precision)
    structure = Full.from_precision(precision)
    if linear.ndim < 1 or linear.shape[-1] != structure.dim:
        raise ValueError(f"linear must have shape (*batch, {structure.dim}), got {tuple(linear.shape)}")
    return MultivariateNormal(mean=_solve(precision, linear), covariance=structure)


def condition_precision(mean: Any, precision: Any, dims: Any, values: Any) -> MultivariateNormal:
    """Return p(x_a | x_b) from the precision Λ of the joint: N(μ_a - Λ_aa⁻¹ Λ_ab (x_b - μ_b), Λ_aa⁻¹).

    The same as `MultivariateNormal.condition`, where the precision is what is known. Note that Λ_aa is
    the precision of the conditional, not the inverse of Σ_aa.

    Parameters
    ----------
    mean : array (*batch, d)
        Mean μ of the joint distribution.
    precision : array (*batch, d, d)
        Λ, the inverse of its covariance.
    dims : positions of the observed coordinates b
        Which coordinates were observed.
    values : array (*batch, len(dims))
        What they were observed to be, in the order of `dims`.

    Examples
    --------
    >>> condition_precision([0.0, 0.0], [[2.0, -1.0], [-1.0, 2.0]], [1], [4.0]).mean
    array([2.])
    """
    precision = as_reals("precision", precision)
    mean = as_reals("mean", mean, precision)
    given = resolve_dims(dims, precision.shape[-1])
    rest = other_dims(given, precision.shape[-1])
    if not rest:
        raise ValueError("dims must leave at least one coordinate free")
    own, across = principal_block(precision, rest, rest), principal_block(precision, rest, given)
    step = matvec(across, as_values(values, given, mean) - taken(mean, given))
    return MultivariateNormal(mean=taken(mean, rest) - _solve(own, step), covariance=Full.from_precision(own))


def _solve(precision: Array, z: Array) -> Array:
    lower = cholesky(precision, name="precision")
    return on_columns(lambda columns: solve_cholesky(lower, columns), z, lower.ndim - 2)
