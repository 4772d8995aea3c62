"""Columns cut into cells: categories, and numbers in intervals of about equal weight with heaps as atoms.

Only the probability of a cell depends on other columns. Inside a cell a column of numbers keeps its own
shape, so its support, its signs, its heaps and its tails hold whatever the model says.
"""

import numpy as np
from scipy.special import ndtri

from tractable.distributions import Categorical, HistogramDensity
from tractable.value import value

#: Fewest rows of a bin; bins of a cell on average.
BIN_ROWS, BINS_PER_CELL = 10, 8

#: Bins of the tails beyond the rows: each is four times as wide as the one before, with 1/64 of its weight.
TAIL_BINS = 20

#: Digits of a number that may be those of its recorded step.
DIGITS = 8


@value
class CategoryCells:
    """A column of categories: each is a cell."""

    size: int

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.size

    def codes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the cell of each entry, -1 where it is missing, and log p(entry | cell)."""
        seen = ~np.isnan(x)
        return np.where(seen, x, -1.0).astype(np.int32), np.zeros(len(x))

    def leaf(self, probabilities: np.ndarray) -> Categorical:
        """Return the distribution of the column, given probabilities of cells (H, C)."""
        return Categorical(probabilities=probabilities)

    def scores(self, marginal: np.ndarray) -> None:
        """Return None: categories have no order; see `NumberCells.scores`."""


@value
class NumberCells:
    """A column of numbers in bins, grouped into cells; the density is constant in a bin.

    Bins hold ten rows at least. A heap, a value with the weight of a bin, is a bin of its own, as wide as the
    step to which the column is recorded. Beyond the rows there are tails; a column without negative entries
    has none below zero.

    Parameters
    ----------
    edges : array (b + 1,)
        Where bins begin and end.
    cell : array (b,) of int
        The cell of each bin.
    share : array (b,)
        p(bin | its cell).
    low, step : float
        Values are about low + step · integer.
    """

    edges: np.ndarray
    cell: np.ndarray
    share: np.ndarray
    low: float
    step: float

    @classmethod
    def of(
        cls, x: np.ndarray, weights: np.ndarray | None, most_cells: int, low: float, high: float
    ) -> "NumberCells":
        """Return the cells of a column.

        Parameters
        ----------
        x : array (n,)
            Entries of some rows, without missing ones.
        weights : array (n,), optional
            How often each counts.
        most_cells : int
            Most cells.
        low, high : float
            The least and the greatest entry of all rows.
        """
        values, where = np.unique(x, return_inverse=True)
        counts = np.bincount(where, weights, len(values)).astype(np.float64)
        n, step = float(counts.sum()), recorded_step(values)
        wanted = min(float(most_cells), max(4.0, n // 8.0), 8.0 + n**0.5)
        group = packed(counts, max(float(BIN_ROWS), n / (BINS_PER_CELL * wanted)))
        first = np.flatnonzero(np.diff(group, prepend=-1))
        last = np.append(first[1:], len(values)) - 1
        size = np.bincount(group, counts)
        begin, end = values[first], values[last]
        between = 0.5 * (end[:-1] + begin[1:])
        outer = np.concatenate([[begin[0] - 0.5 * step], between, [end[-1] + 0.5 * step]])
        cell = packed(size, n / wanted)
        share = size / np.bincount(cell, size)[cell]
        edges, cells, shares = [outer[0]], list[int](), list[float]()

        def add(upto: float, weight: float, of: int) -> None:
            if upto > edges[-1]:
                edges.append(upto)
                cells.append(of)
                shares.append(weight)

        for g in range(len(size)):
            left, right, whole = outer[g], outer[g + 1], float(share[g])
            a, b = begin[g] - 0.5 * step, begin[g] + 0.5 * step
            if begin[g] == end[g] and right - left > 1.5 * step and left <= a and b <= right:
                around = whole / (size[g] + 1.0) / (right - left)  # a heap leaves little for values beside it
                add(a, around * (a - left), cell[g])
                add(b, whole - around * (right - left - (b - a)), cell[g])
                add(right, around * (right - b), cell[g])
            else:
                add(right, whole, cell[g])
        spread = max(
            float(np.sqrt(np.average((values - np.average(values, weights=counts)) ** 2, weights=counts))),
            step,
        )
        found = cls(
            edges=np.array(edges),
            cell=np.array(cells),
            share=np.array(shares),
            low=float(values[0]),
            step=step,
        )
        tail = 0.5 / (np.bincount(cell, size)[[0, -1]] + 1.0)
        found = found.with_tail(spread, tail[1], bound=0.5 * step if high <= 0.0 else np.inf)
        turned = found.turned().with_tail(spread, tail[0], bound=0.5 * step if low >= 0.0 else np.inf)
        return turned.turned()

    def turned(self) -> "NumberCells":
        """Return the cells of the negated column, in reverse order of bins."""
        return NumberCells(
            edges=-self.edges[::-1],
            cell=self.cell[::-1],
            share=self.share[::-1],
            low=self.low,
            step=self.step,
        )

    def with_tail(self, spread: float, weight: float, bound: float) -> "NumberCells":
        """Return the cells with bins above the last, which share its cell: the density falls as x^-4.

        Parameters
        ----------
        spread : float
            The width of the first bin.
        weight : float
            The share of the last cell that the tail takes.
        bound : float
            Where the support ends; if it is finite, the tail is one bin up to there.
        """
        top = self.edges[-1]
        if bound <= top:
            return self
        with np.errstate(over="ignore"):
            ends = top + spread * (4.0 ** np.arange(1, TAIL_BINS + 1) - 1.0) / 3.0
        ends = ends[np.isfinite(ends)] if bound == np.inf else np.array([bound])
        ends = ends[np.diff(ends, prepend=top) > 0]
        shares = 64.0 ** -np.arange(float(len(ends)))
        own = self.cell == self.cell[-1]
        return NumberCells(
            edges=np.concatenate([self.edges, ends]),
            cell=np.concatenate([self.cell, np.full(len(ends), self.cell[-1])]),
            share=np.concatenate(
                [np.where(own, (1.0 - weight) * self.share, self.share), weight * shares / shares.sum()]
            ),
            low=self.low,
            step=self.step,
        )

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.cell.max()) + 1

    def codes(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the cell of each entry, -1 where it is missing, and log p(entry | cell)."""
        seen = ~np.isnan(x)
        bins = np.searchsorted(self.edges, np.where(seen, x, self.low), "right") - 1
        bins = np.clip(bins, 0, len(self.cell) - 1)
        log_p = np.log(self.share[bins]) - np.log(np.diff(self.edges)[bins])
        return np.where(seen, self.cell[bins], -1).astype(np.int32), np.where(seen, log_p, 0.0)

    def leaf(self, probabilities: np.ndarray) -> HistogramDensity:
        """Return the distribution of the column, given probabilities of cells (H, C)."""
        return HistogramDensity(edges=self.edges, counts=probabilities[:, self.cell] * self.share)

    def scores(self, marginal: np.ndarray) -> np.ndarray | None:
        """Return the normal score of the middle of each cell; None if there are few."""
        if len(marginal) <= 6:
            return None
        return ndtri(np.clip(np.cumsum(marginal) - 0.5 * marginal, 1e-4, 1.0 - 1e-4))

    def recorded(self, x: np.ndarray) -> np.ndarray:
        """Return numbers rounded to the step of the column."""
        return self.low + np.rint((x - self.low) / self.step) * self.step


