"""The multivariate Student-t distribution."""

from collections.abc import Callable, Iterable, Mapping
from math import ceil, log, pi, prod
from typing import Any, ClassVar, Self

from tractable.arrays.batched import as_reals, diagonal_matrix
from tractable.arrays.linalg import cholesky, solve_triangular
from tractable.arrays.namespace import Array, device, freeze, namespace_of
from tractable.arrays.random import standard_gamma, standard_normal
from tractable.arrays.special import betaln, digamma, gammaln
from tractable.covariance import Covariance
from tractable.distributions.checks import check_coverage, check_positive
from tractable.distributions.distribution import broadcast_batches
from tractable.distributions.student_t import StudentT, fit_student_t, in_double_precision
from tractable.distributions.vectors import Elliptical, as_location, as_names, as_scale
from tractable.value import set_fields, value

__all__ = ["MultivariateStudentT", "expected_distance"]


@value
class MultivariateStudentT(Elliptical):
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
    _center_name: ClassVar[str] = "location"
    _structure_name: ClassVar[str] = "scale"

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
        set_fields(
            self,
            dof=xp.broadcast_to(freeze(xp.astype(dof, location.dtype)), batch),
            location=xp.broadcast_to(location, (*batch, structure.dim)),
            structure=structure,
            names=as_names(names, structure.dim),
        )

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
        """Return the maximum likelihood estimate from rows X (n, d), by expectation-maximisation.

        The degrees of freedom, where `dof` is not given, are estimated too: see `StudentT.fit`.
        """
        dof, location, scale = fit_student_t(X, sample_weight, dof)
        return cls(dof=dof, location=location, scale=scale, names=names)

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

    def entropy(self) -> Array:
        half = 0.5 * (self.dof + self.dim)
        return half * (digamma(half) - digamma(0.5 * self.dof)) - self.log_peak

    def _divergence(self, other: "MultivariateStudentT") -> Array:
        """See `Distribution.kl_divergence`; there is no closed form, and it is by quadrature, to 1e-10."""
        return in_double_precision(student_t_divergence, self, other)

    def _updated(self, given: tuple[int, ...], step: Array, structure: Covariance) -> dict[str, Any]:
        """Return ν + d_g degrees of freedom, and the scale of the normal times (ν + Δ_g²) / (ν + d_g).

        Values far from what was expected leave more doubt about the rest.
        """
        dof = self.dof + len(given)
        distance = self.structure.marginal(given).mahalanobis(step) if given else 0.0 * self.dof
        return {"dof": dof, "scale": structure.scaled((self.dof + distance) / dof)}

    def interval(self, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return the equal-tailed interval (low, high) of each coordinate by itself, (*batch, d) both."""
        unit = StudentT(dof=self.dof, location=0.0 * self.dof, scale=0.0 * self.dof + 1.0)
        _, high = unit.interval(check_coverage(coverage))
        xp = namespace_of(self.location)
        half = high[..., None] * xp.sqrt(self._over_batch(self.structure.diagonal, 1))
        return self.location - half, self.location + half

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

    def _of(
        self, dims: tuple[int, ...], center: Array, structure: Covariance, **changes: Any
    ) -> "MultivariateStudentT":
        given = {"dof": self.dof, "scale": structure, **changes}
        return MultivariateStudentT(location=center, names=self._named(dims), **given)

    def _one_column(self) -> StudentT:
        scale = self.structure.diagonal[..., 0] ** 0.5
        return StudentT(dof=self.dof, location=self.location[..., 0], scale=scale)

    def _sample(self, n: int, rng: Any) -> Array:
        noise = standard_normal(rng, (n, *self.batch_shape, self.structure.noise_dim), like=self.location)
        precision = standard_gamma(rng, 0.5 * self.dof, n) / (0.5 * self.dof)
        spread = namespace_of(precision).sqrt(precision)[..., None]
        return self.location + self.structure.color(noise) / spread

    def _log_density(self, x: Array) -> Array:
        xp = namespace_of(x)
        squared = self._squared(x)
        growth = xp.log1p(squared / self.dof)
        if bool(xp.any(xp.isinf(squared))):  # squares overflow, where tails this heavy still count
            size = xp.max(xp.abs(x - self.location), axis=-1)
            unit = (x - self.location) / xp.where(size > 0, size, xp.ones_like(size))[..., None]
            far = xp.log(self.structure.mahalanobis(unit)) + 2.0 * xp.log(size) - xp.log(self.dof)
            growth = xp.where(xp.isinf(squared), far, growth)
        return self.log_peak - 0.5 * (self.dof + self.dim) * growth


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
    return _cross_entropy(p, q) - q.log_peak - p.entropy()


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
        eigenvalues=xp.ones_like(shifts), shifts=shifts, log_scales=log_scales + log(dim + 1), weights=weights
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
    fraction = xp.arange(n, dtype=low.dtype, device=device(low)) / (n - 1)
    return low + xp.reshape(fraction, (-1,) + (1,) * low.ndim) * (high - low)
