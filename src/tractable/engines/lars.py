"""Least-angle regression: the whole lasso path, exactly, from knot to knot."""

import numpy as np

from tractable.engines.sparse_problem import SparseProblem
from tractable.engines.threads import single_threaded_blas
from tractable.primitives.cholesky_rows import append_row, remove_row, solve_rows
from tractable.primitives.first_to_meet import first_to_meet
from tractable.value import value

__all__ = ["Knots", "lars"]

#: Knots after which correlations are computed anew, so that rounding does not gather in them.
RENEW = 32
#: Penalties that differ by less, relative to the largest, are one.
TIE = 1e-13
#: A correlation at the penalty rises above it where it falls more slowly by this.
RISING = 1e-9


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
    dependent : array (p,)
        Whether a column was passed over because it follows from others in use.
    """

    penalties: np.ndarray
    coefs: np.ndarray
    active: tuple[tuple[int, ...], ...]
    dependent: np.ndarray


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

    A column that follows from those in use gives the fit nothing that they do not: it is passed over as long
    as they stay. Of equal columns the first one is used.

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
    walk = _Walk(problem, positive=positive, drop=drop)
    limit = 10 * (problem.n_columns + problem.rank) + 100
    with single_threaded_blas():
        for _ in range(limit):
            if walk.ends(least) or len(walk.penalties) > (limit if max_knots is None else max_knots):
                break
            walk.step(least)
    return walk.knots()


class _Walk:
    """Where the path has got to: coefficients, correlations, columns in use, the factor of their products."""

    def __init__(self, problem: SparseProblem, *, positive: bool, drop: bool) -> None:
        self.problem, self.positive, self.drop = problem, positive, drop
        p = problem.n_columns
        self.q = problem.moment.copy()
        sizes = self.q if positive else np.abs(self.q)
        self.top = self.penalty = max(float(sizes.max(initial=0.0)), 0.0)
        self.w, self.sign = np.zeros(p), np.zeros(p)
        self.active: list[int] = []
        self.factor = np.zeros((16, 16))
        self.towards = np.zeros(p)
        self.dependent, self.passed = np.zeros(p, dtype=bool), np.zeros(p, dtype=bool)
        self.penalties = [self.penalty]
        self.used: list[tuple[int, ...]] = [()]
        self.kept: list[tuple[list[int], np.ndarray]] = [([], np.empty(0))]
        if self.penalty > 0.0:
            self._enter(int(np.argmax(sizes)))

    def ends(self, least: float) -> bool:
        """Say whether the path has come to `least`, to rounding."""
        if self.penalty > least and self.penalty - least <= TIE * self.top:
            self.penalty = self.penalties[-1] = least
        return self.penalty <= least

    def step(self, least: float) -> None:
        """Go on to the next knot, where a column enters or leaves, or to the end."""
        direction, along = self._aim()
        free = (self.sign == 0.0) & ~self.dependent
        entering, entry = first_to_meet(self.q, along, free, self.penalty, self.positive)
        leaving, exit_ = self._next_exit(direction)
        self._move(along, min(entry, exit_, self.penalty - least), least)
        if self.penalty <= least:
            return
        if exit_ <= entry:
            self._leave(leaving)
        else:
            self._enter(entering)

    def _aim(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the direction of the coefficients in use, and how all correlations fall along it.

        Where several columns come at once, those at zero may only set out with their sign, and none that
        is left out may rise above the rest: the minimum of ½ dᵀGd - sᵀd under signs, found as Lawson and
        Hanson do, by one exchange after the other. As a rule the first try is the answer.
        """
        now = self.towards
        while True:
            active, sign = self.active, self.sign[self.active]
            aim = solve_rows(self.factor, sign, len(active))
            at_zero = np.abs(self.w[active]) <= TIE * self.top * np.abs(aim)
            wrong = np.flatnonzero(at_zero & (aim * sign <= 0.0))
            if self.drop and len(wrong):
                length = np.maximum(now[active] * sign, 0.0)[wrong]
                share = length / (length - (aim * sign)[wrong])
                now[active] += share.min() * (aim - now[active])
                self._leave(int(wrong[np.argmin(share)]))
                continue
            now[active] = aim
            along = self.problem.along(active, aim)
            side = np.where(self.q < 0.0, -1.0, 1.0)
            tied = self.penalty - side * self.q <= TIE * self.top
            rising = tied & (self.sign == 0.0) & ~self.dependent & (side * along < 1.0 - RISING)
            rising &= (side > 0.0) | (not self.positive)
            if not rising.any():
                return aim, along
            self._enter(int(np.argmin(np.where(rising, side * along, np.inf))))

    def _next_exit(self, direction: np.ndarray) -> tuple[int, float]:
        """Return the place of the first coefficient to reach zero, and after which fall of the penalty."""
        if not self.drop or not self.active:
            return 0, np.inf
        shrinking = direction * self.sign[self.active] < 0.0
        ways = np.full(len(direction), np.inf)
        ways[shrinking] = -self.w[self.active][shrinking] / direction[shrinking]
        i = int(np.argmin(ways))
        return i, float(ways[i])

    def _move(self, along: np.ndarray, length: float, least: float) -> None:
        if length <= TIE * self.top and self.penalty - length > least:
            return
        self.used[-1] = tuple(self.active)
        self.penalty = max(self.penalty - length, least)
        pull = self.problem.moment[self.active] - self.penalty * self.sign[self.active]
        w = solve_rows(self.factor, pull, len(self.active))
        if self.drop:
            w[w * self.sign[self.active] < 0.0] = 0.0  # beyond zero by rounding: it touches it here
        self.w[self.active] = w
        if len(self.penalties) % RENEW == 0:
            self.q = self.problem.moment - self.problem.along(self.active, self.w[self.active])
        else:
            self.q -= length * along
        self.penalties.append(self.penalty)
        self.used.append(tuple(self.active))
        self.kept.append((list(self.active), self.w[self.active]))

    def _enter(self, j: int) -> None:
        k = len(self.active)
        if k + 1 > len(self.factor):
            larger = np.zeros((2 * k, 2 * k))
            larger[:k, :k] = self.factor
            self.factor = larger
        cross, own = self.problem.products_with(j, self.active)
        if k < self.problem.rank and append_row(self.factor, k, cross, own):
            self.active.append(j)
            self.sign[j] = np.sign(self.q[j])
        else:
            self.dependent[j] = self.passed[j] = True

    def _leave(self, at: int) -> None:
        j = self.active.pop(at)
        remove_row(self.factor, len(self.active) + 1, at)
        self.w[j] = self.sign[j] = self.towards[j] = 0.0
        columns, values = self.kept[-1]
        values[[c == j for c in columns]] = 0.0  # zero at the knot it leaves from, without rounding
        self.dependent[:] = False

    def knots(self) -> Knots:
        coefs = np.zeros((self.problem.n_columns, len(self.penalties)))
        for i, (columns, values) in enumerate(self.kept):
            coefs[columns, i] = values
        self.passed[np.flatnonzero(coefs.any(axis=1))] = False
        return Knots(
            penalties=np.array(self.penalties), coefs=coefs, active=tuple(self.used), dependent=self.passed
        )
