"""What a user may say of bins: a number, edges, the name of a rule, or one of these for each column."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from tractable.base import check_choice, check_number
from tractable.statistics import as_edges
from tractable.statistics.bin_counts import MOST_CELLS

__all__ = ["RULES", "as_bounds", "as_column_bins", "edges_are_known"]

RULES = ("scott", "fd", "blocks", "loo")


def as_column_bins(bins: Any, dim: int) -> tuple[Any, ...]:
    """Return what was said of the bins of each column: a whole number, an array of edges, or a rule."""
    said = [bins] * dim if _is_one(bins) else list(bins)
    if len(said) != dim:
        raise ValueError(f"bins must have an entry for each of the {dim} columns of X, got {len(said)}")
    found = tuple(_checked(one) for one in said)
    if not isinstance(bins, str) and any(isinstance(one, str) and one == "loo" for one in found):
        raise ValueError('bins must be "loo" for all columns at once: their widths are chosen together')
    return found


def edges_are_known(bins: Any, bounds: Any) -> bool:
    """Whether bins can be made before any row is seen."""
    said = [bins] if _is_one(bins) else list(bins)
    return not any(isinstance(b, str) or (isinstance(b, Integral) and bounds is None) for b in said)


def as_bounds(bounds: Any, dim: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the least and the greatest number that is counted of each column, (dim,) both."""
    if bounds is None:
        return None
    try:
        given = np.asarray(bounds, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.shape not in {(2,), (dim, 2)}:
        raise ValueError(
            f"bounds must be (low, high), or such a pair for each of {dim} columns; got {bounds!r}"
        )
    low, high = np.broadcast_to(given, (dim, 2)).T
    if not (np.isfinite(given).all() and np.all(0.5 * low < 0.5 * high)):
        raise ValueError(f"bounds must be finite, each low below its high; got {bounds!r}")
    return low, high


def _is_one(bins: Any) -> bool:
    """Whether one thing was said for all columns, not one for each."""
    if isinstance(bins, tuple):
        return False
    if isinstance(bins, np.ndarray):
        return bins.ndim < 2
    if isinstance(bins, Sequence) and not isinstance(bins, str):
        return all(np.ndim(entry) == 0 and not isinstance(entry, str) for entry in bins)
    return True


def _checked(one: Any) -> Any:
    if isinstance(one, str):
        check_choice("bins", one, RULES)
        return one
    if np.ndim(one) == 0:
        check_number("bins", one, least=1, most=MOST_CELLS, whole=True)
        return int(one)
    return as_edges("bins", one)
