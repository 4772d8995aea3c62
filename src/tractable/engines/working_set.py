"""The lasso along a path of penalties: few columns are worked on, all are certified."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.engines.sparse_problem import SparseProblem
from tractable.engines.working_columns import WorkingSet
from tractable.primitives.threads import single_threaded_blas
from tractable.value import value

__all__ = ["SparsePath", "sparse_path"]

#: With no more columns than this the Gram matrix of all of them is at hand, and all are worked on.
FEW = 1000
#: The most penalties solved before the columns left out are asked whether they agree.
AHEAD = 16
#: Ratio of the penalties that lead from the largest to the first that was asked for.
LADDER = 0.7

Size = Callable[[np.ndarray], np.ndarray]
#: Correlations at a penalty.
Point = tuple[np.ndarray, float]


@value
class SparsePath:
    """Minima of ½|y - Xw|² + penalty Σ|w_j| + ½ ridge Σ w_j², one for each penalty.

    Parameters
    ----------
    coefs : array (p, m)
    gaps : array (m,)
        Duality gaps: no coefficients whatever have an objective lower by more.
    n_iter : array (m,)
        Newton steps on signed supports.
    """

    coefs: np.ndarray
    gaps: np.ndarray
    n_iter: np.ndarray


def sparse_path(
    problem: SparseProblem,
    penalties: Any,
    ridges: Any = 0.0,
    *,
    tol: float = 1e-8,
    positive: bool = False,
    max_iter: int = 1000,
) -> SparsePath:
    """Solve the lasso, or the elastic net, for decreasing penalties.

    Several penalties ahead are solved on a working set of columns. Then one pass over the data gives the
    correlations of all columns with all of those residuals: a matrix product, where one penalty at a time
    would be as many passes. They certify the answers by their duality gaps, and their trend along the path
    foretells which columns will be needed next. Where a gap is too large, the columns to blame enter, and the
    path is taken up from there.

    Parameters
    ----------
    problem : GramProblem or ColumnProblem
    penalties : array (m,)
        Positive, decreasing.
    ridges : float or array (m,)
    tol : float
        Largest duality gap, relative to |y|².
    positive : bool
    max_iter : int
        Most Newton steps a penalty.

    Examples
    --------
    >>> from tractable.engines.sparse_problem import ColumnProblem
    >>> path = sparse_path(ColumnProblem(X=np.eye(3), y=np.array([3.0, -2.0, 0.5])), [2.0, 1.0])
    >>> path.coefs.T
    array([[ 1.,  0.,  0.],
           [ 2., -1.,  0.]])
    """
    asked = np.asarray(penalties, dtype=np.float64)
    springs = np.broadcast_to(np.asarray(ridges, dtype=np.float64), asked.shape)
    size = _positive if positive else np.abs
    ladder = _ladder(float(size(problem.moment).max(initial=0.0)), float(asked[0]))
    steps = _Steps(
        penalties=np.concatenate([ladder, asked]),
        ridges=np.concatenate([ladder * (springs[0] / asked[0]), springs]),
        tols=np.concatenate([np.full(len(ladder), np.inf), np.full(len(asked), tol * problem.square)]),
    )
    with single_threaded_blas():
        path = _walk(problem, steps, 0.5 * tol * problem.square, positive, max_iter, size)
    return SparsePath(
        coefs=path.coefs[:, len(ladder) :], gaps=path.gaps[len(ladder) :], n_iter=path.n_iter[len(ladder) :]
    )


def _positive(x: np.ndarray) -> np.ndarray:
    return x


def _ladder(top: float, first: float) -> np.ndarray:
    """Return penalties from the largest that matters to the first one asked for."""
    if first >= LADDER * top:
        return np.empty(0)
    return np.geomspace(top, first, 1 + int(np.ceil(np.log(first / top) / np.log(LADDER))))[:-1]


@value
class _Steps:
    """Penalties, ridges, and the duality gaps that are allowed."""

    penalties: np.ndarray
    ridges: np.ndarray
    tols: np.ndarray


def _walk(
    problem: SparseProblem, steps: _Steps, tol: float, positive: bool, max_iter: int, size: Size
) -> SparsePath:
    penalties, last = steps.penalties, len(steps.penalties) - 1
    path = SparsePath(
        coefs=np.zeros((problem.n_columns, last + 1), order="F"),
        gaps=np.zeros(last + 1),
        n_iter=np.zeros(last + 1, dtype=np.int64),
    )
    few = problem.n_columns <= FEW
    here, ahead = 0, AHEAD if few else 2
    before = problem.moment, penalties[0]
    work = WorkingSet(problem, ridged=bool(steps.ridges.any()))
    sizes = size(problem.moment)
    # The sequential strong rule of Tibshirani et al. (2012); the largest is always here.
    work.take((sizes >= min(2.0 * penalties[min(1, last)] - penalties[0], sizes.max())) | few)
    while here <= last:
        part = slice(here, min(here + ahead, last + 1))
        found, n_iter = work.solve(penalties[part], steps.ridges[part], tol, positive, max_iter)
        left, gaps = work.certify(found, penalties[part], steps.ridges[part], size)
        good = _leading(gaps <= steps.tols[part])
        failed = good < len(gaps)
        ahead = max(2, (good + ahead) // 2) if failed else min(AHEAD, ahead + 2)
        at = good if failed else good - 1
        now = left[:, at], penalties[here + at]
        before = (left[:, at - 1], penalties[here + at - 1]) if at > 0 else before
        wanted = _foretold(before, now, penalties[min(here + at + ahead, last)], size)
        wanted |= size(now[0]) >= penalties[min(here + at + 1, last)]
        if failed:
            wanted |= (size(left[:, at:]) > penalties[here + at : part.stop]).any(axis=1)
        mended = work.take(wanted) and failed
        done = good + (failed and not mended)
        path.coefs[work.which[: len(found)], here : here + done] = found[:, :done]
        path.gaps[here : here + done], path.n_iter[here : here + done] = gaps[:done], n_iter[:done]
        work.resume(found[:, at], steps.ridges[here + at], afresh=failed)
        here, before = here + done, now
    return path


def _leading(good: np.ndarray) -> int:
    """Return how many are good before the first that is not."""
    return len(good) if good.all() else int(np.argmin(good))


def _foretold(before: Point, now: Point, penalty: float, size: Size) -> np.ndarray:
    """Say which columns reach the penalty if their correlations go on as they did between two others."""
    (earlier, high), (latest, low) = before, now
    trend = (latest - earlier) / (low - high) if low < high else 0.0
    return size(latest + trend * (penalty - low)) >= penalty
