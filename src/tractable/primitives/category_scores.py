"""Scores of rows of categories: entries of tables, looked up and added."""

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.category_scores import category_scores as agnostic

__all__ = ["category_scores"]


def category_scores(x: Array, tables: Array, starts: Array) -> Array:
    """Return Σ_j tables[starts_j + x_j], (n, K), over the entries of a row that are not missing (NaN).

    Parameters
    ----------
    x : array (n, d)
        Codes 0, 1, … of categories.
    tables : array (m, K)
        What a category says of each of K classes, the tables of the columns one after the other.
    starts : array (d,) of int
        Where the table of each column begins.

    Examples
    --------
    >>> x, tables = np.array([[0.0, 1.0], [1.0, np.nan]]), np.array([[1.0], [2.0], [10.0], [20.0]])
    >>> category_scores(x, tables, np.array([0, 2])).tolist()
    [[21.0], [2.0]]
    """
    if not is_numpy_array(x):
        return agnostic(x, tables, starts)
    from tractable.primitives._compiled.category_scores import category_scores as compiled

    x = np.ascontiguousarray(x if x.dtype in (np.float64, np.float32) else x.astype(np.float64))
    out = np.zeros((len(x), tables.shape[1]))
    compiled(x, np.ascontiguousarray(tables, dtype=np.float64), np.asarray(starts, dtype=np.int64), out)
    return out
