"""Expectation-maximisation for a plane in noise with heavy tails: least squares, reweighted."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.engines import EMResult, LeastSquares, em, fold, least_squares
from tractable.linear_model.robust.least_absolute import best_corner
from tractable.linear_model.robust.noise import GaussianNoise, LaplaceNoise, StudentNoise
from tractable.statistics import LinearFactor
from tractable.value import replace, value

__all__ = ["RobustPlane", "in_units", "robust_search", "robust_steps", "start_at_least_squares"]

#: How far |r| is rounded off, in units of its median, stage after stage.
_STAGES = (1e-1, 1e-2)


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
    params, smooth = start, np.inf
    trace: tuple[float, ...] = ()
    for stage in _STAGES:
        r = y - params.plane.predict(X)[:, 0]
        # Of the median: outliers, however far, are not what the noise is like.
        middle = np.quantile(np.abs(r), 0.5, weights=w, method="inverted_cdf")
        smooth = min(smooth, max(stage * float(middle), floor))
        rounder = replace(params.noise, smooth=smooth).refitted(r, w, w, floor)
        left = max_iter - max(len(trace) - 1, 0)
        # Nothing is gained by climbing nearer to the top of a rounded likelihood than the rounding moves it.
        found = em(
            expect,
            maximize,
            replace(params, noise=rounder),
            tol=max(tol, 0.1 * stage),
            max_iter=left,
            label="RobustRegression",
        )
        params, trace = found.params, (*trace, *found.trace[min(len(trace), 1) :])
        if found.interrupted or len(trace) > max_iter:
            return replace(found, trace=trace, converged=False)
    return _at_a_corner(X, y, w, start.plane, replace(found, trace=trace), floor, max_iter, fit_intercept)


def _at_a_corner(
    X: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    whole: LeastSquares,
    found: EMResult,
    floor: float,
    max_iter: int,
    fit_intercept: bool,
) -> EMResult:
    """Put the plane exactly through the rows that the least absolute errors go through."""
    seen = np.flatnonzero(w > 0)
    near: RobustPlane = found.params
    errors = (y - near.plane.predict(X)[:, 0])[seen]
    corner = best_corner(
        _features(X[seen], whole), y[seen], w[seen], errors, floor, max_iter - found.n_iter - 1
    )
    plane, cost = near.plane, float(w[seen] @ np.abs(errors))
    costs = np.minimum.accumulate([cost, *corner.costs])[1:]
    if corner.optimal or corner.costs[-1] < cost:
        through = seen[corner.rows]
        plane = _plane(X[through], y[through], np.ones(len(through)), fit_intercept=fit_intercept)
    noise = replace(near.noise, smooth=0.0).refitted(y - plane.predict(X)[:, 0], w, w, floor)
    trace = -1.0 - np.log(2.0 * np.maximum(costs / w.sum(), floor))
    return replace(
        found,
        params=RobustPlane(plane=plane, noise=noise),
        trace=(*found.trace, *trace.tolist()),
        converged=corner.optimal,
    )


def _features(X: np.ndarray, whole: LeastSquares) -> np.ndarray:
    """Return columns with the span of those of X, and of the intercept, that are independent."""
    columns = (X - whole.centre) @ whole.spread
    return np.column_stack([np.full((len(X), whole.n_located), whole.weight**-0.5), columns])


def _plane(X: np.ndarray, y: np.ndarray, w: np.ndarray, *, fit_intercept: bool) -> LeastSquares:
    return least_squares(fold(LinearFactor.of, X, y, weights=w), fit_intercept=fit_intercept)
