"""L-BFGS: with an optional estimate of the curvature as its initial matrix, and within bounds."""

from collections.abc import Callable

import numpy as np

from tractable.engines.newton import NewtonResult, backtrack
from tractable.primitives.threads import single_threaded_blas

#: Value and gradient at a point.
ValueAndGradient = tuple[float, np.ndarray]
#: Solves a linear system with a curvature.
Solve = Callable[[np.ndarray], np.ndarray]

_EPS = float(np.finfo(np.float64).eps)

#: A curvature is kept once a step is predicted to decrease f by less than this part of its size: it changes
#: little then, and differences of gradients correct it.
SETTLED_CURVATURE = 1e-5


@single_threaded_blas()  # matrices are small, and the objective uses every core
def lbfgs(
    objective: Callable[[np.ndarray], ValueAndGradient],
    start: np.ndarray,
    *,
    initial: Solve | None = None,
    curvature: Callable[[np.ndarray], Solve] | None = None,
    refresh: tuple[int, ...] = (0, 2, 4),
    memory: int = 10,
    tol: float = 1e-10,
    max_iter: int = 100,
    final_tol: float | None = None,
    settled: Callable[[np.ndarray, np.ndarray], bool] | None = None,
) -> NewtonResult:
    """Minimise a smooth convex function whose value and gradient are expensive, by limited-memory BFGS.

    A curvature, for instance the Hessian of a sample of the data, is the initial matrix of the two-loop
    recursion, multiplied by a number that fits the last differences; these correct it.
    Step lengths are halved until the value falls (Armijo). It stops when the decrease that the quadratic
    model predicts, ½ ∇fᵀ H⁻¹ ∇f, is at most `tol` times the size of f: |f| plus the decrease since the start.

    SciPy's L-BFGS-B has no initial matrix and no refresh: with the variables transformed by the same
    curvature it needs half as many passes again over the rows of a logistic regression.

    Parameters
    ----------
    objective : callable
        ``objective(x)`` returns value and gradient.
    start : array
        The point at which the search starts.
    initial : callable, optional
        Solves with the initial matrix. Without it that is a multiple of the identity.
    curvature : callable, optional
        ``curvature(x)`` returns a function that solves with the Hessian at x, or an estimate of it, which
        takes the place of the initial matrix.
    refresh : tuple of int
        Steps before which it does, and the pairs of differences are dropped, unless the search is near its
        end.
    memory : int
        Number of pairs of differences that are stored; of more, the oldest is dropped.
    tol : float
        Relative decrease, predicted for the next step, at which the search stops.
    max_iter : int
        Maximum number of steps.
    final_tol : float, optional
        Where given, steps after convergence go on until the predicted decrease is at most this part of the
        size of f, or no step is lower.
    settled : callable, optional
        ``settled(x, gradient)`` says whether a gradient at x is small; the search does not stop before.

    Examples
    --------
    >>> A, b = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([1.0, 0.0])
    >>> objective = lambda x: (0.5 * x @ A @ x - b @ x, A @ x - b)
    >>> found = lbfgs(objective, np.zeros(2), initial=lambda g: g / np.diag(A))
    >>> found.x.round(6), found.converged
    (array([ 0.4, -0.2]), True)
    """
    x = np.asarray(start, dtype=np.float64)
    here = objective(x)
    if not (np.isfinite(here[0]) and np.isfinite(here[1]).all()):
        raise ValueError("start must have a finite value and gradient")
    trace, pairs, solve = [float(here[0])], _Pairs(x.size, memory), initial
    converged, interrupted, settling = False, False, False
    try:
        while len(trace) <= max_iter:
            if curvature is not None and len(trace) - 1 in refresh and not settling:
                solve = curvature(x)
                pairs.forget()
            direction = pairs.direction(here[1], solve)
            predicted = 0.5 * float(np.vdot(here[1], direction))
            size = abs(trace[-1]) + trace[0] - trace[-1]
            settling = predicted <= SETTLED_CURVATURE * size
            stepped = None if predicted <= 0.0 else backtrack(objective, x, here, direction)
            small = 0.0 <= predicted <= (tol if stepped else max(tol, 8.0 * _EPS)) * size
            if stepped is not None:
                pairs.add(stepped[0] - x, stepped[1][1] - here[1])
                x, here = stepped
                trace.append(min(float(here[0]), trace[-1]))  # equal up to rounding where it rose
            converged = converged or (small and (settled is None or settled(x, here[1])))
            ends = final_tol is None or predicted <= final_tol * size
            if stepped is None or (converged and ends):  # where no step is lower: at the minimum, or stuck
                break
    except KeyboardInterrupt:
        interrupted = True
    return NewtonResult(
        x=x,
        value=trace[-1],
        gradient=here[1],
        n_iter=len(trace) - 1,
        converged=bool(converged),
        trace=np.array(trace),
        interrupted=interrupted,
    )


