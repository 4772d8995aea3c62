"""Weights in the bins of a grid, and the partition of a line into blocks of constant density."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives import runs_compiled
from tractable.primitives.bins import agnostic
from tractable.primitives.bins.agnostic import find_cells

__all__ = ["best_blocks", "bin_counts", "find_cells", "linear_binning"]

#: Bins count as even where no edge is further from its even position than this part of a bin.
_EVEN = 1e-7


def bin_counts(x: Array, weights: Any, edges: Sequence[Array], *, linear: bool = False) -> tuple[Array, Any]:
    """Return the weight in each cell of a grid of bins, and the weight outside of it.

    A bin holds its lower edge and not its upper one; the last bin of each axis holds both, as NumPy's
    histograms do. Which side of an edge a number is on is decided by comparing the two, never by arithmetic;
    where bins are even, arithmetic says which edge to look at. With `linear`, a number is split between the
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
    if not runs_compiled(x, 16 * x.shape[0] * x.shape[1] * (2 ** x.shape[1] if linear else 1)):
        counts, outside = (agnostic.linear_bin_counts if linear else agnostic.bin_counts)(x, weights, edges)
        return counts, float(outside) if is_numpy_array(x) else outside
    from tractable.primitives.bins import compiled

    shape = tuple(len(axis) - 1 for axis in edges)
    scales = np.array([_scale(axis) for axis in edges])
    if len(edges) == 1 and not linear:
        counts, outside = compiled.count_numbers(x[:, 0], weights, edges[0], scales[0])
        return counts, outside
    starts = np.cumsum([0, *(len(axis) for axis in edges)])
    count = compiled.split_rows if linear else compiled.count_rows
    counts, outside = count(x, weights, np.concatenate([*edges]), starts, scales)
    return counts.reshape(shape), outside


def _scale(edges: np.ndarray) -> float:
    """Return bins per unit where bins are even, else 0: then they are searched."""
    with np.errstate(all="ignore"):
        scale = (len(edges) - 1) / (edges[-1] - edges[0])
        even = np.all(np.abs((edges - edges[0]) * scale - np.arange(len(edges))) <= _EVEN)
    return float(scale) if even else 0.0


def linear_binning(x: np.ndarray, weights: np.ndarray | None, low: float, step: float, n: int) -> np.ndarray:
    """Return the masses of n nodes, low + k step, that have the sum and the mean of the points, all inside.

    Examples
    --------
    >>> linear_binning(np.array([0.25, 2.0]), None, 0.0, 1.0, 3)
    array([0.75, 0.25, 1.  ])
    """
    if not runs_compiled(x, 16 * math.prod(x.shape)):
        return agnostic.linear_binning(x, weights, low, step, n)
    from tractable.primitives.bins.compiled import linear_binning as compiled

    return compiled(x, weights, float(low), float(step), n)


def best_blocks(mass: Array, positions: Array, penalty: float) -> Array:
    """Return where the blocks of greatest penalised likelihood begin and end, as indices of `positions`.

    Scargle et al. (2013): a block of weight W and length T has fitness W log(W / T), and every block costs
    `penalty`. Dynamic programming finds the best of all 2^(m - 1) divisions. A start that is worse
    by the penalty can never be best again, as dividing a block never lowers its fitness; it is dropped, and
    the answer is exact.

    Parameters
    ----------
    mass : array (m,)
        Weight in each cell.
    positions : array (m + 1,)
        Where cells begin and end, increasing.
    penalty : float

    Returns
    -------
    array of integers
        From 0 to m.

    Examples
    --------
    >>> import numpy as np
    >>> best_blocks(np.array([9.0, 9.0, 1.0, 1.0]), np.arange(5.0), 2.0).tolist()
    [0, 2, 4]
    """
    if not runs_compiled(mass, mass.shape[0] * (20_000 + 20 * mass.shape[0]) / 16):
        return agnostic.best_blocks(mass, positions, penalty)
    from tractable.primitives.bins.compiled import best_blocks as compiled

    return compiled(mass, positions, float(penalty))
