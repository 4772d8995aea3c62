"""Student's t distributions of numbers and of vectors."""

from collections.abc import Callable, Iterable, Mapping
from math import ceil, inf, log, pi, prod
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from tractable.arrays.batched import as_reals, diagonal_matrix
from tractable.arrays.gamma import betaln, gammaln, log_minus_digamma
from tractable.arrays.grouping import group_rows, weighted_counts
from tractable.arrays.linalg import cholesky, log_det_cholesky, solve_triangular
from tractable.arrays.log_space import HALF_LOG_2PI, log1p_exp, log_sigmoid, log_sum_exp
from tractable.arrays.namespace import Array, device, freeze, namespace_of, unbroadcast
from tractable.arrays.random import standard_gamma, standard_normal
from tractable.arrays.student import stdtr, stdtrit
from tractable.covariance import Covariance
from tractable.data import Batch, as_source
from tractable.distributions.checks import (
    check_coverage,
    check_finite,
    check_positive,
    check_varies,
    exactly_one,
    row_weights,
)
from tractable.distributions.distribution import (
    Univariate,
    as_columns,
    as_parameters,
    broadcast_batches,
    like_columns,
)
from tractable.distributions.gamma import reciprocal
from tractable.distributions.vectors import Elliptical, as_location, as_names, as_scale, as_vectors
from tractable.engines.em import em
from tractable.engines.student_t import PrecisionSums, ScaleMixture
from tractable.statistics import Moments
from tractable.value import parameters, replace, set_fields, value


