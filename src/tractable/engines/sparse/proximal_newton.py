"""Proximal Newton: a smooth convex function with an L1 penalty, minimised with exact zeros."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.engines.newton import NewtonResult, armijo_steps
from tractable.primitives.sparse import coordinate_sweeps
from tractable.primitives.threads import single_threaded_blas

_EPS = float(np.finfo(np.float64).eps)
#: Sweeps of coordinate descent between two attempts to solve for the coordinates that are not zero.
_SWEEPS = 10
#: Attempts before the answer of coordinate descent is taken.
_GUESSES = 200
#: A linear system with a larger relative residual is taken to have no solution.
_SOLVED = 1e-9


def violations(x: np.ndarray, gradient: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """Return how far each coordinate is from optimal (Karush, Kuhn and Tucker).

    |∇_j + penalty_j sign x_j|, or max(|∇_j| - penalty_j, 0) at zero; all are zero exactly at a minimum of
    f(x) + Σ_j penalty_j |x_j|, for a convex f.

    Examples
    --------
    >>> violations(np.array([1.0, 0.0]), np.array([-0.5, 2.0]), np.ones(2)).tolist()
    [0.5, 1.0]
    """
    at_zero = np.maximum(np.abs(gradient) - penalty, 0.0)
    return np.where(x == 0.0, at_zero, np.abs(gradient + penalty * np.sign(x)))


@single_threaded_blas()  # matrices are small, and the objective uses every core
def proximal_newton(
    objective: Callable[[np.ndarray], tuple[float, np.ndarray]],
    hessian: Callable[[np.ndarray], np.ndarray],
    start: np.ndarray,
    penalty: np.ndarray,
    *,
    tol: float = 1e-10,
    max_iter: int = 100,
    settled: Callable[[np.ndarray, np.ndarray], bool] | None = None,
) -> NewtonResult:
    """Minimise f(x) + Σ_j penalty_j |x_j|, f smooth and convex.

    Each step minimises a quadratic model of f with the penalty: by coordinate descent until the signs settle,
    then by one linear system on the coordinates that are not zero, which is checked. Steps are halved until
    the value falls. It stops when the decrease predicted for a step is at most `tol` times the size of the
    value and that predicted for each coordinate alone is too; one more step is then taken.

    Parameters
    ----------
    objective : callable
        Value and gradient of f.
    hessian : callable
        The Hessian of f, (m, m), or an estimate of it.
    start, penalty : arrays (m,)
        The point at which the search starts, and the weight of each |x_j|.
    tol : float
        Relative decrease, predicted for the next step, at which the search stops.
    max_iter : int
        Maximum number of steps.
    settled : callable, optional
        ``settled(x, violations)`` says whether violations of the optimality conditions at x are small; the
        search does not stop before.

    Examples
    --------
    >>> slope = lambda x: (0.5 * np.sum((x - [3.0, 0.5]) ** 2), x - [3.0, 0.5])
    >>> proximal_newton(slope, lambda x: np.eye(2), np.zeros(2), np.ones(2)).x
    array([2., 0.])
    """
    x = np.asarray(start, dtype=np.float64)
    smooth, gradient = objective(x)
    trace, converged, interrupted = [float(smooth + penalty @ np.abs(x))], False, False
    ending = False
    try:
        while len(trace) <= max_iter:
            h = hessian(x)
            target = _least_of_model(h, gradient, penalty, x)
            predicted = -float(gradient @ (target - x) + penalty @ (np.abs(target) - np.abs(x)))
            size = abs(trace[-1]) + trace[0] - trace[-1]
            stepped = _backtracked(objective, penalty, x, target, trace[-1], predicted)
            if stepped is not None:
                x, gradient, now = stepped
                trace.append(min(now, trace[-1]))
            enough = (tol if stepped is not None else max(tol, 8.0 * _EPS)) * size
            left = violations(x, gradient, penalty)
            converged = abs(predicted) <= enough and _small(left, h, enough)
            converged = converged and (settled is None or settled(x, left))
            if stepped is None or (ending and converged):
                break
            ending = converged
    except KeyboardInterrupt:
        interrupted = True
    return NewtonResult(
        x=x,
        value=trace[-1],
        gradient=gradient,
        violation=float(np.max(violations(x, gradient, penalty), initial=0.0)),
        n_iter=len(trace) - 1,
        converged=converged,
        trace=np.array(trace),
        interrupted=interrupted,
    )


def _small(left: np.ndarray, hessian: np.ndarray, enough: float) -> bool:
    """Return whether the decrease predicted for each coordinate alone, ½ violation² / curvature, is small."""
    curvature = np.diagonal(hessian)
    curved = curvature > 0.0
    return bool(np.all(0.5 * left[curved] ** 2 <= enough * curvature[curved]))


def _least_of_model(hessian: np.ndarray, slope: np.ndarray, penalty: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the minimum of the quadratic model with its penalty."""
    h = np.ascontiguousarray(hessian)
    u, q = x, slope
    for _ in range(_GUESSES):
        before = u
        u, q = coordinate_sweeps(h, q, penalty, u, _SWEEPS)
        if np.array_equal(u, before):
            break
        exact = _on_support(h, slope, penalty, x, u)
        if exact is not None:
            return exact
    return u


