"""The bins of a histogram: specifications of them, and the rules that choose edges from the rows.

Every rule is one or several folds over the rows, so that it works for files larger than memory.
"""

import warnings
from collections.abc import Callable, Sequence
from numbers import Integral
from operator import add
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.limits import check_squarable
from tractable.base import check_choice, check_number
from tractable.engines import fold
from tractable.primitives.bins import best_blocks
from tractable.smoothing import UnsettledBandwidthWarning
from tractable.statistics import BinCounts, Bins, DiagonalMoments, Extremes, as_edges, even_edges
from tractable.statistics.bin_counts import MOST_CELLS
from tractable.statistics.rows import counts
from tractable.value import value

RULES = ("scott", "fd", "blocks", "loo")

#: Each pass divides the interval that holds an order statistic by this, to the last bits in five.
_PARTS, _PASSES = 1024, 5

#: Added to the count of every bin in "loo": without it one row alone in its bin makes a width impossible.
_PSEUDOCOUNT = 0.5

#: Numbers of bins that "loo" tries, the largest of them, and the most cells of a grid.
_N_WIDTHS, _MOST_BINS, _MOST_LOO_CELLS = 60, 2000, 2**20

#: Chance of a block too many where the density is constant (Scargle et al., 2013).
_FALSE_ALARM = 0.05

#: Where a column has more distinct numbers, neighbours share one of so many cells of "blocks".
_MOST_BLOCK_CELLS = 2**14


@value
class BinSearch:
    """Numbers of bins that were tried and the leave-one-out log-likelihood of each, per unit of weight.

    Parameters
    ----------
    n_bins : array (k, d)
        Of each column.
    scores : array (k,)
        Relative to one bin in all, so that units do not matter.
    settled : bool
        False where ever narrower bins are ever better, and Scott's were taken.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.random.default_rng(0).standard_normal((200, 1))
    >>> search = tractable.Histogram("loo").fit(X).search_
    >>> int(search.n_bins[np.argmax(search.scores), 0])
    5
    """

    n_bins: np.ndarray
    scores: np.ndarray
    settled: bool = True


def as_column_bins(bins: Any, dim: int) -> tuple[Any, ...]:
    """Return the specification of the bins of each column: a number of bins, an array of edges, or a rule."""
    specs = [bins] * dim if _is_one(bins) else list(bins)
    if len(specs) != dim:
        raise ValueError(f"bins must have an entry for each of the {dim} columns of X, got {len(specs)}")
    found = tuple(_checked(one) for one in specs)
    if not isinstance(bins, str) and any(isinstance(one, str) and one == "loo" for one in found):
        raise ValueError('bins must be "loo" for all columns at once: their widths are chosen together')
    return found


def edges_are_known(bins: Any, bounds: Any) -> bool:
    """Whether bins can be made before any row is seen."""
    specs = [bins] if _is_one(bins) else list(bins)
    return not any(isinstance(b, str) or (isinstance(b, Integral) and bounds is None) for b in specs)


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
    if not (np.isfinite(given).all() and np.all(low < high)):
        raise ValueError(f"bounds must be finite, each low below its high; got {bounds!r}")
    return low, high


def _is_one(bins: Any) -> bool:
    """Whether `bins` is one specification for all columns, not one for each."""
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


def known_edges(
    specs: tuple[Any, ...], bounds: tuple[np.ndarray, np.ndarray] | None
) -> tuple[np.ndarray, ...]:
    """Return the edges of columns whose bins do not depend on the rows."""
    low, high = bounds or (np.zeros(len(specs)), np.zeros(len(specs)))
    return tuple(
        _evenly(low[j], high[j], one) if isinstance(one, int) else one for j, one in enumerate(specs)
    )


