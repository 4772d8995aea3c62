"""The Cholesky factor of a Gram matrix whose columns come and go, one at a time."""

import numpy as np

__all__ = ["append_row", "remove_row", "solve_rows"]


def append_row(factor: np.ndarray, k: int, cross: np.ndarray, own: float) -> bool:
    """Give L Lᵀ, of k columns, one more, in place; say whether it is independent of those.

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
    from tractable.primitives._compiled.cholesky_rows import append_row as compiled

    return bool(compiled(factor, k, cross, own))


def remove_row(factor: np.ndarray, k: int, at: int) -> None:
    """Take column `at` out of L Lᵀ, of k columns, in place, by Givens rotations.

    Parameters
    ----------
    factor : array (at least k, at least k)
    k, at : int

    Examples
    --------
    >>> factor = np.array([[2.0, 0.0], [1.0, 3.0]])
    >>> remove_row(factor, 2, 0)
    >>> bool(np.isclose(factor[0, 0] ** 2, 10.0))
    True
    """
    from tractable.primitives._compiled.cholesky_rows import remove_row as compiled

    compiled(factor, k, at)


def solve_rows(factor: np.ndarray, b: np.ndarray, k: int) -> np.ndarray:
    """Return x with L Lᵀ x = b, for the first k rows of L.

    Parameters
    ----------
    factor : array (at least k, at least k)
    b : array (k,)
    k : int

    Examples
    --------
    >>> solve_rows(np.array([[2.0, 0.0], [1.0, 3.0]]), np.array([4.0, 2.0]), 2)
    array([1., 0.])
    """
    from tractable.primitives._compiled.cholesky_rows import solve_rows as compiled

    x = np.array(b, dtype=np.float64)
    compiled(factor, x, k)
    return x
