"""Cholesky factors and inverses of large matrices, in the memory of the matrix itself.

LAPACK does it on the host. On devices the libraries' own functions return new matrices, and take as much to
work in; here a matrix is factored and inverted a block of rows at a time, by matrix products.
"""

import numpy as np

from tractable.arrays.linalg import inv_triangular, solve_triangular, try_cholesky
from tractable.arrays.namespace import Array, is_numpy_array, is_torch_array, namespace_of

#: Rows of a block: those of the work between products, which is slower than they are.
BLOCK = 2048

#: Blocks of columns into which a product with a triangle is cut: zeros above it cost 1/PARTS of the work.
PARTS = 8


def add_to_diagonal(a: Array, numbers: Array) -> Array:
    """Return a matrix with numbers added to its diagonal; arrays that can be changed are.

    Examples
    --------
    >>> add_to_diagonal(np.zeros((2, 2)), np.ones(2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if is_numpy_array(a):
        a[np.diag_indices(len(a))] += numbers
        return a
    xp = namespace_of(a)
    if is_torch_array(a):
        diagonal = xp.linalg.diagonal(a)  # a view
        diagonal += numbers
        return a
    eye = xp.eye(a.shape[0], dtype=xp.bool)
    return xp.where(eye, a + numbers, a)


def cholesky_in_place(a: Array) -> tuple[Array, bool]:
    """Return the lower factor of a large positive definite matrix, and whether all pivots are above rounding.

    The matrix, in C order where it is one of NumPy, is overwritten; its entries above the diagonal are not
    read, and zero afterwards.

    Examples
    --------
    >>> cholesky_in_place(np.array([[4.0, 2.0], [2.0, 5.0]]))
    (array([[2., 0.],
           [1., 2.]]), True)
    """
    xp, n = namespace_of(a), a.shape[0]
    floor = n * float(np.finfo(np.float64).eps) * xp.linalg.diagonal(a)
    if is_numpy_array(a):
        from scipy.linalg import lapack

        # The transpose of a matrix in rows is one in columns, as LAPACK has them, and is overwritten.
        _, info = lapack.dpotrf(a.T, lower=0, clean=1, overwrite_a=1)
        return a, info == 0 and bool(np.all(a.diagonal() ** 2 > floor))
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        if start:
            panel = a[start:, start:stop]
            panel -= a[start:, :start] @ a[start:stop, :start].T
        corner, good = try_cholesky(xp, xp.tril(a[start:stop, start:stop]))
        a[start:stop, start:stop] = corner
        if not bool(good):
            return a, False
        if stop < n:
            a[stop:, start:stop] = solve_triangular(corner, a[stop:, start:stop].T).T
            a[start:stop, stop:] = xp.zeros_like(a[start:stop, stop:])
    return a, bool(xp.all(xp.linalg.diagonal(a) ** 2 > floor))


def inverse_in_place(lower: Array) -> Array:
    """Return (L Lᵀ)⁻¹ of a Cholesky factor, which is overwritten: the lower triangle is that of the inverse.

    Parameters
    ----------
    lower : array (n, n)
        L, in C order where it is one of NumPy, and with zeros above the diagonal where it is not.

    Examples
    --------
    >>> np.tril(inverse_in_place(np.array([[1.0, 0.0], [1.0, 0.5]])))
    array([[ 5.,  0.],
           [-4.,  4.]])
    """
    if is_numpy_array(lower):
        from scipy.linalg import lapack

        lapack.dpotri(lower.T, lower=0, overwrite_c=1)
        return lower
    xp, n = namespace_of(lower), lower.shape[0]
    blocks = [(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]
    # M = L⁻¹, a block of rows after the other: M_i = -L_ii⁻¹ L_i M, where L_i is no longer needed once the
    # columns of M up to it are known.
    for start, stop in blocks:
        corner = xp.tril(lower[start:stop, start:stop])
        step = max(BLOCK, -(-start // PARTS))
        for a in range(0, start, step):
            e = min(a + step, start)
            rest = lower[start:stop, a:start] @ lower[a:start, a:e]
            lower[start:stop, a:e] = -solve_triangular(corner, rest)
        lower[start:stop, start:stop] = xp.tril(inv_triangular(corner))
    # MᵀM, whose rows i need the rows of M from i on.
    for start, stop in blocks:
        lower[start:stop, :stop] = lower[start:, start:stop].T @ lower[start:, :stop]
    return lower
