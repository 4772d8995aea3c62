"""Bilinear kernels."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, freeze, namespace_of
from tractable.kernels.base import Kernel
from tractable.kernels.precomputed import as_psd_matrix
from tractable.value import set_fields, value


@value
class QuadraticForm(Kernel):
    r"""The bilinear kernel of a matrix.

    k(x, x') = xᵀAx'; its features are A\ :sup:`1/2` x.

    Parameters
    ----------
    matrix : array (d, d)
        A, symmetric and positive semi-definite.

    Examples
    --------
    >>> from tractable.kernels import QuadraticForm
    >>> QuadraticForm([[9.0, -15.0], [-15.0, 25.0]]).diagonal([[5.0, 3.0], [5.0, 2.0]])
    array([ 0., 25.])
    """

    matrix: np.ndarray

    def __init__(self, matrix: Any) -> None:
        set_fields(self, matrix=freeze(as_psd_matrix("matrix", matrix)))

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        return self._times(x, self.matrix) @ y.T

    def block_diagonal(self, x: Array) -> Array:
        return namespace_of(x).sum(self._times(x, self.matrix) * x, axis=1)

    def n_features(self, columns: int) -> int:
        """Return the number of features of rows of so many columns."""
        self._times(np.empty((0, columns)), self.matrix)
        return columns

    def block_features(self, x: Array) -> Array:
        values, vectors = np.linalg.eigh(self.matrix)
        return self._times(x, vectors * np.sqrt(np.maximum(values, 0.0)))

    @property
    def n_columns(self) -> int:
        """How many columns rows have at least."""
        return len(self.matrix)

    @staticmethod
    def _times(x: Array, matrix: np.ndarray) -> Array:
        if x.shape[1] != len(matrix):
            raise ValueError(f"x must have {len(matrix)} columns as the matrix has, got {x.shape[1]}")
        return x @ namespace_of(x).asarray(matrix, dtype=x.dtype, device=device(x), copy=True)
