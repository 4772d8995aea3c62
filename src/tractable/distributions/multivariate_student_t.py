"""The multivariate Student-t distribution."""

from collections.abc import Callable, Iterable, Mapping
from math import log, pi
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.namespace import Array, freeze, is_numpy_array, namespace_of
from tractable.arrays.random import standard_gamma, standard_normal
from tractable.arrays.special import betaln, digamma, gammaln
from tractable.covariance import Covariance, other_dims, resolve_dims
from tractable.covariance.rows import as_reals, batch_index, diagonal_matrix, matvec
from tractable.data.blocks import map_rows
from tractable.distributions.checks import check_coverage, check_positive
from tractable.distributions.distribution import Distribution, broadcast_batches
from tractable.distributions.double_precision import found_in_double
from tractable.distributions.missing import over_observed
from tractable.distributions.scale_mixtures import student_t_divergence
from tractable.distributions.student_t_fit import fit_student_t
from tractable.distributions.vectors import as_location, as_names, as_scale, as_values, split_mapping, taken
from tractable.value import value

__all__ = ["MultivariateStudentT"]

Measure = Callable[["MultivariateStudentT", Array], Array]


@value
class MultivariateStudentT(Distribution):
    """St(x | ν, μ, Σ) = Γ((ν+d)/2) / (Γ(ν/2) (νπ)^(d/2) |Σ|^(1/2)) (1 + Δ²/ν)^(-(ν+d)/2).

    Δ² = (x - μ)ᵀ Σ⁻¹ (x - μ). It is the normal N(μ, Σ/u) with u ~ Gamma(ν/2, ν/2) integrated out, and so the
    predictive distribution of a normal of unknown precision. Σ is the scale matrix; the covariance is
    ν/(ν-2) Σ.

    Parameters
    ----------
    dof : array (*batch,)
        Degrees of freedom ν; the smaller, the heavier the tails.
    location : array (*batch, d)
        μ, the centre; the mean for ν > 1.
    scale : array (*batch, d, d) or Covariance
        Σ, a symmetric positive definite matrix, or a structure: ``Diagonal(variances=…)`` and so on.
    names : sequence of str, optional
        What the coordinates are called; names then work wherever positions do.

    Attributes
    ----------
    structure : Covariance
        The structure of the scale matrix.

    Examples
    --------
    >>> d = MultivariateStudentT(dof=4.0, location=[1.0, 2.0], scale=[[2.0, 1.0], [1.0, 2.0]])
    >>> float(d.log_prob([1.0, 2.0]).round(4))
    -2.3872
    >>> d.covariance
    array([[4., 2.],
           [2., 4.]])
    >>> given = d.condition([1], [4.0])
    >>> float(given.dof), given.location
    (5.0, array([2.]))
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"dof": 0, "location": 1}

    dof: Array
    location: Array
    structure: Covariance
    names: tuple[str, ...] | None

    def __init__(self, *, dof: Any, location: Any, scale: Any, names: Iterable[str] | None = None) -> None:
        structure = as_scale("scale", scale, like=location)
        location = as_location("location", location, structure)
        dof = as_reals("dof", dof, location)
        check_positive("dof", dof)
        xp = namespace_of(location)
        batch = broadcast_batches(dof=tuple(dof.shape), location=tuple(location.shape[:-1]))
        object.__setattr__(self, "dof", xp.broadcast_to(freeze(xp.astype(dof, location.dtype)), batch))
        object.__setattr__(self, "location", xp.broadcast_to(location, (*batch, structure.dim)))
        object.__setattr__(self, "structure", structure)
        object.__setattr__(self, "names", as_names(names, structure.dim))

    def _parameters(self) -> dict[str, Any]:
        return {"dof": self.dof, "location": self.location, "scale": self.structure, "names": self.names}

    @classmethod
    def fit(
        cls,
        X: Any,
        sample_weight: Any = None,
        *,
        dof: float | None = None,
        names: Iterable[str] | None = None,
    ) -> Self:
        """Return the maximum likelihood estimate from rows, by expectation-maximisation.

        Parameters
        ----------
        X : array (n, d)
        sample_weight : array (n,), optional
            How often each row counts.
        dof : float, optional
            Degrees of freedom, if they are known; by default they are estimated too, between 0.01 and 1e6:
            the upper end says that the rows have no heavier tails than a normal.
        names : sequence of str, optional
            What the columns are called.
        """
        dof, location, scale = fit_student_t(X, sample_weight, dof)
        return cls(dof=dof, location=location, scale=scale, names=names)

    @property
    def event_shape(self) -> tuple[int, ...]:
        """See `Distribution.event_shape`."""
        return (self.dim,)

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return self.structure.dim

    @property
    def scale(self) -> Array:
        """Σ as an array, (*batch, d, d)."""
        return self._over_batch(self.structure.dense(), 2)

    @property
    def mean(self) -> Array:
        """The location for ν > 1; NaN below, where there is no mean."""
        xp = namespace_of(self.location)
        return xp.where(self.dof[..., None] > 1, self.location, xp.full_like(self.location, xp.nan))

    @property
    def variance(self) -> Array:
        """ν/(ν-2) Σ_ii for ν > 2; infinite for 1 < ν ≤ 2, NaN where there is no mean."""
        return self._inflation[..., None] * self._over_batch(self.structure.diagonal, 1)

    @property
    def covariance(self) -> Array:
        """ν/(ν-2) Σ for ν > 2, (*batch, d, d); below it is NaN but for the infinite variances."""
        xp = namespace_of(self.location)
        inflation = self._inflation[..., None, None]
        finite = xp.where(xp.isfinite(inflation), inflation, xp.full_like(inflation, xp.nan)) * self.scale
        on_diagonal = diagonal_matrix(xp.ones_like(self.location)) > 0
        return xp.where(on_diagonal, self.variance[..., None], finite)

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`."""
        return self.location

    def log_prob(self, x: Any) -> Array:
        """Return log St(x | ν, μ, Σ) over the last axis.

        A missing entry (NaN) is integrated out, so a row is scored by what was observed of it; a row of
        nothing but NaN has log probability 0.
        """
        return self._observed(self._event(x), MultivariateStudentT._log_density, -np.inf)

    def mahalanobis(self, x: Any, *, squared: bool = False) -> Array:
        """Return √((x - μ)ᵀ Σ⁻¹ (x - μ)) over the last axis, or its square; over observed entries only."""
        distance = self._observed(self._event(x), MultivariateStudentT._squared, np.inf)
        return distance if squared else namespace_of(distance).sqrt(distance)

    def entropy(self) -> Array:
        """See `Distribution.entropy`."""
        half = 0.5 * (self.dof + self.dim)
        return half * (digamma(half) - digamma(0.5 * self.dof)) - self.log_peak

    def kl_divergence(self, other: "MultivariateStudentT") -> Array:
        """See `Distribution.kl_divergence`; there is no closed form, and it is by quadrature, to 1e-10."""
        if not isinstance(other, MultivariateStudentT):
            raise TypeError(f"other must be a MultivariateStudentT, got {type(other).__name__}")
        if other.dim != self.dim:
            raise ValueError(f"other must have {self.dim} coordinates, got {other.dim}")
        return found_in_double(student_t_divergence, self, other)

    def marginal(self, dims: Any) -> "MultivariateStudentT":
        """Return p(x_dims): positions, names or a slice, in the order given; the same dof."""
        keep = resolve_dims(dims, self.dim, self.names)
        return MultivariateStudentT(
            dof=self.dof,
            location=taken(self.location, keep),
            scale=self.structure.marginal(keep),
            names=self._named(keep),
        )

    def condition(self, dims: Any, values: Any = None) -> "MultivariateStudentT":
        """Return p(x_rest | x_dims = values), with ν + d_g degrees of freedom.

        The location is that of the conditional normal, and the scale its covariance times
        (ν + Δ_g²) / (ν + d_g): values far from what was expected leave more doubt about the rest.

        Parameters
        ----------
        dims : positions, names, a slice, or a mapping of names or positions to values
        values : array (*batch, len(dims))
            What was observed; leading axes become batch axes.
        """
        if isinstance(dims, Mapping):
            dims, values = split_mapping(dims, values, self.location)
        given = resolve_dims(dims, self.dim, self.names)
        rest = other_dims(given, self.dim)
        values = as_values(values, given, self.location)
        gain, structure = self.structure.condition(given)
        surprise = values - taken(self.location, given)
        dof, distance = self.dof + len(given), 0.0 * self.dof
        if given:
            distance = self.structure.marginal(given).mahalanobis(surprise)
        return MultivariateStudentT(
            dof=dof,
            location=taken(self.location, rest) + matvec(gain, surprise),
            scale=structure.scaled((self.dof + distance) / dof),
            names=self._named(rest),
        )

    def interval(self, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return the equal-tailed interval (low, high) of each coordinate by itself, (*batch, d) both."""
        from tractable.distributions.student_t import StudentT

        unit = StudentT(dof=self.dof, location=0.0 * self.dof, scale=0.0 * self.dof + 1.0)
        _, high = unit.interval(check_coverage(coverage))
        xp = namespace_of(self.location)
        half = high[..., None] * xp.sqrt(self._over_batch(self.structure.diagonal, 1))
        return self.location - half, self.location + half

    def __getitem__(self, index: Any) -> Self:
        shared = not self.structure.batch_shape
        structure = self.structure if shared else self.structure.expand(self.batch_shape)[index]
        at, row = batch_index(index, 0), batch_index(index, 1)
        return type(self)(dof=self.dof[at], location=self.location[row], scale=structure, names=self.names)

    @property
    def _inflation(self) -> Array:
        """How much larger variances are than the diagonal of Σ."""
        xp = namespace_of(self.dof)
        left = self.dof - 2.0
        found = xp.where(left > 0, self.dof / xp.where(left > 0, left, xp.ones_like(left)), xp.inf + left)
        return xp.where(self.dof > 1, found, xp.full_like(found, xp.nan))

    @property
    def log_peak(self) -> Array:
        """The greatest log density, log p(μ), (*batch,)."""
        # A beta function keeps the digits of the ratio of two gammas.
        half_dim = 0.5 * self.dim + 0.0 * self.dof
        ratio = gammaln(half_dim) - betaln(0.5 * self.dof, half_dim)
        log_volume = self.dim * (namespace_of(self.dof).log(self.dof) + log(pi)) + self.structure.log_det
        return ratio - 0.5 * log_volume

    def _sample(self, n: int, rng: Any) -> Array:
        noise = standard_normal(rng, (n, *self.batch_shape, self.structure.noise_dim), like=self.location)
        precision = standard_gamma(rng, 0.5 * self.dof, n) / (0.5 * self.dof)
        spread = namespace_of(precision).sqrt(precision)[..., None]
        return self.location + self.structure.color(noise) / spread

    def _observed(self, x: Array, measure: Measure, far: float) -> Array:
        """Measure complete rows at once; where that gives NaN, look for missing and infinite entries."""
        xp = namespace_of(x)
        out = self._in_blocks(measure, x)
        if not bool(xp.any(xp.isnan(out))):
            return out
        out = over_observed(
            lambda dims, rows: self.marginal(dims)._in_blocks(measure, rows),  # noqa: SLF001
            x,
            self.batch_shape,
        )
        return xp.where(xp.any(xp.isinf(x), axis=-1), xp.full_like(out, far), out)

    def _in_blocks(self, measure: Measure, x: Array) -> Array:
        """Measure many rows of one distribution in cache-sized blocks, on all cores."""
        one = x.ndim == 2 and self.location.ndim == 1 and is_numpy_array(x)
        return map_rows(lambda rows: measure(self, rows), x) if one else measure(self, x)

    def _squared(self, x: Array) -> Array:
        # Far enough out, squares overflow to infinity: the right answer, and no cause for a warning.
        with np.errstate(over="ignore", invalid="ignore"):
            return self.structure.mahalanobis(x, self.location)

    def _log_density(self, x: Array) -> Array:
        xp = namespace_of(x)
        squared = self._squared(x)
        growth = xp.log1p(squared / self.dof)
        if bool(
            xp.any(xp.isinf(squared))
        ):  # so far out that squares overflow, where tails this heavy still count
            size = xp.max(xp.abs(x - self.location), axis=-1)
            unit = (x - self.location) / xp.where(size > 0, size, xp.ones_like(size))[..., None]
            far = xp.log(self.structure.mahalanobis(unit)) + 2.0 * xp.log(size) - xp.log(self.dof)
            growth = xp.where(xp.isinf(squared), far, growth)
        return self.log_peak - 0.5 * (self.dof + self.dim) * growth

    def _named(self, dims: Iterable[int]) -> tuple[str, ...] | None:
        return None if self.names is None else tuple(self.names[i] for i in dims)

    def _over_batch(self, x: Array, n_event: int) -> Array:
        return namespace_of(x).broadcast_to(x, self.batch_shape + tuple(x.shape[x.ndim - n_event :]))
