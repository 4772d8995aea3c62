"""The lasso along a path of penalties, on a working set of columns, with the duality gaps of all columns."""

from typing import Any

import numpy as np

from tractable.engines.sparse.descent import ROUNDING, crowded, descent, good_enough
from tractable.engines.sparse.problem import Size, SparseProblem, duality_gaps, size_of
from tractable.primitives.sparse import SignedSupport, coordinate_sweeps, solve_lasso
from tractable.primitives.threads import single_threaded_blas
from tractable.value import value

#: With no more columns than this, and many penalties, the Gram matrix of all is formed, and all are in the
#: working set.
FEW = 1000
#: The most penalties solved before the conditions of the other columns are checked.
PENALTIES_AT_ONCE = 16
#: Columns enter the working set if their correlation is at least this fraction of the largest one outside it.
ENTRANCE = 0.35
#: Ratio of the penalties that lead from the largest to the first one asked for, if more columns are above
#: that one than can be in use.
PENALTY_RATIO = 0.7
#: Rounds of coordinate descent between two looks at the objective.
SWEEPS = 50

#: Correlations at a penalty.
Point = tuple[np.ndarray, float]


@value
class SparsePath:
    """Minima of ½|y - Xw|² + penalty Σ|w_j| + ½ ridge Σ w_j², one for each penalty."""

    coefs: np.ndarray  # (p, m)
    gaps: np.ndarray  # (m,), duality gaps: no coefficients whatever have an objective lower by more
    n_iter: np.ndarray  # (m,), Newton steps on signed supports


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

    Several penalties at once are solved on a working set of columns. One pass over the data, a matrix
    product, then gives the correlations of all columns with all of their residuals. They give the duality
    gaps of the solutions, and the columns whose correlations will reach the next penalties, by extrapolation
    along the path. Where a gap is too large, the columns that violate the optimality conditions enter the
    working set, and the path is continued from that penalty. If many columns are above the first penalty,
    coordinate descent chooses the first working set and its coefficients.

    Parameters
    ----------
    problem : GramProblem or ColumnProblem
        The columns and the target, as products or as they are.
    penalties : array (m,)
        Positive, decreasing.
    ridges : float or array (m,)
        Weights of the squared coefficients, at each penalty or at all.
    tol : float
        Largest duality gap, relative to |y|².
    positive : bool
        Whether negative coefficients are forbidden.
    max_iter : int
        Most Newton steps a penalty.

    Examples
    --------
    >>> from tractable.engines.sparse.problem import ColumnProblem
    >>> path = sparse_path(ColumnProblem(X=np.eye(3), y=np.array([3.0, -2.0, 0.5])), [2.0, 1.0])
    >>> path.coefs.T
    array([[ 1.,  0.,  0.],
           [ 2., -1.,  0.]])
    """
    asked = np.asarray(penalties, dtype=np.float64)
    ridges = np.zeros_like(asked) + ridges
    first = float(asked[0]), float(ridges[0])
    with single_threaded_blas():
        tol *= problem.square
        if not crowded(problem, first[0], positive):
            return _solve(problem, asked, ridges, tol, positive, max_iter)
        problem = problem.by_columns()
        start, gap, n_iter = descent(problem, *first, 0.5 * tol, positive=positive, max_iter=max_iter)
        if len(asked) == 1 and good_enough(problem, gap, 0.5 * tol):
            return SparsePath(coefs=start[:, None], gaps=np.array([gap]), n_iter=np.array([n_iter]))
        if first[1] > 0.0 or np.count_nonzero(start) <= problem.rank:
            return _solve(problem, asked, ridges, tol, positive, max_iter, start)
        ladder = _ladder(float(size_of(positive)(problem.moment).max()), first[0])
        penalties, ridges = np.concatenate([ladder, asked]), np.concatenate([0.0 * ladder, ridges])
        path, m = _solve(problem, penalties, ridges, tol, positive, max_iter), len(ladder)
        return SparsePath(coefs=path.coefs[:, m:], gaps=path.gaps[m:], n_iter=path.n_iter[m:])


def _ladder(top: float, first: float) -> np.ndarray:
    """Return penalties from the largest with a nonzero solution to the first one asked for."""
    return np.geomspace(top, first, 1 + int(np.ceil(np.log(first / top) / np.log(PENALTY_RATIO))))[:-1]


def _solve(
    problem: SparseProblem,
    penalties: np.ndarray,
    ridges: np.ndarray,
    tol: float,
    positive: bool,
    max_iter: int,
    start: np.ndarray | None = None,
) -> SparsePath:
    last, size = len(penalties) - 1, size_of(positive)
    path = SparsePath(
        coefs=np.zeros((problem.n_columns, last + 1), order="F"),
        gaps=np.zeros(last + 1),
        n_iter=np.zeros(last + 1, dtype=np.int64),
    )
    few = problem.n_columns <= FEW and (problem.formed or last + 1 > PENALTIES_AT_ONCE)
    here, ahead = 0, PENALTIES_AT_ONCE if few else 2
    before = problem.moment, penalties[0]
    work = WorkingSet(problem, ridged=bool(ridges.any()), n_penalties=last + 1)
    sizes = size(problem.moment)
    # The sequential strong rule of Tibshirani et al. (2012); the largest is always here.
    above = sizes >= min(2.0 * penalties[min(1, last)] - penalties[0], sizes.max())
    above &= sizes >= ENTRANCE * sizes.max()
    work.take((above if start is None else start != 0.0) | few)
    if start is not None:
        work.resume(start[work.which], ridges[0], afresh=True)
    while here <= last:
        part = slice(here, min(here + ahead, last + 1))
        found, n_iter = work.solve(penalties[part], ridges[part], 0.5 * tol, positive, max_iter)
        left, gaps = duality_gaps(problem, work.some, work.which, found, penalties[part], ridges[part], size)
        good = leading(gaps <= tol)
        failed = good < len(gaps)
        ahead = max(2, (good + ahead) // 2) if failed else min(PENALTIES_AT_ONCE, ahead + 2)
        at = good if failed else good - 1
        now = left[:, at], penalties[here + at]
        before = (left[:, at - 1], penalties[here + at - 1]) if at > 0 else before
        wanted = _extrapolated(before, now, penalties[min(here + at + ahead, last)], size)
        wanted |= size(now[0]) >= penalties[min(here + at + 1, last)]
        if failed:
            wanted |= (size(left[:, at:]) > penalties[here + at : part.stop]).any(axis=1)
        sizes = np.where(work.inside, 0.0, size(now[0]))
        mended = work.take(wanted & (sizes >= ENTRANCE * sizes.max())) and failed
        done = good + (failed and not mended)
        if done > good:
            one = penalties[here + at], ridges[here + at]
            found[:, at] = work.descend(found[:, at], *one, positive, max_iter)
            left[:, at], gaps[at] = duality_gaps(problem, work.some, work.which, found[:, at], *one, size)
        path.coefs[work.which[: len(found)], here : here + done] = found[:, :done]
        path.gaps[here : here + done], path.n_iter[here : here + done] = gaps[:done], n_iter[:done]
        work.resume(found[:, at], ridges[here + at], afresh=failed)
        here, before = here + done, now
    return path


def leading(good: np.ndarray) -> int:
    """Return how many are good before the first that is not."""
    return len(good) if good.all() else int(np.argmin(good))


def _extrapolated(before: Point, now: Point, penalty: float, size: Size) -> np.ndarray:
    """Return which columns reach the penalty if their correlations are extrapolated linearly."""
    (earlier, high), (latest, low) = before, now
    trend = (latest - earlier) / (low - high) if low < high else 0.0
    return size(latest + trend * (penalty - low)) >= penalty


class WorkingSet:
    """Columns in order of entry, their products with each other, and coefficients on the way.

    Not a value: a path works in it, and it grows.
    """

    def __init__(self, problem: SparseProblem, *, ridged: bool, n_penalties: int = 1) -> None:
        self.problem, self.ridged = problem, ridged
        self.which = np.empty(0, dtype=np.int64)
        self.inside = np.zeros(problem.n_columns, dtype=bool)
        self.some: np.ndarray | None = None
        self.store = np.empty((0, 0))
        # Products of pairs of columns: little work is left to the interpreter, which compiles nothing.
        self.state = SignedSupport(0, 0, n_penalties * problem.n_columns * (problem.n_columns + 1) // 2)

    @property
    def gram(self) -> np.ndarray:
        m = len(self.which)
        return self.store[:m, :m]

    @property
    def moment(self) -> np.ndarray:
        return self.problem.moment[self.which]

    def take(self, wanted: np.ndarray) -> bool:
        """Add the columns that are not in the working set yet; return whether there were any."""
        new = np.flatnonzero(wanted & ~self.inside)
        if len(new) == 0:
            return False
        m, grown = len(self.which), len(self.which) + len(new)
        self.which = np.concatenate([self.which, new])
        self.inside[new] = True
        self.some = self.problem.gather(self.some, new)
        if grown > len(self.store):
            store = np.empty((2 * grown, 2 * grown))  # pages are touched as they are used
            store[:m, :m] = self.store[:m, :m]
            self.store = store
        products = self.problem.products(self.some, self.which, new)
        self.store[:grown, m:grown], self.store[m:grown, :m] = products, products[:m].T
        self._grow(len(new))
        return True

    def _grow(self, n_new: int) -> None:
        """Give the new columns coefficients of zero, and enlarge the factor where it is full."""
        state, capacity = self.state, len(self.store)
        state.w = np.concatenate([state.w, np.zeros(n_new)])
        capacity = capacity if self.ridged else min(capacity, self.problem.rank)
        if capacity + 1 > len(state.factor):
            larger = SignedSupport(0, capacity)
            larger.support[: state.k] = state.support[: state.k]
            larger.factor[: state.k, : state.k] = state.factor[: state.k, : state.k]
            state.support, state.factor = larger.support, larger.factor
        state.refresh(self.gram, self.moment)

    def resume(self, w: np.ndarray, ridge: float, *, afresh: bool) -> None:
        """Set the coefficients to w, the latest ones or, `afresh`, any; those of newer columns are zero."""
        if afresh:
            w = np.concatenate([w, np.zeros(len(self.which) - len(w))])
            self.state.restart(self.gram, self.moment, w, ridge)
        else:
            self.state.refresh(self.gram, self.moment)

    def descend(
        self, w: np.ndarray, penalty: float, ridge: float, positive: bool, max_iter: int
    ) -> np.ndarray:
        """Lower the objective by coordinate descent from w, or from zero where the objective is lower.

        Of columns that are equal to rounding, steps on signed supports exchange one for the other.
        """
        hessian, moment = self.gram + ridge * np.eye(len(w)), self.moment
        weights = np.full(len(w), penalty)

        def objective(w: np.ndarray, slope: np.ndarray) -> float:
            return float(0.5 * w @ (slope - moment) + penalty * np.abs(w).sum())

        slope = hessian @ w - moment
        if not objective(w, slope) < 0.0:
            w, slope = np.zeros_like(w), -moment
        for _ in range(0, max_iter, SWEEPS):
            before = objective(w, slope)
            w, slope = coordinate_sweeps(hessian, slope, weights, w, SWEEPS, positive=positive)
            if not before - objective(w, slope) > ROUNDING * self.problem.square:
                break
        return w

    def solve(
        self, penalties: np.ndarray, ridges: np.ndarray, tol: float, positive: bool, max_iter: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients (columns here, penalties) and the steps they took."""
        gram, moment, square = self.gram, self.moment, self.problem.square
        found, n_iter = (
            np.empty((len(moment), len(penalties)), order="F"),
            np.zeros(len(penalties), dtype=int),
        )
        for i, (penalty, ridge) in enumerate(zip(penalties, ridges, strict=True)):
            if self.ridged:  # the factor was that of another ridge
                self.state.restart(gram, moment, self.state.w, ridge)
            found[:, i], n_iter[i], _ = solve_lasso(
                gram, moment, square, penalty,
                ridge=ridge, tol=tol, positive=positive, max_iter=max_iter, state=self.state,
            )  # fmt: skip
        return found, n_iter