@value
class StudentT(Univariate):
    """Student's t distribution of a number.

    St(x | μ, t, ν) = Γ((ν+1)/2) / Γ(ν/2) (t/πν)^(1/2) (1 + t (x - μ)²/ν)^(-(ν+1)/2), with t = 1 / scale².

    It is the normal N(μ, 1/λ) with λ ~ Gam(a, b) integrated out, where ν = 2a and t = a/b, and so the
    predictive distribution of a normal of unknown precision. Its tails fall as |x|^-(ν+1): far observations
    weigh little.

    Parameters
    ----------
    dof : array (*batch,)
        ν, positive: the mean exists for ν > 1, the variance is finite for ν > 2. With ``inf`` it is normal.
    location : array (*batch,)
        μ.
    scale : array (*batch,)
        Give this or `precision`. It is not the standard deviation, which is scale √(ν / (ν - 2)).
    precision : array (*batch,)
        t = 1 / scale².

    Examples
    --------
    >>> d = StudentT(dof=4.0, location=1.0, precision=0.25)
    >>> float(d.scale), float(d.variance), float(d.cdf(1.0))
    (2.0, 8.0, 0.5)
    >>> float(StudentT(dof=1.0, location=0.0, scale=1.0).mean)
    nan
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"dof": 0, "location": 0, "scale": 0}

    dof: Array
    location: Array
    scale: Array

    def __init__(self, *, dof: Any, location: Any, scale: Any = None, precision: Any = None) -> None:
        name, size = exactly_one(scale=scale, precision=precision)
        given = as_parameters(
            {"dof": 0, "location": 0, name: 0}, **{"dof": dof, "location": location, name: size}
        )
        check_positive(name, given[name])
        width = (
            given[name] if name == "scale" else namespace_of(given[name]).sqrt(reciprocal(name, given[name]))
        )
        _check_dof("dof", given["dof"])
        check_finite("location", given["location"])
        frozen = width if name == "scale" else freeze(width)
        set_fields(self, dof=given["dof"], location=given["location"], scale=frozen)

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None, *, dof: float | None = None) -> Self:
        """Return the maximum likelihood estimate, by expectation-maximisation (ECME, Liu & Rubin 1994).

        A likelihood in μ and the scale can have several maxima; this is the one reached from the mean. With
        fewer than 1/(n-1) degrees of freedom it is unbounded, and no such are looked for.

        Parameters
        ----------
        X, sample_weight
            As in `Normal.fit`.
        dof : float, optional
            Degrees of freedom; when not given they are estimated too, between 0.01 and 1e6: at the upper end
            the tails are no heavier than a normal's.
        """
        X, columns, weights = as_columns(X, sample_weight)
        fitted = [_fitted(columns[:, j], weights, dof) for j in range(columns.shape[1])]
        xp = namespace_of(X)
        dofs, locations, scales = (xp.stack(part) for part in zip(*fitted, strict=True))
        return like_columns(cls(dof=dofs, location=locations, scale=scales), X)

    @property
    def precision(self) -> Array:
        """The precision t = 1 / scale²."""
        return 1.0 / self.scale / self.scale

    @property
    def mean(self) -> Array:
        """The location for ν > 1; NaN below, where there is no mean."""
        xp = namespace_of(self.dof)
        return xp.where(self.dof > 1.0, self.location, xp.full_like(self.location, xp.nan))

    @property
    def variance(self) -> Array:
        """scale² ν / (ν - 2) for ν > 2; infinite for 1 < ν ≤ 2, NaN where there is no mean."""
        return self.scale * (self.scale * _inflation(self.dof))

    @property
    def mode(self) -> Array:
        return self.location

    def _log_density(self, x: Array) -> Array:
        distance = namespace_of(self.dof).abs(self._standardized(x))
        return student_t_log_density(distance, self.dof) - namespace_of(self.scale).log(self.scale)

    def _cdf(self, x: Array) -> Array:
        return stdtr(self.dof, self._standardized(x))

    def _survival(self, x: Array) -> Array:
        return stdtr(self.dof, -self._standardized(x))

    def _icdf(self, q: Array) -> Array:
        return self.location + self.scale * stdtrit(self.dof, q)

    def _isf(self, q: Array) -> Array:
        return self.location - self.scale * stdtrit(self.dof, q)

    def entropy(self) -> Array:
        """See `Distribution.entropy`: ½(ν+1) (ψ(½(ν+1)) - ψ(½ν)) + log(√ν B(½ν, ½)) + log scale."""
        log_scale = namespace_of(self.scale).log(self.scale)
        dof = _held(self.dof)
        return 0.5 * (dof + 1.0) * _digamma_step(dof, 1) - _log_peak(dof) + log_scale

    def _divergence(self, other: "StudentT") -> Array:
        """See `Distribution.kl_divergence`; there is no closed form, and it is by quadrature, to 1e-10."""
        return in_double_precision(_number_divergence, self, other)

    def _sample(self, n: int, rng: Any) -> Array:
        noise = standard_normal(rng, (n, *self.batch_shape), like=self.location)
        half = 0.5 * _held(self.dof)
        precision = standard_gamma(rng, half, n) / half
        with np.errstate(divide="ignore", over="ignore"):
            return self.location + self.scale * (noise / namespace_of(noise).sqrt(precision))

    def _standardized(self, x: Array) -> Array:
        return (x - self.location) / self.scale


def _check_dof(name: str, dof: Array) -> None:
    """Refuse what is not above zero; infinitely many degrees of freedom are a normal distribution's."""
    xp = namespace_of(dof)
    check_positive(name, xp.where(dof == xp.inf, xp.ones_like(dof), dof))


#: So many degrees of freedom are as good as infinitely many, to the last digit, wherever there is no square
#: of a distance: in an entropy, in a draw, in an expected logarithm.
_NORMAL_DOF = 1e18


def _held(dof: Array) -> Array:
    """Return degrees of freedom with `_NORMAL_DOF` in place of infinitely many."""
    xp = namespace_of(dof)
    return xp.where(dof < _NORMAL_DOF, dof, xp.full_like(dof, _NORMAL_DOF))


def _inflation(dof: Array) -> Array:
    """Return ν/(ν - 2), the variance of a unit scale: infinite for ν ≤ 2, NaN where there is no mean."""
    xp, dof = namespace_of(dof), _held(dof)
    left = dof - 2.0
    found = xp.where(left > 0, dof / xp.where(left > 0, left, xp.ones_like(left)), xp.inf + left)
    return xp.where(dof > 1, found, xp.full_like(found, xp.nan))


def _digamma_step(dof: Array, dim: int) -> Array:
    """Return ψ((ν + d)/2) - ψ(ν/2), without the logarithms that cancel."""
    half = 0.5 * dof
    step = log_minus_digamma(half) - log_minus_digamma(half + 0.5 * dim)
    return namespace_of(dof).log1p(dim / dof) + step


