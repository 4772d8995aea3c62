"""Kernel matrices of features that are centred: φ(x) minus the mean of φ over the rows."""

from typing import Any

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.weights import check_weights


def center_gram(matrix: Any, cross: Any = None, *, weights: Any = None) -> Array:
    """Return the kernel matrix of centred features, K̄ = K - EK - KE + EKE with E_ij = 1/n.

    To centre the rows x is not enough: their features φ(x) must have mean zero. K̄ has rows and columns of sum
    zero, and k̄(x, x') = (φ(x) - φ̄)ᵀ(φ(x') - φ̄).

    Parameters
    ----------
    matrix : array (n, n)
        K, of the rows of the fit.
    cross : array (m, n), optional
        k(x, x_n) of other rows with these; then their centred kernel is returned, (m, n), with the mean of
        the features of the rows of the fit.
    weights : array (n,), optional
        How often each row of the fit counts.

    Examples
    --------
    >>> import numpy as np
    >>> center_gram(np.array([[1.0, 0.0], [0.0, 3.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    matrix = as_reals("matrix", matrix)
    xp = namespace_of(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.shape[0]:
        raise ValueError(f"matrix must be square, got shape {tuple(matrix.shape)}")
    n = matrix.shape[0]
    w = xp.ones_like(matrix[0, :]) if weights is None else check_weights(weights, n, like=matrix, some=True)
    p = w / xp.sum(w)
    means = matrix @ p
    if cross is None:
        return matrix - means[:, None] - means[None, :] + p @ means
    cross = as_reals("cross", cross, matrix)
    if cross.ndim != 2 or cross.shape[1] != n:
        raise ValueError(f"cross must have {n} columns, as matrix has, got shape {tuple(cross.shape)}")
    return cross - (cross @ p)[:, None] - means[None, :] + p @ means
