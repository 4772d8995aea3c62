"""Least-angle regression: the whole lasso path, exactly, from knot to knot."""

from collections.abc import Callable

import numpy as np

from tractable.engines.lars_walk import TIE, LarsWalk
from tractable.engines.sparse_problem import GramProblem, SparseProblem
from tractable.engines.working_columns import WorkingSet
from tractable.primitives.threads import single_threaded_blas
from tractable.value import value

__all__ = ["Knots", "lars"]

#: With no more columns than this all are looked at from knot to knot.
FEW = 1000
#: Knots found on the working set before the columns left out are asked whether they agree.
AHEAD = 16
#: Share of the penalty that it is expected to fall by, at most, when columns are chosen for what comes.
FORESIGHT = 0.2
#: Columns looked at from the beginning.
FIRST = 64
#: Share of its length that a column may add to those in use and still be passed over: the root of what
#: `append_row` takes for rounding. Its correlation with the residual may be above the penalty by as much.
PASSED = 3.2e-7
#: Multiple of what rounding leaves unknown by which a correlation shows that the walk went astray.
STRAY = 100.0


@value
class Knots:
    """The penalties at which columns come and go, and the coefficients there; between knots all is linear.

    Parameters
    ----------
    penalties : array (m,)
        Decreasing.
    coefs : array (p, m)
    active : tuple of m tuples
        The columns in use below each knot, in order of entry.
    complete : bool
        False where rounding left the walk no way on, so that it stops above the penalty asked for. The knots
        before that are minima all the same: each is checked.
    """

    penalties: np.ndarray
    coefs: np.ndarray
    active: tuple[tuple[int, ...], ...]
    complete: bool = True


def lars(
    problem: SparseProblem,
    *,
    least: float = 0.0,
    drop: bool = True,
    positive: bool = False,
    max_knots: int | None = None,
) -> Knots:
    """Follow the minima of ½|y - Xw|² + penalty Σ|w_j| from the penalty that allows none to `least`.

    On the support A with signs s all correlations fall together as w_A moves along (X_Aᵀ X_A)⁻¹ s. The next
    knot is where another column's correlation catches up and it enters, or where a coefficient reaches zero
    and its column leaves: with that drop step the path is the lasso's, exactly; without, it is least-angle
    regression proper (Efron, Hastie, Johnstone and Tibshirani 2004).

    A column that follows from those in use, but for 3e-7 of its length, gives the fit nothing that they do
    not: it is passed over as long as they stay. Of equal columns one is used.

    Parameters
    ----------
    problem : GramProblem or ColumnProblem
    least : float
        The penalty to stop at.
    drop : bool
    positive : bool
        Whether negative coefficients are forbidden.
    max_knots : int, optional

    Examples
    --------
    >>> from tractable.engines.sparse_problem import ColumnProblem
    >>> knots = lars(ColumnProblem(X=np.eye(3), y=np.array([3.0, -2.0, 0.5])))
    >>> knots.penalties
    array([3. , 2. , 0.5, 0. ])
    >>> knots.coefs.T
    array([[ 0. ,  0. ,  0. ],
           [ 1. ,  0. ,  0. ],
           [ 2.5, -1.5,  0. ],
           [ 3. , -2. ,  0.5]])
    """
    with single_threaded_blas():
        work, walk = _follow(problem, least, np.inf if max_knots is None else max_knots + 1, drop, positive)
    coefs = np.zeros((problem.n_columns, len(walk.penalties)))
    coefs[work.which] = walk.coefs()
    return Knots(
        penalties=np.array(walk.penalties),
        coefs=coefs,
        active=tuple(tuple(work.which[list(used)].tolist()) for used in walk.used),
        complete=not walk.stuck,
    )


def _follow(
    problem: SparseProblem, least: float, most: float, drop: bool, positive: bool
) -> tuple[WorkingSet, LarsWalk]:
    """Follow the path on a working set of columns, and certify it piece by piece.

    Between knots a correlation and the penalty are both linear: a column that is below the penalty at two
    knots is below it between them. So one pass over all columns certifies many knots; where a column that was
    left out had to come in, the walk is taken up from the knot before. So it is, once, where rounding led it
    astray; the second time the path ends there.
    """
    size = (lambda x: x) if positive else np.abs
    work = WorkingSet(problem, ridged=False)
    work.take(_largest(size(problem.moment), problem.n_columns if problem.n_columns <= FEW else FIRST))
    walk = LarsWalk(_view(work), positive=positive, drop=drop)
    astray = -1
    while True:
        since = len(walk.penalties) - 1
        ended = walk.run(least, min(since + 1 + AHEAD, most)) or len(walk.penalties) >= most
        levels, found = np.array(walk.penalties[since:]), walk.coefs(since)
        left, rest = problem.correlations(work.some, work.which, found)
        above = size(left) - levels > _unknown(problem, work, found, levels)
        above[work.which] = _astray(problem, work, left, found, rest, levels, size, drop=drop)
        wrong = above.any(axis=0)
        if wrong.any():
            good = max(since - 1 + int(np.argmax(wrong)), 0)
            missed = work.take(above.any(axis=1))
            walk.widen(_view(work))
            walk.rewind(good)
            if good == astray and not missed:
                walk.stuck = True
                return work, walk
            astray = good
        elif ended:
            return work, walk
        elif len(work.which) < problem.n_columns:
            work.take(_expected(size, left, levels))
            walk.widen(_view(work))


def _unknown(problem: SparseProblem, work: WorkingSet, found: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return what rounding leaves unknown of correlations, given the lengths of all that they add up."""
    added = problem.square**0.5 + problem.lengths[work.which] @ np.abs(found)
    return TIE * problem.lengths[:, None] * added + 1e-11 * levels


def _astray(
    problem: SparseProblem,
    work: WorkingSet,
    left: np.ndarray,
    found: np.ndarray,
    rest: np.ndarray,
    levels: np.ndarray,
    size: Callable[[np.ndarray], np.ndarray],
    *,
    drop: bool,
) -> np.ndarray:
    """Say where a column of the working set does not meet the conditions of the minimum, at some knots.

    The correlation of one in use is the penalty, with its sign; that of another is not larger, unless it is
    one that was passed over.
    """
    left = left[work.which]
    slack = STRAY * _unknown(problem, work, found, levels)[work.which]
    passed = PASSED * np.sqrt(rest) * problem.lengths[work.which, None]
    side = np.sign(found) if drop else np.sign(left)
    return np.where(found == 0.0, size(left) - levels > slack + passed, np.abs(left - levels * side) > slack)


def _largest(sizes: np.ndarray, count: int) -> np.ndarray:
    chosen = np.zeros(len(sizes), dtype=bool)
    chosen[np.argsort(-sizes)[:count]] = True
    return chosen


def _expected(size: Callable[[np.ndarray], np.ndarray], left: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Say which columns catch up if penalty and correlations go on to fall as they did."""
    fall = max(float(levels[0] - levels[-1]), TIE * float(levels[0]))
    share = min(1.5, FORESIGHT * float(levels[-1]) / fall)
    return size(left[:, -1] + share * (left[:, -1] - left[:, 0])) >= levels[-1] - share * fall


def _view(work: WorkingSet) -> GramProblem:
    """Return the working set as a problem of its own."""
    return GramProblem(gram=work.gram, moment=work.moment, square=work.problem.square, rank=work.problem.rank)
