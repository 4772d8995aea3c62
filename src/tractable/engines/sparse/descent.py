"""Coordinate descent on columns: the start of the lasso at a penalty below the correlations of many."""

import numpy as np

from tractable.engines.sparse.problem import ColumnProblem, SparseProblem, size_of
from tractable.primitives.sparse import column_descent

#: Duality gaps, relative to |y|²: where one of at least the first is asked for, coordinate descent ends
#: there; otherwise it goes on to the second, which is rounding.
ROUGH, ROUNDING = 1e-5, 1e-13
#: Entries from which columns are read one by one. Columns above the penalty are many if they are such a
#: fraction of the rows, or if their products with each other take as long as so many passes over all columns.
MANY_ENTRIES, CROWDED, PASSES = 2**14, 0.3, 100


def crowded(problem: SparseProblem, penalty: float, positive: bool) -> bool:
    """Return whether so many columns are above the penalty that coordinate descent is the better start."""
    if type(problem) is not ColumnProblem:
        return False
    n, p = problem.X.shape
    above = int(np.count_nonzero(size_of(positive)(problem.moment) > penalty))
    return n * p >= MANY_ENTRIES and (above > CROWDED * n or above**2 > PASSES * p)


def descent(
    problem: ColumnProblem,
    penalty: float,
    ridge: float,
    tol: float,
    *,
    positive: bool = False,
    max_iter: int = 1000,
) -> tuple[np.ndarray, float, int]:
    """Return coefficients (p,) near the minimum at one penalty, by coordinate descent on the columns.

    Returns the duality gap, and the rounds over all columns, too. It ends where the gap is small: below `tol`
    for a rough solution, else at rounding; or where the gap falls so slowly that an exact solution on the
    columns in use takes less time.

    Parameters
    ----------
    problem : ColumnProblem
        The columns and the target, in column order.
    penalty, ridge, positive
        As in `sparse_path`.
    tol : float
        Largest duality gap.
    max_iter : int
        Most rounds.
    """
    w, residual = np.zeros(problem.n_columns), problem.y.copy()
    rough = is_rough(problem, tol)
    gap, n_iter = column_descent(
        problem.X, problem.lengths**2, penalty, ridge,
        tol=tol if rough else min(tol, ROUNDING * problem.square),
        w=w, residual=residual, positive=positive, rough=rough, max_iter=max_iter,
    )  # fmt: skip
    return w, gap, n_iter


def is_rough(problem: SparseProblem, tol: float) -> bool:
    """Return whether a duality gap of `tol` is that of a rough solution."""
    return tol >= 0.5 * ROUGH * problem.square


def good_enough(problem: SparseProblem, gap: float, tol: float) -> bool:
    """Return whether descent to a gap is the answer: it is small, and at rounding if that is asked for."""
    return gap <= tol and (is_rough(problem, tol) or gap <= ROUNDING * problem.square)
