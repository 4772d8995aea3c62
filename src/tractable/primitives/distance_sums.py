"""Distances from rows to groups of others, summed within each group."""

from collections.abc import Sequence

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.distance_sums import distance_sums as agnostic

__all__ = ["distance_sums"]

#: Above this dimension a matrix product is faster than differences, though most pairs pass through memory.
LARGEST_DIRECT = 96


def distance_sums(x: Array, columns: Array, weights: Array, starts: Sequence[int]) -> Array:
    """Return Σ_j w_j |x_i - y_j| over the rows y_j of each group, for every row x_i.

    Distances are those of differences: points that nearly coincide keep their digits, wherever they lie. Rows
    of more than 96 columns go by |x|² + |y|² - 2 x·y where that cancels less than two digits, and an array of
    n × m products is made; else the compiled twin makes none of the size of the distances.

    Parameters
    ----------
    x : array (n, d)
    columns : array (d, m)
        The other rows, transposed, those of a group side by side.
    weights : array (m,)
        How often each of them counts.
    starts : sequence of K + 1 integers
        Group k is the columns from ``starts[k]`` up to ``starts[k + 1]``.

    Returns
    -------
    array (n, K)

    Examples
    --------
    >>> x, columns = np.array([[0.0, 0.0]]), np.array([[3.0, 0.0, 1.0], [4.0, 2.0, 0.0]])
    >>> distance_sums(x, columns, np.ones(3), [0, 2, 3]).tolist()
    [[7.0, 1.0]]
    """
    if not is_numpy_array(x):
        return agnostic(x, columns, weights, starts)
    from tractable.primitives._compiled.distance_sums import distance_sums as compiled

    ends = np.asarray(starts, dtype=np.int64)
    if x.shape[1] <= LARGEST_DIRECT:
        return compiled(x, columns, weights, ends)
    from tractable.primitives._compiled.distance_sums import distance_sums_of_products

    squares = np.einsum("ij,ij->i", x, x), np.einsum("ij,ij->j", columns, columns)
    return distance_sums_of_products(x, columns, weights, ends, x @ columns, *squares)
