"""The few columns that a sparse fit works on, and their Gram matrix."""

from collections.abc import Callable

import numpy as np

from tractable.engines.sparse_problem import SparseProblem
from tractable.primitives.sparse import SignedSupport, settle

__all__ = ["WorkingSet"]


class WorkingSet:
    """Columns in order of entry, their products with each other, and coefficients on the way.

    Not a value: a path works in it, and it grows.
    """

    def __init__(self, problem: SparseProblem, *, ridged: bool) -> None:
        self.problem, self.ridged = problem, ridged
        self.which = np.empty(0, dtype=np.int64)
        self.inside = np.zeros(problem.n_columns, dtype=bool)
        self.some: np.ndarray | None = None
        self.store = np.empty((0, 0))
        self.state = SignedSupport(0, 0)

    @property
    def gram(self) -> np.ndarray:
        m = len(self.which)
        return self.store[:m, :m]

    @property
    def moment(self) -> np.ndarray:
        return self.problem.moment[self.which]

    def take(self, wanted: np.ndarray) -> bool:
        """Take in the columns that are wanted and not here yet; say whether there were any."""
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
        """Give the new columns coefficients of zero, and the factor room for them."""
        state, capacity = self.state, len(self.store)
        state.w = np.concatenate([state.w, np.zeros(n_new)])
        capacity = capacity if self.ridged else min(capacity, self.problem.rank)
        if capacity + 1 > len(state.factor):
            roomy = SignedSupport(0, capacity)
            roomy.support[: state.k] = state.support[: state.k]
            roomy.factor[: state.k, : state.k] = state.factor[: state.k, : state.k]
            state.support, state.factor = roomy.support, roomy.factor
        state.refresh(self.gram, self.moment)

    def resume(self, w: np.ndarray, ridge: float, *, afresh: bool) -> None:
        """Stand at the coefficients w, the latest ones or, `afresh`, any; newer columns have none."""
        if afresh:
            w = np.concatenate([w, np.zeros(len(self.which) - len(w))])
            self.state.restart(self.gram, self.moment, w, ridge)
        else:
            self.state.refresh(self.gram, self.moment)

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
            found[:, i], n_iter[i], _ = settle(
                gram, moment, square, penalty,
                ridge=ridge, tol=tol, positive=positive, max_iter=max_iter, state=self.state,
            )  # fmt: skip
        return found, n_iter

    def certify(
        self,
        found: np.ndarray,
        penalties: np.ndarray,
        ridges: np.ndarray,
        size: Callable[[np.ndarray], np.ndarray],
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the correlations (p, m) of all columns with the residuals, and the duality gaps (m,).

        Correlations are less the pull of the ridge. The gap is the primal less the dual objective at the
        residual, shrunk until it is feasible.
        """
        left, rest = self.problem.correlations(self.some, self.which, found)
        left[self.which] -= ridges * found
        rest = rest + ridges * np.einsum("ij,ij->j", found, found)
        top = size(left).max(axis=0, initial=0.0)
        share = np.minimum(1.0, penalties / np.maximum(top, penalties))
        fit = self.moment @ found
        primal = 0.5 * rest + penalties * np.abs(found).sum(axis=0)
        return left, primal + 0.5 * share**2 * rest - share * (self.problem.square - fit)
