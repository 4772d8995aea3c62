"""The nearest points of rows, by every distance: the plain search that all others must agree with."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.nearest import distances
from tractable.primitives._agnostic.nearest import nearest as agnostic
from tractable.primitives._agnostic.nearest import within as agnostic_within

__all__ = ["FORMS", "distances", "nearest", "sorted_pairs", "within"]

#: Distances of differences of coordinates, in the order in which the compiled twin counts them.
FORMS = ("euclidean", "manhattan", "chebyshev", "hamming", "minkowski")


def nearest(
    x: Array, points: Array, k: int, form: str = "euclidean", order: float = 2.0
) -> tuple[Array, Array]:
    """Return the distances and indices of the k nearest points of each row, the nearest first.

    Of points at the same distance the smaller index comes first. Coordinates are added one after another, so
    that every search which measures its candidates thus returns the same bits.

    Parameters
    ----------
    x : array (m, d)
    points : array (n, d)
    k : int
        From 1 to n.
    form : {"euclidean", "manhattan", "chebyshev", "hamming", "minkowski"}
        √Σ(x-y)², Σ|x-y|, max|x-y|, the share of coordinates that differ, or (Σ|x-y|^order)^(1/order).
    order : float
        Of Minkowski's distance.

    Returns
    -------
    distances, indices : arrays (m, k)

    Examples
    --------
    >>> distances, indices = nearest(np.array([[0.0]]), np.array([[2.0], [1.0], [-1.0]]), 2)
    >>> distances.tolist(), indices.tolist()
    ([[1.0, 1.0]], [[1, 2]])
    """
    if not is_numpy_array(x):
        return agnostic(x, points, k, form, order)
    from tractable.primitives._compiled.nearest import nearest as compiled

    near, indices = np.empty((len(x), k)), np.empty((len(x), k), np.int64)
    compiled(*_ready(x, points), k, FORMS.index(form), float(order), near, indices)
    return near, indices


def within(
    x: Array, points: Array, radii: Array, form: str = "euclidean", order: float = 2.0
) -> tuple[Array, Array, Array]:
    """Return rows, indices and distances of all pairs that are no farther apart than the row's radius.

    Pairs come by row, then by distance, then by index.

    Parameters
    ----------
    x : array (m, d)
    points : array (n, d)
    radii : array (m,)
    form, order
        See `nearest`.

    Examples
    --------
    >>> rows, indices, distances = within(np.array([[0.0]]), np.array([[2.0], [1.0]]), np.array([2.0]))
    >>> rows.tolist(), indices.tolist(), distances.tolist()
    ([0, 0], [1, 0], [1.0, 2.0])
    """
    if not is_numpy_array(x):
        return agnostic_within(x, points, radii, form, order)
    from tractable.primitives._compiled.nearest import within as compiled

    radii = np.ascontiguousarray(radii, dtype=np.float64)
    return sorted_pairs(*compiled(*_ready(x, points), radii, FORMS.index(form), float(order)))


def sorted_pairs(rows: np.ndarray, indices: np.ndarray, apart: np.ndarray) -> tuple[Any, Any, Any]:
    """Return pairs by row, then by how far they are apart, then by index."""
    order = np.lexsort((indices, apart, rows))
    return rows[order], indices[order], apart[order]


def _ready(x: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.ascontiguousarray(x, dtype=np.float64), np.ascontiguousarray(points, dtype=np.float64)
