"""Newton's method for a smooth function with a price on absolute values: exact zeros, certified."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.engines.line_search import halved
from tractable.primitives.penalised_quadratic import coordinate_sweeps
from tractable.value import value

__all__ = ["ProximalResult", "proximal_newton", "violations"]

_EPS = float(np.finfo(np.float64).eps)
#: Sweeps between two guesses that the signs have settled.
_SWEEPS = 10
#: Guesses before what coordinate descent reached must do.
_GUESSES = 200
#: A linear system whose solution leaves more than this of its sides is taken to have none.
_SOLVED = 1e-9


@value
class ProximalResult:
    """Where the search stopped, and how it got there."""

    x: np.ndarray
    value: float  # the price included
    gradient: np.ndarray  # of the smooth part
    violation: float  # the largest breach of the conditions of optimality
    n_iter: int
    converged: bool
    trace: np.ndarray
    interrupted: bool = False  # by Ctrl-C: this is the best so far


def violations(x: np.ndarray, gradient: np.ndarray, price: np.ndarray) -> np.ndarray:
    """Return how far each coordinate is from optimal: |∇_j + price_j sign x_j|, or |∇_j| - price_j at zero.

    All are zero where, and only where, f(x) + Σ_j price_j |x_j| is least, for a convex f.

    Examples
    --------
    >>> violations(np.array([1.0, 0.0]), np.array([-0.5, 2.0]), np.ones(2)).tolist()
    [0.5, 1.0]
    """
    at_zero = np.maximum(np.abs(gradient) - price, 0.0)
    return np.where(x == 0.0, at_zero, np.abs(gradient + price * np.sign(x)))


def proximal_newton(
    objective: Callable[[np.ndarray], tuple[float, np.ndarray]],
    hessian: Callable[[np.ndarray], np.ndarray],
    start: np.ndarray,
    price: np.ndarray,
    *,
    tol: float = 1e-10,
    max_iter: int = 100,
    settled: Callable[[np.ndarray, np.ndarray], bool] | None = None,
) -> ProximalResult:
    """Minimise f(x) + Σ_j price_j |x_j|, f smooth and convex.

    Each step minimises a quadratic model of f with the price: by coordinate descent until the signs settle,
    then by one linear system on the coordinates that are not zero, which is checked. Steps are halved until
    the value falls. It stops when a step promised a decrease of at most `tol` times the size of the value
    and after it none of the coordinates promises more by itself; one more step is then taken.

    Parameters
    ----------
    objective : callable
        Value and gradient of f.
    hessian : callable
        The Hessian of f, (m, m), or a guess of it.
    start, price : arrays (m,)
    tol : float
    max_iter : int
    settled : callable, optional
        ``settled(x, breaches)`` says whether breaches of the conditions of optimality at x are small; the
        search does not stop before.

    Examples
    --------
    >>> slope = lambda x: (0.5 * np.sum((x - [3.0, 0.5]) ** 2), x - [3.0, 0.5])
    >>> proximal_newton(slope, lambda x: np.eye(2), np.zeros(2), np.ones(2)).x
    array([2., 0.])
    """
    x = np.asarray(start, dtype=np.float64)
    smooth, gradient = objective(x)
    trace, converged, interrupted = [float(smooth + price @ np.abs(x))], False, False
    ending = False
    try:
        while len(trace) <= max_iter:
            h = hessian(x)
            target = _least_of_model(h, gradient, price, x)
            promised = -float(gradient @ (target - x) + price @ (np.abs(target) - np.abs(x)))
            size = abs(trace[-1]) + trace[0] - trace[-1]
            stepped = _backtracked(objective, price, x, target, trace[-1], promised)
            if stepped is not None:
                x, gradient, now = stepped
                trace.append(min(now, trace[-1]))
            enough = (tol if stepped is not None else max(tol, 8.0 * _EPS)) * size
            left = violations(x, gradient, price)
            converged = abs(promised) <= enough and _small(left, h, enough)
            converged = converged and (settled is None or settled(x, left))
            if stepped is None or (ending and converged):
                break
            ending = converged
    except KeyboardInterrupt:
        interrupted = True
    return ProximalResult(
        x=x,
        value=trace[-1],
        gradient=gradient,
        violation=float(np.max(violations(x, gradient, price), initial=0.0)),
        n_iter=len(trace) - 1,
        converged=converged,
        trace=np.array(trace),
        interrupted=interrupted,
    )


def _small(breaches: np.ndarray, hessian: np.ndarray, enough: float) -> bool:
    """Say whether no coordinate by itself promises more than so much: ½ breach² / curvature."""
    curvature = np.diagonal(hessian)
    curved = curvature > 0.0
    return bool(np.all(0.5 * breaches[curved] ** 2 <= enough * curvature[curved]))


def _least_of_model(hessian: np.ndarray, slope: np.ndarray, price: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the minimum of the quadratic model with its price."""
    h = np.ascontiguousarray(hessian)
    u, q = x, slope
    for _ in range(_GUESSES):
        before = u
        u, q = coordinate_sweeps(h, q, price, u, _SWEEPS)
        if np.array_equal(u, before):
            break
        exact = _on_support(h, slope, price, x, u)
        if exact is not None:
            return exact
    return u


def _on_support(
    hessian: np.ndarray, slope: np.ndarray, price: np.ndarray, x: np.ndarray, u: np.ndarray
) -> np.ndarray | None:
    """Return the minimum with the signs of u, where it has those signs and satisfies all coordinates."""
    free = (u != 0.0) | ((price == 0.0) & (np.diagonal(hessian) > 0.0))
    found = np.where(free, u, 0.0)
    # H_ff (found_f - x_f) = -slope_f - price_f sign - H_f0 (0 - x_0)
    wanted = -slope[free] - price[free] * np.sign(u[free]) + hessian[np.ix_(free, ~free)] @ x[~free]
    found[free] = x[free] + _solved(hessian[np.ix_(free, free)], wanted)
    if np.any((np.sign(found) != np.sign(u)) & (price > 0.0)):
        return None
    left = violations(found, slope + hessian @ (found - x), price)
    sides = np.abs(slope) + price
    room = 64.0 * _EPS * (np.abs(hessian) @ np.abs(found - x) + sides)
    # A singular system may have no solution, such as when all planes of a column have one sign.
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
    price: np.ndarray,
    x: np.ndarray,
    target: np.ndarray,
    before: float,
    promised: float,
) -> tuple[np.ndarray, np.ndarray, float] | None:
    rounding = 8.0 * _EPS * abs(before)
    if promised <= 0.0:
        return None
    for length, bound in halved(before, promised, rounding):
        candidate = target if length == 1.0 else x + length * (target - x)
        with np.errstate(over="ignore", invalid="ignore"):
            smooth, gradient = objective(candidate)
        now = float(smooth + price @ np.abs(candidate))
        if np.isfinite(now) and now <= bound + rounding:
            return candidate, gradient, now
    return None
