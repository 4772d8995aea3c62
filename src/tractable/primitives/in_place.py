"""Cholesky factors and inverses of large matrices, in the memory of the matrix itself.

On the host a matrix is cut into quarters, and those again, down to blocks that LAPACK works on; all threads
share the products between them, each with one thread of BLAS. Results are the same whatever the number of
threads, and where other processes use the cores too, no thread waits in the middle of a product for another.
Matrices of very many rows are left to LAPACK on threads of BLAS, which on an idle machine are faster.

On devices the libraries' own functions return new matrices, and take as much to work in; here a matrix is
factored and inverted a block of rows at a time, by matrix products.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from tractable.arrays.foreign import call, routine
from tractable.arrays.linalg import inv_triangular, solve_triangular, try_cholesky
from tractable.arrays.namespace import Array, is_numpy_array, is_torch_array, namespace_of
from tractable.primitives.threads import blas_for_rows, ordered_map

#: Rows of a block that is worked on by one thread, and the fewest and most rows of a matrix that is shared.
HOST_BLOCK, LEAST_ROWS, MOST_ROWS = 512, 960, 4096

#: Rows or columns of a product that a thread takes at least, and how many parts are made of more.
LEAST_PART, PARTS = 128, 16

#: Rows of a block on a device: those of the work between products, which is slower than they are.
BLOCK = 2048

#: Blocks of columns into which a product with a triangle is cut there: zeros cost 1/TRIANGLE_PARTS of it.
TRIANGLE_PARTS = 8


def add_to_diagonal(a: Array, numbers: Array) -> Array:
    """Return a matrix with numbers added to its diagonal; arrays that can be changed are.

    Examples
    --------
    >>> add_to_diagonal(np.zeros((2, 2)), np.ones(2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if is_numpy_array(a):
        diagonal = np.einsum("ii->i", a)  # a view
        diagonal += numbers
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

    The matrix is overwritten, unless it is one of NumPy that is not of doubles in C order, which is copied.
    Its entries above the diagonal are not read, and zero in a factor.

    Examples
    --------
    >>> cholesky_in_place(np.array([[4.0, 2.0], [2.0, 5.0]]))
    (array([[2., 0.],
           [1., 2.]]), True)
    """
    a = _doubles(a) if is_numpy_array(a) else a
    xp, n = namespace_of(a), a.shape[0]
    floor = n * float(np.finfo(np.float64).eps) * xp.linalg.diagonal(a)
    if is_numpy_array(a):
        with blas_for_rows(n):
            found = _factor(a) if _runs_in_parallel(a) else _lapack("dpotrf", a, clean=1, overwrite_a=1) == 0
        return a, found and bool(np.all(a.diagonal() ** 2 > floor))
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
        L, with zeros above the diagonal. It is copied where `cholesky_in_place` would copy it.

    Examples
    --------
    >>> np.tril(inverse_in_place(np.array([[1.0, 0.0], [1.0, 0.5]])))
    array([[ 5.,  0.],
           [-4.,  4.]])
    """
    if is_numpy_array(lower):
        lower = _doubles(lower)
        with blas_for_rows(len(lower)):
            if _runs_in_parallel(lower):
                _invert(lower)
                _square(lower)
            else:
                _lapack("dpotri", lower, overwrite_c=1)
        return lower
    xp, n = namespace_of(lower), lower.shape[0]
    blocks = [(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]
    # M = L⁻¹, a block of rows after the other: M_i = -L_ii⁻¹ L_i M, where L_i is no longer needed once the
    # columns of M up to it are known.
    for start, stop in blocks:
        corner = xp.tril(lower[start:stop, start:stop])
        step = max(BLOCK, -(-start // TRIANGLE_PARTS))
        for a in range(0, start, step):
            e = min(a + step, start)
            rest = lower[start:stop, a:start] @ lower[a:start, a:e]
            lower[start:stop, a:e] = -solve_triangular(corner, rest)
        lower[start:stop, start:stop] = xp.tril(inv_triangular(corner))
    # MᵀM, whose rows i need the rows of M from i on.
    for start, stop in blocks:
        lower[start:stop, :stop] = lower[start:, start:stop].T @ lower[start:, :stop]
    return lower


# On the host. BLAS and LAPACK read columns: a matrix in rows is its own transpose there, and a lower triangle
# an upper one.


def _factor(a: np.ndarray) -> bool:
    """Turn A into L: L₁₁L₁₁ᵀ = A₁₁, L₂₁ = A₂₁L₁₁⁻ᵀ, L₂₂L₂₂ᵀ = A₂₂ - L₂₁L₂₁ᵀ; False where it has none."""
    n, ld = len(a), _leading_dimension(a)
    if n <= HOST_BLOCK:
        found = _call("dpotrf", "U", n, a, ld, 0) == 0
        a[...] = np.tril(a)
        return found
    first, below, last, h = _quarters(a)

    def solve(rows: slice) -> None:
        _call("dtrsm", "L", "U", "T", "N", h, _size(rows), 1.0, first, ld, below[rows], ld)

    def subtract(rows: slice) -> None:
        part, size = below[rows], _size(rows)
        _call("dgemm", "T", "N", rows.start, size, h, -1.0, below, ld, part, ld, 1.0, last[rows], ld)
        _call("dsyrk", "U", "T", size, h, -1.0, part, ld, 1.0, last[rows, rows], ld)

    if not _factor(first):
        return False
    _in_parallel(solve, n - h)
    _in_parallel(subtract, n - h)
    a[:h, h:] = 0.0
    return _factor(last)


def _invert(lower: np.ndarray) -> None:
    """Turn L into M = L⁻¹: M₁₁ = L₁₁⁻¹, M₂₂ = L₂₂⁻¹, M₂₁ = -M₂₂L₂₁M₁₁."""
    n, ld = len(lower), _leading_dimension(lower)
    if n <= HOST_BLOCK:
        _call("dtrtri", "U", "N", n, lower, ld, 0)
        return
    first, below, last, h = _quarters(lower)

    def from_left(columns: slice) -> None:
        of = "dtrmm", "R", "U", "N", "N", _size(columns), n - h
        _call(*of, -1.0, last, ld, below[:, columns], ld)

    def from_right(rows: slice) -> None:
        _call("dtrmm", "L", "U", "N", "N", h, _size(rows), 1.0, first, ld, below[rows], ld)

    _invert(first)
    _invert(last)
    _in_parallel(from_left, h)
    _in_parallel(from_right, n - h)


def _square(m: np.ndarray) -> None:
    """Turn a lower triangle M into that of S = MᵀM: S₁₁ = M₁₁ᵀM₁₁ + M₂₁ᵀM₂₁, S₂₁ = M₂₂ᵀM₂₁, S₂₂ = M₂₂ᵀM₂₂."""
    n, ld = len(m), _leading_dimension(m)
    if n <= HOST_BLOCK:
        _call("dlauum", "U", n, m, ld, 0)
        return
    first, below, last, h = _quarters(m)

    def add(rows: slice) -> None:
        part, size, k = below[:, rows], _size(rows), n - h
        _call("dgemm", "N", "T", rows.start, size, k, 1.0, below, ld, part, ld, 1.0, first[rows], ld)
        _call("dsyrk", "U", "N", size, k, 1.0, part, ld, 1.0, first[rows, rows], ld)

    def from_left(columns: slice) -> None:
        of = "dtrmm", "R", "U", "T", "N", _size(columns), n - h
        _call(*of, 1.0, last, ld, below[:, columns], ld)

    _square(first)
    _in_parallel(add, h)
    _in_parallel(from_left, h)
    _square(last)


def _quarters(a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Return the quarters A₁₁, A₂₁ and A₂₂, and the size of the first."""
    h = len(a) // 2
    return a[:h, :h], a[h:, :h], a[h:, h:], h


def _in_parallel(of: Callable[[slice], None], n: int) -> None:
    """Call a function with each part of n rows or columns, on all threads; the last part may be most work."""
    step = max(LEAST_PART, -(-n // PARTS))
    parts = [slice(start, min(start + step, n)) for start in range(0, n, step)]
    for _ in ordered_map(of, parts[::-1]):
        pass


def _leading_dimension(a: np.ndarray) -> int:
    """Return how many numbers lie between the beginnings of two rows, as BLAS calls it."""
    return a.strides[0] // a.itemsize


def _size(part: slice) -> int:
    return part.stop - part.start


def _runs_in_parallel(a: np.ndarray) -> bool:
    """Return whether threads share the work, by routines that are called without the interpreter's lock."""
    return LEAST_ROWS <= len(a) <= MOST_ROWS and routine("dgemm", 13) is not None


def _doubles(a: np.ndarray) -> np.ndarray:
    """Return a matrix that BLAS can overwrite: itself, or a copy where it is of other numbers or order."""
    return np.require(a, np.float64, ["C", "W"])


def _call(name: str, *arguments: Any) -> int:
    """Call a routine without the interpreter's lock, and return the last of its arguments."""
    return call(cast("Callable[..., None]", routine(name, len(arguments))), *arguments)


def _lapack(name: str, a: np.ndarray, **options: int) -> int:
    """Call SciPy's function of a whole matrix, which overwrites it, and return what it says of it."""
    from scipy.linalg import lapack

    return int(getattr(lapack, name)(a.T, lower=0, **options)[1])