def bounded_lbfgs(
    objective: Callable[[np.ndarray], ValueAndGradient],
    start: np.ndarray,
    bounds: np.ndarray,
    *,
    tol: float = 1e-9,
    max_iter: int = 200,
) -> NewtonResult:
    """Minimise a smooth function, convex or not, within bounds: SciPy's L-BFGS-B.

    A value that is not finite counts as very large: the line search shortens its step. The result is the
    best point that was met, after Ctrl-C too.

    Parameters
    ----------
    objective : callable
        ``objective(x)`` returns value and gradient.
    start : array (p,)
        The point at which the search starts, within the bounds.
    bounds : array (p, 2)
        The least and the greatest value of each variable.
    tol : float
        Relative decrease of a step at which the search stops.
    max_iter : int
        Maximum number of steps.

    Examples
    --------
    >>> objective = lambda x: (float(np.sum((x - 2.0) ** 2)), 2.0 * (x - 2.0))
    >>> found = bounded_lbfgs(objective, np.zeros(2), np.array([[-1.0, 1.0], [-5.0, 5.0]]))
    >>> found.x.round(6), found.converged
    (array([1., 2.]), True)
    """
    from scipy.optimize import minimize

    search = _BestSoFar(objective)
    first = search(np.asarray(start, dtype=np.float64))
    if not first[0] < _LARGE:
        raise ValueError("start must have a finite value")
    converged, interrupted = not len(start), False
    try:
        if len(start):
            options = {"ftol": tol, "gtol": 1e-6 * tol**0.5, "maxiter": max_iter, "maxls": 30}
            found = minimize(
                search, start, jac=True, method="L-BFGS-B", bounds=np.asarray(bounds), options=options
            )
            converged = bool(found.status != 1)  # where no step is lower, rounding ended the line search
    except KeyboardInterrupt:
        interrupted = True
    x, here = search.x, search.here
    trace = np.minimum.accumulate([first[0], *search.trace])
    return NewtonResult(
        x=x,
        value=here[0],
        gradient=here[1],
        n_iter=max(len(trace) - 1, 0),
        converged=converged,
        trace=trace,
        interrupted=interrupted,
    )


class _BestSoFar:
    """An objective that remembers the best point at which it was evaluated."""

    def __init__(self, objective: Callable[[np.ndarray], ValueAndGradient]) -> None:
        self.objective, self.trace = objective, []  # type: ignore[var-annotated]
        self.here: ValueAndGradient = (np.inf, np.empty(0))
        self.x = np.empty(0)

    def __call__(self, x: np.ndarray) -> ValueAndGradient:
        value, gradient = self.objective(x)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return _LARGE, np.zeros_like(x)
        if value < self.here[0] or not self.x.size:
            self.x, self.here = np.array(x), (float(value), np.array(gradient))
            self.trace.append(float(value))
        return float(value), gradient


#: What stands for a value that is not finite.
_LARGE = 1e300


class _Pairs:
    """The last differences of x and of gradients, one a row, and their products s_iᵀ y_j for i ≤ j."""

    def __init__(self, size: int, memory: int) -> None:
        # Twice the rows: pairs follow one another, and are moved to the front once all rows are filled.
        self.steps, self.changes = np.empty((2 * memory, size)), np.empty((2 * memory, size))
        self.products = np.zeros((2 * memory, 2 * memory))
        self.memory, self.last = memory, 0

    def forget(self) -> None:
        """Drop all pairs."""
        self.last = 0

    def add(self, step: np.ndarray, change: np.ndarray) -> None:
        """Add a pair of positive curvature; the oldest is left out where there are more than `memory`."""
        if not float(np.vdot(step, change)) > 0.0:
            return
        if self.last == len(self.steps):
            kept, self.last = slice(self.last - self.memory + 1, None), self.memory - 1
            self.steps[: self.last] = self.steps[kept]
            self.changes[: self.last] = self.changes[kept]
            self.products[: self.last, : self.last] = self.products[kept, kept]
        self.steps[self.last], self.changes[self.last] = step.reshape(-1), change.reshape(-1)
        self.last += 1
        self.products[: self.last, self.last - 1] = self.steps[: self.last] @ self.changes[self.last - 1]

    def direction(self, gradient: np.ndarray, solve: Solve | None) -> np.ndarray:
        """Return H⁻¹ ∇f by the two-loop recursion (Nocedal 1980), as products; x moves against it."""
        from scipy.linalg.lapack import dtrtrs

        if not self.last:  # without a curvature, a step of unit length
            return solve(gradient) if solve else gradient / (float(np.linalg.norm(gradient)) or 1.0)
        kept = slice(max(0, self.last - self.memory), self.last)
        S, Y, R = self.steps[kept], self.changes[kept], self.products[kept, kept]
        g = gradient.reshape(-1)
        back = dtrtrs(R, S @ g)[0]
        q = g - back @ Y
        solve = solve or np.copy
        found = solve(q.reshape(gradient.shape)).reshape(-1)
        found *= R[-1, -1] / float(Y[-1] @ solve(Y[-1].reshape(gradient.shape)).reshape(-1))
        forth = dtrtrs(R, np.diagonal(R) * back - Y @ found, trans=1)[0]
        return (found + forth @ S).reshape(gradient.shape)
