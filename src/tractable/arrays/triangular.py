"""Systems with a triangular factor: substitution instead of inverses."""

from math import prod
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, as_float_array, is_numpy_array, is_torch_array, namespace_of

__all__ = ["log_det_cholesky", "solve_cholesky", "solve_triangular"]


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
    xp = namespace_of(lower, b)
    lower, b = as_float_array(lower, xp), as_float_array(b, xp)
    if lower.ndim < 2 or b.ndim < 2 or not lower.shape[-2] == lower.shape[-1] == b.shape[-2]:
        raise ValueError(f"b must be (..., d, k) for a factor (..., d, d), got {b.shape} and {lower.shape}")
    if is_torch_array(lower):
        return _torch_solve(lower, b, transposed)
    if is_numpy_array(lower):
        return _numpy_solve(lower, b, transposed)
    return _substituted(xp, lower, b, transposed)


def solve_cholesky(lower: Array, b: Array) -> Array:
    """Solve L Lᵀ X = B, given the Cholesky factor of a positive definite matrix.

    Examples
    --------
    >>> import numpy as np
    >>> solve_cholesky(np.array([[2.0, 0.0], [0.0, 3.0]]), np.array([[4.0], [9.0]])).ravel()
    array([1., 1.])
    """
    return solve_triangular(lower, solve_triangular(lower, b), transposed=True)


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


def _torch_solve(lower: Array, b: Array, transposed: bool) -> Array:
    import torch

    factor = lower.mT if transposed else lower
    return torch.linalg.solve_triangular(factor, b, upper=transposed)


def _numpy_solve(lower: np.ndarray, b: np.ndarray, transposed: bool) -> np.ndarray:
    d, batch = lower.shape[-1], lower.shape[:-2]
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


def _trsm(lower: np.ndarray, b: np.ndarray, transposed: bool) -> np.ndarray:
    from scipy.linalg import get_blas_funcs

    if not b.size:
        return np.empty(b.shape, dtype=np.result_type(lower, b))
    trsm = get_blas_funcs("trsm", (lower, b))
    if lower.flags.f_contiguous:
        return trsm(1.0, lower, b, lower=1, trans_a=int(transposed))
    # BLAS reads columns: a factor stored by rows is its own transpose there, and needs no copy.
    return trsm(1.0, lower.T, b, lower=0, trans_a=int(not transposed))


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
