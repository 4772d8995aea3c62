"""Bayesian blocks: bins as wide as the data let them be."""

from typing import Any

import numpy as np

from tractable.density.bin_columns import Distinct, Inside
from tractable.engines import fold
from tractable.primitives.bins import best_blocks

__all__ = ["block_edges"]

#: Chance of a block too many where there is nothing to see (Scargle et al., 2013).
_FALSE_ALARM = 0.05

#: Where a column has more distinct numbers, neighbours are put together to so many cells.
_MOST_CELLS = 2**14


def block_edges(j: int, low: np.ndarray, high: np.ndarray, data: Any, weights: Any) -> np.ndarray:
    """Return the edges of the best blocks of column j: the exact maximum over all divisions of its cells.

    A cell holds one distinct number and ends half way to the next. Of more than 16,384 distinct numbers
    neighbours share cells, of about equal weight.
    """

    def distinct(x: Any, weights: Any = None) -> Distinct:
        return Distinct.of(x[:, j : j + 1], weights)

    column = fold(Inside(bounds=(low, high), of=distinct), data, weights=weights)
    cells = _cells(column, low[j], high[j])
    mass = np.bincount(
        np.searchsorted(cells[1:-1], column.values, side="right"), column.weights, minlength=len(cells) - 1
    )
    # Lengths are parts of the whole, so that units do not matter.
    places = (0.5 * cells - 0.5 * low[j]) / (0.5 * high[j] - 0.5 * low[j])
    return cells[best_blocks(mass, places, _penalty(float(mass.sum())))]


def _penalty(n: float) -> float:
    """Return what a block costs, equation (21) of Scargle et al. (2013), fitted to simulations."""
    return float(4.0 - np.log(73.53 * _FALSE_ALARM * n**-0.478))


def _cells(column: Distinct, low: float, high: float) -> np.ndarray:
    between = 0.5 * column.values[:-1] + 0.5 * column.values[1:]
    if len(between) >= _MOST_CELLS:
        share = np.cumsum(column.weights)[:-1] / column.weights.sum()
        wanted = np.searchsorted(share, np.arange(1, _MOST_CELLS) / _MOST_CELLS)
        between = between[np.unique(np.minimum(wanted, len(between) - 1))]
    inner = np.unique(between[(between > low) & (between < high)])
    found = np.concatenate([[low], inner, [high]])
    # Numbers next to each other have no number between them.
    return found[np.concatenate([[True], np.diff(0.5 * found) > 0])] if len(found) > 2 else found