def student_t_log_density(distance: Array, dof: Array) -> Array:
    """Return the log density of the standard t at a distance |t| from its centre."""
    xp = namespace_of(distance, dof)
    normal, dof = dof == xp.inf, _held(unbroadcast(dof))
    ratio = distance / xp.sqrt(dof)
    far = ratio > 1e8
    near = xp.where(far, xp.zeros_like(ratio), ratio)
    # Far out log(1 + r²) is 2 log r, and the square may overflow.
    logs = xp.where(far, 2.0 * xp.log(xp.where(far, ratio, xp.ones_like(ratio))), xp.log1p(near * near))
    with np.errstate(over="ignore"):
        found = _log_peak(dof) - 0.5 * (dof + 1.0) * logs
        return xp.where(normal, -0.5 * distance * distance - HALF_LOG_2PI, found)


def _log_peak(dof: Array) -> Array:
    """Return the log density of the standard t at its centre, -log(√ν B(½ν, ½)); it broadcasts as ν does."""
    xp, dof = namespace_of(dof), unbroadcast(dof)
    return -0.5 * xp.log(dof) - betaln(0.5 * dof, 0.5 * xp.ones_like(dof))


def _fitted(column: Array, weights: Array | None, dof: float | None) -> tuple[Array, Array, Array]:
    """Fit one column, shifted and scaled to [-1, 1]."""
    xp = namespace_of(column)
    seen = column if weights is None else column[weights > 0.0]
    low, high = xp.min(seen), xp.max(seen)
    size = 0.5 * high - 0.5 * low
    check_varies(size > 0.0)
    centre = 0.5 * low + 0.5 * high
    found, location, scale = fit_student_t(((column - centre) / size)[:, None], weights, dof)
    return found, centre + size * location[0], size * xp.sqrt(scale[0, 0])


#: Moves of parameters below this part of their size end the search.
SETTLED = 1e-12

#: The least degrees of freedom that are looked for.
LEAST_DOF = 1e-2


@value
class _Params:
    dof: Array  # (1,)
    location: Array  # (d,)
    scale: Array  # (d, d)
    steps: tuple[float, float] = (inf, inf)  # how far the last two steps moved, relative
    moved_scale: bool = False  # whether the last one was of location and scale


@value
class _Expected:
    """Expected statistics of rows: of their precisions u, and the moments that w u weights."""

    params: _Params  # where the precisions were computed
    precisions: PrecisionSums
    moments: Moments
    objective: float  # Σ w log St

    def __add__(self, other: "_Expected") -> "_Expected":
        return replace(
            self,
            precisions=self.precisions + other.precisions,
            moments=self.moments + other.moments,
            objective=self.objective + other.objective,
        )


@value
class _EStep:
    """The E-step at some parameters."""

    params: _Params
    lower: Array  # the Cholesky factor of the scale

    def __call__(self, block: Batch) -> _Expected:
        X, weights = block.X, block.weights
        assert weights is not None
        xp = namespace_of(X)
        white = solve_triangular(self.lower, xp.matrix_transpose(X - self.params.location))
        squared = xp.sum(white * white, axis=0)[None, :]
        student = ScaleMixture(dof=self.params.dof, dim=X.shape[1])
        u, more = student.precisions(squared)
        log_det = float(log_det_cholesky(self.lower))
        logs = student.log_peak - 0.5 * log_det - student.log_fall(squared)[0, :]
        return _Expected(
            params=self.params,
            precisions=student.sums(weights[None, :], u, more),
            moments=Moments.of(X, weights * u[0, :]),
            objective=float(xp.sum(weights * logs)),
        )


