"""The lasso at one penalty: the active set is guessed, and the duality gap confirms the guess."""

from typing import Any

import numpy as np

from tractable.engines.sparse.problem import (
    ColumnProblem,
    SparseProblem,
    duality_gaps,
    size_of,
)
from tractable.primitives.sparse import column_descent

#: Columns enter whose correlation is at least this fraction of the largest one outside the active set: fewer
#: solutions than one for each column, and few columns that leave again. Of few columns, all enter.
ENTRANCE, FEW = 0.35, 64
#: The most columns of an active set, and systems solved, before the guess is given up.
MOST_COLUMNS, MOST_STEPS = 2000, 40
#: Pivots below this fraction of their column's square: the columns are nearly dependent.
NEARLY_DEPENDENT = 1e-9
#: More active columns than rows are solved for by a system of the rows, where the mean square of a row is at
#: most so many ridges: it loses as many digits as that has.
RIDGES = 100.0


def active_set(
    problem: SparseProblem,
    penalty: float,
    ridge: float,
    tol: float,
    *,
    positive: bool = False,
    max_iter: int = MOST_STEPS,
    start: np.ndarray | None = None,
) -> tuple[np.ndarray, float, int] | None:
    """Return the coefficients (p,) at one penalty, the duality gap, and how many systems were solved.

    With active columns A of signs s, the minimum solves (X_Aᵀ X_A + ridge I) w = X_Aᵀ y - penalty s. Columns
    whose coefficient has another sign leave all at once, those whose correlation is above the penalty enter,
    until the gap is small, or neither are left: the optimality conditions hold. No objective is followed, so
    it may fail: the result is None where columns depend on each other, or are many, or where it does not end.

    Parameters
    ----------
    problem : GramProblem or ColumnProblem
        The columns and the target, as products or as they are, of NumPy.
    penalty, ridge : float
        Weights of the absolute coefficients, positive, and of half their squares.
    tol : float
        Largest duality gap.
    positive : bool
        Whether negative coefficients are forbidden.
    max_iter : int
        Most systems solved.
    start : array (p,), optional
        Coefficients at a penalty nearby, whose signs are the first guess.

    Examples
    --------
    >>> from tractable.engines.sparse.problem import ColumnProblem
    >>> problem = ColumnProblem(X=np.eye(3), y=np.array([3.0, -2.0, 0.5]))
    >>> active_set(problem, 1.0, 0.0, 1e-8)
    (array([ 2., -1.,  0.]), 0.0, 1)
    """
    size, level, moment, left = size_of(positive), penalty * (1.0 + 1e-12), problem.moment, problem.moment
    most = MOST_COLUMNS if ridge > 0.0 else min(MOST_COLUMNS, problem.rank)
    most = problem.n_columns if _by_rows(problem, np.arange(problem.n_columns), ridge) else most
    fraction = ENTRANCE if problem.n_columns > FEW else 0.0
    active, signs, n_steps, gap = np.empty(0, dtype=np.int64), np.empty(0), 0, None
    some, gram, seen = None, None, set()
    start = _first_guess(problem, start, penalty, ridge, positive)
    if start is not None and start.any():
        active = np.flatnonzero(start)
        signs, left = np.sign(start[active]), np.zeros_like(moment)  # none enters before the first solution
        some, gram = _grown(problem, some, gram, active, active, ridge)
    while n_steps < min(max_iter, MOST_STEPS):
        sizes = size(left)
        above = sizes > level
        above[active] = False
        if fraction > 0.0 and above.any():
            above &= sizes > fraction * sizes[above].max()
        new = above.nonzero()[0]
        if len(new) == 0 and gap is not None:
            break
        active, signs = np.concatenate((active, new)), np.concatenate((signs, np.sign(left[new])))
        if len(active) > most:
            return None
        some, gram = _grown(problem, some, gram, active, new, ridge)
        found = _of_their_signs(some if gram is None else gram, ridge, moment[active], penalty, signs)
        n_steps += found[2] if found else 0
        if found is None or n_steps > max_iter:
            return None
        kept, solved, _ = found
        if len(kept) < len(active):
            active, signs, gram, some = (
                active[kept],
                signs[kept],
                gram if gram is None else gram[kept][:, kept],
                problem.keep(some, kept),
            )
        left, gap = duality_gaps(problem, some, active, solved, penalty, ridge, size)
        here = np.zeros(problem.n_columns, dtype=np.int8)
        here[active] = signs
        if gap <= tol or here.tobytes() in seen:  # signs that were met before: the iteration cycles
            break
        seen.add(here.tobytes())
    if gap is None or not gap <= tol:
        return None
    coefs = np.zeros(problem.n_columns)
    coefs[active] = solved
    return coefs, float(gap), n_steps


#: Where more than this fraction of the columns are above the penalty most are in use, as a rule, with their
#: signs of least squares.
MOST = 0.5


