"""Sparse regression: coordinate descent, active sets, and Cholesky factors that gain and lose rows."""

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives import runs_compiled
from tractable.primitives.sparse import agnostic

__all__ = [
    "SignedSupport",
    "append_row",
    "column_descent",
    "coordinate_sweeps",
    "first_to_enter",
    "follow_knots",
    "remove_row",
    "solve_lasso",
    "solve_rows",
    "weighted_rows",
]


def append_row(factor: np.ndarray, k: int, cross: np.ndarray, own: float) -> bool:
    """Append a row to the Cholesky factor of k columns, in place; return whether the new one is independent.

    Parameters
    ----------
    factor : array (at least k + 1, at least k + 1)
        L in its first k rows, lower triangular.
    k : int
    cross : array (k,)
        Products of the new column with the others.
    own : float
        Its square.

    Examples
    --------
    >>> factor = np.zeros((2, 2))
    >>> append_row(factor, 0, np.empty(0), 4.0), append_row(factor, 1, np.array([2.0]), 10.0)
    (True, True)
    >>> factor
    array([[2., 0.],
           [1., 3.]])
    """
    if not runs_compiled(factor, 1024 * factor.size):
        return agnostic.append_row(factor, k, cross, own)
    from tractable.primitives.sparse.compiled import append_row as compiled

    return bool(compiled(factor, k, cross, own))


def remove_row(factor: np.ndarray, k: int, at: int) -> None:
    """Remove row `at` from the Cholesky factor of k columns, in place, by Givens rotations.

    Examples
    --------
    >>> factor = np.array([[2.0, 0.0], [1.0, 3.0]])
    >>> remove_row(factor, 2, 0)
    >>> bool(np.isclose(factor[0, 0] ** 2, 10.0))
    True
    """
    from tractable.primitives.sparse.compiled import remove_row as kernel

    kernel.for_work(1024 * factor.size)(factor, k, at)


def solve_rows(factor: np.ndarray, b: np.ndarray, k: int) -> np.ndarray:
    """Return x with L Lᵀ x = b (k,), for the first k rows of the factor L.

    Examples
    --------
    >>> solve_rows(np.array([[2.0, 0.0], [1.0, 3.0]]), np.array([4.0, 2.0]), 2)
    array([1., 0.])
    """
    x = np.array(b, dtype=np.float64)
    if not runs_compiled(factor, 1024 * factor.size):
        return agnostic.solve_rows(factor, x, k)
    from tractable.primitives.sparse.compiled import solve_rows as compiled

    compiled(factor, x, k)
    return x


def weighted_rows(matrix: Array, which: Array, weights: Array) -> Array:
    """Return Σ_i weights_i matrix[which_i], (p,), of k rows of a matrix (n, p).

    Examples
    --------
    >>> import numpy as np
    >>> weighted_rows(np.eye(3), np.array([2, 0]), np.array([5.0, 7.0]))
    array([7., 0., 5.])
    """
    if not _reads_rows(matrix):
        return agnostic.weighted_rows(matrix, which, weights)
    from tractable.primitives.sparse.compiled import weighted_rows as compiled

    return compiled(_in_whole_rows(matrix), which, weights, matrix.shape[1])


def _reads_rows(matrix: Array) -> bool:
    """Say whether compiled code reads rows of a matrix, which it would copy where entries lie apart."""
    n, p = matrix.shape
    # A path takes about a step a column, and each reads some of the rows.
    return runs_compiled(matrix, n * p**2) and matrix.dtype == np.float64 and _has_rows(matrix)


def _has_rows(matrix: np.ndarray) -> bool:
    between, beside = matrix.strides
    return beside == matrix.itemsize and between % beside == 0 and between >= matrix.shape[1] * beside


