"""Sums of windows over points, by one of several algorithms, on all cores."""

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.data.blocks import map_blocks, map_matrix_rows, stacked
from tractable.primitives import native
from tractable.primitives.kernel_sums import KINDS, TreeSums, kernel_spreads, log_kernel_sums, tree_sums
from tractable.primitives.kernel_sums.line import (
    LineSums,
    NearSums,
    TailSums,
    line_sums,
    near_sums,
    tail_sums,
)
from tractable.smoothing.windows import WINDOWS, Window
from tractable.value import value

#: Pairs of a query and a point that are handed on at a time.
_PAIRS = 2**23

#: Pairs that are held at a time where no way of summing is prepared.
_DENSE = 2**21

#: A tree is tried from so many rows on, by the sums of some of them; kept where it adds few enough terms.
_TREE_ROWS, _TREE_TRIALS, _TREE_SHARE = 2048, 16, 0.4

#: What each way of summing may miss of a sum, as a part of it.
_TOLERANCES = {
    "fast Gauss transform": 1e-12,
    "running totals": 1e-11,
    "two passes": 1e-12,
    "tree-pruned sum": 1e-12,
    "direct sum": 1e-12,
    "sum within reach": 1e-12,
    "dense": 1e-12,
}


@value
class WindowSums:
    """Points in units of the bandwidth, their weights, and a window to sum over them.

    Points of one coordinate may be in units of their own, with the bandwidth as `scale`: it divides
    differences, which keeps the digits of points far from zero.

    Parameters
    ----------
    points : array (n, d)
        Points, divided by the bandwidth.
    weights : array (n,)
        Their weights.
    window : Window
        The smoothing kernel.
    scale : float
        A bandwidth that still divides differences of points of one coordinate.

    Examples
    --------
    >>> sums = WindowSums(points=np.array([[0.0], [2.0]]), weights=np.ones(2), window=WINDOWS["gaussian"])
    >>> np.exp(sums.log_sums(np.array([[0.0]]))).round(6)
    array([1.135335])
    """

    points: Array  # (n, d)
    weights: Array  # (n,)
    window: Window
    scale: float = 1.0

    @property
    def path(self) -> str:
        """The algorithm of the sums; each has at least eleven correct digits, however far a query is."""
        if not self._native:
            return "dense" if self.near is None else "sum within reach"
        if self.points.shape[1] > 1:
            return "direct sum" if self.tree is None else "tree-pruned sum"
        return {"gaussian": "fast Gauss transform", "laplace": "two passes"}.get(
            self.window.name, "running totals"
        )

    @property
    def tolerance(self) -> float:
        """Largest relative error of a sum."""
        return _TOLERANCES[self.path]

    def log_sums(self, queries: Array) -> Array:
        """Return log Σ_i w_i k(|q - x_i|²) of queries (m, d)."""
        near = self.near
        if near is not None:
            return near.log_sums(queries, self.window.log_profile)
        if not self._native:
            return self._of_all_pairs(queries, None)
        return self._in_space(queries, None) if self.line is None else self.line.log_sums(queries[:, 0])

    def tail_masses(self, queries: Array, *, upper: bool = False) -> Array:
        """Return the mass below numbers (m,), or above them, accurate in the tail."""
        near, tails = self.near, self.tails
        if tails is not None:
            return tails.cdf(queries, upper=upper)
        if near is not None:
            return near.cdf(queries, self.window.cdf, upper=upper)
        xp, side = namespace_of(queries), -1.0 if upper else 1.0
        weights, x = self.weights / xp.sum(self.weights), self.points[:, 0][None, :]
        return self._by_rows(
            lambda rows: self.window.cdf(side * (queries[rows][:, None] - x) / self.scale) @ weights, queries
        )

    def log_left_out(self, left: np.ndarray) -> np.ndarray:
        """Return log Σ_j w_j k(|x_i - x_j|²) - left_i k(0) of every point."""
        if not self._native:
            return self._of_all_pairs(self.points, left)
        line = self.line
        if line is None:
            return self._in_space(self.points, left)
        return self._unsorted(line.log_left_out(left[line.order])[0])

    def left_out_spreads(self, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return `log_left_out` and, for the Gaussian, the mean of |x_i - x_j|² weighted by its terms."""
        line = self.line
        if line is not None:
            logs, spreads = line.log_left_out(left[line.order], spread=True)
            return self._unsorted(logs), self._unsorted(spreads)
        logs, n, points = self.log_left_out(left), len(self.points), self.points / self.scale
        return logs, _blocks(
            lambda a, b: kernel_spreads(points[a:b], points, self.weights, a, logs[a:b]),
            n,
            self._rows,
        )

    @cached_property
    def line(self) -> LineSums | None:
        """What is prepared of points on a line."""
        if not self._native or self.points.shape[1] > 1:
            return None
        return line_sums(self.points[:, 0], self.weights, self.window.name, self.scale)

    @cached_property
    def tails(self) -> TailSums | None:
        """What is prepared for the mass on either side of a number."""
        return None if self.line is None else tail_sums(self.line)

    @cached_property
    def near(self) -> NearSums | None:
        """The points sorted, for windows of users that have an end."""
        if self._native or not is_numpy_array(self.points) or math.isinf(self.window.support):
            return None
        return near_sums(self.points, self.weights, self.scale, self.window.support)

    @cached_property
    def tree(self) -> TreeSums | None:
        """The points in a tree, where sums of some of them show that its boxes leave most points out."""
        n, d = self.points.shape
        if not self._native or d == 1 or n < _TREE_ROWS:
            return None
        found = tree_sums(self.points, self._counts, self.window.name)
        some = self.points[np.linspace(0, n - 1, _TREE_TRIALS).astype(int)]
        return found if found.log_sums(some)[1].mean() < _TREE_SHARE * n else None

    @property
    def _native(self) -> bool:
        known = WINDOWS.get(self.window.name) is self.window and self.window.name in KINDS
        return known and native(self.points) is not None

    @property
    def _rows(self) -> int:
        return max(1, _PAIRS // max(1, len(self.points)))

    def _by_rows(self, of: Callable[[slice], Array], queries: Array) -> Array:
        """Return what a function of some queries and all points gives, in blocks that the memory allows."""
        if not queries.shape[0]:
            return queries if len(queries.shape) == 1 else queries[:, 0]
        return stacked(map_matrix_rows(of, queries.shape[0], self.points.shape[0], queries, _DENSE))

    def _of_all_pairs(self, queries: Array, left: Array | None) -> Array:
        """Add the windows of all points; the queries of `left` are the points."""
        profile = self.window.log_profile

        def of(rows: slice) -> Array:
            own = None if left is None else left[rows]
            given = queries[rows, :], self.points, self.weights, profile
            return log_kernel_sums(*given, None, own, rows.start, self.scale)

        return self._by_rows(of, queries)

    def _in_space(self, queries: np.ndarray, left: np.ndarray | None) -> np.ndarray:
        """Sum over a tree or over all points; the queries of `left` are the points."""
        if self.tree is not None:
            return self.tree.log_sums(queries, left)[0]
        profile, name = self.window.log_profile, self.window.name
        return log_kernel_sums(queries, self._columns, self._counts, profile, name, left)

    @cached_property
    def _counts(self) -> np.ndarray | None:
        """The weights, or None where every point counts once, which the native loop is faster for."""
        return None if bool(np.all(self.weights == 1.0)) else self.weights

    @cached_property
    def _columns(self) -> np.ndarray:
        """The points, stored column by column, as the native loop reads them."""
        return np.asfortranarray(self.points, dtype=np.float64)

    def _unsorted(self, found: np.ndarray) -> np.ndarray:
        """Put what was found of sorted points in the places of the points; weight zero has none."""
        assert self.line is not None
        out = np.full(len(self.points), -np.inf)
        out[self.line.order] = found
        return out


def _blocks(function: Callable[[int, int], np.ndarray], n: int, step: int) -> np.ndarray:
    """Apply function(start, end) to blocks of rows on all cores and join what it returns."""
    if n <= step:
        return function(0, n)
    return map_blocks(lambda a: function(a, min(a + step, n)), range(0, n, step))
