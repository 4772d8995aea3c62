"""Least-angle regression: the whole lasso path, exactly, from knot to knot."""

from collections.abc import Callable
from itertools import takewhile
from typing import Any

import numpy as np

from tractable.engines.sparse.problem import GramProblem, SparseProblem
from tractable.engines.sparse.working_set import WorkingSet
from tractable.primitives import runs_compiled
from tractable.primitives.sparse import (
    append_row,
    first_to_enter,
    follow_knots,
    remove_row,
    solve_rows,
    weighted_rows,
)
from tractable.primitives.sparse.compiled_lars import INDEPENDENT, RENEW, RENEWAL_FALL, RISING, TIE
from tractable.primitives.threads import single_threaded_blas
from tractable.value import value

#: With no more columns than this all are looked at from knot to knot, unless few are beyond the last penalty.
FEW = 1000
#: Knots found on the working set before the conditions of the other columns are checked.
KNOTS_BETWEEN_CHECKS = 16
#: Fraction of the penalty that it is expected to fall by, at most, when columns are chosen in advance.
EXPECTED_FALL = 0.2
#: Columns looked at from the beginning.
FIRST = 64
#: Fraction of its length that a column may add to those in use and still be passed over: the root of what
#: `append_row` takes for rounding. Its correlation with the residual may be above the penalty by as much.
PASSED = 3.2e-7
#: The most corrections of where a column enters.
CORRECTIONS = 3
#: Multiple of what rounding leaves unknown by which a correlation shows that the path is wrong.
SLACK = 100.0


@value
class Knots:
    """The penalties at which columns come and go, and the coefficients there; between knots all is linear."""

    penalties: np.ndarray  # (m,), decreasing
    coefs: np.ndarray  # (p, m)
    active: tuple[tuple[int, ...], ...]  # the columns in use below each knot, in order of entry
    # False where rounding ended the path above the penalty asked for. The knots
    # before that are minima all the same: each is checked.
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
        The columns and the target, as products or as they are.
    least : float
        The penalty to stop at.
    drop : bool
        Whether a column leaves when its coefficient reaches zero.
    positive : bool
        Whether negative coefficients are forbidden.
    max_knots : int, optional
        The most knots to follow; no bound when not given.

    Examples
    --------
    >>> from tractable.engines.sparse.problem import ColumnProblem
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
        work, path = _follow(problem, least, np.inf if max_knots is None else max_knots + 1, drop, positive)
    coefs = np.zeros((problem.n_columns, len(path.penalties)))
    coefs[work.which] = path.coefs()
    return Knots(
        penalties=np.array(path.penalties),
        coefs=coefs,
        active=tuple(tuple(work.which[used].tolist()) for used in path.used),
        complete=not path.stuck,
    )