def _in_whole_rows(matrix: np.ndarray) -> np.ndarray:
    """Return an array in C order whose first columns are the matrix: a view where that is a block of rows."""
    if not _has_rows(matrix):
        return np.ascontiguousarray(matrix)
    return as_strided(matrix, (len(matrix), matrix.strides[0] // matrix.itemsize), writeable=False)


def first_to_enter(
    heights: Array, slopes: Array, free: Array, level: float, positive: bool
) -> tuple[int, float]:
    """Return the j whose |heights_j - t slopes_j| reaches level - t first, and that t ≥ 0; infinity if none.

    Parameters
    ----------
    heights, slopes : array (p,)
    free : array (p,) of bool
        Which of them are considered.
    level : float
        Not below any |heights_j|, but for rounding.
    positive : bool
        Whether lines that come from below, meeting -(level - t), do not count.

    Examples
    --------
    >>> import numpy as np
    >>> both = np.array([True, True])
    >>> first_to_enter(np.array([1.0, -1.5]), np.array([0.0, 0.5]), both, 2.0, positive=False)
    (1, 0.3333333333333333)
    """
    if not runs_compiled(heights, 4096 * heights.shape[0]):
        return agnostic.first_to_enter(heights, slopes, free, level, positive)
    from tractable.primitives.sparse.compiled import first_to_enter as compiled

    return compiled(heights, slopes, free, level, positive)


def follow_knots(gram: np.ndarray, *given: Any) -> tuple[int, int, float, float, bool]:
    """Continue a lasso path from knot to knot, as long as at each one column enters or leaves.

    It ends before a knot at which columns come at once or follow from others, and before the last.

    Parameters
    ----------
    gram : array (p, p)
    *given
        What the kernel takes, in its order: of the problem, of the search, its state, and where knots are
        written to.

    Returns
    -------
    n_found, n_active, penalty, renewed, ill_conditioned
        How many knots there are; at the last, the number of columns in use and the penalty; the penalty when
        correlations were computed anew; and whether the last column is nearly dependent on the others.
    """
    from tractable.primitives.sparse.compiled_lars import follow_knots as kernel

    return kernel(_in_whole_rows(gram), *given)


class SignedSupport:
    """The active set of a Lasso: columns in use, in order of entry, and the factor of their Gram matrix.

    Not a value: `solve_lasso` works in its arrays. A path passes it from penalty to penalty.

    Parameters
    ----------
    n_columns : int
    capacity : int
        The most columns that can be independent.
    products : int
        Products of columns that all solutions read, of which this may be the first: many are compiled.
    """

    def __init__(self, n_columns: int, capacity: int, products: int = 0) -> None:
        self.products = products
        self.w = np.zeros(n_columns)
        self.q = np.zeros(n_columns)  # moment - gram w
        self.support = np.zeros(capacity + 1, dtype=np.int64)
        self.factor = np.empty((capacity + 1, capacity + 1))
        self.k = 0

    def restart(self, gram: np.ndarray, moment: np.ndarray, w: np.ndarray, ridge: float = 0.0) -> None:
        """Start from the coefficients w."""
        self.w = np.array(w, dtype=np.float64)
        used = np.flatnonzero(self.w)
        factor = agnostic.whole_factor(gram, used, ridge) if len(used) < len(self.factor) else None
        if factor is not None:
            self.k = len(used)
            self.support[: self.k], self.factor[: self.k, : self.k] = used, factor
            return self.refresh(gram, moment)
        self.k = 0
        for j in used:
            cross = gram[j, self.support[: self.k]]
            if self.k + 1 < len(self.factor) and append_row(self.factor, self.k, cross, gram[j, j] + ridge):
                self.support[self.k] = j
                self.k += 1
            else:
                self.w[j] = 0.0
        return self.refresh(gram, moment)

    def refresh(self, gram: np.ndarray, moment: np.ndarray) -> None:
        """Compute q anew, without accumulated rounding."""
        used = self.support[: self.k]
        self.q = moment - weighted_rows(gram, used, self.w[used])


def solve_lasso(
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
    objective, so it ends, and where it ends the answer is exact to rounding. A column that depends linearly
    on those in use replaces one of them. Arrays of other libraries are solved by coordinate descent.

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
        The start; it is changed to the solution.

    Returns
    -------
    w, n_iter, gap
        `n_iter` is `max_iter` where rounding or the limit ended it above `tol`.

    Examples
    --------
    >>> w, n_iter, gap = solve_lasso(np.eye(2), np.array([3.0, 0.5]), 10.0, 1.0, tol=1e-12)
    >>> w, gap
    (array([2., 0.]), 0.0)
    """
    if not is_numpy_array(gram):
        return agnostic.solve_lasso(
            gram, moment, square, penalty, ridge, tol, positive, max_iter, 0.0 * moment
        )
    from tractable.primitives.sparse.compiled import solve_lasso as kernel

    state = state or _empty_state(moment)
    state.k, n_iter, gap = kernel.for_work(500 * max(len(moment) ** 2, state.products))(
        _in_whole_rows(gram), moment, float(square), penalty, ridge, tol, positive, max_iter,
        state.w, state.q, state.support, state.factor, state.k,
    )  # fmt: skip
    return state.w.copy(), int(n_iter), float(gap)


def _empty_state(moment: np.ndarray) -> SignedSupport:
    state = SignedSupport(len(moment), len(moment))
    state.q[:] = moment
    return state


def coordinate_sweeps(
    hessian: Array,
    slope: Array,
    penalty_weights: Array,
    x: Array,
    n_sweeps: int,
    *,
    positive: bool = False,
) -> tuple[Array, Array]:
    """Lower slopeᵀ(u - x) + ½ (u - x)ᵀ H (u - x) + Σ_j λ_j |u_j|, one coordinate after the other.

    Parameters
    ----------
    hessian : array (m, m)
        Symmetric, positive semi-definite. Coordinates with nothing on the diagonal stay.
    slope, penalty_weights, x : arrays (m,)
        The gradient at the start x, and λ.
    n_sweeps : int
        The most rounds over all coordinates; it ends before where nothing moves.
    positive : bool
        Whether negative coordinates are forbidden.

    Returns
    -------
    u : array (m,)
    q : array (m,)
        The slope of the quadratic there, slope + H (u - x).

    Examples
    --------
    >>> import numpy as np
    >>> coordinate_sweeps(np.eye(2), np.array([-3.0, 0.5]), np.ones(2), np.zeros(2), 5)[0]
    array([2., 0.])
    """
    if not is_numpy_array(hessian):
        return agnostic.coordinate_sweeps(hessian, slope, penalty_weights, x, n_sweeps, positive)
    from tractable.primitives.sparse.compiled import coordinate_sweeps as kernel

    work = 500 * len(slope) ** 2
    return kernel.for_work(work)(hessian, slope, penalty_weights, x, n_sweeps, positive)


def column_descent(
    X: np.ndarray,
    squares: np.ndarray,
    penalty: float,
    ridge: float,
    *,
    tol: float,
    w: np.ndarray,
    residual: np.ndarray,
    positive: bool = False,
    rough: bool = False,
    max_iter: int = 1000,
) -> tuple[float, int]:
    """Lower ½|y - Xw|² + penalty Σ|w_j| + ½ ridge Σ w_j² by coordinate descent, in place.

    Rounds over the coefficients that are not zero follow each round over all, and then the duality gap is
    computed: it ends where that is at most `tol`.

    Parameters
    ----------
    X : array (n, p)
        In column order.
    squares : array (p,)
        Those of the columns; coefficients of zeros stay.
    penalty, ridge : float
    tol : float
    w : array (p,)
        The coefficients, from the start to the end.
    residual : array (n,)
        y - Xw, likewise.
    positive : bool
        Whether negative coefficients are forbidden.
    rough : bool
        Whether the gap is that of the better of two dual points, if there is a ridge: it is smaller far from
        the minimum, and says less of the coefficients.
    max_iter : int
        The most rounds over all coefficients.

    Returns
    -------
    gap, n_iter
        The duality gap, and the rounds over all coefficients that took as long.

    Examples
    --------
    >>> w, residual = np.zeros(2), np.array([3.0, 0.5])
    >>> gap, _ = column_descent(np.eye(2, order="F"), np.ones(2), 1.0, 0.0, tol=1e-9, w=w, residual=residual)
    >>> w, residual, gap
    (array([2., 0.]), array([1. , 0.5]), 0.0)
    """
    from tractable.primitives.sparse.compiled import column_descent as kernel

    gap, n_iter = kernel.for_work(200 * X.size)(
        X.T, squares, penalty, ridge, positive, tol, rough, max_iter, w, residual
    )
    return float(gap), int(np.ceil(n_iter))