def choose_edges(
    specs: tuple[Any, ...], bounds: tuple[np.ndarray, np.ndarray] | None, data: Any, weights: Any
) -> tuple[tuple[np.ndarray, ...], BinSearch | None]:
    """Return the edges of each column, and the search that led to them where there was one.

    Parameters
    ----------
    specs : tuple
        What :func:`as_column_bins` returned.
    bounds : two arrays (d,), optional
        Rows beyond are left out; the range of the rows when not given.
    data, weights
        What :func:`tractable.fold` walks.
    """
    seen = fold(StatisticWithinBounds(bounds=bounds, of=Extremes.of), data, weights=weights)
    if not float(seen.weight) > 0:
        raise ValueError("X must have rows of positive weight within the bounds")
    low, high = bounds or (seen.low, seen.high)
    _check_ranges(low, high)
    rows = RowsWithinBounds(low=low, high=high, n=float(seen.weight), data=data, weights=weights)
    rules = {one for one in specs if isinstance(one, str)}
    spread = np.ones(len(specs))
    if rules & {"scott", "fd", "loo"}:
        spread = _relative_deviations(rows)
    search = None
    if "loo" in rules:
        found, search = _loo_edges(rows, spread)
        if search.settled:
            return found, search
        _warn_unsettled()
        specs = ("scott",) * len(specs)
    edges = []
    for j, one in enumerate(specs):
        if isinstance(one, np.ndarray):
            edges.append(one)
        elif not low[j] < high[j]:
            edges.append(_constant(low[j]))
        elif isinstance(one, int):
            edges.append(_evenly(low[j], high[j], one))
        elif one == "blocks":
            edges.append(_block_edges(j, rows))
        else:
            n_bins = _n_bins(j, one, rows, spread[j])
            # A rule may ask for bins narrower than the spacing of numbers.
            edges.append(np.unique(even_edges(low[j], high[j], n_bins)))
    return tuple(edges), search


def _n_bins(j: int, rule: str, rows: "RowsWithinBounds", spread: float) -> int:
    """Return how many bins of the width of Scott (1979), or of Freedman and Diaconis (1981), column j has."""
    width = (24.0 * np.sqrt(np.pi)) ** (1.0 / 3.0) * spread
    if rule == "fd":
        lower, upper = _order_statistics(j, (0.25, 0.75), rows)
        # Where half of the rows are one number, the quartiles are equal.
        width = 2.0 * (upper - lower) / (rows.high[j] - rows.low[j]) or width
    n_bins = np.ceil(rows.n ** (1.0 / (len(rows.low) + 2.0)) / width)
    if not n_bins <= MOST_CELLS:
        raise ValueError(
            f"X has rows so far out that bins={rule!r} would make {n_bins:g} bins in column {j}; "
            "give bounds, or another rule"
        )
    return max(int(n_bins), 1)


def _relative_deviations(rows: "RowsWithinBounds") -> np.ndarray:
    """Return the standard deviation of each column as a fraction of its range."""
    moments, length = rows.fold(DiagonalMoments.of), rows.high - rows.low
    return np.sqrt(moments.scatter / moments.weight) / np.where(length > 0.0, length, 1.0)


def _check_ranges(low: np.ndarray, high: np.ndarray) -> None:
    check_squarable("X", np.stack([low, high]))
    limits = np.finfo(np.float64)  # edges of bins need all their digits
    close = (low < high) & (high - low < limits.tiny / limits.eps)
    if close.any():
        raise ValueError(
            f"X has columns that vary by too little to divide, {np.flatnonzero(close)}; rescale them"
        )


def _evenly(low: float, high: float, n_bins: int) -> np.ndarray:
    edges = even_edges(low, high, n_bins)
    if not np.all(np.diff(edges) > 0):
        raise ValueError(
            f"bins={n_bins} between {low} and {high} would be narrower than numbers are apart; take fewer"
        )
    return edges


def _constant(x: float) -> np.ndarray:
    """Return the edges of one bin a few roundings wide about a number."""
    step = 4.0 * np.spacing(max(abs(x), 2.0**-960))
    return np.array([x - step, x + step])


def _warn_unsettled() -> None:
    warnings.warn(
        'bins="loo" finds no best width: the narrowest bins predict the rows best, as where X is rounded '
        "and many rows are equal; those of Scott's rule are taken",
        UnsettledBandwidthWarning,
        stacklevel=2,
    )


