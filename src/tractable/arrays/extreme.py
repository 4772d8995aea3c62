"""Rows so large, or so small, that their squares are no numbers: the unit to measure them in."""

import math
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["squared_units", "unit_of_rows"]

#: The square of a number in between, summed over many rows, is far from the ends of the range.
SMALLEST, LARGEST = 2.0**-340, 2.0**340

#: Of a sum of squares, in a unit in which the largest entry is 1 to 2.
ROUNDING = 1e-25


def unit_of_rows(x: Array) -> float:
    """Return 1, or a power of two near the largest entry where squares of rows leave the range of numbers.

    Examples
    --------
    >>> unit_of_rows(np.array([[3.0, -5.0]])), unit_of_rows(np.array([[1e200]])) > 1e199
    (1.0, True)
    """
    xp = namespace_of(x)
    size = max(float(xp.max(x)), -float(xp.min(x)))
    if size == 0.0 or SMALLEST <= size <= LARGEST:
        return 1.0
    return 2.0 ** math.floor(math.log2(size))


def squared_units(total: Any, unit: float) -> np.ndarray:
    """Return sums of squares that were taken in a unit in that of X, or say that they are no numbers there.

    Examples
    --------
    >>> squared_units([2.0], 0.5).tolist()
    [0.5]
    """
    total = np.asarray(total, dtype=np.float64)
    if unit == 1.0:
        return total
    with np.errstate(over="ignore"):
        found = total * unit * unit
    if not np.all(np.isfinite(found)):
        raise ValueError("X has values so large that their squares overflow; rescale its columns")
    if np.any((found < np.finfo(np.float64).tiny) & (total > ROUNDING)):
        raise ValueError("X has columns that vary by so little that their squares underflow; rescale them")
    return found
