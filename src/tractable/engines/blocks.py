"""Rows in cache-sized blocks."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.engines.threads import ordered_map

__all__ = ["block_rows", "map_rows"]

#: A block, and the copy a step makes of it, stay in a core's second-level cache.
BLOCK_BYTES = 2**20


def block_rows(n_columns: int) -> int:
    """Return how many rows of float64 make a block: the same whatever the number of threads."""
    return max(64, BLOCK_BYTES // (8 * max(1, n_columns)))


def map_rows(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray, **options: Any) -> np.ndarray:
    """Apply a row-wise function to blocks of rows on all cores and stack what it returns.

    Examples
    --------
    >>> map_rows(lambda rows: rows.sum(axis=1), np.ones((5, 2))).tolist()
    [2.0, 2.0, 2.0, 2.0, 2.0]
    """
    step = 4 * block_rows(int(np.prod(x.shape[1:])))  # a row-wise function keeps to its own cache
    if len(x) <= step:
        return function(x)
    first = function(x[:step])
    out = np.empty((len(x), *first.shape[1:]), dtype=first.dtype)
    out[:step] = first

    def fill(start: int) -> None:
        out[start : start + step] = function(x[start : start + step])

    for _ in ordered_map(fill, range(step, len(x), step), **options):
        pass
    return out
