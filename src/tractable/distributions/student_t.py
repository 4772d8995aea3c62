"""Student's t distribution of a number."""

from collections.abc import Callable, Mapping
from math import exp, log, log1p, pi, prod
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from tractable.arrays.gamma import log_minus_digamma
from tractable.arrays.grouping import group_rows, weighted_counts
from tractable.arrays.linalg import cholesky, log_det_cholesky, solve_triangular
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.random import standard_gamma, standard_normal
from tractable.arrays.saddle_point import deviance
from tractable.arrays.special import betaln, stdtr, stdtrit
from tractable.data.source import Whole
from tractable.distributions.checks import check_finite, check_positive, exactly_one, row_weights
from tractable.distributions.distribution import Univariate, as_columns, as_parameters, like_columns
from tractable.distributions.gamma import reciprocal
from tractable.distributions.vectors import as_vectors
from tractable.engines.em import em
from tractable.value import parameters, set_fields, value

__all__ = ["StudentT", "fit_student_t", "in_double_precision"]


@value
class StudentT(Univariate):
    """St(x | μ, t, ν) = Γ((ν+1)/2) / Γ(ν/2) (t/πν)^(1/2) (1 + t (x - μ)²/ν)^(-(ν+1)/2), with t = 1 / scale².

    It is the normal N(μ, 1/λ) with λ ~ Gam(a, b) integrated out, where ν = 2a and t = a/b, and so the
    predictive distribution of a normal of unknown precision. Its tails fall as |x|^-(ν+1): far observations
    weigh little.

    Parameters
    ----------
    dof : array (*batch,)
        ν, positive: the mean exists for ν > 1, the variance is finite for ν > 2.
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
        set_fields(self, dof=given["dof"], location=given["location"], scale=width)
        self._settle(dof=check_positive, location=check_finite)

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None, *, dof: float | None = None) -> Self:
        """Return the maximum likelihood estimate, by expectation-maximisation (ECME, Liu & Rubin 1994).

        A likelihood in μ and the scale can have several maxima; this is the one reached from the mean. With
        fewer than 1/(n-1) degrees of freedom it is unbounded, and no such are looked for.
        The degrees of freedom, where `dof` is not given, are estimated too, between 0.01 and 1e6: at the
        upper end the tails are no heavier than a normal's. Other arguments as of `Normal.fit`.
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
        xp = namespace_of(self.dof)
        known = self.dof > 2.0
        ratio = self.dof / xp.where(known, self.dof - 2.0, xp.ones_like(self.dof))
        ratio = xp.where(known, ratio, xp.full_like(ratio, xp.inf))
        return self.scale * self.scale * xp.where(self.dof > 1.0, ratio, xp.full_like(ratio, xp.nan))

    @property
    def mode(self) -> Array:
        return self.location

    def log_prob(self, x: Any) -> Array:
        with np.errstate(over="ignore"):
            distance = namespace_of(self.dof).abs(self._standardized(x))
        return student_t_log_density(distance, self.dof) - namespace_of(self.scale).log(self.scale)

    def cdf(self, x: Any) -> Array:
        return stdtr(self.dof, self._standardized(x))

    def survival(self, x: Any) -> Array:
        return stdtr(self.dof, -self._standardized(x))

    def icdf(self, q: Any) -> Array:
        with np.errstate(over="ignore"):
            return self.location + self.scale * stdtrit(self.dof, self._quantile(q))

    def entropy(self) -> Array:
        """See `Distribution.entropy`: ½(ν+1) (ψ(½(ν+1)) - ψ(½ν)) + log(√ν B(½ν, ½)) + log scale."""
        xp = namespace_of(self.dof)
        half = 0.5 * self.dof
        # ψ(h + ½) - ψ(h), without the logarithms that cancel.
        step = xp.log1p(0.5 / half) + log_minus_digamma(half) - log_minus_digamma(half + 0.5)
        return (half + 0.5) * step - _log_peak(self.dof) + xp.log(self.scale)

    def _divergence(self, other: "StudentT") -> Array:
        """See `Distribution.kl_divergence`; there is no closed form, and it is by quadrature, to 1e-10."""
        return in_double_precision(lambda p, q: expected_log_ratio(p, q, student_t_log_density), self, other)

    def _sample(self, n: int, rng: Any) -> Array:
        noise = standard_normal(rng, (n, *self.batch_shape), like=self.location)
        precision = standard_gamma(rng, 0.5 * self.dof, n) / (0.5 * self.dof)
        with np.errstate(divide="ignore", over="ignore"):
            return self.location + self.scale * (noise / namespace_of(noise).sqrt(precision))

    def _standardized(self, x: Any) -> Array:
        with np.errstate(over="ignore"):
            return (self._event(x) - self.location) / self.scale


