"""Sums and products over a few rows of a matrix, without a copy of them."""

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic import chosen_rows as agnostic

__all__ = ["row_products", "weighted_rows"]


def weighted_rows(matrix: Array, which: Array, weights: Array) -> Array:
    """Return Σ_i weights_i matrix[which_i].

    Parameters
    ----------
    matrix : array (n, p)
    which : array (k,) of int
    weights : array (k,)

    Examples
    --------
    >>> import numpy as np
    >>> weighted_rows(np.eye(3), np.array([2, 0]), np.array([5.0, 7.0]))
    array([7., 0., 5.])
    """
    if not is_numpy_array(matrix):
        return agnostic.weighted_rows(matrix, which, weights)
    from tractable.primitives._compiled.chosen_rows import weighted_rows as compiled

    return compiled(matrix, which, weights)


def row_products(matrix: Array, which: Array, vector: Array) -> Array:
    """Return the inner products matrix[which_i] · vector.

    Parameters
    ----------
    matrix : array (n, p)
    which : array (k,) of int
    vector : array (p,)

    Examples
    --------
    >>> import numpy as np
    >>> row_products(np.eye(3), np.array([2, 0]), np.array([5.0, 6.0, 7.0]))
    array([7., 5.])
    """
    if not is_numpy_array(matrix):
        return agnostic.row_products(matrix, which, vector)
    from tractable.primitives._compiled.chosen_rows import row_products as compiled

    return compiled(matrix, which, vector)
