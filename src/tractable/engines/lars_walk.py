"""One walk along the path of least-angle regression, from knot to knot."""

from typing import Any

import numpy as np

from tractable.engines.sparse_problem import SparseProblem
from tractable.primitives.sparse import append_row, first_to_meet, remove_row, solve_rows

__all__ = ["TIE", "LarsWalk"]

#: Knots after which correlations are computed anew, so that rounding does not gather in them.
RENEW = 32
#: Correlations that differ by less, relative to the lengths of column and target, are one.
TIE = 1e-13
#: Correlations are computed anew, too, when the penalty has fallen to this share of what it was then.
FALLEN = 0.1
#: A correlation at the penalty rises above it where it falls more slowly by this.
RISING = 1e-9


class LarsWalk:
    """Where the path has got to: coefficients, correlations, columns in use, the factor of their products."""

    def __init__(self, problem: SparseProblem, *, positive: bool, drop: bool) -> None:
        self.problem, self.positive, self.drop = problem, positive, drop
        self.stuck = False
        self._measure()
        p = problem.n_columns
        self.q = problem.moment.copy()
        sizes = self.q if positive else np.abs(self.q)
        self.penalty = self.renewed = max(float(sizes.max(initial=0.0)), 0.0)
        self.w, self.sign = np.zeros(p), np.zeros(p)
        self.active: list[int] = []
        self.factor = np.zeros((16, 16))
        self.towards = np.zeros(p)
        self.dependent = np.zeros(p, dtype=bool)
        self.penalties = [self.penalty]
        self.used: list[tuple[int, ...]] = [()]
        self.kept: list[tuple[list[int], np.ndarray]] = [([], np.empty(0))]
        if self.penalty > 0.0:
            self._enter(int(np.argmax(sizes)))

    def run(self, least: float, n_knots: float) -> bool:
        """Go on until there are so many knots; say whether the path has ended, or is `stuck`."""
        limit = 10 * (len(self.w) + len(self.penalties)) + 100
        for _ in range(limit):
            if self._ends(least):
                return True
            if len(self.penalties) >= n_knots:
                return False
            self._step(least)
            if self.stuck:
                return True
        self.stuck = True
        return True

    def _ends(self, least: float) -> bool:
        """Say whether the path has come to `least`, to rounding."""
        sizes = self.q if self.positive else np.abs(self.q)
        if self.penalty > least and np.all(sizes - least <= self.ties + TIE * least):
            self.penalty = self.penalties[-1] = least
        return self.penalty <= least

    def _step(self, least: float) -> None:
        """Go on to the next knot, where a column enters or leaves, or to the end."""
        direction, along = self._aim()
        if self.stuck:
            return
        free = (self.sign == 0.0) & ~self.dependent & (len(self.active) < self.problem.rank)
        entering, entry = first_to_meet(self.q, along, free, self.penalty, self.positive)
        leaving, exit_ = self._next_exit(direction)
        left = self.penalty - least
        if min(entry, exit_) >= left:
            self._move(direction, along, left)
            self.penalty = self.penalties[-1] = least  # penalty - left may round to beside it
        elif exit_ <= entry:
            self._move(direction, along, exit_, leaving)
            self._leave(leaving)
        elif self._joins(entering):
            side = np.copysign(1.0, self.q[entering] - entry * along[entering])
            if entry > TIE * self.penalty and not self._tied(side)[entering]:
                self._move(direction, along, entry)
            self._admit(entering)

    def _tied(self, side: Any) -> np.ndarray:
        """Say which correlations are at the penalty, or at its negative, to rounding."""
        return np.asarray(self.penalty - side * self.q <= self.ties)

    def _at_zero(self) -> np.ndarray:
        """Say which coefficients in use are zero, to rounding."""
        return self._is_zero(self.w[self.active])

    def _is_zero(self, w: np.ndarray) -> np.ndarray:
        return np.abs(w) * self.lengths[self.active] <= TIE * self.problem.square**0.5

    def _aim(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the direction of the coefficients in use, and how all correlations fall along it.

        Where several columns come at once, those at zero may only set out with their sign, and none that
        is left out may rise above the rest: the minimum of ½ dᵀGd - sᵀd under signs, found as Lawson and
        Hanson do, by one exchange after the other. As a rule the first try is the answer.
        """
        now = self.towards
        for _ in range(10 * len(now) + 10):
            active, sign = self.active, self.sign[self.active]
            aim = solve_rows(self.factor, sign, len(active))
            wrong = np.flatnonzero(self._at_zero() & (aim * sign <= 0.0))
            if self.drop and len(wrong):
                length = np.maximum(now[active] * sign, 0.0)[wrong]
                share = length / np.maximum(length - (aim * sign)[wrong], np.finfo(float).tiny)
                now[active] += share.min() * (aim - now[active])
                self._leave(int(wrong[np.argmin(share)]))
                continue
            now[active] = aim
            along = self.problem.along(active, aim)
            side = np.where(self.q < 0.0, -1.0, 1.0)
            slack = RISING + TIE * self.lengths * max(float(aim @ sign), 0.0) ** 0.5  # |Xd|² = sᵀd
            rising = self._tied(side) & (self.sign == 0.0) & ~self.dependent & (side * along < 1.0 - slack)
            rising &= (side > 0.0) | (not self.positive)
            if not rising.any():
                break
            self._enter(int(np.argmin(np.where(rising, side * along, np.inf))))
        else:
            self.stuck = True  # the exchanges go round in circles, by rounding
        return aim, along

    def _next_exit(self, direction: np.ndarray) -> tuple[int, float]:
        """Return the place of the first coefficient to reach zero, and after which fall of the penalty."""
        if not self.drop or not self.active:
            return 0, np.inf
        shrinking = direction * self.sign[self.active] < 0.0
        ways = np.full(len(direction), np.inf)
        ways[shrinking] = -self.w[self.active][shrinking] / direction[shrinking]
        i = int(np.argmin(ways))
        return i, float(ways[i])

    def _move(
        self, direction: np.ndarray, along: np.ndarray, length: float, leaving: int | None = None
    ) -> None:
        """Go along the direction to a knot; one that cannot be told from the last takes its place."""
        if length <= TIE * self.penalty and len(self.penalties) > 1:
            del self.penalties[-1], self.used[-1], self.kept[-1]
        self.used[-1] = tuple(self.active)
        self.penalty -= length
        self.w[self.active] = self._landing(self.w[self.active] + length * direction, leaving)
        if len(self.penalties) % RENEW == 0 or self.penalty <= FALLEN * self.renewed:
            self._renew()
        else:
            self.q -= length * along
        self.penalties.append(self.penalty)
        self.used.append(tuple(self.active))
        self.kept.append((list(self.active), self.w[self.active]))

    def _landing(self, w: np.ndarray, leaving: int | None) -> np.ndarray:
        """Return the coefficients in use at a knot: solved for anew, where that changes no sign, or else w.

        Rounding moves a solution along directions in which the correlations hardly change. One coefficient
        that is set to zero changes them, if it was not zero before: w, which came here step by step, is.
        """
        sign, moment = self.sign[self.active], self.problem.moment[self.active]
        if leaving is not None:
            w[leaving] = 0.0
        fresh = solve_rows(self.factor, moment - self.penalty * sign, len(self.active))
        if not self.drop:
            return fresh
        beyond = fresh * sign < 0.0
        beyond[[] if leaving is None else leaving] = True
        if np.all(~beyond | self._is_zero(fresh)):
            return np.where(beyond, 0.0, fresh)
        return np.where(w * sign > 0.0, w, 0.0)

    def _enter(self, j: int) -> None:
        if self._joins(j):
            self._admit(j)

    def _admit(self, j: int) -> None:
        self.active.append(j)
        self.sign[j] = np.sign(self.q[j])

    def _joins(self, j: int) -> bool:
        """Say whether a column is independent of those in use, and give it the next row of the factor."""
        k = len(self.active)
        if k + 1 > len(self.factor):
            larger = np.zeros((2 * k, 2 * k))
            larger[:k, :k] = self.factor
            self.factor = larger
        cross, own = self.problem.products_with(j, self.active)
        self.dependent[j] = not (k < self.problem.rank and append_row(self.factor, k, cross, own))
        return not self.dependent[j]

    def _leave(self, at: int) -> None:
        j = self.active.pop(at)
        remove_row(self.factor, len(self.active) + 1, at)
        self.w[j] = self.sign[j] = self.towards[j] = 0.0
        columns, values = self.kept[-1]
        values[[c == j for c in columns]] = 0.0  # zero at the knot it leaves from, without rounding
        self.dependent[:] = False

    def coefs(self, since: int = 0) -> np.ndarray:
        """Return the coefficients (p, knots) at the knots from number `since` on."""
        found = np.zeros((self.problem.n_columns, len(self.kept) - since))
        for i, (columns, values) in enumerate(self.kept[since:]):
            found[columns, i] = values
        return found

    def widen(self, problem: SparseProblem) -> None:
        """Go on with more columns: those so far, and others after them."""
        self.problem = problem
        self._measure()
        more = (0, problem.n_columns - len(self.w))
        self.w, self.sign, self.towards, self.dependent = (
            np.pad(part, more) for part in (self.w, self.sign, self.towards, self.dependent)
        )
        self._renew()

    def rewind(self, knot: int) -> None:
        """Stand at an earlier knot again."""
        self.stuck = False
        del self.penalties[knot + 1 :], self.used[knot + 1 :], self.kept[knot + 1 :]
        self.penalty, active = self.penalties[knot], list(self.used[knot])
        for part in (self.w, self.sign, self.towards):
            part[:] = 0.0
        self.dependent[:] = False
        columns, values = self.kept[knot]
        self.w[columns] = values
        self.active = columns
        self._renew()
        self.active = []
        for j in active:
            self._enter(j)

    def _measure(self) -> None:
        """Find what rounding leaves unknown of the correlation of each column."""
        self.lengths = self.problem.lengths
        self.ties = TIE * self.problem.square**0.5 * self.lengths

    def _renew(self) -> None:
        """Compute the correlations anew."""
        self.renewed = self.penalty
        self.q = self.problem.moment - self.problem.along(self.active, self.w[self.active])