def student_t_log_density(distance: Array, dof: Array) -> Array:
    """Return the log density of the standard t at a distance |t| from its centre."""
    xp = namespace_of(distance, dof)
    ratio = distance / xp.sqrt(dof)
    far = ratio > 1e8
    near = xp.where(far, xp.zeros_like(ratio), ratio)
    # Far out log(1 + r²) is 2 log r, and the square may overflow.
    logs = xp.where(far, 2.0 * xp.log(xp.where(far, ratio, xp.ones_like(ratio))), xp.log1p(near * near))
    return _log_peak(dof) - 0.5 * (dof + 1.0) * logs


def _log_peak(dof: Array) -> Array:
    """Return the log density of the standard t at its centre, -log(√ν B(½ν, ½))."""
    xp = namespace_of(dof)
    return -0.5 * xp.log(dof) - betaln(0.5 * dof, 0.5 * xp.ones_like(dof))


def _fitted(column: Array, weights: Array | None, dof: float | None) -> tuple[Array, Array, Array]:
    """Fit one column in units of its own, far from neither origin nor one."""
    xp = namespace_of(column)
    seen = column if weights is None else column[weights > 0.0]
    low, high = xp.min(seen), xp.max(seen)
    size = 0.5 * high - 0.5 * low
    if not bool(size > 0.0):
        raise ValueError("X must vary: the likelihood of observations that are all the same is unbounded")
    centre = 0.5 * low + 0.5 * high
    found, location, scale = fit_student_t(((column - centre) / size)[:, None], weights, dof)
    return found, centre + size * location[0], size * xp.sqrt(scale[0, 0])


_STEP = 0.0625

Density = Callable[[Array, Array], Array]


def expected_log_ratio(p: Any, q: Any, log_density: Density) -> Array:
    """Return E_p[log p - log q] for distributions with a `dof`, a `location` and a `scale`.

    ``log_density(distance, dof)`` is that of the standard distribution, at a distance from its centre.
    """
    xp = namespace_of(p.location)
    apart = xp.abs(p.location - q.location) / p.scale
    ratio = q.scale / p.scale
    n_axes = max(apart.ndim, p.dof.ndim, q.dof.ndim)

    def integrand(near: Array, far: Array) -> Array:
        """Return p(x) log p(x)/q(x) at distances from the two centres, in units of p's scale."""
        ours = log_density(near, p.dof)
        theirs = log_density(far / ratio, q.dof) - xp.log(ratio)
        mass = xp.exp(ours)
        return xp.where(mass > 0.0, mass * (ours - theirs), xp.zeros_like(mass))

    def grid(low: float, high: float, step: float) -> tuple[Array, Array]:
        """Return ½π sinh u, and its slope times the step, for u on an even grid."""
        u = xp.arange(low, high, step, dtype=apart.dtype, device=device(apart))
        u = xp.reshape(u, (-1,) + (1,) * n_axes)
        return 0.5 * pi * xp.sinh(u), (0.5 * pi * step) * xp.cosh(u)

    with np.errstate(over="ignore", under="ignore"):
        # Outwards from either centre, x = exp(½π sinh u).
        rise, weight = grid(-4.0, 6.0, _STEP)
        out = xp.exp(rise)
        tails = xp.sum(out * weight * (integrand(out, apart + out) + integrand(apart + out, out)), axis=0)
        # Between them by a logistic map; far apart, p's peak is narrow and needs more points.
        farthest = float(xp.max(apart)) if prod(apart.shape) else 0.0
        rise, weight = grid(-4.0, 4.0, _STEP / max(1.0, 0.25 * log1p(farthest)))
        one, other = 1.0 / (1.0 + xp.exp(-2.0 * rise)), 1.0 / (1.0 + xp.exp(2.0 * rise))
        slope = 2.0 * weight * one * other
        return tails + apart * xp.sum(slope * integrand(apart * one, apart * other), axis=0)


