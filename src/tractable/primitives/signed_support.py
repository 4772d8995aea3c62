"""The lasso of a Gram matrix, by Newton steps on the signed support."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.signed_support import settle as agnostic
from tractable.primitives.chosen_rows import weighted_rows

__all__ = ["SignedSupport", "settle"]


class SignedSupport:
    """Coefficients on the way: columns in use, in order of entry, and the factor of their Gram matrix.

    Not a value: `settle` works in its arrays. A path passes it from penalty to penalty.

    Parameters
    ----------
    n_columns : int
    capacity : int
        The most columns that can be independent.
    """

    def __init__(self, n_columns: int, capacity: int) -> None:
        self.w = np.zeros(n_columns)
        self.q = np.zeros(n_columns)  # moment - gram w
        self.support = np.zeros(capacity + 1, dtype=np.int64)
        self.factor = np.empty((capacity + 1, capacity + 1))
        self.k = 0

    def restart(self, gram: np.ndarray, moment: np.ndarray, w: np.ndarray, ridge: float = 0.0) -> None:
        """Begin at the coefficients w."""
        from tractable.primitives._compiled.cholesky_rows import append_row

        self.w = np.array(w, dtype=np.float64)
        self.k = 0
        for j in np.flatnonzero(self.w):
            cross = gram[j, self.support[: self.k]]
            if self.k + 1 < len(self.factor) and append_row(self.factor, self.k, cross, gram[j, j] + ridge):
                self.support[self.k] = j
                self.k += 1
            else:
                self.w[j] = 0.0
        self.refresh(gram, moment)

    def refresh(self, gram: np.ndarray, moment: np.ndarray) -> None:
        """Compute q anew: what rounding has gathered in it is gone."""
        used = self.support[: self.k]
        self.q = moment - weighted_rows(gram, used, self.w[used])


def settle(
    gram: Array,
    moment: Array,
    square: Any,
    penalty: float,
    *,
    ridge: float = 0.0,
    tol: float,
    positive: bool = False,
    max_iter: int = 1000,
    state: SignedSupport | None = None,
) -> tuple[Array, int, float]:
    """Minimise ½ wᵀGw - cᵀw + penalty Σ|w_j| + ½ ridge Σ w_j² until the duality gap is at most `tol`.

    With support and signs fixed the minimum is a linear solve. Columns whose correlation exceeds the penalty
    enter, those whose sign would change leave, and the Cholesky factor follows; each step lowers the
    objective, so it ends, and where it ends the answer is exact to rounding. A column that follows from those
    in use changes places with one of them. Arrays of other libraries are solved by coordinate descent.

    Parameters
    ----------
    gram : array (p, p)
    moment : array (p,)
    square : float
        |y|², which turns the objective into half a squared distance.
    penalty : float
        Positive.
    ridge : float
    tol : float
    positive : bool
        Whether negative coefficients are forbidden.
    max_iter : int
    state : SignedSupport, optional
        Where to begin; it is moved to the answer.

    Returns
    -------
    w, n_iter, gap
        `n_iter` is `max_iter` where rounding or the limit ended it above `tol`.

    Examples
    --------
    >>> w, n_iter, gap = settle(np.eye(2), np.array([3.0, 0.5]), 10.0, 1.0, tol=1e-12)
    >>> w, gap
    (array([2., 0.]), 0.0)
    """
    if not is_numpy_array(gram):
        return agnostic(gram, moment, square, penalty, ridge, tol, positive, max_iter, 0.0 * moment)
    from tractable.primitives._compiled.signed_support import settle as compiled

    state = state or _from_nothing(moment)
    state.k, n_iter, gap = compiled(
        gram, moment, float(square), penalty, ridge, tol, positive, max_iter,
        state.w, state.q, state.support, state.factor, state.k,
    )  # fmt: skip
    return state.w.copy(), int(n_iter), float(gap)


def _from_nothing(moment: np.ndarray) -> SignedSupport:
    state = SignedSupport(len(moment), len(moment))
    state.q[:] = moment
    return state
