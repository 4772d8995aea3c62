"""Maximum likelihood for Student-t vectors: rows far out count less, and how much less is learnt."""

from math import exp, log, pi
from typing import Any

import numpy as np

from tractable.arrays.linalg import cholesky, log_det_cholesky, solve_triangular
from tractable.arrays.namespace import Array, as_float_array, device, namespace_of
from tractable.arrays.saddle_point import deviance, log_minus_digamma
from tractable.arrays.special import betaln, gammaln
from tractable.distributions.checks import check_finite, check_sample_weight
from tractable.engines.em import em
from tractable.value import value

__all__ = ["fit_student_t"]

#: Between which degrees of freedom are sought.
LEAST, GREATEST = 1e-2, 1e6


@value
class _Params:
    dof: float
    location: Array  # (d,)
    scale: Array  # (d, d)


@value
class _Expected:
    """Distances under the parameters that made them, and the log likelihood of a row, on average."""

    params: _Params
    squared: Array  # (n,)
    log_det: float
    objective: float


def fit_student_t(X: Any, sample_weight: Any, dof: float | None) -> tuple[Any, Array, Array]:
    """Return dof, location and scale by ECME (Liu & Rubin 1994), with the expanded scale of PX-EM.

    The E-step weighs a row by u = (ν + d) / (ν + Δ²); the M-step takes the weighted mean and scatter, divided
    by the sum of the weights (which has the same fixed point as dividing by n, and gets there sooner); the
    degrees of freedom, where unknown, maximise the likelihood itself.
    """
    X = as_float_array(X)
    xp = namespace_of(X)
    if X.ndim != 2 or not X.shape[0]:
        raise ValueError(f"X must be rows of shape (n, d) with n at least 1, got {tuple(X.shape)}")
    check_finite("X", X)
    if dof is not None and not 0.0 < dof < np.inf:
        raise ValueError(f"dof must be positive and finite, got {dof!r}")
    weights = check_sample_weight(sample_weight, X.shape[0], X)
    weights = xp.ones(X.shape[0], dtype=X.dtype, device=device(X)) if weights is None else weights
    weights = weights / xp.sum(weights)

    def expect(params: _Params) -> _Expected:
        lower = cholesky(params.scale, name="the scatter of X")
        white = solve_triangular(lower, xp.matrix_transpose(X - params.location))
        squared, log_det = xp.sum(white * white, axis=0), float(log_det_cholesky(lower))
        value = float(xp.sum(weights * _log_density(squared, log_det, params.dof, X.shape[1])))
        return _Expected(params=params, squared=squared, log_det=log_det, objective=value)

    def maximize(expected: _Expected) -> _Params:
        nu = expected.params.dof
        pull = weights * (nu + X.shape[1]) / (nu + expected.squared)
        location, scale = _weighted(X, pull / xp.sum(pull))
        moved = _Params(dof=nu, location=location, scale=scale)
        return moved if dof is not None else _with_best_dof(expect(moved), weights)

    location, scale = _weighted(X, weights)
    start = 8.0 if dof is None else float(dof)
    params = _Params(dof=start, location=location, scale=scale)
    for tol, max_iter in ((1e-14, 2000), (-1.0, 60)):
        # Where the likelihood is flat to its last digit the parameters still move: sixty steps settle them.
        params = em(expect, maximize, params, tol=tol, max_iter=max_iter).params
    return xp.asarray(params.dof, dtype=X.dtype, device=device(X)), params.location, params.scale


def _weighted(X: Array, weights: Array) -> tuple[Array, Array]:
    """Return the weighted mean and covariance; the weights add up to one."""
    xp = namespace_of(X)
    mean = weights @ X
    centred = (X - mean) * xp.sqrt(weights)[:, None]
    return mean, xp.matrix_transpose(centred) @ centred


def _log_density(squared: Array, log_det: float, dof: float, dim: int) -> Array:
    xp = namespace_of(squared)
    nu, half_dim = xp.asarray(0.5 * dof, dtype=squared.dtype), xp.asarray(0.5 * dim, dtype=squared.dtype)
    norm = gammaln(half_dim) - betaln(nu, half_dim) - 0.5 * (dim * log(dof * pi) + log_det)
    return norm - 0.5 * (dof + dim) * xp.log1p(squared / dof)


def _with_best_dof(expected: _Expected, weights: Array) -> _Params:
    """Return the parameters with the dof that makes the rows likeliest: where the slope in log ν is zero."""
    from scipy.optimize import brentq, minimize_scalar

    params, dim = expected.params, int(expected.params.location.shape[0])
    xp = namespace_of(weights)
    ends = log(LEAST), log(GREATEST)

    def loss(u: float) -> float:
        return -float(xp.sum(weights * _log_density(expected.squared, expected.log_det, exp(u), dim)))

    def slope(u: float) -> float:
        return float(xp.sum(weights * _slope(expected.squared, exp(u), dim)))

    near = float(minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-5}).x)
    low, high = max(near - 1e-2, ends[0]), min(near + 1e-2, ends[1])
    # A minimum is known to half the digits only; the zero of the slope to all of them.
    inside = brentq(slope, low, high, xtol=1e-14) if slope(low) > 0.0 > slope(high) else near
    before = log(params.dof)
    # Elsewhere must be better by more than rounding, or the answer would be a matter of luck.
    slack = 1e-13 * (1.0 + abs(loss(before)))
    best = min((inside, *ends, before), key=lambda u: loss(u) + slack * (u != inside))
    return _Params(dof=exp(best), location=params.location, scale=params.scale)


def _slope(squared: Array, dof: float, dim: int) -> Array:
    """Return the derivative of the log density by log ν, written so that nothing cancels when ν is large.

    With r = Δ²/ν it is ½ν (ψ((ν+d)/2) - ψ(ν/2) - d/ν - log(1 + r) + (1 + d/ν) r/(1 + r)).
    """
    xp = namespace_of(squared)
    half, step = xp.asarray(0.5 * dof, dtype=squared.dtype), xp.asarray(dim / dof, dtype=squared.dtype)
    change = log_minus_digamma(half) - log_minus_digamma(half + 0.5 * dim) - _excess(step)
    ratio = squared / dof
    pulled = ratio / (1.0 + ratio)
    return half * (change - _excess(-pulled) + step * pulled)


def _excess(t: Array) -> Array:
    """Return t - log(1 + t)."""
    y = 1.0 + t
    return deviance(namespace_of(t).ones_like(y), y, t - (y - 1.0))
