"""A few of the largest eigenvalues of a large symmetric matrix, and their vectors."""

from collections.abc import Callable

import numpy as np

from tractable.primitives.threads import single_threaded_blas


def symmetric_product(lower: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function v ↦ A v of a symmetric matrix (n, n), of which the lower triangle alone is read.

    Half of the entries are half of the time: a product of a matrix and a vector waits for memory.

    Examples
    --------
    >>> symmetric_product(np.array([[1.0, 99.0], [2.0, 3.0]]))(np.array([1.0, 1.0])).tolist()
    [3.0, 5.0]
    """
    from scipy.linalg.blas import dsymv

    upper = np.asarray(lower, dtype=np.float64).T  # in Fortran's order, without a copy
    return lambda v: dsymv(1.0, upper, v, lower=0)


def lanczos(
    multiply: Callable[[np.ndarray], np.ndarray], n: int, k: int, *, tol: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the k < n largest eigenvalues of a symmetric matrix, in falling order, and unit vectors, (n, k).

    The implicitly restarted Lanczos method (ARPACK), to rounding: some tens of products with the matrix, for
    few eigenvectors of thousands a small part of the work of all. The start is the same in every call.

    Parameters
    ----------
    multiply : callable
        v ↦ A v of a vector (n,).
    n : int
        Number of rows of A.
    k : int
        How many.
    tol : float
        Residual of a vector, relative to its eigenvalue, at which it is found; 0 is rounding.

    Examples
    --------
    >>> values, vectors = lanczos(symmetric_product(np.diag([1.0, 5.0, 3.0, 2.0])), 4, 2)
    >>> values.round(12).tolist(), np.abs(vectors[:, 0]).round(12).tolist()
    ([5.0, 3.0], [0.0, 1.0, 0.0, 0.0])
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    def of(v: np.ndarray) -> np.ndarray:
        return multiply(np.ascontiguousarray(v).ravel())

    start = np.random.default_rng(0).uniform(-1.0, 1.0, size=n)
    if not np.any(of(start)):  # a matrix of zeros, which the method refuses
        return np.zeros(k), np.eye(n, k)
    # Threads of BLAS wait for memory, and for each other.
    with single_threaded_blas():
        operator = LinearOperator((n, n), matvec=of, dtype=np.float64)
        values, vectors = eigsh(operator, k=k, which="LA", v0=start, tol=tol)
    order = np.argsort(values)[::-1]
    return values[order], vectors[:, order]
