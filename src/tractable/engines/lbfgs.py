"""Quasi-Newton steps from a good guess of the curvature: L-BFGS whose first matrix is nearly the Hessian."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.engines.line_search import halved, improves
from tractable.value import value

__all__ = ["LBFGSResult", "preconditioned_lbfgs"]

#: Value and gradient at a point.
Slope = tuple[float, np.ndarray]
#: Solves with a curvature.
Solve = Callable[[np.ndarray], np.ndarray]

_EPS = float(np.finfo(np.float64).eps)


@value
class LBFGSResult:
    """Where the search stopped, and how it got there."""

    x: np.ndarray
    value: float
    gradient: np.ndarray
    promised: float  # what the last step but one promised: about how far the value is from the least
    n_iter: int
    converged: bool
    trace: np.ndarray  # (n_iter + 1,) values of the objective, never increasing
    interrupted: bool = False  # by Ctrl-C: this is the best so far


def preconditioned_lbfgs(
    objective: Callable[[np.ndarray], Slope],
    curvature: Callable[[np.ndarray], Solve],
    start: np.ndarray,
    *,
    exact: bool = False,
    refresh: tuple[int, ...] | None = (0, 2, 4),
    memory: int = 10,
    tol: float = 1e-10,
    max_iter: int = 100,
    again: bool = False,
    settled: Callable[[np.ndarray, np.ndarray], bool] | None = None,
) -> LBFGSResult:
    """Minimise a smooth convex function whose value and slope are dear and whose curvature can be guessed.

    The curvature, of a sample of the data for instance, is the initial matrix of L-BFGS, and is taken anew in
    the first steps, where it changes most; differences of gradients mend what it misses. Where it is exact,
    it is taken anew in every step, and the search is Newton's method. Steps are halved until the value falls
    (Armijo). It stops when the decrease that a step promises, ½ ∇fᵀ H⁻¹ ∇f, is at most `tol` times the size
    of f: its value, and what has been gained since the start; or with the step after that.

    Parameters
    ----------
    objective : callable
        ``objective(x)`` returns value and gradient.
    curvature : callable
        ``curvature(x)`` returns a function that solves with the curvature, or a guess of it, at x.
    start : array
    exact : bool
        Whether the curvature is the Hessian.
    refresh : tuple of int, or None
        Steps before which a guess is taken anew, as it is when the memory is full; None where it is the same
        everywhere, and the oldest pair is forgotten instead.
    memory : int
        Pairs of differences that are kept.
    tol : float
    max_iter : int
    again : bool
        Whether one more step is taken in the end: where the curvature is good, that is as many digits again.
    settled : callable, optional
        ``settled(x, gradient)`` says whether a gradient at x is small; the search does not stop before. What
        a step promises does not tell where the curvature changes more than it moves.

    Examples
    --------
    >>> A, b = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([1.0, 0.0])
    >>> slope = lambda x: (0.5 * x @ A @ x - b @ x, A @ x - b)
    >>> found = preconditioned_lbfgs(slope, lambda x: lambda g: g / np.diag(A), np.zeros(2))
    >>> found.x.round(6), found.converged
    (array([ 0.4, -0.2]), True)
    """
    x = np.asarray(start, dtype=np.float64)
    here = objective(x)
    if not (np.isfinite(here[0]) and np.isfinite(here[1]).all()):
        raise ValueError("start must have a finite value and gradient")
    search = _Search(x, here, settled)
    interrupted = False
    try:
        while len(search.trace) <= max_iter and not search.ended:
            if search.solve is None or exact or (refresh is not None and search.stale(refresh, memory)):
                search.solve, search.pairs = curvature(search.x), []
            search.step(objective, tol, memory, again=again)
    except KeyboardInterrupt:
        interrupted = True
    return LBFGSResult(
        x=search.x,
        value=search.trace[-1],
        gradient=search.here[1],
        promised=search.promised,
        n_iter=len(search.trace) - 1,
        converged=search.converged,
        trace=np.array(search.trace),
        interrupted=interrupted,
    )


class _Search:
    """The state of a search: where it is, and the pairs of differences it remembers."""

    def __init__(self, x: np.ndarray, here: Slope, settled: Any) -> None:
        self.x, self.here, self.settled = x, here, settled
        self.trace = [float(here[0])]
        self.pairs: list[Any] = []
        self.solve: Solve | None = None
        self.promised = np.inf
        self.converged = self.ended = False

    def stale(self, refresh: tuple[int, ...], memory: int) -> bool:
        return len(self.trace) - 1 in refresh or len(self.pairs) == memory

    def step(self, objective: Callable[[np.ndarray], Slope], tol: float, memory: int, *, again: bool) -> None:
        """Take one step, or find that there is none; it ends with the first small one, or one later."""
        direction = _direction(self.here[1], self.solve, self.pairs)  # type: ignore[arg-type]
        self.promised = promised = 0.5 * float(np.vdot(self.here[1], direction))
        size = abs(self.trace[-1]) + self.trace[0] - self.trace[-1]
        stepped = None if promised <= 0.0 else _backtracked(objective, self.x, self.here, direction)
        if stepped is None:
            # No step was lower: at the minimum as far as the value can tell, or stuck.
            small = 0.0 <= promised <= max(tol, 8.0 * _EPS) * size
            self.converged, self.ended = self.converged or (small and self._settled()), True
            return
        moved, there = stepped
        step, turn = moved - self.x, there[1] - self.here[1]
        product = float(np.vdot(step, turn))
        if product > 0.0:
            self.pairs = [*self.pairs, (step, turn, product)][-memory:]
        self.x, self.here = stepped
        self.trace.append(min(float(there[0]), self.trace[-1]))  # equal up to rounding where it rose
        before, self.converged = self.converged, promised <= tol * size and self._settled()
        self.ended = self.converged and (before or not again)

    def _settled(self) -> bool:
        return self.settled is None or bool(self.settled(self.x, self.here[1]))


def _direction(gradient: np.ndarray, solve: Solve, pairs: list[Any]) -> np.ndarray:
    """Return H⁻¹ ∇f by the two-loop recursion; x moves against it."""
    q, shares = gradient, []
    for step, turn, product in reversed(pairs):
        shares.append(np.vdot(step, q) / product)
        q = q - shares[-1] * turn
    found = solve(q)
    for (step, turn, product), share in zip(pairs, reversed(shares), strict=True):
        found = found + (share - np.vdot(turn, found) / product) * step
    return found


def _backtracked(
    objective: Callable[[np.ndarray], Slope], x: np.ndarray, here: Slope, direction: np.ndarray
) -> tuple[np.ndarray, Slope] | None:
    """Return the first point along the step, halving it, that keeps enough of the promised decrease."""
    slope = float(np.vdot(here[1], direction))
    rounding = 8.0 * _EPS * abs(here[0])
    for length, bound in halved(here[0], slope, rounding):
        candidate = x - length * direction
        with np.errstate(over="ignore", invalid="ignore"):
            there = objective(candidate)
        if np.isfinite(there[0]) and np.isfinite(there[1]).all() and improves(here, there, bound, rounding):
            return candidate, there
    return None
