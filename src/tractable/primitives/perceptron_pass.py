"""One pass of the perceptron's rule."""

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.perceptron_pass import perceptron_pass as agnostic

__all__ = ["perceptron_pass"]


def perceptron_pass(
    rows: Array, codes: Array, weights: Array, start: Array
) -> tuple[Array, Array, float, float]:
    """Visit rows in order; where a rival's plane is not below that of a row's class, correct both.

    A mistake adds the row to the plane of its class and takes it from the best rival's, the first of tied
    ones. A row of weight m is visited m times in a row, the last time in part: with a step in proportion.

    Parameters
    ----------
    rows : array (n, p)
    codes : array (n,) of int
        The class of each row, its place among K.
    weights : array (n,)
        How often each row counts.
    start : array (K, p)
        The planes before the first row.

    Returns
    -------
    array (K, p), array (K, p), float, float
        The planes after the last row; their sum over visits, each after its correction; the mistakes, and
        the visits: their weight.

    Examples
    --------
    >>> import numpy as np
    >>> rows, codes = np.array([[1.0, 2.0], [1.0, -1.0]]), np.array([1, 0])
    >>> planes, total, mistakes, visits = perceptron_pass(rows, codes, np.ones(2), np.zeros((2, 2)))
    >>> planes[1], total[1], mistakes, visits
    (array([1., 2.]), array([2., 4.]), 1.0, 2.0)
    """
    if not is_numpy_array(rows):
        return agnostic(rows, codes, weights, start)
    from tractable.primitives._compiled.perceptron_pass import perceptron_pass as compiled

    return compiled(rows, codes, weights, start)