@value
class _Steps:
    """Both steps of a Student's t, by ECME with the expanded scale of PX-EM.

    The E-step weighs a row by u = (ν + d) / (ν + Δ²). M-steps take turns: the weighted mean and scatter,
    divided by the sum of the weights (which has the same fixed point as dividing by n, and gets there
    sooner), then Newton's step on the likelihood of the degrees of freedom.
    """

    known: bool  # whether the degrees of freedom are

    def expect(self, params: _Params) -> _EStep:
        """Return the E-step at these parameters."""
        return _EStep(params=params, lower=cholesky(params.scale, name="the scatter of X"))

    def maximize(self, expected: _Expected) -> _Params:
        """Return better parameters."""
        before, moments = expected.params, expected.moments
        if not self.known and before.moved_scale:
            student = ScaleMixture(dof=before.dof, dim=before.location.shape[0])
            dof, _ = student.likelier_dof(expected.precisions, LEAST_DOF)
            step = float(abs(dof[0] / before.dof[0] - 1.0))
            return replace(before, dof=dof, steps=(before.steps[1], step), moved_scale=False)
        location, scale = moments.mean, moments.covariance()
        xp = namespace_of(location)
        stddev = xp.sqrt(xp.linalg.diagonal(scale))
        moved = xp.max(xp.abs(location - before.location) / stddev)
        grown = xp.max(xp.abs(scale - before.scale) / stddev / stddev[:, None])
        steps = before.steps[1], float(xp.maximum(moved, grown))
        return _Params(dof=before.dof, location=location, scale=scale, steps=steps, moved_scale=True)


def _settled(_: _Params, after: _Params) -> bool:
    """Say whether no parameter has moved in the last two steps: one of each kind."""
    return max(after.steps) < SETTLED


def fit_student_t(X: Any, sample_weight: Any, dof: float | None) -> tuple[Any, Array, Array]:
    """Return dof, location and scale by expectation-maximisation; see `_Steps`."""
    X = as_vectors(X)
    xp = namespace_of(X)
    if dof is not None and not 0.0 < dof < np.inf:
        raise ValueError(f"dof must be positive and finite, got {dof!r}")
    weights = row_weights(sample_weight, X)
    weights = weights / xp.sum(weights)
    _check_spread(X, weights, dof)
    rows = xp.astype(X, xp.float64)
    data, moments = as_source(rows, None, weights), Moments.of(rows, weights)
    start = xp.full((1,), 8.0 if dof is None else float(dof), dtype=rows.dtype, device=device(X))
    params = _Params(dof=start, location=moments.mean, scale=moments.covariance())
    steps = _Steps(known=dof is not None)
    # Where the likelihood is flat to its last digit the parameters still move: they say when it is enough.
    params = em(steps.expect, steps.maximize, params, data, max_iter=4000, settled=_settled).params
    found = params.dof[0], params.location, params.scale
    return tuple(xp.astype(part, X.dtype) for part in found)


def _check_spread(X: Array, weights: Array, dof: float | None) -> None:
    """Refuse a fraction m of the rows at one point with m d > (1 - m) ν: the likelihood is then unbounded.

    Where ν is unknown, half the rows at one point are too many.
    """
    xp = namespace_of(X)
    heaviest = float(xp.max(weighted_counts(group_rows(X), weights, X.shape[0])))
    reach = 0.5 if dof is None else dof / (dof + X.shape[1])
    if reach < heaviest < 1.0 - 1e-12:
        raise ValueError(
            f"X has a fraction {heaviest:.3g} of its weight at one point: the likelihood is unbounded as the "
            "scale shrinks around it"
        )


T = TypeVar("T")


def in_double_precision(divergence: Callable[[T, T], Array], p: T, q: T) -> Array:
    """Return a number of two distributions, found in double precision and rounded to their own."""
    xp = namespace_of(p.mean, q.mean)  # type: ignore[attr-defined]
    dtype = xp.result_type(p.mean, q.mean)  # type: ignore[attr-defined]
    return xp.astype(divergence(as_double(p), as_double(q)), dtype)


def as_double(x: Any) -> Any:
    """Return the same value with arrays of float64."""
    if hasattr(x, "__dataclass_fields__"):
        return type(x)(**{name: as_double(part) for name, part in parameters(x).items()})
    if not hasattr(x, "dtype"):
        return x
    xp = namespace_of(x)
    return xp.astype(x, xp.float64) if xp.isdtype(x.dtype, "real floating") else x


