"""Weight, mean and scatter of every column, class by class, in one walk over a block of rows."""

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.class_moments import class_moments as agnostic

__all__ = ["class_moments"]


def class_moments(
    x: Array, codes: Array, n_classes: int, weights: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    """Return what a Gaussian of each class and column needs to know of rows, without sorting them.

    Scatters are about the means, found first, and corrected for the rounding of these: rows far from the
    origin keep their digits.

    Parameters
    ----------
    x : array (n, d)
        A missing entry (NaN) counts for nothing.
    codes : array (n,) of int
        The class of each row, from 0 to K - 1.
    n_classes : int
        K.
    weights : array (n,), optional
        How often each row counts.

    Returns
    -------
    weight, mean, scatter : arrays (K, d)
        Of the observed entries.
    total : array (K,)
        Weight of the rows of each class.

    Examples
    --------
    >>> x = np.array([[1.0, 5.0], [3.0, np.nan], [7.0, 2.0]])
    >>> weight, mean, scatter, total = class_moments(x, np.array([0, 0, 1]), 2)
    >>> weight.tolist(), mean.tolist(), scatter.tolist(), total.tolist()
    ([[2.0, 1.0], [1.0, 1.0]], [[2.0, 5.0], [7.0, 2.0]], [[2.0, 0.0], [0.0, 0.0]], [2.0, 1.0])
    """
    if not is_numpy_array(x):
        return agnostic(x, codes, n_classes, weights)
    from tractable.primitives._compiled.class_moments import class_moments as compiled

    x = np.ascontiguousarray(x if x.dtype in (np.float64, np.float32) else x.astype(np.float64))
    w = np.empty(0) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    return compiled(x, np.ascontiguousarray(codes), w, n_classes)
