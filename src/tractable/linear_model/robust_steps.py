"""Expectation-maximisation for a plane in noise with heavy tails: least squares, reweighted."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.engines import EMResult, LeastSquares, em, fold, least_squares
from tractable.linear_model.noise_models import GaussianNoise, LaplaceNoise, StudentNoise
from tractable.statistics import LinearFactor
from tractable.value import replace, value

__all__ = ["RobustPlane", "in_units", "robust_search", "robust_steps", "start_at_least_squares"]

#: How far |r| is rounded off, in units of its median, stage after stage.
_STAGES = (1e-1, 1e-2, 1e-4, 1e-6, 1e-8)


@value
class RobustPlane:
    """A plane and the noise around it."""

    plane: LeastSquares
    noise: Any


@value
class _Expected:
    """Residuals, and how much each row counts in the next least squares."""

    params: RobustPlane
    pull: np.ndarray
    objective: float  # mean log-likelihood of a row


def start_at_least_squares(
    X: np.ndarray, y: np.ndarray, w: np.ndarray, noise: str, dof: float | None, *, fit_intercept: bool
) -> RobustPlane:
    """Return the plane of least squares, with noise of its size."""
    plane = _plane(X, y, w, fit_intercept=fit_intercept)
    r = y - plane.predict(X)[:, 0]
    rms = float(np.sqrt(w @ r**2 / w.sum()))
    models = {
        "gaussian": GaussianNoise(scale=rms),
        "laplace": LaplaceNoise(scale=float(w @ np.abs(r) / w.sum())),
        "student": StudentNoise(scale=rms, dof=4.0 if dof is None else float(dof), known=dof is not None),
    }
    return RobustPlane(plane=plane, noise=models[noise])


def in_units(plane: LeastSquares, level: float, unit: float) -> LeastSquares:
    """Return the plane of targets that are so many times as large, and then greater by a level."""
    with np.errstate(over="ignore", under="ignore"):
        return replace(
            plane,
            coef=plane.coef * unit,
            intercept=plane.intercept * unit + level,
            offset=plane.offset * unit + level,
            residual=plane.residual * unit * unit,
        )


def robust_steps(
    X: np.ndarray, y: np.ndarray, w: np.ndarray, floor: float, *, fit_intercept: bool = True
) -> tuple[Callable[[RobustPlane], _Expected], Callable[[_Expected], RobustPlane]]:
    """Return the E-step, which says how much each row counts, and the M-step, least squares with those."""

    def expect(params: RobustPlane) -> _Expected:
        r = y - params.plane.predict(X)[:, 0]
        mean = float(w @ params.noise.log_prob(r) / w.sum())
        return _Expected(params=params, pull=params.noise.pull(r), objective=mean)

    def maximize(expected: _Expected) -> RobustPlane:
        pull = expected.pull
        plane = _plane(X, y, w * pull, fit_intercept=fit_intercept)
        r = y - plane.predict(X)[:, 0]
        return RobustPlane(plane=plane, noise=expected.params.noise.refitted(r, w, pull, floor))

    return expect, maximize


def robust_search(
    X: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    start: RobustPlane,
    floor: float,
    *,
    fit_intercept: bool,
    tol: float,
    max_iter: int,
) -> EMResult:
    """Climb from a start; absolute errors are approached through rounder ones, and met exactly at the end."""
    expect, maximize = robust_steps(X, y, w, floor, fit_intercept=fit_intercept)
    if not isinstance(start.noise, LaplaceNoise):
        return em(expect, maximize, start, tol=tol, max_iter=max_iter, label="RobustRegression")
    found = EMResult(params=start, trace=(), converged=False)
    trace: tuple[float, ...] = ()
    smooth = np.inf
    for stage in _STAGES:
        r = y - found.params.plane.predict(X)[:, 0]
        # Of the median: outliers, however far, are not what the noise is like.
        middle = np.quantile(np.abs(r), 0.5, weights=w, method="inverted_cdf")
        smooth = min(smooth, max(stage * float(middle), floor))
        noise = replace(found.params.noise, smooth=smooth)
        params = replace(found.params, noise=noise.refitted(r, w, w, floor))
        left = max(max_iter - len(trace), 1)
        # Nothing is gained by climbing nearer to the top of a rounded likelihood than the rounding moves it.
        near = tol if stage == _STAGES[-1] else max(tol, 0.01 * stage)
        found = em(expect, maximize, params, tol=near, max_iter=left, label="RobustRegression")
        trace = (*trace, *found.trace)
        if found.interrupted:
            break
    found = replace(found, trace=trace)
    return found if found.interrupted else _through_its_rows(X, y, w, found, floor, fit_intercept)


def _through_its_rows(
    X: np.ndarray, y: np.ndarray, w: np.ndarray, found: EMResult, floor: float, fit_intercept: bool
) -> EMResult:
    """Put the plane exactly through the rows it all but touches: least absolute errors lie at a corner."""
    noise: LaplaceNoise = found.params.noise
    residuals = np.abs(y - found.params.plane.predict(X)[:, 0])
    plane, errors = found.params.plane, residuals
    for near in (3.0, 30.0, 300.0, 3000.0):
        touched = (residuals <= near * noise.smooth) & (w > 0)
        if touched.any():
            corner = _plane(X[touched], y[touched], w[touched], fit_intercept=fit_intercept)
            after = np.abs(y - corner.predict(X)[:, 0])
            if w @ after <= w @ errors:
                plane, errors = corner, after
    best = RobustPlane(plane=plane, noise=replace(noise, smooth=0.0).refitted(errors, w, w, floor))
    last = float(w @ best.noise.log_prob(errors) / w.sum())
    return replace(found, params=best, trace=(*found.trace, last))


def _plane(X: np.ndarray, y: np.ndarray, w: np.ndarray, *, fit_intercept: bool) -> LeastSquares:
    return least_squares(fold(LinearFactor.of, X, y, weights=w), fit_intercept=fit_intercept)