@value
class MultivariateStudentT(Elliptical):
    """The multivariate Student-t distribution.

    St(x | ν, μ, Σ) = Γ((ν+d)/2) / (Γ(ν/2) (νπ)^(d/2) |Σ|^(1/2)) (1 + Δ²/ν)^(-(ν+d)/2).

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
        """Return the maximum likelihood estimate from rows, by expectation-maximisation.

        Parameters
        ----------
        X : array (n, d)
            Rows.
        sample_weight : array (n,), optional
            How often each row counts.
        dof : float, optional
            Degrees of freedom; estimated too when not given, as in `StudentT.fit`.
        names : iterable of d str, optional
            Names of the columns.
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
        return _inflation(self.dof)[..., None] * self._over_batch(self.structure.diagonal, 1)

    @property
    def covariance(self) -> Array:
        """ν/(ν-2) Σ for ν > 2, (*batch, d, d); below it is NaN but for the infinite variances."""
        xp = namespace_of(self.location)
        inflation = _inflation(self.dof)[..., None, None]
        finite = xp.where(xp.isfinite(inflation), inflation, xp.full_like(inflation, xp.nan)) * self.scale
        on_diagonal = diagonal_matrix(xp.ones_like(self.location)) > 0
        return xp.where(on_diagonal, self.variance[..., None], finite)

    def entropy(self) -> Array:
        return 0.5 * (self.dof + self.dim) * _digamma_step(self.dof, self.dim) - self.log_peak

    def _divergence(self, other: "MultivariateStudentT") -> Array:
        """See `Distribution.kl_divergence`; there is no closed form, and it is by quadrature, to 1e-10."""
        return in_double_precision(_vector_divergence, self, other)

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


_TRAPEZOID_STEP = 0.25  # of the trapezoid rule in log s and log v: its error is about exp(-π²/step) ≈ 1e-17
_ENTRIES = 2**15  # of the arrays that an integrand makes at once
_DECAY = 40.0  # how far out the integrands are followed: until they have fallen by exp(-40)


@value
class Spread:
    """A random squared distance Q = Σ_i (√(vλ_i) z_i + δ_i)² with z standard normal and v random."""

    eigenvalues: Array  # (*batch, d), λ
    shifts: Array  # (*batch, d), δ²
    log_scales: Array  # (n, *batch), nodes of log v
    weights: Array  # (n, *batch)

    def lacks(self, s: Array) -> Array:
        """Return 1 - E exp(-sQ) for s (k, *batch), accurate however small it is."""
        xp, s = namespace_of(s), s[:, None, ...]
        growth = 2.0 * (s * xp.exp(self.log_scales))[..., None] * self.eigenvalues
        exponent = 0.5 * xp.log1p(growth) + s[..., None] * self.shifts / (1.0 + growth)
        return xp.sum(self.weights * -xp.expm1(-xp.sum(exponent, axis=-1)), axis=1)

    @property
    def typical(self) -> Array:
        """A size of Q, (*batch,)."""
        return namespace_of(self.shifts).sum(self.eigenvalues + self.shifts, axis=-1)


def _number_divergence(p: Any, q: Any) -> Array:
    """Return E_p[log p - log q] for Student-t distributions of numbers."""
    xp = namespace_of(p.location)
    with np.errstate(divide="ignore"):
        apart = xp.log(xp.abs(p.location - q.location))
    log_scale = xp.log(q.scale)
    log_variances, log_shifts = 2.0 * (xp.log(p.scale) - log_scale), 2.0 * (apart - log_scale)
    dof = _held(q.dof)
    growth = _expected_growth(_held(p.dof), dof, log_variances[..., None], log_shifts[..., None])
    found = 0.5 * (dof + 1.0) * growth - _log_peak(dof)
    with np.errstate(over="ignore"):
        squares = xp.exp(log_variances) * _inflation(p.dof) + xp.exp(log_shifts)
    squares = xp.where(xp.isnan(squares), xp.full_like(squares, xp.inf), squares)
    return xp.where(q.dof == xp.inf, 0.5 * squares + HALF_LOG_2PI, found) + log_scale - p.entropy()


