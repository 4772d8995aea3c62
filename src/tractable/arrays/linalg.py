"""Linear algebra for every array library: Cholesky factors, triangular systems, rank-one updates, blocks.

Symmetric matrices are first brought to a diagonal near one, so that no answer depends on the units of
a variable.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from tractable.arrays.foreign import call, routine
from tractable.arrays.limits import power_of_two
from tractable.arrays.namespace import (
    Array,
    all_true,
    any_true,
    as_float_array,
    device,
    is_numpy_array,
    is_torch_array,
    namespace_of,
)
from tractable.value import value

__all__ = [
    "Factor",
    "block_inverse",
    "cholesky",
    "diagonals",
    "factor_if_definite",
    "inv_triangular",
    "is_pd",
    "is_psd",
    "jittered_cholesky",
    "log_det_cholesky",
    "product",
    "rank_one_update",
    "schur_complement",
    "sherman_morrison",
    "solve_cholesky",
    "solve_triangular",
    "symmetrize",
]

#: Sums of squares above lost nothing that counts to underflow; those below its inverse did not overflow.
SMALLEST_SQUARE = 1e-280

#: Triangular matrices so small are inverted many at a time.
FEW_COLUMNS = 8

#: Operations from which on a triangular system is solved, or a triangle multiplied, without the interpreter's
#: lock: a call of a foreign function takes microseconds.
LARGE_SYSTEM = 2**20

#: Rows from which on a triangular system of torch is solved block by block.
LARGE = 4096

_STEP = 8.0  # ratio of the ladder of jitters: a power of two, so that every rung is exact


@value
class Factor:
    """A lower factor with L Lᵀ = A + diag(jitter); `jitter` is exactly zero where none was needed."""

    lower: Array  # (..., d, d)
    jitter: Array  # (..., d)


def column_lengths(a: Array) -> Array:
    """Return the Euclidean lengths of the columns; squares neither overflow nor underflow."""
    xp = namespace_of(a)
    if not a.shape[0]:
        return xp.sum(a, axis=0)
    if type(a) is np.ndarray and a.size and a.dtype == np.float64:
        squares = np.einsum("ij,ij->j", a, a)
        if squares.min() > SMALLEST_SQUARE and squares.max() < 1.0 / SMALLEST_SQUARE:
            return np.sqrt(squares)
    peak = xp.max(xp.abs(a), axis=0)
    peak = xp.where(peak > 0, peak, xp.ones_like(peak))
    return peak * xp.sqrt(xp.sum((a / peak) ** 2, axis=0))


def column_squares(a: Array) -> Array:
    """Return the sum of the squares of each column.

    Examples
    --------
    >>> column_squares(np.array([[3.0, 1.0], [4.0, 0.0]])).tolist()
    [25.0, 1.0]
    """
    return np.einsum("ij,ij->j", a, a) if is_numpy_array(a) else namespace_of(a).sum(a * a, axis=0)


def product(a: Array, b: Array) -> Array:
    """Return a @ b of vectors and matrices, for blocks of rows on several threads.

    NumPy's `@` holds the interpreter lock where the product is small, however many rows it sums over; its
    `dot` releases it.

    Examples
    --------
    >>> product(np.ones(3), np.eye(3)[:, :2]).tolist()
    [1.0, 1.0]
    """
    return np.dot(a, b) if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) else a @ b


def cholesky(a: Array, *, name: str = "matrix") -> Array:
    """Return the lower factor of a positive definite matrix, A = L Lᵀ.

    A matrix whose smallest pivot is lost in rounding counts as singular: no digit of its log-determinant
    would be right. Use `jittered_cholesky` where singular matrices must be coped with.

    Parameters
    ----------
    a : array (..., d, d)
        Symmetric positive definite matrices, of any scale.
    name : str
        What to call the matrix in an error.

    Examples
    --------
    >>> import numpy as np
    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    """
    xp, scale, scaled = _symmetric(a, name)
    lower, good = try_cholesky(xp, scaled)
    if not all_true(good):
        raise ValueError(f"{name} must be positive definite{_where(xp, good)}")
    return _unscaled(xp, scale, lower)


def jittered_cholesky(a: Array, *, max_jitter: float | None = None, name: str = "matrix") -> Factor:
    """Return the factor of A + diag(jitter), with the least jitter of a geometric ladder that succeeds.

    The ladder is relative to the diagonal, so the answer does not depend on units: scaling a variable scales
    its jitter. An entry of zero variance borrows the scale of the largest one.

    Parameters
    ----------
    a : array (..., d, d)
        Symmetric matrices, positive semi-definite up to rounding.
    max_jitter : float, optional
        The largest jitter to try, relative to the diagonal; by default the square root of the machine
        epsilon. A matrix that needs more is indefinite, and a ValueError.
    name : str
        What to call the matrix in an error.

    Examples
    --------
    >>> import numpy as np
    >>> jittered_cholesky(np.array([[9.0, -15.0], [-15.0, 25.0]])).jitter.round(14)
    array([2.e-14, 4.e-14])
    """
    xp, scale, scaled = _symmetric(a, name)
    lower, good = try_cholesky(xp, scaled)
    if all_true(good):
        return Factor(lower=_unscaled(xp, scale, lower), jitter=xp.zeros_like(scale))
    d = scaled.shape[-1]
    diagonal = xp.linalg.diagonal(scaled)
    weight = xp.where(diagonal > 0.0, diagonal, xp.ones_like(diagonal))
    identity = xp.eye(d, dtype=scaled.dtype, device=device(scaled))
    relative = xp.zeros_like(diagonal[..., 0]) if d else xp.sum(diagonal, axis=-1)
    for rung in _ladder(d, float(xp.finfo(scaled.dtype).eps), max_jitter):
        if bool(xp.all(good)):
            break
        relative = xp.where(good, relative, xp.full_like(relative, rung))
        retried, fine = try_cholesky(xp, scaled + (weight * relative[..., None])[..., None] * identity)
        lower = xp.where(good[..., None, None], lower, retried)
        good = good | fine
    if not bool(xp.all(good)):
        raise ValueError(f"{name} must be positive semi-definite{_where(xp, good)}")
    return Factor(lower=_unscaled(xp, scale, lower), jitter=scale**2 * weight * relative[..., None])


def factor_if_definite(a: Array, *, name: str = "matrix") -> tuple[Array, Array]:
    """Return the lower factor of each matrix of a batch, and whether it has one: `cholesky` without errors.

    Examples
    --------
    >>> factor_if_definite(np.array([[4.0, 2.0], [2.0, 5.0]]))[1], factor_if_definite(np.ones((2, 2)))[1]
    (np.True_, np.False_)
    """
    xp, scale, scaled = _symmetric(a, name)
    lower, good = try_cholesky(xp, scaled)
    return _unscaled(xp, scale, lower), good


def is_psd(a: Array, *, tol: float | None = None) -> Array:
    """Return whether xᵀAx ≥ 0 for every x: A is symmetric and no eigenvalue is negative.

    Parameters
    ----------
    a : array (..., d, d)
        Square matrices, of any scale.
    tol : float, optional
        How far below zero an eigenvalue may fall, as a share of the largest, once rows and columns are
        scaled to a diagonal near one; by default 10 d times the machine epsilon.

    Returns
    -------
    array of bool (...)

    Examples
    --------
    >>> import numpy as np
    >>> is_psd(np.array([[[9.0, -15.0], [-15.0, 25.0]], [[1.0, 2.0], [2.0, 1.0]]]))
    array([ True, False])
    """
    xp, _, scaled = equilibrated(a, "a")
    if not scaled.shape[-1]:
        return ~asymmetric(xp, scaled)
    share = 10.0 * scaled.shape[-1] * float(xp.finfo(scaled.dtype).eps) if tol is None else tol
    eigenvalues = xp.linalg.eigvalsh(symmetrize(scaled))
    largest = xp.max(xp.abs(eigenvalues), axis=-1)
    return ~asymmetric(xp, scaled) & (xp.min(eigenvalues, axis=-1) >= -share * largest)


def is_pd(a: Array) -> Array:
    """Return whether xᵀAx > 0 for every x other than 0: whether `cholesky` has a factor for A.

    Examples
    --------
    >>> import numpy as np
    >>> is_pd(np.array([[[9.0, -15.0], [-15.0, 25.0]], [[2.0, 1.0], [1.0, 2.0]]]))
    array([False,  True])
    """
    xp, _, scaled = equilibrated(a, "a")
    _, good = try_cholesky(xp, symmetrize(scaled))
    return ~asymmetric(xp, scaled) & good


def symmetrize(a: Array) -> Array:
    """Return ½ (A + Aᵀ).

    Examples
    --------
    >>> import numpy as np
    >>> symmetrize(np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([[1., 1.],
           [1., 1.]])
    """
    return 0.5 * a + 0.5 * namespace_of(a).matrix_transpose(a)


def solve_triangular(lower: Array, b: Array, *, transposed: bool = False) -> Array:
    """Solve L X = B, or Lᵀ X = B, by substitution; batches broadcast.

    Parameters
    ----------
    lower : array (..., d, d)
        The lower triangle; entries above the diagonal are not read.
    b : array (..., d, k)
        Right-hand sides, one a column.
    transposed : bool
        Solve with Lᵀ instead.

    Examples
    --------
    >>> import numpy as np
    >>> solve_triangular(np.array([[2.0, 0.0], [1.0, 4.0]]), np.array([[2.0], [5.0]])).ravel()
    array([1., 1.])
    """
    plain = type(lower) is np.ndarray and type(b) is np.ndarray and lower.ndim == b.ndim == 2
    if plain and lower.dtype == b.dtype == np.float64 and lower.shape[0] == lower.shape[1] == b.shape[0]:
        return _trsm(lower, b, transposed)  # nothing to convert: of small systems, half of the work
    xp = namespace_of(lower, b)
    lower, b = as_float_array(lower, xp), as_float_array(b, xp)
    if lower.ndim < 2 or b.ndim < 2 or not lower.shape[-2] == lower.shape[-1] == b.shape[-2]:
        raise ValueError(f"b must be (..., d, k) for a factor (..., d, d), got {b.shape} and {lower.shape}")
    if is_torch_array(lower):
        return _torch_solve(lower, b, transposed)
    if is_numpy_array(lower):
        return _numpy_solve(lower, b, transposed)
    return _substituted(xp, lower, b, transposed)


def inv_triangular(lower: Array) -> Array:
    """Return L⁻¹ of lower triangular matrices, (..., d, d), in a third of the work of a solution for I.

    Examples
    --------
    >>> import numpy as np
    >>> inv_triangular(np.array([[2.0, 0.0], [1.0, 4.0]]))
    array([[ 0.5  ,  0.   ],
           [-0.125,  0.25 ]])
    """
    xp = namespace_of(lower)
    lower = as_float_array(lower, xp)
    d = lower.shape[-1]
    if is_numpy_array(lower) and d > 0 and prod(lower.shape[:-2]) > d:
        if not diagonals(lower).all():
            raise ValueError("a triangular matrix with a zero on its diagonal has no inverse")
        found = np.zeros_like(lower)
        _invert(lower, found)
        return found
    if not is_numpy_array(lower) or d <= FEW_COLUMNS:
        identity = xp.eye(d, dtype=lower.dtype, device=device(lower))
        return solve_triangular(lower, xp.broadcast_to(identity, lower.shape))
    from scipy.linalg import get_lapack_funcs

    (trtri,) = get_lapack_funcs(("trtri",), (lower,))
    found = np.tril(lower)
    for matrix in found.reshape(-1, d, d):
        # The transpose of a matrix in rows is one in columns, as LAPACK has them, and is overwritten.
        _, info = trtri(matrix.T, lower=0, overwrite_c=1)
        if info > 0:
            raise ValueError("a triangular matrix with a zero on its diagonal has no inverse")
    return found


def _invert(lower: np.ndarray, found: np.ndarray) -> None:
    """Write the inverses of many small triangles: [[A, 0], [B, C]]⁻¹ = [[A⁻¹, 0], [-C⁻¹ B A⁻¹, C⁻¹]]."""
    d = lower.shape[-1]
    if d == 1:
        np.divide(1.0, lower, out=found)
        return
    half = d // 2
    head, tail = found[..., :half, :half], found[..., half:, half:]
    _invert(lower[..., :half, :half], head)
    _invert(lower[..., half:, half:], tail)
    np.matmul(tail, -(lower[..., half:, :half] @ head), out=found[..., half:, :half])


def times_triangle(rows: np.ndarray, lower: np.ndarray, *, transposed: bool = False) -> np.ndarray:
    """Overwrite rows A (n, d), stored row by row, with A L or A Lᵀ and return them: half a product's work.

    Examples
    --------
    >>> lower = np.array([[3.0, 0.0], [4.0, 5.0]])
    >>> [times_triangle(np.array([[1.0, 2.0]]), lower, transposed=t).tolist() for t in (False, True)]
    [[[11.0, 10.0]], [[3.0, 14.0]]]
    """
    (n, d), found = rows.shape, routine("dtrmm", 11)
    if found is None or n * d * d < LARGE_SYSTEM or not lower.flags.c_contiguous:
        rows[...] = product(rows, lower.T if transposed else lower)
    else:
        # What is stored by rows is its own transpose where columns are read: Lᵀ, upper, and Aᵀ.
        call(found, "L", "U", "T" if transposed else "N", "N", d, n, 1.0, lower, d, rows, d)
    return rows


def solve_cholesky(lower: Array, b: Array) -> Array:
    """Solve L Lᵀ X = B, given the Cholesky factor of a positive definite matrix.

    Examples
    --------
    >>> import numpy as np
    >>> solve_cholesky(np.array([[2.0, 0.0], [0.0, 3.0]]), np.array([[4.0], [9.0]])).ravel()
    array([1., 1.])
    """
    return solve_triangular(lower, solve_triangular(lower, b), transposed=True)


def jitters(d: int, size: float) -> Iterator[float]:
    """Yield zero, and then the ladder of `jittered_cholesky` for a matrix (d, d) of that size.

    Examples
    --------
    >>> [float(f"{jitter:.1g}") for jitter in jitters(2, 1.0)][:3]
    [0.0, 2e-15, 1e-14]
    """
    yield 0.0
    yield from (size * rung for rung in _ladder(d, float(np.finfo(np.float64).eps), None))


def log_det_cholesky(lower: Array) -> Array:
    """Return log |L Lᵀ| = 2 Σ log L_ii.

    Examples
    --------
    >>> import numpy as np
    >>> float(log_det_cholesky(np.diag([1.0, np.e])))
    2.0
    """
    xp = namespace_of(lower)
    return 2.0 * xp.sum(xp.log(xp.linalg.diagonal(lower)), axis=-1)


def rank_one_update(lower: Array, v: Array, weight: float | Array = 1.0) -> Array:
    """Return the Cholesky factor of L Lᵀ + w v vᵀ, in O(d²).

    With p = L⁻¹ v and b_j = 1 + w Σ_{i≤j} p_i², the factor of I + w p pᵀ has diagonal √(b_j / b_{j-1}) and
    entries w p_i p_j / √(b_j b_{j-1}) below it (Gill, Golub, Murray & Saunders 1974); its product with L is a
    running sum.

    Parameters
    ----------
    lower : array (..., d, d)
        Cholesky factors.
    v : array (..., d)
        Directions; batches broadcast.
    weight : float or array (...)
        Negative weights take an observation away; a ValueError if nothing positive definite remains.

    Examples
    --------
    >>> import numpy as np
    >>> rank_one_update(np.eye(2), np.array([0.0, 2.0]), weight=2.0)
    array([[1., 0.],
           [0., 3.]])
    """
    xp = namespace_of(lower, v)
    lower, v = as_float_array(lower, xp), as_float_array(v, xp)
    w = xp.asarray(weight, dtype=v.dtype, device=device(v))[..., None]
    if not bool(xp.all(xp.isfinite(v))):
        raise ValueError("v must be finite")
    if not bool(xp.all(xp.isfinite(w))):
        raise ValueError("weight must be finite")
    p = solve_triangular(lower, v[..., None])[..., 0]
    after = 1.0 + w * xp.cumulative_sum(p**2, axis=-1)
    # The part of b that rounding may have made: beyond it, a downdate has left nothing.
    if not bool(xp.all(after > p.shape[-1] * float(xp.finfo(p.dtype).eps))):
        raise ValueError("weight must leave the matrix positive definite")
    # Shifted sums, not differences of sums: a large update must not cancel against what it was added to.
    before = xp.concat([xp.ones_like(after[..., :1]), after[..., :-1]], axis=-1)
    tails = xp.flip(xp.cumulative_sum(xp.flip(lower * p[..., None, :], axis=-1), axis=-1), axis=-1)
    beyond = xp.concat([tails[..., 1:], xp.zeros_like(tails[..., :1])], axis=-1)
    stretch = xp.sqrt(after / before)
    share = w * p / xp.sqrt(after) / xp.sqrt(before)
    return lower * stretch[..., None, :] + beyond * share[..., None, :]


def sherman_morrison(inverse: Array, u: Array, v: Array | None = None) -> Array:
    """Return (A + u vᵀ)⁻¹ = A⁻¹ - A⁻¹ u vᵀ A⁻¹ / (1 + vᵀ A⁻¹ u), given A⁻¹.

    Parameters
    ----------
    inverse : array (..., d, d)
        A⁻¹, which need not be symmetric.
    u, v : array (..., d)
        The update; `v` is `u` where it is not given.

    Examples
    --------
    >>> import numpy as np
    >>> sherman_morrison(np.eye(2), np.array([1.0, 0.0]))
    array([[0.5, 0. ],
           [0. , 1. ]])
    """
    v = u if v is None else v
    xp = namespace_of(inverse, u, v)
    inverse, u, v = (as_float_array(x, xp) for x in (inverse, u, v))
    right = inverse @ u[..., None]
    left = v[..., None, :] @ inverse
    pivot = 1.0 + v[..., None, :] @ right
    if not bool(xp.all(xp.isfinite(pivot) & (pivot != 0.0))):
        raise ValueError("u and v must be finite and leave the matrix invertible")
    return inverse - right @ left / pivot


def schur_complement(a: Array, keep: Sequence[int]) -> Array:
    """Return A_kk - A_kr A_rr⁻¹ A_rk: of a covariance, the covariance of k given the rest.

    Its inverse is the block Λ_kk of the precision, Bishop (2.79).

    Parameters
    ----------
    a : array (..., d, d)
        Symmetric matrices, positive definite on the indices that are not kept.
    keep : sequence of int
        The indices k, in the order wanted.

    Examples
    --------
    >>> import numpy as np
    >>> schur_complement(np.array([[2.0, 1.0], [1.0, 4.0]]), [0])
    array([[1.75]])
    """
    xp = namespace_of(a)
    a = as_float_array(a, xp)
    kept = _indices(keep, a.shape[-1])
    rest = [i for i in range(a.shape[-1]) if i not in set(kept)]
    lower = cholesky(_block(xp, a, rest, rest), name="the block of a that is not kept")
    white = solve_triangular(lower, _block(xp, a, rest, kept))
    return symmetrize(_block(xp, a, kept, kept)) - xp.matrix_transpose(white) @ white


def block_inverse(a: Array, n_first: int) -> Array:
    """Invert a matrix partitioned after its first rows and columns, Bishop (2.76).

    With S = A - B D⁻¹ C, the inverse of [[A, B], [C, D]] is

    [[S⁻¹, -S⁻¹ B D⁻¹], [-D⁻¹ C S⁻¹, D⁻¹ + D⁻¹ C S⁻¹ B D⁻¹]].

    Parameters
    ----------
    a : array (..., d, d)
        Invertible matrices whose last block D is invertible too; they need not be symmetric.
    n_first : int
        The size of the first block.

    Examples
    --------
    >>> import numpy as np
    >>> block_inverse(np.array([[2.0, 1.0], [1.0, 1.0]]), 1)
    array([[ 1., -1.],
           [-1.,  2.]])
    """
    xp = namespace_of(a)
    a = as_float_array(a, xp)
    if not 0 < n_first < a.shape[-1]:
        raise ValueError(f"n_first must lie between 1 and {a.shape[-1] - 1}, got {n_first}")
    A, B = a[..., :n_first, :n_first], a[..., :n_first, n_first:]
    C, D = a[..., n_first:, :n_first], a[..., n_first:, n_first:]
    D_inv = _inverse(xp, D, "the last block of a")
    S_inv = _inverse(xp, A - B @ D_inv @ C, "a")
    top = xp.concat([S_inv, -S_inv @ B @ D_inv], axis=-1)
    bottom = xp.concat([-D_inv @ C @ S_inv, D_inv + D_inv @ C @ S_inv @ B @ D_inv], axis=-1)
    return xp.concat([top, bottom], axis=-2)


def equilibrated(a: Array, name: str) -> tuple[Any, Array, Array]:
    """Return the namespace, scales s and A_ij / (s_i s_j): powers of two, so nothing is rounded."""
    xp = namespace_of(a)
    a = as_float_array(a, xp)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"{name} must be square, got shape {tuple(a.shape)}")
    if not all_true(xp.isfinite(a)):
        raise ValueError(f"{name} must be finite")
    scale = _power_of_two_roots(xp, diagonals(a))
    scaled = a / scale[..., :, None]
    if xp is np:
        scaled /= scale[..., None, :]
        return xp, scale, scaled
    return xp, scale, scaled / scale[..., None, :]


def diagonals(a: Array) -> Array:
    """Return the diagonal of each matrix (..., d, d).

    Examples
    --------
    >>> diagonals(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [1.0, 4.0]
    """
    return a.diagonal(axis1=-2, axis2=-1) if type(a) is np.ndarray else namespace_of(a).linalg.diagonal(a)


def asymmetric(xp: Any, scaled: Array) -> Array:
    """Return of each matrix whether it differs from its transpose by more than rounding could."""
    # Entries beyond the diagonal's scale make a matrix indefinite, not asymmetric: compare with their size.
    slack = float(xp.finfo(scaled.dtype).eps) ** 0.5 * (1.0 + xp.abs(scaled))
    return xp.any(xp.abs(scaled - xp.matrix_transpose(scaled)) > slack, axis=(-2, -1))


def try_cholesky(xp: Any, scaled: Array) -> tuple[Array, Array]:
    """Return the factor of each matrix of the batch, and whether all its pivots are above rounding."""
    d = scaled.shape[-1]
    lower = _torch_factor(scaled) if is_torch_array(scaled) else _factor(xp, scaled)
    pivots = diagonals(lower) ** 2
    floor = d * float(xp.finfo(scaled.dtype).eps) * diagonals(scaled)
    good = xp.all((pivots > floor) & (pivots < xp.inf), axis=-1)
    return lower, good


def _power_of_two_roots(xp: Any, diagonal: Array) -> Array:
    """Round the roots of the diagonal to powers of two; of a zero entry, the largest root.

    Pivots then are compared with rounding column by column, whatever the units of the columns.
    """
    if not diagonal.shape[-1]:
        return diagonal
    if type(diagonal) is np.ndarray and diagonal.size and diagonal.min() > 0.0:
        # The same in two steps, as √2·s is 2^e times a number from ½ to 1.
        return np.ldexp(diagonal.dtype.type(0.5), np.frexp(2.0**0.5 * np.sqrt(diagonal))[1])
    largest = xp.max(diagonal, axis=-1, keepdims=True)
    largest = xp.where(largest > 0.0, largest, xp.ones_like(largest))
    # √2 rounds to the nearest power, not to the one below.
    return power_of_two(2.0**0.5 * xp.sqrt(xp.where(diagonal > 0.0, diagonal, largest)))


def _ladder(d: int, eps: float, max_jitter: float | None) -> Iterator[float]:
    rung = 4.0 * max(d, 1) * eps
    limit = max(eps**0.5, _STEP**2 * rung) if max_jitter is None else max_jitter
    while rung <= limit:
        yield rung
        rung *= _STEP


def _symmetric(a: Array, name: str) -> tuple[Any, Array, Array]:
    xp, scale, scaled = equilibrated(a, name)
    if 0 in scaled.shape:
        return xp, scale, scaled
    mirrored = xp.matrix_transpose(scaled)
    if all_true(scaled == mirrored):
        return xp, scale, scaled
    gap = float(xp.max(scaled - mirrored))  # each difference is there with both signs
    # One so small may be rounding's, whatever the entries.
    if gap > float(xp.finfo(scaled.dtype).eps) ** 0.5 and any_true(asymmetric(xp, scaled)):
        raise ValueError(f"{name} must be symmetric")
    return xp, scale, symmetrize(scaled)


def _unscaled(xp: Any, scale: Array, lower: Array) -> Array:
    """Return the factor of A from that of A_ij / (s_i s_j), which it overwrites if it is NumPy's."""
    if xp is not np:
        return scale[..., :, None] * lower
    lower *= scale[..., :, None]
    return lower


def _torch_factor(scaled: Array) -> Array:
    import torch

    lower, info = torch.linalg.cholesky_ex(scaled)
    return torch.where((info == 0)[..., None, None], lower, torch.full_like(lower, torch.nan))


def _factor(xp: Any, scaled: Array) -> Array:
    """Factor a batch; matrices that have no factor come back as NaN."""
    try:
        return xp.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:
        if scaled.ndim == 2:
            return xp.full_like(scaled, xp.nan)
    return xp.stack([_factor(xp, scaled[i, ...]) for i in range(scaled.shape[0])])


def _where(xp: Any, good: Array) -> str:
    """Name the first matrix of a batch that failed."""
    if not good.ndim:
        return ""
    index = tuple(int(i[0]) for i in xp.nonzero(~good))
    return f", but the one at index {index} is not"


def _torch_solve(lower: Array, b: Array, transposed: bool) -> Array:
    import torch

    n = lower.shape[-1]
    if n <= LARGE or lower.ndim > 2 or b.ndim > 2:
        factor = lower.mT if transposed else lower
        return torch.linalg.solve_triangular(factor, b, upper=transposed)
    # Of a large factor torch may make a copy, for which there is no memory: block after block of rows.
    found = b.clone()
    for start in range(0, n, LARGE)[:: -1 if transposed else 1]:
        stop = min(start + LARGE, n)
        corner, rows = lower[start:stop, start:stop], found[start:stop, :]
        if transposed:
            rows -= lower[stop:, start:stop].mT @ found[stop:, :]
        else:
            rows -= lower[start:stop, :start] @ found[:start, :]
        found[start:stop, :] = _torch_solve(corner, rows, transposed)
    return found


def _numpy_solve(lower: np.ndarray, b: np.ndarray, transposed: bool) -> np.ndarray:
    d, batch = lower.shape[-1], lower.shape[:-2]
    if lower.ndim == b.ndim == 2:
        return _trsm(lower, b, transposed)
    if lower.ndim == 2:
        columns = np.moveaxis(b, -2, 0)
        # The number of columns is said, because -1 cannot be worked out where d is 0.
        solved = _trsm(lower, columns.reshape(d, prod(columns.shape[1:])), transposed)
        return np.moveaxis(solved.reshape(columns.shape), 0, -2)
    if np.prod(batch, dtype=int) > d:
        # Many small systems: d steps over the whole batch cost less than one BLAS call for each.
        return _substituted(np, lower, b, transposed)
    batch = np.broadcast_shapes(batch, b.shape[:-2])
    lower, b = np.broadcast_to(lower, (*batch, d, d)), np.broadcast_to(b, batch + b.shape[-2:])
    solved = np.empty(b.shape, dtype=np.result_type(lower, b))
    for index in np.ndindex(batch):
        solved[index] = _trsm(lower[index], b[index], transposed)
    return solved


@cache
def _solver(a: np.dtype, b: np.dtype) -> Any:
    """Return the routine of BLAS that solves triangular systems of numbers of two types."""
    from scipy.linalg import get_blas_funcs

    return get_blas_funcs("trsm", (np.empty((1, 1), a), np.empty((1, 1), b)))


def _trsm(lower: np.ndarray, b: np.ndarray, transposed: bool) -> np.ndarray:
    if not b.size:
        return np.empty(b.shape, dtype=np.result_type(lower, b))
    if lower.size * b.shape[1] >= LARGE_SYSTEM and lower.dtype == b.dtype == np.float64:
        solved = _free_trsm(lower, b, transposed)
        if solved is not None:
            return solved
    trsm = _solver(lower.dtype, b.dtype)
    if lower.flags.f_contiguous:
        return trsm(1.0, lower, b, lower=1, trans_a=int(transposed))
    # BLAS reads columns: a factor stored by rows is its own transpose there, and needs no copy.
    return trsm(1.0, lower.T, b, lower=0, trans_a=int(not transposed))


def _free_trsm(lower: np.ndarray, b: np.ndarray, transposed: bool) -> np.ndarray | None:
    """Solve without the interpreter's lock, so that threads may solve at a time; None if that cannot be."""
    found = routine("dtrsm", 11)
    if found is None:
        return None
    if not lower.flags.f_contiguous:
        lower = np.ascontiguousarray(lower)
    d, solved = len(lower), np.array(b, order="F")
    # As above: a factor stored by rows is its own transpose.
    by_columns = lower.flags.f_contiguous
    triangle, transpose = "L" if by_columns else "U", "T" if by_columns == transposed else "N"
    call(found, "L", triangle, transpose, "N", d, b.shape[1], 1.0, lower, d, solved, d)
    return solved


def _substituted(xp: Any, lower: Array, b: Array, transposed: bool) -> Array:
    """Halve the system until it is one division; the products in between are the work."""
    d = lower.shape[-1]
    if d <= 1:
        return b / lower if d else b + xp.sum(lower, axis=(-2, -1), keepdims=True)
    half = d // 2
    head, corner, tail = lower[..., :half, :half], lower[..., half:, :half], lower[..., half:, half:]
    if transposed:
        last = _substituted(xp, tail, b[..., half:, :], transposed)
        rest = b[..., :half, :] - xp.matrix_transpose(corner) @ last
        first = _substituted(xp, head, rest, transposed)
    else:
        first = _substituted(xp, head, b[..., :half, :], transposed)
        last = _substituted(xp, tail, b[..., half:, :] - corner @ first, transposed)
    return xp.concat([first, last], axis=-2)


def _indices(keep: Sequence[int], d: int) -> list[int]:
    kept = [int(i) for i in keep]
    if not all(-d <= i < d for i in kept) or len({i % d for i in kept}) < len(kept):
        raise ValueError(f"keep must hold different indices below {d}, got {kept}")
    return [i % d for i in kept]


def _block(xp: Any, a: Array, rows: list[int], columns: list[int]) -> Array:
    at = {"dtype": xp.int64, "device": device(a)}
    return xp.take(xp.take(a, xp.asarray(rows, **at), axis=-2), xp.asarray(columns, **at), axis=-1)


def _inverse(xp: Any, a: Array, name: str) -> Array:
    """Return the inverse, or raise ValueError where there is none."""
    if is_torch_array(a):
        import torch

        inverse, info = torch.linalg.inv_ex(a)
        singular = bool(torch.any(info != 0))
    else:
        try:
            inverse, singular = xp.linalg.inv(a), False
        except np.linalg.LinAlgError:
            inverse, singular = a, True
    if singular or not bool(xp.all(xp.isfinite(inverse))):
        raise ValueError(f"{name} must be finite and invertible")
    return inverse
