"""From what was said of bins, and from the rows where need be, to edges."""

import warnings
from typing import Any

import numpy as np

from tractable.density.bin_columns import Inside, order_statistics
from tractable.density.bin_search import BinSearch, leave_one_out
from tractable.density.block_edges import block_edges
from tractable.engines import fold
from tractable.smoothing import UnsettledBandwidthWarning
from tractable.statistics import DiagonalMoments, Extremes, even_edges
from tractable.statistics.bin_counts import MOST_CELLS

__all__ = ["choose_edges", "known_edges"]


def known_edges(
    said: tuple[Any, ...], bounds: tuple[np.ndarray, np.ndarray] | None
) -> tuple[np.ndarray, ...]:
    """Return the edges of columns of which nothing needs to be learnt."""
    low, high = bounds or (np.zeros(len(said)), np.zeros(len(said)))
    return tuple(_evenly(low[j], high[j], one) if isinstance(one, int) else one for j, one in enumerate(said))


def choose_edges(
    said: tuple[Any, ...], bounds: tuple[np.ndarray, np.ndarray] | None, data: Any, weights: Any
) -> tuple[tuple[np.ndarray, ...], BinSearch | None]:
    """Return the edges of each column, and the search that led to them where there was one.

    Parameters
    ----------
    said : tuple
        What :func:`as_column_bins` returned.
    bounds : two arrays (d,), optional
        What lies beyond is not looked at; the ends of the data when not given.
    data, weights
        What :func:`tractable.fold` walks.
    """
    seen = fold(Inside(bounds=bounds, of=Extremes.of), data, weights=weights)
    if not float(seen.weight) > 0:
        raise ValueError("X must have rows of positive weight within the bounds")
    low, high = bounds or (seen.low, seen.high)
    _check_ranges(low, high)
    n = float(seen.weight)
    rules = {one for one in said if isinstance(one, str)}
    spread = _spread(low, high, data, weights) if rules & {"scott", "fd", "loo"} else np.ones(len(said))
    search = None
    if "loo" in rules:
        found, search = leave_one_out(low, high, spread, n, data, weights, constant=_constant)
        if search.settled:
            return found, search
        _warn_unsettled()
        said = ("scott",) * len(said)
    edges = []
    for j, one in enumerate(said):
        if isinstance(one, np.ndarray):
            edges.append(one)
        elif not low[j] < high[j]:
            edges.append(_constant(low[j]))
        elif isinstance(one, int):
            edges.append(_evenly(low[j], high[j], one))
        elif one == "blocks":
            edges.append(block_edges(j, low, high, data, weights))
        else:
            n_bins = _n_bins(j, one, low, high, spread, n, data, weights)
            # A rule may ask for narrower bins than there are numbers.
            edges.append(np.unique(even_edges(low[j], high[j], n_bins)))
    return tuple(edges), search


def _warn_unsettled() -> None:
    warnings.warn(
        'bins="loo" finds no best width: the narrowest bins foretell the rows best, as where X is rounded '
        "and many rows are equal; those of Scott's rule are taken",
        UnsettledBandwidthWarning,
        stacklevel=2,
    )


def _n_bins(
    j: int,
    rule: str,
    low: np.ndarray,
    high: np.ndarray,
    spread: np.ndarray,
    n: float,
    data: Any,
    weights: Any,
) -> int:
    """Return how many bins of the width of Scott (1979), or of Freedman and Diaconis (1981), column j has."""
    width = (24.0 * np.sqrt(np.pi)) ** (1.0 / 3.0) * spread[j]
    if rule == "fd":
        lower, upper = order_statistics(j, (0.25, 0.75), low, high, n, data, weights)
        # Where half of the rows are one number, their quartiles say nothing of a width.
        width = 2.0 * (0.5 * upper - 0.5 * lower) / (0.5 * high[j] - 0.5 * low[j]) or width
    n_bins = np.ceil(n ** (1.0 / (len(low) + 2.0)) / width)
    if not n_bins <= MOST_CELLS:
        raise ValueError(
            f"X has rows so far out that bins={rule!r} would make {n_bins:g} bins in column {j}; "
            "give bounds, or another rule"
        )
    return max(int(n_bins), 1)


def _spread(low: np.ndarray, high: np.ndarray, data: Any, weights: Any) -> np.ndarray:
    """Return the standard deviation of each column, in parts of its range: no units, and no overflow."""
    half = np.where(low < high, 0.5 * high - 0.5 * low, 1.0)

    def relative(x: Any, weights: Any = None) -> DiagonalMoments:
        return DiagonalMoments.of((0.5 * x - 0.5 * low) / half, weights)

    moments = fold(Inside(bounds=(low, high), of=relative), data, weights=weights)
    return np.sqrt(moments.scatter / moments.weight)


def _check_ranges(low: np.ndarray, high: np.ndarray) -> None:
    close = (low < high) & (0.5 * high - 0.5 * low < np.finfo(np.float64).tiny)
    if close.any():
        raise ValueError(
            f"X has columns that vary by less than numbers can say, {np.flatnonzero(close)}; rescale them"
        )


def _evenly(low: float, high: float, n_bins: int) -> np.ndarray:
    edges = even_edges(low, high, n_bins)
    if not np.all(np.diff(0.5 * edges) > 0):
        raise ValueError(
            f"bins={n_bins} between {low} and {high} would be narrower than numbers are apart; take fewer"
        )
    return edges


def _constant(x: float) -> np.ndarray:
    """Return the edges of one bin a few roundings wide about a number."""
    step = 4.0 * np.spacing(max(abs(x), 2.0**-960))
    return np.array([x - step, x + step])