#: Between which degrees of freedom are sought.
LEAST, GREATEST = 1e-2, 1e6


@value
class _Params:
    dof: float
    location: Array  # (d,)
    scale: Array  # (d, d)


@value
class _Rows:
    X: Array  # (n, d)
    weights: Array  # (n,), which add up to one


@value
class _Expected:
    """Squared distances under the parameters that made them, and the mean log likelihood of a row."""

    params: _Params
    squared: Array  # (n,)
    objective: float


@value
class _EStep:
    """The E-step at some parameters."""

    params: _Params

    def __call__(self, rows: _Rows) -> _Expected:
        xp, params = namespace_of(rows.X), self.params
        lower = cholesky(params.scale, name="the scatter of X")
        white = solve_triangular(lower, xp.matrix_transpose(rows.X - params.location))
        squared = xp.sum(white * white, axis=0)
        logs = _log_density(squared, float(log_det_cholesky(lower)), params.dof, rows.X.shape[1])
        return _Expected(params=params, squared=squared, objective=float(xp.sum(rows.weights * logs)))


def fit_student_t(X: Any, sample_weight: Any, dof: float | None) -> tuple[Any, Array, Array]:
    """Return dof, location and scale by ECME (Liu & Rubin 1994), with the expanded scale of PX-EM.

    The E-step weighs a row by u = (ν + d) / (ν + Δ²); the M-step takes the weighted mean and scatter, divided
    by the sum of the weights (which has the same fixed point as dividing by n, and gets there sooner); the
    degrees of freedom, where unknown, maximise the likelihood itself.
    """
    X = as_vectors(X)
    xp = namespace_of(X)
    if dof is not None and not 0.0 < dof < np.inf:
        raise ValueError(f"dof must be positive and finite, got {dof!r}")
    weights = row_weights(sample_weight, X)
    weights = weights / xp.sum(weights)
    _check_spread(X, weights, dof)

    rows = _Rows(X=X, weights=weights)

    def maximize(expected: _Expected) -> _Params:
        nu = expected.params.dof
        u = weights * (nu + X.shape[1]) / (nu + expected.squared)
        location, scale = _weighted(X, u / xp.sum(u))
        moved = _Params(dof=nu, location=location, scale=scale)
        return moved if dof is not None else _with_best_dof(_EStep(params=moved)(rows), weights)

    def expect(params: _Params) -> _EStep:
        return _EStep(params=params)

    location, scale = _weighted(X, weights)
    start = 8.0 if dof is None else float(dof)
    params = _Params(dof=start, location=location, scale=scale)
    for tol, max_iter in ((1e-14, 2000), (-1.0, 60)):
        # Where the likelihood is flat to its last digit the parameters still move: sixty steps settle them.
        params = em(expect, maximize, params, Whole(value=rows), tol=tol, max_iter=max_iter).params
    return xp.asarray(params.dof, dtype=X.dtype, device=device(X)), params.location, params.scale


def _check_spread(X: Array, weights: Array, dof: float | None) -> None:
    """Refuse a fraction m of the rows at one point with m d > (1 - m) ν: the likelihood is then unbounded.

    Where ν is unknown, half the rows at one point are too many.
    """
    xp = namespace_of(X)
    heaviest = float(xp.max(weighted_counts(group_rows(X), weights, X.shape[0])))
    reach = 0.5 if dof is None else dof / (dof + X.shape[1])
    if reach < heaviest < 1.0 - 1e-12:
        raise ValueError(
            f"X has a share {heaviest:.3g} of its weight at one point: the likelihood is unbounded as the "
            "scale shrinks around it"
        )


