"""How much weight falls into each cell of a grid."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.bin_counts import bin_counts as agnostic
from tractable.primitives._agnostic.bin_counts import find_cells, linear_bin_counts

__all__ = ["bin_counts", "find_cells"]

#: Bins count as even where no edge is further from its even place than this part of a bin.
_EVEN = 1e-7


def bin_counts(x: Array, weights: Any, edges: Sequence[Array], *, linear: bool = False) -> tuple[Array, Any]:
    """Return the weight in each cell of a grid of bins, and the weight outside of it.

    A bin holds its lower edge and not its upper one; the last bin of each axis holds both, as NumPy's
    histograms do. Which side of an edge a number is on is decided by comparing the two, never by arithmetic;
    where bins are even, arithmetic says which edge to look at. With `linear`, a number is shared between the
    two bins whose middles it lies between, more for the nearer (in D dimensions between 2^D cells); beyond
    the outermost middles the outermost bin has it all.

    Parameters
    ----------
    x : array (n, d) of float64
        NaN counts as outside.
    weights : array (n,), or None
        How often each row counts.
    edges : d arrays (b_j + 1,)
        Increasing.
    linear : bool

    Returns
    -------
    counts : array (b_1, …, b_d)
    outside : number

    Examples
    --------
    >>> bin_counts(np.array([[0.0], [1.0], [2.0], [5.0]]), None, [np.array([0.0, 1.0, 2.0])])
    (array([1., 2.]), 1.0)
    >>> bin_counts(np.array([[0.75]]), None, [np.array([0.0, 1.0, 2.0])], linear=True)
    (array([0.75, 0.25]), 0.0)
    """
    if not is_numpy_array(x):
        return (linear_bin_counts if linear else agnostic)(x, weights, edges)
    from tractable.primitives._compiled import bin_counts as compiled

    shape = tuple(len(axis) - 1 for axis in edges)
    weights = np.empty(0) if weights is None else weights
    scales = np.array([_scale(axis) for axis in edges])
    if len(edges) == 1 and not linear:
        counts, outside = compiled.count_numbers(x[:, 0], weights, np.ascontiguousarray(edges[0]), scales[0])
        return counts, outside
    starts = np.cumsum([0, *(len(axis) for axis in edges)])
    count = compiled.share_rows if linear else compiled.count_rows
    counts, outside = count(x, weights, np.concatenate([*edges]), starts, scales)
    return counts.reshape(shape), outside


def _scale(edges: np.ndarray) -> float:
    """Return bins per unit where bins are even, else 0: then they are searched."""
    with np.errstate(all="ignore"):
        scale = (len(edges) - 1) / (edges[-1] - edges[0])
        even = np.all(np.abs((edges - edges[0]) * scale - np.arange(len(edges))) <= _EVEN)
    return float(scale) if even else 0.0
