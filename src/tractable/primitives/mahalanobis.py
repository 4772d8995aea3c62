"""Squared Mahalanobis distances of rows."""

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.mahalanobis import squared_mahalanobis as agnostic

__all__ = ["squared_mahalanobis"]

#: Above this dimension a triangular solve is compute-bound and BLAS does it better.
LARGEST_COMPILED = 64


def squared_mahalanobis(x: Array, mean: Array, lower: Array) -> Array:
    """Return |L⁻¹ (x - mean)|² for every row.

    Parameters
    ----------
    x : array (n, d)
    mean : array (d,)
    lower : array (d, d)
        The Cholesky factor of the covariance; entries above the diagonal are not read.

    Examples
    --------
    >>> import numpy as np
    >>> squared_mahalanobis(np.array([[3.0, 5.0]]), np.array([1.0, 1.0]), np.diag([2.0, 4.0]))
    array([2.])
    """
    if not is_numpy_array(x) or x.shape[-1] > LARGEST_COMPILED:
        return agnostic(x, mean, lower)
    from tractable.primitives._compiled.mahalanobis import squared_mahalanobis as compiled

    return compiled(x, mean, lower)
