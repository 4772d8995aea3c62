"""What bin rules learn in passes over the rows: who is inside, order statistics, distinct values."""

from collections.abc import Callable
from operator import add
from typing import Any

import numpy as np

from tractable.engines import fold
from tractable.statistics import BinCounts, Bins, even_edges
from tractable.value import value

__all__ = ["Distinct", "Inside", "Several", "SeveralCounts", "order_statistics"]

#: Each pass divides the interval that holds an order statistic by this, to the last bits in five.
_PARTS, _PASSES = 1024, 5


@value
class Inside:
    """The statistic of the rows within bounds."""

    bounds: Any
    of: Callable[..., Any]

    def __call__(self, x: Any, weights: Any = None) -> Any:
        """Summarise a block of rows."""
        if self.bounds is None:
            return self.of(x, weights=weights)
        keep = np.all((x >= self.bounds[0]) & (x <= self.bounds[1]), axis=1)
        return self.of(x[keep], weights=None if weights is None else np.asarray(weights)[keep])


@value
class SeveralCounts:
    """Counts in several grids."""

    parts: tuple[BinCounts, ...]

    def __add__(self, other: "SeveralCounts") -> "SeveralCounts":
        return SeveralCounts(parts=tuple(map(add, self.parts, other.parts)))


@value
class Several:
    """Several grids, each over some columns, counted in one pass."""

    grids: tuple[tuple[list[int], Bins], ...]

    def __call__(self, x: Any, weights: Any = None) -> SeveralCounts:
        """Summarise a block of rows."""
        return SeveralCounts(parts=tuple(bins.of(x[:, columns], weights) for columns, bins in self.grids))


@value
class Distinct:
    """The distinct numbers of a column and how often each counts."""

    values: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "Distinct":
        """Summarise a block of one column."""
        one = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
        values, place = np.unique(np.asarray(x, dtype=np.float64)[:, 0], return_inverse=True)
        total = np.bincount(place.reshape(-1), one, minlength=len(values))
        return cls(values=values[total > 0], weights=total[total > 0])

    def __add__(self, other: "Distinct") -> "Distinct":
        both = np.concatenate([self.values, other.values])[:, None]
        return Distinct.of(both, np.concatenate([self.weights, other.weights]))


def order_statistics(
    j: int, levels: tuple[float, ...], low: np.ndarray, high: np.ndarray, n: float, data: Any, weights: Any
) -> np.ndarray:
    """Return quantiles of a column within bounds, interpolated as NumPy does, a weight being repetitions.

    The rank sought is closed in on by counts in ever finer bins: a few passes over data of any size.
    """
    ranks = [max(level * (n - 1.0), 0.0) for level in levels]
    sought = [
        Sought(rank=r, low=low[j], high=high[j]) for rank in ranks for r in (np.floor(rank), np.ceil(rank))
    ]
    for _ in range(_PASSES):
        grids = tuple(([j], Bins(edges=(one.edges(),))) for one in sought)
        found = fold(Inside(bounds=(low, high), of=Several(grids=grids)), data, weights=weights)
        sought = [
            one.closer(part.counts, grid)
            for one, part, (_, grid) in zip(sought, found.parts, grids, strict=True)
        ]
    ends = np.array([one.low for one in sought]).reshape(-1, 2)
    part = np.array(ranks) - np.floor(ranks)
    return (1.0 - part) * ends[:, 0] + part * ends[:, 1]


@value
class Sought:
    """An order statistic that lies from `low` to `high`, with so much weight before `low`."""

    rank: float
    low: float
    high: float
    below: float = 0.0

    def edges(self) -> np.ndarray:
        """Return where to count next."""
        found = np.unique(even_edges(self.low, self.high, _PARTS))
        return found if np.all(np.diff(0.5 * found) > 0) else np.array([self.low, self.high])

    def closer(self, counts: np.ndarray, bins: Bins) -> "Sought":
        """Return the bin that holds it."""
        edges, before = bins.edges[0], self.below + np.concatenate([[0.0], np.cumsum(counts)])
        place = min(int(np.searchsorted(before[1:], self.rank, side="right")), len(counts) - 1)
        return Sought(rank=self.rank, low=edges[place], high=edges[place + 1], below=before[place])