def _first_guess(
    problem: SparseProblem, start: np.ndarray | None, penalty: float, ridge: float, positive: bool
) -> np.ndarray | None:
    """Return coefficients with the signs to begin with: the start, or those of least squares, or None."""
    few = not (problem.formed and FEW < problem.n_columns <= problem.rank)
    if start is not None or few:
        return start
    if np.count_nonzero(size_of(positive)(problem.moment) > penalty) <= MOST * problem.n_columns:
        return None
    found = _solve(problem.gram, ridge, problem.moment)
    return found if found is None or not positive else np.maximum(found, 0.0)


#: Duality gaps, relative to |y|²: where one of at least the first is asked for, coordinate descent ends
#: there; otherwise it goes on to the second, which is rounding.
ROUGH, ROUNDING = 1e-5, 1e-13


#: Entries from which columns are read one by one. Columns above the penalty are many if they are such a
#: fraction of the rows, or if their products with each other take as long as so many passes over all columns.
MANY_ENTRIES, CROWDED, PASSES = 2**14, 0.3, 100


def crowded(problem: ColumnProblem, penalty: float, positive: bool) -> bool:
    """Return whether so many columns are above the penalty that coordinate descent is the better start."""
    n, p = problem.X.shape
    above = int(np.count_nonzero(size_of(positive)(problem.moment) > penalty))
    return n * p >= MANY_ENTRIES and (above > CROWDED * n or above**2 > PASSES * p)


#: Turns of coordinate descent and conjugate gradients, and columns from which these take less time than a
#: factor of the products of columns.
TURNS, FACTORED = 4, 300


def descent(
    problem: ColumnProblem,
    penalty: float,
    ridge: float,
    tol: float,
    *,
    positive: bool = False,
    start: np.ndarray | None = None,
    max_iter: int = 1000,
) -> tuple[np.ndarray, float, int]:
    """Return coefficients (p,) near the minimum at one penalty, by coordinate descent on the columns.

    Returns the duality gap, and the rounds over all columns, too. It ends where the gap is small: below `tol`
    for a rough solution, else at rounding. Where the gap falls slowly, conjugate gradients solve for the
    signed support, and descent goes on from there; without a `start` it ends before, where a factor of
    the support's products takes less time.

    Parameters
    ----------
    problem : ColumnProblem
        The columns and the target, in column order.
    penalty, ridge, tol, positive
        As in `active_set`.
    start : array (p,), optional
        Coefficients that an earlier descent ended at.
    max_iter : int
        Most rounds.
    """
    w = np.zeros(problem.n_columns) if start is None else start.copy()
    residual = problem.y.copy() if start is None else problem.y - problem.X @ w
    squares = problem.lengths**2
    rough, n_iter, patient = is_rough(problem, tol), 0, start is not None
    enough = tol if rough else min(tol, ROUNDING * problem.square)
    for _ in range(1 if patient else TURNS):
        gap, rounds, settled = column_descent(
            problem.X, squares, penalty, ridge,
            tol=enough, w=w, residual=residual, positive=positive, rough=rough, patient=patient,
            max_iter=max_iter - n_iter,
        )  # fmt: skip
        n_iter += rounds
        used = np.flatnonzero(w)
        if gap <= enough or not settled or len(used) < FACTORED:
            break
        columns, here = problem.gather(None, used), w[used]
        steps, solved = _conjugate_gradients(
            columns, squares[used], penalty, ridge, 0.1 * enough, here, residual
        )
        n_iter += steps
        left = here * w[used] <= 0.0
        residual += columns[:, left] @ here[left]
        here[left] = 0.0
        w[used] = here
        if not solved:
            break
    return w, gap, n_iter


def _conjugate_gradients(
    columns: np.ndarray,
    squares: np.ndarray,
    penalty: float,
    ridge: float,
    gap: float,
    w: np.ndarray,
    residual: np.ndarray,
) -> tuple[int, bool]:
    """Change w (k,), in place, to the minimum with their signs, whatever the signs there, and the residual.

    Returns the steps, and whether what is left of the duality gap is small: |w|₁ times the largest slope.
    """
    # The products of k columns take as long as k / 8 steps, and their factor too.
    most, pull, scale = 40 + len(w) // 8, penalty * np.sign(w), squares + ridge
    along, before = np.zeros_like(w), 1.0
    for step in range(most):
        slope = residual @ columns - ridge * w - pull
        if np.abs(slope).max(initial=0.0) * np.abs(w).sum() <= gap:
            return step, True
        scaled = slope / scale
        now = slope @ scaled
        along = scaled + (now / before if step else 0.0) * along
        before, moved = now, columns @ along
        length = now / (moved @ moved + ridge * (along @ along))
        w += length * along
        residual -= length * moved
    return most, False


def is_rough(problem: SparseProblem, tol: float) -> bool:
    """Return whether a duality gap of `tol` is that of a rough solution."""
    return tol >= 0.5 * ROUGH * problem.square


def good_enough(problem: SparseProblem, gap: float, tol: float) -> bool:
    """Return whether descent to a gap is the answer: it is small, and at rounding if that is asked for."""
    return gap <= tol and (is_rough(problem, tol) or gap <= ROUNDING * problem.square)


