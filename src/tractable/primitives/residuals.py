"""Residuals of a linear fit and what they sum to, in twice the digits."""

from tractable.arrays.double_double import Pair
from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.residuals import residual_sums as agnostic

__all__ = ["residual_sums"]


def residual_sums(x: Array, y: Array, weights: Array, *, centre: Array, coef: Pair, offset: Pair) -> Pair:
    """Return Σ w r, Σ w (x - centre) r and Σ w r², with r = y - offset - (x - centre)ᵀ coef.

    All in double-double arithmetic, each number a pair high + low. Near a least squares fit the sums are what
    is left of much larger terms, and have digits only so.

    Parameters
    ----------
    x : array (n, d)
    y : array (n, t)
    weights : array (n,)
    centre : array (d,)
    coef : two arrays (t, d)
    offset : two arrays (t,)

    Returns
    -------
    two arrays (t, d + 2)

    Examples
    --------
    >>> import numpy as np
    >>> x, y, zero = np.array([[1.0], [2.0]]), np.array([[3.0], [6.0]]), np.zeros(1)
    >>> line = np.array([[2.0]]), np.zeros((1, 1))
    >>> residual_sums(x, y, np.ones(2), centre=zero, coef=line, offset=(zero, zero))[0]
    array([[3., 5., 5.]])
    """
    if not is_numpy_array(x):
        return agnostic(x, y, weights, centre=centre, coef=coef, offset=offset)
    from tractable.primitives._compiled.residuals import residual_sums as compiled

    return compiled(x, y, weights, centre, *coef, *offset)
