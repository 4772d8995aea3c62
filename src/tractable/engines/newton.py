"""Damped Newton minimisation, and the backtracking line search that it shares with L-BFGS."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tractable.arrays.linalg import cholesky, solve_cholesky, symmetrize
from tractable.arrays.namespace import Array, as_float_array, namespace_of
from tractable.value import value

#: Value and gradient at a point and, for Newton's method, the Hessian or a function that solves with it.
Expansion = tuple[Any, ...]

#: Part of the decrease predicted by the slope that a step must achieve.
ARMIJO = 1e-4
#: The longest step, beside x, that is taken without a look at the value.
LAST_STEP = 0.01
#: Number of recent steps whose decrease counts to the size of f.
_RECENT = 3


@value
class NewtonResult:
    """The result of a minimisation by `newton`, `lbfgs` or `proximal_newton`.

    Parameters
    ----------
    x : array
        The minimum.
    value : float
        The objective there.
    gradient : array
        Of the smooth part of the objective.
    n_iter : int
        Number of steps.
    converged : bool
        Whether the search ended by its tolerance.
    trace : array (n_iter + 1,)
        Values of the objective, never increasing.
    curvature : array or callable, optional
        The Hessian at x, or the function that solves with it; of `lbfgs`, what `expand` returned for it.
    violation : float, optional
        Of the optimality conditions, where the objective has an L1 penalty.
    interrupted : bool
        Whether it ended by Ctrl-C: x is the best point so far.
    """

    x: Array
    value: float
    gradient: Array
    n_iter: int
    converged: bool
    trace: np.ndarray
    curvature: Any = None
    violation: float | None = None
    interrupted: bool = False

    @property
    def gradient_norm(self) -> float:
        """The Euclidean norm of the gradient."""
        return _inner(self.gradient, self.gradient) ** 0.5


def newton(
    objective: Callable[[Array], Expansion],
    start: Array,
    *,
    value: Callable[[Array], Any] | None = None,
    tol: float = 1e-10,
    max_iter: int = 100,
    vanishing: bool = False,
    final_tol: float | None = None,
    settled: Callable[[Array, Array], bool] | None = None,
    interruptible: bool = False,
) -> NewtonResult:
    """Minimise a smooth function by x ← x - t H⁻¹ ∇f(x), with t halved until f falls (Armijo).

    Where the Hessian is not positive definite its eigenvalues are replaced by their absolute values, so that
    the step is a descent direction. It stops when the decrease that the quadratic model predicts,
    ½ ∇fᵀ H⁻¹ ∇f, is at most `tol` times the size of f: |f| plus the decrease of the last three steps.
    The rule does not depend on the units of x or f, nor on how large f is at the start.

    Parameters
    ----------
    objective : callable
        ``objective(x)`` returns ``(value, gradient, curvature)``: a number, an array like x, and the Hessian
        (d, d), or a function that returns H⁻¹ g for a g like x where H has a structure to exploit.
    start : array
        Initial point; d entries in any shape.
    value : callable, optional
        The value alone, where that is cheaper: used by the line search.
    tol : float
        Relative tolerance.
    max_iter : int
        Maximum number of steps.
    vanishing : bool
        Whether the infimum of f is zero, so that |f| is no scale: the decrease since the start then counts to
        its size.
    final_tol : float, optional
        If given, a last step that is short beside x is taken without an evaluation, which squares the
        error: a step that is predicted to decrease f by no more than this part of its size, or one more step
        of a converged search.
        Gradient and curvature are those before it.
    settled : callable, optional
        ``settled(x, gradient)`` says whether a gradient at x is small; the search does not stop before.
    interruptible : bool
        Whether Ctrl-C ends the search with the best point so far, which is then `interrupted`.

    Examples
    --------
    >>> import numpy as np
    >>> A, b = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([1.0, 0.0])
    >>> result = newton(lambda x: (0.5 * x @ A @ x - b @ x, A @ x - b, A), np.zeros(2))
    >>> result.x, result.converged
    (array([ 0.4, -0.2]), True)
    """
    if not tol >= 0.0:
        raise ValueError(f"tol must not be negative, got {tol}")
    x = as_float_array(start)
    here = objective(x)
    if not (_is_finite(x) and _is_finite(*here)):
        raise ValueError("start must be finite, with a finite value, gradient and Hessian")
    trace, converged, interrupted = [float(here[0])], False, False
    is_settled = settled or (lambda *_: True)
    try:
        while len(trace) <= max_iter and not converged:
            direction = _direction(here)
            predicted = 0.5 * _inner(here[1], direction)
            if predicted == 0.0:
                converged = True
                break
            size = abs(trace[-1]) + trace[0 if vanishing else -min(1 + _RECENT, len(trace))] - trace[-1]
            if final_tol is not None and predicted <= final_tol * size and is_settled(x, here[1]):
                converged = True
                trace.append(trace[-1] - predicted)
                break
            stepped = backtrack(objective, x, here, direction, value=value)
            if stepped is None:
                # No step was lower: at the minimum as far as the value can tell, or stuck.
                converged = predicted <= max(tol, 8.0 * _eps(x)) * size
                break
            x, here = stepped
            trace.append(min(float(here[0]), trace[-1]))  # equal up to rounding where it rose
            converged = predicted <= tol * size and is_settled(x, here[1])
    except KeyboardInterrupt:
        if not interruptible:
            raise
        interrupted = True
    return NewtonResult(
        x=_after_last_step(x, here) if final_tol is not None and converged else x,
        value=trace[-1],
        gradient=here[1],
        n_iter=len(trace) - 1,
        converged=converged,
        trace=np.array(trace),
        curvature=here[2],
        interrupted=interrupted,
    )


def _after_last_step(x: Array, here: Expansion) -> Array:
    """Return x after a step without an evaluation, if that is short beside x.

    Where curvature is lost, as with separable classes, steps have no bound: one that nobody looks at could
    ruin what the search has found.
    """
    xp, step = namespace_of(x), _direction(here)
    short = float(xp.max(xp.abs(step))) <= LAST_STEP * float(xp.max(xp.abs(x)))
    return x - step if short else x


def _direction(here: Expansion) -> Array:
    """Return H⁻¹ ∇f, or another descent direction; x moves against it."""
    _, gradient, curvature = here
    if callable(curvature):
        direction = curvature(gradient)
        return direction if _inner(gradient, direction) > 0.0 else gradient
    xp = namespace_of(gradient)
    column = xp.reshape(gradient, (-1, 1))
    try:
        direction = solve_cholesky(cholesky(curvature), column)
    except ValueError:
        direction = _absolute_solve(xp, curvature, column)
    return xp.reshape(direction, gradient.shape)


def _absolute_solve(xp: Any, hessian: Array, column: Array) -> Array:
    """Solve with |H|, the Hessian with the absolute values of its eigenvalues, scaled to a diagonal of ±1."""
    diagonal = xp.abs(xp.linalg.diagonal(hessian))[:, None]
    scale = xp.sqrt(xp.where(diagonal > 0.0, diagonal, xp.ones_like(diagonal)))
    values, vectors = xp.linalg.eigh(symmetrize(hessian / scale / xp.matrix_transpose(scale)))
    sizes = xp.abs(values)[:, None]
    floor = _eps(hessian) ** 0.5 * xp.max(sizes)
    sizes = xp.where(sizes > floor, sizes, xp.where(floor > 0.0, floor, xp.ones_like(floor)))
    return vectors @ (xp.matrix_transpose(vectors) @ (column / scale) / sizes) / scale


def armijo_steps(before: float, decrease: float, rounding: float) -> Iterator[tuple[float, float]]:
    """Yield step lengths 1, ½, ¼, … with the value that each must reach, while the value can resolve them.

    `before` is the value at the start, `decrease` that of a full step as the slope predicts it, and changes
    below `rounding` are rounding.

    Examples
    --------
    >>> [length for length, _ in armijo_steps(1.0, 0.5, 0.1)]
    [1.0, 0.5, 0.25]
    """
    length = 1.0
    while length == 1.0 or length * decrease > rounding:
        yield length, before - ARMIJO * length * decrease
        length *= 0.5


def backtrack(
    objective: Callable[[Array], Expansion],
    x: Array,
    here: Expansion,
    direction: Array,
    *,
    value: Callable[[Array], Any] | None = None,
) -> tuple[Array, Expansion] | None:
    """Return the first point ``x - t direction``, t = 1, ½, ¼, …, of sufficient decrease, and its expansion.

    Where the value cannot resolve the decrease any more, the gradient must become shorter. None where no
    step length does. The objective returns a tuple that begins with value and gradient, and `here` is that at
    x; `value` returns the value alone, where that is cheaper.
    """
    before, slope = float(here[0]), _inner(here[1], direction)
    rounding = 8.0 * _eps(x) * abs(before)
    for length, bound in armijo_steps(before, slope, rounding):
        candidate = x - length * direction
        with np.errstate(over="ignore", invalid="ignore"):
            if value is not None and not float(value(candidate)) <= bound + rounding:
                continue
            there = objective(candidate)
        if not _is_finite(*there):
            continue
        after = float(there[0])
        level = abs(after - before) <= rounding
        if after <= bound and after < before:
            return candidate, there
        if level and _inner(there[1], there[1]) < _inner(here[1], here[1]):
            return candidate, there
    return None


def _inner(a: Array, b: Array) -> float:
    if isinstance(a, np.ndarray):
        return float(np.vdot(a, b))
    return float(namespace_of(a).sum(a * b))


def _eps(x: Array) -> float:
    return float(namespace_of(x).finfo(x.dtype).eps)


def _is_finite(*parts: Any) -> bool:
    return all(_all_finite(part) for part in parts if not callable(part))


def _all_finite(part: Any) -> bool:
    if isinstance(part, float):
        return math.isfinite(part)
    if isinstance(part, np.ndarray):
        return bool(np.isfinite(part).all())
    xp = namespace_of(part)
    return bool(xp.all(xp.isfinite(xp.asarray(part))))