def _on_support(
    hessian: np.ndarray, slope: np.ndarray, penalty: np.ndarray, x: np.ndarray, u: np.ndarray
) -> np.ndarray | None:
    """Return the minimum with the signs of u, where it has those signs and satisfies all coordinates."""
    free = (u != 0.0) | ((penalty == 0.0) & (np.diagonal(hessian) > 0.0))
    found = np.where(free, u, 0.0)
    # H_ff (found_f - x_f) = -slope_f - penalty_f sign - H_f0 (0 - x_0)
    wanted = -slope[free] - penalty[free] * np.sign(u[free]) + hessian[np.ix_(free, ~free)] @ x[~free]
    found[free] = x[free] + _solved(hessian[np.ix_(free, free)], wanted)
    if np.any((np.sign(found) != np.sign(u)) & (penalty > 0.0)):
        return None
    left = violations(found, slope + hessian @ (found - x), penalty)
    sides = np.abs(slope) + penalty
    # A slope that is nearly zero is the rounding of a sum of terms as large as those of the others.
    room = 64.0 * _EPS * (np.abs(hessian) @ np.abs(found - x) + np.max(sides))
    # A singular system may have no solution, as where the coefficients of all classes have one sign.
    room = np.where(free, np.maximum(room, _SOLVED * sides), room)
    return found if np.all(left <= room) else None


def _solved(matrix: np.ndarray, column: np.ndarray) -> Any:
    from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq

    scale = 1.0 / np.sqrt(np.diagonal(matrix))
    unit = matrix * scale * scale[:, None]
    try:
        return scale * cho_solve(cho_factor(unit), scale * column)
    except LinAlgError:
        return scale * lstsq(unit, scale * column)[0]


def _backtracked(
    objective: Callable[[np.ndarray], tuple[float, np.ndarray]],
    penalty: np.ndarray,
    x: np.ndarray,
    target: np.ndarray,
    before: float,
    predicted: float,
) -> tuple[np.ndarray, np.ndarray, float] | None:
    rounding = 8.0 * _EPS * abs(before)
    if predicted <= 0.0:
        return None
    for length, bound in armijo_steps(before, predicted, rounding):
        candidate = target if length == 1.0 else x + length * (target - x)
        with np.errstate(over="ignore", invalid="ignore"):
            smooth, gradient = objective(candidate)
        now = float(smooth + penalty @ np.abs(candidate))
        if np.isfinite(now) and now <= bound + rounding:
            return candidate, gradient, now
    return None
