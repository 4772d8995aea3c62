"""Weighted counts of rows in the cells of a grid."""

from math import prod
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.namespace import Array, freeze, namespace_of, to_numpy
from tractable.primitives import as_double
from tractable.primitives.bins import bin_counts
from tractable.statistics.rows import Statistic, as_rows, as_weights
from tractable.value import set_fields, value

#: A grid of more cells is refused: its counts alone would fill memory.
MOST_CELLS = 2**24

WEIGHTINGS = ("plain", "linear")


@value
class Bins:
    """A grid of bins, and the statistic of rows that fall into it.

    A bin holds its lower edge; the last of each column holds its upper edge too. Bins need not be of one
    width.

    Parameters
    ----------
    edges : sequence of d arrays (b_j + 1,)
        For each column, where its bins begin and end: increasing.
    weighting : {"plain", "linear"}
        With "linear" a row is shared between the bins whose middles it lies between, more for the nearer: in
        D columns between 2^D cells. Counts then change smoothly where a row crosses an edge.

    Examples
    --------
    >>> bins = Bins(edges=[[0.0, 1.0, 3.0]])
    >>> (bins.of([[0.5], [1.0]]) + bins.of([[3.0], [7.0]])).counts
    array([1., 2.])
    """

    edges: tuple[Array, ...]
    weighting: str = "plain"

    def __post_init__(self) -> None:
        if self.weighting not in WEIGHTINGS:
            raise ValueError(f"weighting must be one of {[*WEIGHTINGS]}, got {self.weighting!r}")
        edges = tuple(as_edges("edges", axis) for axis in self.edges)
        if not edges:
            raise ValueError("edges must have an array for each column, at least one")
        set_fields(self, edges=edges)
        if self.n_cells > MOST_CELLS:
            raise ValueError(
                f"edges make {self.n_cells} cells, more than {MOST_CELLS}: take fewer bins, or fewer columns"
            )

    @property
    def dim(self) -> int:
        """Number of columns."""
        return len(self.edges)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of bins of each column."""
        return tuple(int(axis.shape[0]) - 1 for axis in self.edges)

    @property
    def n_cells(self) -> int:
        """Number of cells, the product of the numbers of bins."""
        return prod(self.shape)

    def of(self, x: Any, weights: Any = None) -> "BinCounts":
        """Summarise a block of rows (n, d); NaN and infinity are refused."""
        x = as_rows(x)
        if x.shape[1] != self.dim:
            raise ValueError(f"x must have {self.dim} columns, as edges do; got {x.shape[1]}")
        edges = [_beside(axis, x) for axis in self.edges]
        counts, outside = bin_counts(x, as_weights(weights, x), edges, linear=self.weighting == "linear")
        xp = namespace_of(x)
        if outside and not bool(xp.all(xp.isfinite(x))):
            raise ValueError("X contains NaN or infinity; remove the rows")
        return BinCounts(bins=self, counts=counts, outside=float(outside))

    def empty(self, dim: int) -> "BinCounts":
        """Return the statistic of no rows of `dim` columns."""
        return self.of(np.zeros((0, dim)))

    def least_rows(self, n_columns: int) -> int:
        """Return how many rows a block should have for its counts to be worth adding."""
        return max(4 * self.n_cells, 2**18 // n_columns)

    def same_as(self, other: "Bins") -> bool:
        """Whether two grids have the same edges, to the last bit, and the same weighting."""
        return (
            self.weighting == other.weighting
            and self.shape == other.shape
            and all(
                np.array_equal(to_numpy(a), to_numpy(b)) for a, b in zip(self.edges, other.edges, strict=True)
            )
        )


@value
class BinCounts(Statistic):
    """Weighted counts in the cells of a grid: everything a histogram needs to know about the data.

    Made by :meth:`Bins.of`. The rows can be discarded after counting.

    Parameters
    ----------
    bins : Bins
        The grid.
    counts : array (b_1, …, b_d)
        Weight in each cell.
    outside : float
        Weight of the rows that fell into none.

    Examples
    --------
    >>> s = Bins(edges=[[0.0, 1.0, 2.0]], weighting="linear").of([[0.75], [9.0]])
    >>> s.counts, s.outside, s.discount(0.5).counts
    (array([0.75, 0.25]), 1.0, array([0.375, 0.125]))
    """

    _extensive: ClassVar = ("counts", "outside")

    bins: Bins
    counts: Array
    outside: float

    @property
    def dim(self) -> int:
        """Number of columns."""
        return self.bins.dim

    @property
    def weight(self) -> float:
        """Weight of the rows inside the grid."""
        return float(namespace_of(self.counts).sum(self.counts))

    @property
    def total(self) -> float:
        """Weight of all rows, those outside too."""
        return self.weight + self.outside

    def _merged(self, other: "BinCounts") -> "BinCounts":
        """Merge: counts add up, in the same bins."""
        if self.bins is not other.bins and not self.bins.same_as(other.bins):
            raise ValueError("cannot merge counts in different bins: the edges or the weighting are others")
        return BinCounts(
            bins=self.bins, counts=self.counts + other.counts, outside=self.outside + other.outside
        )

    def canonical(self) -> dict[str, Any]:
        """Return the numbers it holds, by name."""
        edges = {f"edges{j}": to_numpy(axis) for j, axis in enumerate(self.bins.edges)}
        return {"counts": to_numpy(self.counts), "outside": self.outside, **edges}


def as_edges(name: str, edges: Any) -> Array:
    """Return the edges of bins as a read-only array of at least two increasing numbers, or raise ValueError.

    Parameters
    ----------
    name : str
        Name of the argument, for the error.
    edges : array (n + 1,)
        Edges of the bins.

    Examples
    --------
    >>> as_edges("edges", [0, 1, 4])
    array([0., 1., 4.])
    """
    try:
        xp = namespace_of(edges)
        axis = xp.asarray(edges)
        real = xp.isdtype(axis.dtype, ("real floating", "integral"))
        axis = axis if xp.isdtype(axis.dtype, "real floating") else xp.astype(axis, xp.float64)
    except (TypeError, ValueError, OverflowError):
        real = False
    if not real or axis.ndim != 1 or axis.shape[0] < 2:
        raise ValueError(f"{name} must be increasing numbers, at least two; got {edges!r:.60}")
    if not bool(xp.all(xp.isfinite(axis))):
        raise ValueError(f"{name} must be finite")
    if not bool(xp.all(0.5 * axis[1:] > 0.5 * axis[:-1])):
        raise ValueError(f"{name} must be increasing, each above the one before; got {edges!r:.60}")
    return freeze(axis)


def _beside(edges: Array, x: Array) -> Array:
    """Return edges as float64 of the library and on the device of x."""
    return as_double(beside(edges, x))


def even_edges(low: float, high: float, n_bins: int) -> np.ndarray:
    """Return the edges of n bins of equal width from low to high, without overflow.

    Parameters
    ----------
    low, high : float
        First and last edge.
    n_bins : int
        Number of bins.

    Examples
    --------
    >>> even_edges(0.0, 1.0, 4)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    return 2.0 * np.linspace(0.5 * low, 0.5 * high, n_bins + 1)
