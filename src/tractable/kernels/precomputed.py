"""Kernels that are known as a matrix."""

from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.linalg import is_psd
from tractable.arrays.namespace import Array, device, freeze, namespace_of, to_numpy
from tractable.kernels.base import Kernel
from tractable.value import set_fields, value


@value
class Precomputed(Kernel):
    """A kernel of finitely many objects, known as its matrix: graphs, texts, molecules.

    k(i, j) = K_ij; rows are numbers of objects, one column.

    Parameters
    ----------
    matrix : array (n, n)
        K, symmetric and positive semi-definite.

    Examples
    --------
    >>> from tractable.kernels import Precomputed
    >>> Precomputed([[2.0, 1.0], [1.0, 3.0]])([[1], [0]], [[1]])
    array([[3.],
           [1.]])
    """

    matrix: np.ndarray

    def __init__(self, matrix: Any) -> None:
        found = as_psd_matrix("matrix", matrix)
        set_fields(self, matrix=freeze(found))

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        xp, held = namespace_of(x), self._held(x)
        return xp.take(xp.take(held, self._positions(x), axis=0), self._positions(y), axis=1)

    def block_diagonal(self, x: Array) -> Array:
        xp = namespace_of(x)
        return xp.take(xp.linalg.diagonal(self._held(x)), self._positions(x))

    def _held(self, x: Array) -> Array:
        return namespace_of(x).asarray(self.matrix, dtype=x.dtype, device=device(x), copy=True)

    def _positions(self, x: Array) -> Array:
        xp, n = namespace_of(x), len(self.matrix)
        if x.shape[1] != 1 or bool(xp.any(x != xp.floor(x))):
            raise ValueError("x must be one column of whole numbers, the objects of a Precomputed kernel")
        outside = (x < 0) | (x >= n)
        if bool(xp.any(outside)):
            raise ValueError(f"x must be numbers of objects from 0 to {n - 1}, and is not")
        return xp.astype(x[:, 0], xp.int64)


def as_psd_matrix(name: str, matrix: Any) -> np.ndarray:
    """Return a symmetric, positive semi-definite matrix of finite numbers."""
    found = np.asarray(to_numpy(as_reals(name, matrix)), dtype=np.float64)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or not found.size:
        raise ValueError(f"{name} must be square, got shape {found.shape}")
    if not np.all(np.isfinite(found)):
        raise ValueError(f"{name} must be finite: it contains NaN or infinity")
    if np.max(np.abs(found - found.T)) > 1e-10 * np.max(np.abs(found)):
        raise ValueError(f"{name} must be symmetric")
    if not is_psd(found, tol=1e-10):
        least = float(np.linalg.eigvalsh(found)[0])
        raise ValueError(f"{name} must be positive semi-definite, and has the eigenvalue {least:.6g}")
    return 0.5 * (found + found.T)