def _weighted(X: Array, weights: Array) -> tuple[Array, Array]:
    """Return the weighted mean and covariance; the weights add up to one."""
    xp = namespace_of(X)
    mean = weights @ X
    centred = (X - mean) * xp.sqrt(weights)[:, None]
    return mean, xp.matrix_transpose(centred) @ centred


def _log_density(squared: Array, log_det: float, dof: float, dim: int) -> Array:
    from scipy.special import betaln, gammaln

    norm = float(gammaln(0.5 * dim) - betaln(0.5 * dof, 0.5 * dim)) - 0.5 * (dim * log(dof * pi) + log_det)
    return norm - 0.5 * (dof + dim) * namespace_of(squared).log1p(squared / dof)


def _with_best_dof(expected: _Expected, weights: Array) -> _Params:
    """Return the parameters with the next dof uphill at which the likelihood stops growing."""
    from scipy.optimize import brentq

    params, dim = expected.params, int(expected.params.location.shape[0])

    def slope(u: float) -> float:
        return _slope(expected.squared, weights, exp(u), dim)

    here = log(params.dof)
    end, step = (log(GREATEST), 0.25) if slope(here) > 0.0 else (log(LEAST), -0.25)
    there = here
    while there != end and slope(there) * step > 0.0:
        here, there = there, min(max(there + step, log(LEAST)), log(GREATEST))
        step *= 2.0
    uphill = slope(there) * step > 0.0 or here == there
    best = there if uphill else brentq(slope, here, there, xtol=1e-14)
    return _Params(dof=exp(best), location=params.location, scale=params.scale)


def _slope(squared: Array, weights: Array, dof: float, dim: int) -> float:
    """Return the derivative of the mean log density by log ν, written so that nothing cancels for large ν.

    With r = Δ²/ν it is the mean of ½ν (ψ((ν+d)/2) - ψ(ν/2) - d/ν - log(1 + r) + (1 + d/ν) r/(1 + r)).
    """
    half, step = np.asarray(0.5 * dof), np.asarray(dim / dof)
    change = log_minus_digamma(half) - log_minus_digamma(half + 0.5 * dim) - _excess(step)
    ratio = squared / dof
    pulled = ratio / (1.0 + ratio)
    total = namespace_of(weights).sum(weights * (float(step) * pulled - _excess(-pulled)))
    return float(half) * (float(change) + float(total))


def _excess(t: Array) -> Array:
    """Return t - log(1 + t)."""
    y = 1.0 + t
    return deviance(namespace_of(t).ones_like(y), y, t - (y - 1.0))


T = TypeVar("T")


def in_double_precision(divergence: Callable[[T, T], Array], p: T, q: T) -> Array:
    """Return a number of two distributions, found in double precision and rounded to their own."""
    xp = namespace_of(p.mean, q.mean)  # type: ignore[attr-defined]
    dtype = xp.result_type(p.mean, q.mean)  # type: ignore[attr-defined]
    return xp.astype(divergence(as_double(p), as_double(q)), dtype)


def as_double(x: Any) -> Any:
    """Return the same value with arrays of float64.

    Examples
    --------
    >>> import numpy as np
    >>> from tractable import Normal
    >>> as_double(Normal(mean=np.float32(1.0), variance=np.ones(2, dtype="float32"))).mean.dtype.name
    'float64'
    """
    if hasattr(x, "__dataclass_fields__"):
        return type(x)(**{name: as_double(part) for name, part in parameters(x).items()})
    if not hasattr(x, "dtype"):
        return x
    xp = namespace_of(x)
    return xp.astype(x, xp.float64) if xp.isdtype(x.dtype, "real floating") else x
