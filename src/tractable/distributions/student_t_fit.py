"""Maximum likelihood for Student-t vectors: rows far out count less, and how much less is learnt."""

from math import exp, log, pi
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.grouping import group_rows, tally
from tractable.arrays.linalg import cholesky, log_det_cholesky, solve_triangular
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.saddle_point import deviance, log_minus_digamma
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
    X = as_reals("X", X)
    xp = namespace_of(X)
    if X.ndim != 2 or not X.shape[0]:
        raise ValueError(f"X must be rows of shape (n, d) with n at least 1, got {tuple(X.shape)}")
    check_finite("X", X)
    if dof is not None and not 0.0 < dof < np.inf:
        raise ValueError(f"dof must be positive and finite, got {dof!r}")
    weights = check_sample_weight(sample_weight, X.shape[0], X)
    weights = xp.ones(X.shape[0], dtype=X.dtype, device=device(X)) if weights is None else weights
    weights = weights / xp.sum(weights)
    _check_spread(X, weights, dof)

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


def _check_spread(X: Array, weights: Array, dof: float | None) -> None:
    """Refuse a share m of the rows at one point with m d > (1 - m) ν: a scale tending to 0 is ever likelier.

    Where ν is unknown, half the rows at one point are too many.
    """
    xp = namespace_of(X)
    heaviest = float(xp.max(tally(group_rows(X), weights, X.shape[0])))
    reach = 0.5 if dof is None else dof / (dof + X.shape[1])
    if reach < heaviest < 1.0 - 1e-12:
        raise ValueError(
            f"X has a share {heaviest:.3g} of its weight at one point: the likelihood grows without end as "
            "the scale shrinks around it"
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