class LarsState:
    """The state of a path: coefficients, correlations, columns in use, and the factor of their products."""

    def __init__(self, problem: SparseProblem, *, positive: bool, drop: bool) -> None:
        self.problem, self.positive, self.drop = problem, positive, drop
        self.stuck = False
        self.ill_conditioned = False  # whether a column in use is nearly dependent on those before it
        self._measure()
        p = problem.n_columns
        self.q = problem.moment.copy()
        sizes = self.q if positive else np.abs(self.q)
        self.penalty = self.renewed = max(float(sizes.max(initial=0.0)), 0.0)
        self.w, self.sign = np.zeros(p), np.zeros(p)
        self.active = np.empty(0, dtype=np.int64)
        self.factor = np.zeros((16, 16))
        self.towards = np.zeros(p)
        self.dependent = np.zeros(p, dtype=bool)
        self.penalties = [self.penalty]
        self.used: list[Any] = [self.active]
        self.stored: list[tuple[Any, np.ndarray]] = [(self.active, np.empty(0))]
        if self.penalty > 0.0:
            self._enter(int(np.argmax(sizes)))

    def run(self, least: float, n_knots: float) -> bool:
        """Continue until there are so many knots; return whether the path has ended, or is `stuck`."""
        limit = 10 * (len(self.w) + len(self.penalties)) + 100
        for _ in range(limit):
            if self._ends(least):
                return True
            if len(self.penalties) >= n_knots:
                return False
            if not self._go_on(least, n_knots):
                self._step(least)
            if self.stuck:
                return True
        self.stuck = True
        return True

    def _ends(self, least: float) -> bool:
        """Return whether the path has come to `least`, to rounding."""
        if len(self.active) and self.penalty - least > self._largest_tie + TIE * least:
            return False  # as the correlations of those in use are the penalty
        sizes = self.q if self.positive else np.abs(self.q)
        if self.penalty > least and np.all(sizes - least <= self.ties + TIE * least):
            self.penalty = self.penalties[-1] = least
        return self.penalty <= least

    def _go_on(self, least: float, n_knots: float) -> bool:
        """Go on, compiled, to knots at which one column enters or leaves; return whether there were any."""
        p, k, rank = len(self.w), len(self.active), self.problem.rank
        # At most p knots, as a rule, of 0.2 ms in NumPy: fewer than a hundred take less time than compiling.
        if self.ill_conditioned or not runs_compiled(self.q, 100 * p**2):
            return False
        most = int(min(n_knots - len(self.penalties), KNOTS_BETWEEN_CHECKS))
        self._reserve(min(k + most, p, rank))
        room = len(self.factor)
        active = np.zeros(room + 1, dtype=np.int64)
        active[:k] = self.active
        levels, values = np.empty(most), np.empty((most, room))
        columns, counts = np.empty((most, room), dtype=np.int64), np.empty(most, dtype=np.int64)
        found, k, self.penalty, self.renewed, self.ill_conditioned = follow_knots(
            self.problem.gram, self.problem.moment, self.lengths, self.ties, self._zero, rank,
            least, self.positive, self.drop, len(self.penalties), self.penalty, self.renewed, k,
            self.w, self.q, self.sign, self.towards, self.dependent, active, self.factor,
            levels, values, columns, counts,
        )  # fmt: skip
        self.active = active[:k].copy()
        for i in range(found):
            self._record(float(levels[i]), columns[i, : counts[i]], values[i, : counts[i]])
        return found > 0

    def _record(self, penalty: float, active: np.ndarray, w: np.ndarray) -> None:
        """Store a knot, up to which these columns were in use."""
        self.used[-1] = active
        self.penalties.append(penalty)
        self.used.append(active)
        self.stored.append((active, w))

    def _step(self, least: float) -> None:
        """Go on to the next knot, where a column enters or leaves, or to the end."""
        direction, along = self._direction()
        if self.stuck:
            return
        free = (self.sign == 0.0) & ~self.dependent
        if len(self.active) >= self.problem.rank:
            free[:] = False
        entering, entry = first_to_enter(self.q, along, free, self.penalty, self.positive)
        leaving, exit_ = self._next_exit(direction)
        left = self.penalty - least
        if entry < min(exit_, left) and self.ill_conditioned:
            entering, entry = self._corrected_entry(entering, entry, free)
        if min(entry, exit_) >= left:
            self._move(direction, along, left)
            self.penalty = self.penalties[-1] = least  # penalty - left may round to beside it
        elif exit_ <= entry:
            self._move(direction, along, exit_, leaving)
            self._leave(leaving)
        elif self._joins(entering):
            side = np.copysign(1.0, self.q[entering] - entry * along[entering])
            tied = self.penalty - side * self.q[entering] <= self.ties[entering]
            if entry > TIE * self.penalty and not tied:
                self._move(direction, along, entry)
            self._admit(entering)

    def _corrected_entry(self, entering: int, entry: float, free: np.ndarray) -> tuple[int, float]:
        """Return the column that enters next, and at which fall of the penalty, by the coefficients there.

        Of nearly dependent columns the direction has few digits. Where the correlation of a column is beyond
        the penalty at the knot that it gives, or that of the entering one short of it, the lines through the
        correlations here and at that knot tell the next.
        """
        for _ in range(CORRECTIONS):
            penalty = self.penalty - entry
            rhs = self.problem.moment[self.active] - penalty * self.sign[self.active]
            q = self.problem.moment - self._along(solve_rows(self.factor, rhs, len(self.active)))
            side = 1.0 if self.positive else np.where(q < 0.0, -1.0, 1.0)
            apart = np.where(free, side * q - penalty, -np.inf)
            known = (apart <= self.ties).all() and apart[entering] >= -self.ties[entering]
            if known or not TIE * self.penalty < entry < np.inf:
                break
            slopes = (self.q - q) / entry
            entering, entry = first_to_enter(self.q, slopes, free, self.penalty, self.positive)
        return entering, entry

    def _tied(self, side: Any) -> np.ndarray:
        """Return which correlations are at the penalty, or at its negative, to rounding."""
        return np.asarray(self.penalty - side * self.q <= self.ties)

    def _is_zero(self, w: np.ndarray) -> np.ndarray:
        return np.abs(w) * self.lengths[self.active] <= self._zero

    def _direction(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the direction of the coefficients in use, and how all correlations fall along it.

        Where several columns come at once, those at zero may only set out with their sign, and none that
        is left out may rise above the rest: the minimum of ½ dᵀGd - sᵀd under signs, found as Lawson and
        Hanson do, by one exchange after the other. As a rule the first try is the answer.
        """
        now = self.towards
        for _ in range(10 * len(now) + 10):
            active, sign = self.active, self.sign[self.active]
            aim = solve_rows(self.factor, sign, len(active))
            wrong = (aim * sign <= 0.0).nonzero()[0]
            if len(wrong):
                wrong = wrong[self._is_zero(self.w[active])[wrong]]
            if self.drop and len(wrong):
                length = np.maximum(now[active] * sign, 0.0)[wrong]
                step = length / np.maximum(length - (aim * sign)[wrong], np.finfo(float).tiny)
                now[active] += step.min() * (aim - now[active])
                self._leave(int(wrong[np.argmin(step)]))
                continue
            now[active] = aim
            along = self._along(aim)
            sizes = self.q if self.positive else np.abs(self.q)
            if not ((self.penalty - sizes <= self.ties) & (self.sign == 0.0)).any():
                break
            side = np.where(self.q < 0.0, -1.0, 1.0)
            slack = RISING + TIE * self.lengths * max(float(aim @ sign), 0.0) ** 0.5  # |Xd|² = sᵀd
            rising = self._tied(side) & (self.sign == 0.0) & ~self.dependent & (side * along < 1.0 - slack)
            rising &= (side > 0.0) | (not self.positive)
            if not rising.any():
                break
            self._enter(int(np.argmin(np.where(rising, side * along, np.inf))))
        else:
            self.stuck = True  # the exchanges repeat, by rounding
        return aim, along

    def _next_exit(self, direction: np.ndarray) -> tuple[int, float]:
        """Return the place of the first coefficient to reach zero, and after which fall of the penalty."""
        shrinking = (direction * self.sign[self.active] < 0.0).nonzero()[0]
        if not self.drop or not len(shrinking):
            return 0, np.inf
        ways = -self.w[self.active[shrinking]] / direction[shrinking]
        i = int(ways.argmin())
        return int(shrinking[i]), float(ways[i])

    def _move(
        self, direction: np.ndarray, along: np.ndarray, length: float, leaving: int | None = None
    ) -> None:
        """Move along the direction to the next knot; it replaces the last if they are equal to rounding."""
        if length <= TIE * self.penalty and len(self.penalties) > 1:
            del self.penalties[-1], self.used[-1], self.stored[-1]
        self.penalty -= length
        self.w[self.active] = self._landing(self.w[self.active] + length * direction, leaving)
        stale = len(self.penalties) % RENEW == 0 or self.penalty <= RENEWAL_FALL * self.renewed
        if stale or self.ill_conditioned:
            self._renew()
        else:
            self.q -= length * along
        self._record(self.penalty, self.active, self.w[self.active])

    def _landing(self, w: np.ndarray, leaving: int | None) -> np.ndarray:
        """Return the coefficients in use at a knot: solved for anew, where that changes no sign, or else w.

        Rounding moves a solution along directions in which the correlations hardly change. To set one
        coefficient to zero changes them, unless it is zero already, as in w, which was updated from knot to
        knot.
        """
        sign, moment = self.sign[self.active], self.problem.moment[self.active]
        if leaving is not None:
            w[leaving] = 0.0
        fresh = solve_rows(self.factor, moment - self.penalty * sign, len(self.active))
        beyond = fresh * sign < 0.0
        if not self.drop or (leaving is None and not beyond.any()):
            return fresh
        if leaving is not None:
            beyond[leaving] = True
        if np.all(~beyond | self._is_zero(fresh)):
            return np.where(beyond, 0.0, fresh)
        return np.where(w * sign > 0.0, w, 0.0)

    def _enter(self, j: int) -> None:
        if self._joins(j):
            self._admit(j)

    def _admit(self, j: int) -> None:
        k = len(self.active)
        self.active = np.concatenate((self.active, (j,)))
        self.sign[j] = np.sign(self.q[j])
        self.ill_conditioned |= bool(self.factor[k, k] < INDEPENDENT * self.lengths[j])

    def _joins(self, j: int) -> bool:
        """Return whether a column is independent of those in use, and give it the next row of the factor."""
        k, gram = len(self.active), self.problem.gram
        self._reserve(k + 1)
        independent = k < self.problem.rank and append_row(self.factor, k, gram[j, self.active], gram[j, j])
        self.dependent[j] = not independent
        return independent

    def _reserve(self, n_columns: int) -> None:
        """Make room in the factor for so many columns."""
        k = len(self.factor)
        if n_columns > k:
            larger = np.zeros((2 * n_columns, 2 * n_columns))
            larger[:k, :k] = self.factor
            self.factor = larger

    def _leave(self, at: int) -> None:
        j = self.active[at]
        remove_row(self.factor, len(self.active), at)
        self.active = np.delete(self.active, at)
        if self.ill_conditioned:
            self._condition()
        self.w[j] = self.sign[j] = self.towards[j] = 0.0
        columns, values = self.stored[-1]
        values[columns == j] = 0.0  # zero at the knot it leaves from, without rounding
        self.dependent[:] = False

    def coefs(self, since: int = 0) -> np.ndarray:
        """Return the coefficients (p, knots) at the knots from number `since` on."""
        found = np.zeros((self.problem.n_columns, len(self.stored) - since))
        for i, (columns, values) in enumerate(self.stored[since:]):
            found[columns, i] = values
        return found

    def widen(self, problem: SparseProblem) -> None:
        """Go on with more columns: those so far, and others after them."""
        self.problem = problem
        self._measure()
        more = problem.n_columns - len(self.w)
        self.w, self.sign, self.towards, self.dependent = (
            np.concatenate((part, np.zeros(more, dtype=part.dtype)))
            for part in (self.w, self.sign, self.towards, self.dependent)
        )
        self._renew()

    def rewind(self, knot: int, *, afresh: bool) -> None:
        """Restore the state at an earlier knot, and, `afresh`, the factor of columns in use then and now."""
        self.stuck = False
        del self.penalties[knot + 1 :], self.used[knot + 1 :], self.stored[knot + 1 :]
        self.penalty, before, active = self.penalties[knot], self.active.tolist(), self.used[knot].tolist()
        for part in (self.w, self.sign, self.towards):
            part[:] = 0.0
        self.dependent[:] = False
        columns, values = self.stored[knot]
        self.w[columns] = values
        self.active = columns
        self._renew()
        common = (
            [] if afresh else takewhile(lambda pair: pair[0] == pair[1], zip(before, active, strict=False))
        )
        self.active = np.array([j for j, _ in common], dtype=np.int64)
        self.sign[self.active] = np.sign(self.q[self.active])
        self._condition()
        for j in active[len(self.active) :]:
            self._enter(j)

    def _condition(self) -> None:
        """Find whether a column in use is nearly dependent on those before it."""
        pivots = np.diagonal(self.factor)[: len(self.active)]
        self.ill_conditioned = bool(np.any(pivots < INDEPENDENT * self.lengths[self.active]))

    def _measure(self) -> None:
        """Find what rounding leaves unknown of the correlation of each column."""
        self.lengths = self.problem.lengths
        self._zero = TIE * self.problem.square**0.5
        self.ties = self._zero * self.lengths
        self._largest_tie = float(self.ties.max(initial=0.0))

    def _renew(self) -> None:
        """Compute the correlations anew."""
        self.renewed = self.penalty
        self.q = self.problem.moment - self._along(self.w[self.active])

    def _along(self, weights: np.ndarray) -> np.ndarray:
        """Return the correlations (p,) of all columns with a sum of those in use."""
        return weighted_rows(self.problem.gram, self.active, weights)


def _follow(
    problem: SparseProblem, least: float, most: float, drop: bool, positive: bool
) -> tuple[WorkingSet, LarsState]:
    """Follow the path on a working set of columns, and certify it piece by piece.

    Between knots a correlation and the penalty are both linear: a column that is below the penalty at two
    knots is below it between them. So one pass over all columns certifies many knots; where a column that was
    left out had to come in, the path is continued from the knot before. So it is, once, where rounding made
    it violate the conditions of the minimum; the second time the path ends there.
    """
    size = (lambda x: x) if positive else np.abs
    work, p = WorkingSet(problem, ridged=False), problem.n_columns
    beyond = int(np.sum(size(problem.moment) > least))
    work.take(_largest(size(problem.moment), p if p <= FEW and p <= max(FIRST, 2 * beyond) else FIRST))
    path = LarsState(_view(work), positive=positive, drop=drop)
    violated = -1
    while True:
        since = len(path.penalties) - 1
        ended = path.run(least, min(since + 1 + KNOTS_BETWEEN_CHECKS, most)) or len(path.penalties) >= most
        levels, found = np.array(path.penalties[since:]), path.coefs(since)
        left, rest = problem.correlations(work.some, work.which, found)
        unknown = _unknown(problem, work, found, levels)
        above = size(left) - levels > unknown
        above[work.which] = _violations(problem, work, left, found, rest, levels, unknown, size, drop=drop)
        wrong = above.any(axis=0)
        if wrong.any():
            good = max(since - 1 + int(np.argmax(wrong)), 0)
            missed = work.take(above.any(axis=1))
            path.widen(_view(work))
            path.rewind(good, afresh=not missed)
            ended = path.stuck = good == violated and not missed
            violated = good
        elif not ended and len(work.which) < problem.n_columns:
            work.take(_expected(size, left, levels))
            path.widen(_view(work))
        if ended:
            break
    if path.stuck:
        # Where correlations are not known as closely as what is left of the penalty, nothing is left to find.
        last = path.coefs(len(path.penalties) - 1)
        if path.penalty - least <= np.min(_unknown(problem, work, last, np.array([path.penalty]))):
            path.stuck, path.penalties[-1] = False, least
    return work, path


def _unknown(problem: SparseProblem, work: WorkingSet, found: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return what rounding leaves unknown of correlations, given the lengths of all that they add up."""
    added = problem.square**0.5 + problem.lengths[work.which] @ np.abs(found)
    return TIE * problem.lengths[:, None] * added + 1e-11 * levels


def _violations(
    problem: SparseProblem,
    work: WorkingSet,
    left: np.ndarray,
    found: np.ndarray,
    rest: np.ndarray,
    levels: np.ndarray,
    unknown: np.ndarray,
    size: Callable[[np.ndarray], np.ndarray],
    *,
    drop: bool,
) -> np.ndarray:
    """Return where a column of the working set does not meet the conditions of the minimum, at some knots.

    The correlation of one in use is the penalty, with its sign; that of another is not larger, unless it is
    one that was passed over.
    """
    left = left[work.which]
    slack = SLACK * unknown[work.which]
    passed = PASSED * np.sqrt(rest) * problem.lengths[work.which, None]
    side = np.sign(found) if drop else np.sign(left)
    return np.where(found == 0.0, size(left) - levels > slack + passed, np.abs(left - levels * side) > slack)


def _largest(sizes: np.ndarray, count: int) -> np.ndarray:
    chosen = np.zeros(len(sizes), dtype=bool)
    chosen[np.argsort(-sizes)[:count]] = True
    return chosen


def _expected(size: Callable[[np.ndarray], np.ndarray], left: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return which columns reach the penalty if it and the correlations continue linearly."""
    fall = max(float(levels[0] - levels[-1]), TIE * float(levels[0]))
    step = min(1.5, EXPECTED_FALL * float(levels[-1]) / fall)
    return size(left[:, -1] + step * (left[:, -1] - left[:, 0])) >= levels[-1] - step * fall


def _view(work: WorkingSet) -> GramProblem:
    """Return the working set as a problem of its own."""
    return GramProblem(gram=work.gram, moment=work.moment, square=work.problem.square, rank=work.problem.rank)