def packed(counts: np.ndarray, target: float) -> np.ndarray:
    """Group consecutive values into about `target` rows each; a value with at least so many is a group.

    Examples
    --------
    >>> packed(np.array([1.0, 1.0, 5.0, 1.0, 1.0, 1.0]), 2.0)
    array([0, 0, 1, 2, 2, 3])
    """
    label, group, have = np.empty(len(counts), np.int64), -1, target
    for i, count in enumerate(counts.tolist()):
        if count >= target or have >= target:
            group, have = group + 1, 0.0
        label[i], have = group, target if count >= target else have + count
    return label


def recorded_step(values: np.ndarray) -> float:
    """Return the step to which different, increasing numbers are recorded: all are whole multiples apart.

    Examples
    --------
    >>> recorded_step(np.array([0.5, 1.0, 4.5])), recorded_step(np.array([10.0, 30.0, 40.0]))
    (0.5, 10.0)
    """
    top = float(np.abs(values).max())
    first = 10.0 ** (float(np.floor(np.log10(top))) + 1.0) if top > 0 else 1.0
    for digits in range(DIGITS + 1):
        step = first / 10.0**digits
        whole = np.rint(values / step)
        if np.abs(values - whole * step).max() <= 1e-9 * step + 1e-14 * top:
            apart = np.diff(whole).astype(np.int64)
            return step * max(1, int(np.gcd.reduce(apart))) if len(apart) else step
    return step
