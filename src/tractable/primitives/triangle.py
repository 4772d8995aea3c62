"""The triangular factor of rows."""

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.triangle import triangle as agnostic

__all__ = ["triangle"]

#: Rows folded at a time: the panel and the factor above it stay in cache.
PANEL = 512


def triangle(rows: Array) -> Array:
    """Return R, upper triangular with a diagonal that is not negative, so that RᵀR = rowsᵀ rows.

    By Householder reflections, panel after panel under the running factor: R has the digits of a QR of all
    rows at once, whatever their condition.

    Parameters
    ----------
    rows : array (n, d), finite
        Any n, less than d included.

    Examples
    --------
    >>> triangle(np.array([[3.0, 1.0], [4.0, 3.0]]))
    array([[5., 3.],
           [0., 1.]])
    """
    if not is_numpy_array(rows):
        return agnostic(rows)
    return _householder(np.asarray(rows, dtype=np.float64))


def _householder(rows: np.ndarray) -> np.ndarray:
    from scipy.linalg import lapack

    n, d = rows.shape
    factor = np.zeros((d, d))
    if d == 0:
        return factor
    filled = 0  # rows of the factor that are not zero yet
    for start in range(0, n, PANEL):
        panel = rows[start : start + PANEL]
        stacked = np.empty((filled + len(panel), d), order="F")
        stacked[:filled], stacked[filled:] = factor[:filled], panel
        reduced = lapack.dgeqrf(stacked, lwork=32 * d, overwrite_a=1)[0]
        filled = min(len(stacked), d)
        factor[:filled] = np.triu(reduced[:filled])
    sign = np.where(np.diagonal(factor) < 0, -1.0, 1.0)
    return factor * sign[:, None]
