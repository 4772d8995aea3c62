"""Distances from rows to groups of others, summed within each group."""

from collections.abc import Sequence

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.distance_sums import distance_sums as agnostic

__all__ = ["distance_sums"]


def distance_sums(x: Array, columns: Array, weights: Array, starts: Sequence[int]) -> Array:
    """Return Σ_j w_j |x_i - y_j| over the rows y_j of each group, for every row x_i.

    Distances are those of differences, not |x|² + |y|² - 2 x·y: points that nearly coincide keep their
    digits, wherever they lie. The compiled twin makes no array of the size of the distances.

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

    return compiled(x, columns, weights, np.asarray(starts, dtype=np.int64))