def same_active_set(
    problem: SparseProblem,
    coefs: np.ndarray,
    penalties: np.ndarray,
    ridge: float,
    tol: float,
    *,
    positive: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients (p, m) at the first penalties at which the active set is that of a solution.

    There they are linear in the penalty: (X_Aᵀ X_A + ridge I) w = X_Aᵀ y - penalty s. Their gaps (m,) confirm
    it; m may be zero.

    Parameters
    ----------
    problem, ridge, tol, positive
        See `active_set`.
    coefs : array (p,)
        The solution at a larger penalty.
    penalties : array (n,)
        Decreasing.

    Examples
    --------
    >>> from tractable.engines.sparse.problem import ColumnProblem
    >>> problem = ColumnProblem(X=np.eye(3), y=np.array([3.0, -2.0, 0.5]))
    >>> same_active_set(problem, np.array([2.0, -1.0, 0.0]), np.array([0.8, 0.6, 0.4]), 0.0, 1e-8)[0]
    array([[ 2.2,  2.4],
           [-1.2, -1.4],
           [ 0. ,  0. ]])
    """
    active = np.flatnonzero(coefs)
    signs = np.sign(coefs[active])
    some = problem.gather(None, active)
    gram = problem.products(some, active, active)
    ends = _solve(gram, ridge, np.stack([problem.moment[active], signs], axis=1)) if len(active) else None
    if ends is None:
        return np.empty((len(coefs), 0)), np.empty(0)
    solved = ends[:, :1] - ends[:, 1:] * penalties
    m = leading((solved * signs[:, None] > 0.0).all(axis=0))
    solved, penalties = solved[:, :m], penalties[:m]
    _, gaps = duality_gaps(problem, some, active, solved, penalties, ridge, size_of(positive))
    m = leading(gaps <= tol)
    found = np.zeros((len(coefs), m))
    found[active] = solved[:, :m]
    return found, gaps[:m]


def leading(good: np.ndarray) -> int:
    """Return how many are good before the first that is not."""
    return len(good) if good.all() else int(np.argmin(good))


def _by_rows(problem: SparseProblem, active: np.ndarray, ridge: float) -> bool:
    """Return whether active columns outnumber the rows so that a system of the rows gives the solution."""
    if type(problem) is not ColumnProblem or len(active) <= len(problem.y):
        return False
    squares = problem.lengths[active] ** 2
    return bool(squares.sum() <= RIDGES * ridge * len(problem.y))


def _grown(
    problem: SparseProblem,
    some: Any,
    gram: np.ndarray | None,
    active: np.ndarray,
    new: np.ndarray,
    ridge: float = 0.0,
) -> tuple[Any, np.ndarray | None]:
    """Return some columns and their products with each other, once `new` ones, the last active, are there.

    The products are None where a system of the rows gives the solution.
    """
    if len(new) > 0 or some is None:
        some = problem.gather(some, new)
    if _by_rows(problem, active, ridge):
        return some, None
    if gram is None or len(gram) == 0:
        return some, problem.products(some, active, active)
    if len(new) == 0:
        return some, gram
    products, k = problem.products(some, active, new), len(gram)
    grown = np.empty((len(active), len(active)))
    grown[:k, :k], grown[:, k:], grown[k:, :k] = gram, products, products[:k].T
    return some, grown


def _of_their_signs(
    matrix: np.ndarray, ridge: float, moment: np.ndarray, penalty: float, signs: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int] | None:
    """Return which columns are left once those whose coefficient has another sign have left, all at once.

    The matrix is that of their products (k, k), or the columns (n, k), where these have fewer rows. Returns
    their coefficients, and how many systems were solved, too; None where one is nearly singular.
    """
    square = len(matrix) == len(signs)
    solve = _solve if square else _solve_by_rows
    solved, kept, n_solved = solve(matrix, ridge, moment - penalty * signs), np.arange(len(signs)), 1
    while solved is not None:
        agree = solved * signs > 0.0
        if agree.all():
            return kept, solved, n_solved
        kept, moment, signs = kept[agree], moment[agree], signs[agree]
        matrix = (matrix[agree] if square else matrix)[:, agree]
        solved, n_solved = solve(matrix, ridge, moment - penalty * signs), n_solved + 1
    return None


def _solve_by_rows(columns: np.ndarray, ridge: float, b: np.ndarray) -> np.ndarray | None:
    """Return the solution of (XᵀX + ridge I) x = b, (b - Xᵀ(XXᵀ + ridge I)⁻¹ X b) / ridge."""
    along = _solve(columns @ columns.T, ridge, columns @ b)
    return None if along is None else (b - along @ columns) / ridge


def _solve(gram: np.ndarray, ridge: float, b: np.ndarray) -> np.ndarray | None:
    """Return the solution of (gram + ridge I) x = b; None where that is nearly singular."""
    from scipy.linalg import lapack

    if len(b) == 0:
        return b
    # Its transpose, which is in the order of Fortran, is the same matrix.
    system = gram.T.copy(order="F")
    if ridge:
        system.flat[:: len(b) + 1] += ridge
    squares = system.diagonal().copy()
    factor, x, info = lapack.dposv(system, b, lower=1, overwrite_a=1)
    if info != 0 or not (factor.diagonal() ** 2 > NEARLY_DEPENDENT * squares).all():
        return None
    return x