def _loo_edges(rows: "RowsWithinBounds", spread: np.ndarray) -> tuple[tuple[np.ndarray, ...], BinSearch]:
    """Return the edges of even bins of greatest leave-one-out likelihood, and the search.

    With n_i of N rows in bin i of B, of volume V, the others predict a row of that bin with density
    (n_i - 1 + c) / ((N - 1 + c B) V), with half a pseudo-count c in every bin. All widths are counted in one
    pass; those of several columns are in proportion to their spreads.
    """
    tried = _candidates(rows, spread)
    grids = tuple(_grid(rows.low, rows.high, shape) for shape in tried)
    scores = np.array([_score(part.counts) for part in rows.fold(CountOnGrids(grids=grids)).parts])
    best = int(np.argmax(scores))
    # Rows that all differ predict each other no better in the narrowest bins than in one.
    settled = best < len(scores) - 1 or not scores[best] > 0.0
    return grids[best].edges, BinSearch(n_bins=tried, scores=scores, settled=settled)


def _score(counts: np.ndarray) -> float:
    """Return the log-likelihood per unit of weight, with volumes as fractions of the whole."""
    n, n_cells = counts.sum(), counts.size
    predicted = np.log(np.maximum(counts - 1.0, 0.0) + _PSEUDOCOUNT)
    before = np.log(max(n - 1.0, 0.0) + _PSEUDOCOUNT * n_cells)
    return float((counts * predicted).sum() / n - before + np.log(n_cells))


def _candidates(rows: "RowsWithinBounds", spread: np.ndarray) -> np.ndarray:
    """Return numbers of bins of each column, (k, d), from one bin in all to far more than any rule."""
    n, varies = rows.n, rows.high > rows.low
    reach = np.where(varies, 1.0 / np.where(varies, spread, 1.0), 0.0)
    reach = reach / (reach.max() or 1.0)
    most = min(_MOST_BINS, int(8.0 * np.sqrt(n)) + 1)
    widest = np.unique(np.rint(np.geomspace(1.0, most, _N_WIDTHS)))
    tried = np.unique(np.maximum(np.rint(widest[:, None] * reach), 1.0).astype(int), axis=0)
    cells = np.prod(tried.astype(float), axis=1)
    return tried[cells <= max(min(8.0 * n, _MOST_LOO_CELLS), 1.0)]


def _grid(low: np.ndarray, high: np.ndarray, shape: np.ndarray) -> Bins:
    axes = [
        np.unique(even_edges(a, b, n)) if a < b else _constant(a)
        for a, b, n in zip(low, high, shape, strict=True)
    ]
    return Bins(edges=tuple(axes))


def _block_edges(j: int, rows: "RowsWithinBounds") -> np.ndarray:
    """Return the edges of the best blocks of column j: the exact maximum over all divisions of its cells.

    A cell holds one distinct number and ends half way to the next. Of more than 16,384 distinct numbers
    neighbours share cells, of about equal weight.
    """
    column, low, high = rows.fold(Distinct.of, [j]), rows.low[j], rows.high[j]
    cells = _cells(column, low, high)
    mass = np.bincount(
        np.searchsorted(cells[1:-1], column.values, side="right"), column.weights, minlength=len(cells) - 1
    )
    # Lengths are fractions of the whole, so that units do not matter.
    positions = (cells - low) / (high - low)
    return cells[best_blocks(mass, positions, _penalty(float(mass.sum())))]


def _penalty(n: float) -> float:
    """Return the penalty of a block, equation (21) of Scargle et al. (2013), fitted to simulations."""
    return float(4.0 - np.log(73.53 * _FALSE_ALARM * n**-0.478))


def _cells(column: "Distinct", low: float, high: float) -> np.ndarray:
    between = 0.5 * (column.values[:-1] + column.values[1:])
    if len(between) >= _MOST_BLOCK_CELLS:
        share = np.cumsum(column.weights)[:-1] / column.weights.sum()
        wanted = np.searchsorted(share, np.arange(1, _MOST_BLOCK_CELLS) / _MOST_BLOCK_CELLS)
        between = between[np.unique(np.minimum(wanted, len(between) - 1))]
    inner = np.unique(between[(between > low) & (between < high)])
    found = np.concatenate([[low], inner, [high]])
    # Numbers next to each other have no number between them.
    return found[np.concatenate([[True], np.diff(found) > 0])] if len(found) > 2 else found