def _vector_divergence(p: Any, q: Any) -> Array:
    """Return E_p[log p - log q] for two multivariate Student-t distributions."""
    xp = namespace_of(p.location)
    eigenvalues, shifts = _against(cholesky(q.scale), cholesky(p.scale), p.location - q.location)
    with np.errstate(divide="ignore"):
        growth = _expected_growth(p.dof, q.dof, xp.log(eigenvalues), xp.log(shifts))
    return 0.5 * (q.dof + p.dim) * growth - q.log_peak - p.entropy()


def _expected_growth(dof: Array, other: Array, log_variances: Array, log_shifts: Array) -> Array:
    """Return E log(1 + Δ²/ν') for x of a Student-t of ν degrees of freedom and the Δ of another, of ν' ones.

    In the metric of the other, x has variances λ, (*batch, d), and is shifted by δ. Frullani's integral
    log(1 + Q) = ∫ (1 - exp(-sQ)) exp(-s)/s ds has closed expectations over x | g ~ N(μ, Σ/g) and over
    g ~ Gamma(a, a), a = ν/2, with τ = s/g: what is left is ∫ (A - B) dτ/τ with A = (1 + τ/a)⁻ᵃ,
    B = Π_i (1 + 2τλ_i)^-½ (1 + τ(1 + h)/a)⁻ᵃ and h = Σ_i δ_i² / (1 + 2τλ_i). It is taken in log τ, by the
    trapezoid rule, and in logarithms: where tails are heavy τ itself overflows.
    """
    xp = namespace_of(log_variances)
    log_other = xp.log(other)[..., None]
    log_twice, log_shifts = log_variances + log(2.0) - log_other, log_shifts - log_other
    shape = 0.5 * dof + 0.0 * other
    log_shape = xp.log(shape)

    def integrand(y: Array) -> Array:
        """Return A - B at log τ = y."""
        growth = log1p_exp(y[..., None] + log_twice)
        log_h = log_sum_exp(log_shifts - growth) + log_sigmoid(y - log_shape)
        log_ratio = -0.5 * xp.sum(growth, axis=-1) - shape * log1p_exp(log_h)
        return xp.exp(-shape * log1p_exp(y - log_shape)) * -xp.expm1(log_ratio)

    reach = _DECAY / shape
    low = -_DECAY - log1p_exp(log_sum_exp(xp.concat([log_twice, log_shifts], axis=-1)))
    high = log_shape + reach + xp.log(-xp.expm1(-reach))  # A = exp(-40)
    # Far out only A is left, which decays slowly where the tails are heavy: there the steps grow.
    places = [log_shape[..., None] + 0.0 * low[..., None], -log_twice, log_shifts - log_twice]
    far = xp.minimum(log_sum_exp(xp.concat(places, axis=-1)) + 3.0, high)
    last = far + xp.log(xp.maximum(high - far, xp.ones_like(high)))
    width = log_twice.shape[-1]
    return _trapezoid(lambda u: (1.0 + xp.exp(u - far)) * integrand(u + xp.exp(u - far)), low, last, width)


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
    width = dim * weights.shape[0]
    total = _trapezoid(lambda y: xp.exp(-0.5 * y) * spread.lacks(xp.exp(y)), low, high, width)
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


def _trapezoid(integrand: Callable[[Array], Array], low: Array, high: Array, width: int) -> Array:
    """Integrate from low to high, (*batch,), an integrand that vanishes at both ends.

    It is called with nodes (k, *batch), of which each entry takes so many numbers.
    """
    y = _nodes(low, high)
    n = y.shape[0]
    step = max(1, _ENTRIES // max(prod(low.shape) * width, 1))
    total = 0.0 * low
    for i in range(0, n, step):
        total = total + namespace_of(low).sum(integrand(y[i : min(i + step, n), ...]), axis=0)
    return total * (high - low) / (n - 1)


def _nodes(low: Array, high: Array) -> Array:
    """Return evenly spaced points from low to high, (n, *batch), at most a step apart, at least 128."""
    xp = namespace_of(low)
    n = max(128, ceil(float(xp.max(high - low)) / _TRAPEZOID_STEP) if prod(low.shape) else 0)
    fraction = xp.arange(n, dtype=low.dtype, device=device(low)) / (n - 1)
    return low + xp.reshape(fraction, (-1,) + (1,) * low.ndim) * (high - low)
