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
        return self._taken(x, self.matrix[self._positions(x)[:, None], self._positions(y)])

    def block_diagonal(self, x: Array) -> Array:
        return self._taken(x, self.matrix.diagonal()[self._positions(x)])

    def _positions(self, x: Array) -> np.ndarray:
        numbers, n = to_numpy(x), len(self.matrix)
        if numbers.shape[1] != 1 or np.any(numbers != np.floor(numbers)):
            raise ValueError("x must be one column of whole numbers, the objects of a Precomputed kernel")
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < n):
            raise ValueError(f"x must be numbers of objects from 0 to {n - 1}, got {float(numbers.max())}")
        return numbers[:, 0].astype(np.int64)

    @staticmethod
    def _taken(x: Array, found: np.ndarray) -> Array:
        return namespace_of(x).asarray(found, dtype=x.dtype, device=device(x))


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