def _order_statistics(j: int, levels: tuple[float, ...], rows: "RowsWithinBounds") -> np.ndarray:
    """Return quantiles of a column within bounds, interpolated as NumPy does, a weight being repetitions.

    The rank is bracketed by counts in ever finer bins: a few passes over data of any size.
    """
    ranks = [max(level * (rows.n - 1.0), 0.0) for level in levels]
    whole = [r for rank in ranks for r in (np.floor(rank), np.ceil(rank))]
    sought = [OrderStatistic(rank=r, low=rows.low[j], high=rows.high[j]) for r in whole]
    for _ in range(_PASSES):
        grids = tuple(Bins(edges=(one.edges(),)) for one in sought)
        found = zip(sought, rows.fold(CountOnGrids(grids=grids), [j]).parts, grids, strict=True)
        sought = [one.closer(part.counts, grid) for one, part, grid in found]
    ends = np.array([one.low for one in sought]).reshape(-1, 2)
    part = np.array(ranks) - np.floor(ranks)
    return (1.0 - part) * ends[:, 0] + part * ends[:, 1]


@value
class OrderStatistic:
    """An order statistic that lies from `low` to `high`, with so much weight before `low`."""

    rank: float
    low: float
    high: float
    below: float = 0.0

    def edges(self) -> np.ndarray:
        """Return the edges to count in next."""
        found = np.unique(even_edges(self.low, self.high, _PARTS))
        return found if np.all(np.diff(found) > 0) else np.array([self.low, self.high])

    def closer(self, counts: np.ndarray, bins: Bins) -> "OrderStatistic":
        """Return the bin that holds it."""
        edges, before = bins.edges[0], self.below + np.concatenate([[0.0], np.cumsum(counts)])
        position = min(int(np.searchsorted(before[1:], self.rank, side="right")), len(counts) - 1)
        return OrderStatistic(
            rank=self.rank, low=edges[position], high=edges[position + 1], below=before[position]
        )


@value
class StatisticWithinBounds:
    """The statistic of some columns of the rows within bounds."""

    bounds: Any
    of: Callable[..., Any]
    columns: list[int] | None = None

    def __call__(self, x: Any, weights: Any = None) -> Any:
        """Summarise a block of rows."""
        if self.bounds is not None:
            within = np.all((x >= self.bounds[0]) & (x <= self.bounds[1]), axis=1)
            x, weights = x[within], None if weights is None else np.asarray(weights)[within]
        return self.of(x if self.columns is None else x[:, self.columns], weights=weights)


@value
class RowsWithinBounds:
    """Rows within bounds, of total weight n, over which the rules fold."""

    low: np.ndarray
    high: np.ndarray
    n: float
    data: Any
    weights: Any

    def fold(self, of: Callable[..., Any], columns: list[int] | None = None) -> Any:
        """Return the statistic of some columns of the rows."""
        inside = StatisticWithinBounds(bounds=(self.low, self.high), of=of, columns=columns)
        return fold(inside, self.data, weights=self.weights)


@value
class GridCounts:
    """Counts in several grids."""

    parts: tuple[BinCounts, ...]

    def __add__(self, other: "GridCounts") -> "GridCounts":
        return GridCounts(parts=tuple(map(add, self.parts, other.parts)))


@value
class CountOnGrids:
    """Several grids, counted in one pass."""

    grids: tuple[Bins, ...]

    def __call__(self, x: Any, weights: Any = None) -> GridCounts:
        """Summarise a block of rows."""
        return GridCounts(parts=tuple(bins.of(x, weights) for bins in self.grids))


@value
class Distinct:
    """The distinct numbers of a column and how often each counts."""

    holds_rows: ClassVar = True  # see `StoredRows`

    values: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "Distinct":
        """Summarise a block of one column."""
        column = np.asarray(x, dtype=np.float64)[:, 0]
        values, position = np.unique(column, return_inverse=True)
        total = np.bincount(position.reshape(-1), counts(weights, column), minlength=len(values))
        return cls(values=values[total > 0], weights=total[total > 0])

    def __add__(self, other: "Distinct") -> "Distinct":
        both = np.concatenate([self.values, other.values])[:, None]
        return Distinct.of(both, np.concatenate([self.weights, other.weights]))
