"""Damped Newton minimisation: quadratic near the minimum, downhill everywhere."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.linalg import cholesky, solve_cholesky, symmetrize
from tractable.arrays.namespace import Array, as_float_array, namespace_of
from tractable.engines.line_search import halved, improves, inner
from tractable.value import value

__all__ = ["NewtonResult", "newton"]

#: Value, gradient and curvature at a point; the curvature is the Hessian, or a function that solves with it.
Expansion = tuple[Any, Array, Any]

_RECENT = 3  # steps whose gains tell the size of f


@value
class NewtonResult:
    """Where Newton's method stopped, and how it got there."""

    x: Array
    value: float
    gradient: Array
    curvature: Any  # the Hessian at x, or the function that solves with it
    gradient_norm: float
    n_iter: int
    converged: bool
    trace: np.ndarray  # (n_iter + 1,) values of the objective, never increasing


def newton(
    objective: Callable[[Array], Expansion],
    start: Array,
    *,
    value: Callable[[Array], Any] | None = None,
    tol: float = 1e-10,
    max_iter: int = 100,
    vanishing: bool = False,
) -> NewtonResult:
    """Minimise a smooth function: x ← x - t H⁻¹ ∇f(x), with t halved until the value falls (Armijo).

    Where the Hessian is not positive definite its eigenvalues are replaced by their absolute values, so that
    the step still leads downhill. It stops when the decrease that a full step promises, ½ ∇fᵀ H⁻¹ ∇f, is at
    most `tol` times the size of f: its value, and what the last few steps have gained. The rule does not
    depend on the units of x or f, and a start of enormous value does not make the rest look small.

    Parameters
    ----------
    objective : callable
        ``objective(x)`` returns ``(value, gradient, curvature)``: a number, an array like x, and the Hessian
        (d, d), or a function that returns H⁻¹ g for a g like x where H has a structure to exploit.
    start : array
        Where to begin; d entries in any shape.
    value : callable, optional
        The value alone, where that is cheaper: used to try steps.
    tol : float
        Relative tolerance.
    max_iter : int
        The most steps to take.
    vanishing : bool
        Whether f falls to zero, so that it has no size of its own: as a power at its minimum, or a loss that
        has none. All that has been gained since the start then counts to its size.

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
    trace, converged = [float(here[0])], False
    while len(trace) <= max_iter and not converged:
        direction = _direction(here)
        promised = 0.5 * inner(here[1], direction)
        if promised == 0.0:
            converged = True
            break
        size = abs(trace[-1]) + trace[0 if vanishing else -min(1 + _RECENT, len(trace))] - trace[-1]
        stepped = _backtracked(objective, value, x, here, direction)
        if stepped is None:
            # No step was lower: at the minimum as far as the value can tell, or stuck.
            converged = promised <= max(tol, 8.0 * _eps(x)) * size
            break
        x, here = stepped
        trace.append(min(float(here[0]), trace[-1]))  # equal up to rounding where it rose
        converged = promised <= tol * size
    return NewtonResult(
        x=x,
        value=trace[-1],
        gradient=here[1],
        curvature=here[2],
        gradient_norm=inner(here[1], here[1]) ** 0.5,
        n_iter=len(trace) - 1,
        converged=converged,
        trace=np.array(trace),
    )


def _direction(here: Expansion) -> Array:
    """Return H⁻¹ ∇f, or a downhill stand-in: x moves against it."""
    _, gradient, curvature = here
    if callable(curvature):
        direction = curvature(gradient)
        return direction if inner(gradient, direction) > 0.0 else gradient
    xp = namespace_of(gradient)
    column = xp.reshape(gradient, (-1, 1))
    try:
        direction = solve_cholesky(cholesky(curvature), column)
    except ValueError:
        direction = _absolute_solve(xp, curvature, column)
    return xp.reshape(direction, gradient.shape)


def _absolute_solve(xp: Any, hessian: Array, column: Array) -> Array:
    """Solve with |H|, the Hessian's eigenvalues made positive, in units that make its diagonal ±1."""
    diagonal = xp.abs(xp.linalg.diagonal(hessian))[:, None]
    scale = xp.sqrt(xp.where(diagonal > 0.0, diagonal, xp.ones_like(diagonal)))
    values, vectors = xp.linalg.eigh(symmetrize(hessian / scale / xp.matrix_transpose(scale)))
    sizes = xp.abs(values)[:, None]
    floor = _eps(hessian) ** 0.5 * xp.max(sizes)
    sizes = xp.where(sizes > floor, sizes, xp.where(floor > 0.0, floor, xp.ones_like(floor)))
    return vectors @ (xp.matrix_transpose(vectors) @ (column / scale) / sizes) / scale


def _backtracked(
    objective: Callable[[Array], Expansion],
    value: Callable[[Array], Any] | None,
    x: Array,
    here: Expansion,
    direction: Array,
) -> tuple[Array, Expansion] | None:
    """Return the first point along the step, halving it, that keeps enough of the promised decrease."""
    before, slope = float(here[0]), inner(here[1], direction)
    rounding = 8.0 * _eps(x) * abs(before)
    for length, bound in halved(before, slope, rounding):
        candidate = x - length * direction
        with np.errstate(over="ignore", invalid="ignore"):
            if value is not None and not float(value(candidate)) <= bound + rounding:
                continue
            there = objective(candidate)
        if _is_finite(*there) and improves(here, there, bound, rounding):
            return candidate, there
    return None


def _eps(x: Array) -> float:
    return float(namespace_of(x).finfo(x.dtype).eps)


def _is_finite(*parts: Any) -> bool:
    arrays = [namespace_of(p).asarray(p) for p in parts if not callable(p)]
    return all(bool(namespace_of(a).all(namespace_of(a).isfinite(a))) for a in arrays)
