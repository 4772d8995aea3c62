"""Sums of windows over points on a line, prepared once: a Gauss transform, running totals, two passes.

Those are the native form, see ``src/native/kernel_sums_line.cpp``. In the array API all pairs are added.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from tractable.primitives import native, native_matrix
from tractable.primitives.kernel_sums import KINDS, agnostic
from tractable.value import value

#: Terms of the series of a bin, of that of a tail, and running totals of a point: as the core has them.
GAUSS_TERMS, TAIL_TERMS, TOTALS = 26, 28, 6


@value
class LineSums:
    """Sorted points of a line, and what makes sums of windows over them cheap."""

    kind: int
    order: np.ndarray  # (n,), where the sorted points stood
    x: np.ndarray  # (n,), sorted
    weights: np.ndarray  # (n,), positive
    scale: float  # the bandwidth: differences of numbers are divided by it
    parts: tuple[Any, ...]

    def log_sums(self, queries: np.ndarray) -> np.ndarray:
        """Return log Σ_i w_i k(((q - x_i)/h)²) of every query, (m,)."""
        core, out = native(self.x), np.empty(len(queries))
        if core is None:
            return self._of_all_pairs(queries, None)
        if self.kind == KINDS["gaussian"]:
            core.gauss_log_sums(*self._points, *self.parts, native_matrix(queries), out)
        else:
            self._others(queries, None, 0, out)
        return out

    def log_left_out(self, left: np.ndarray, *, spread: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return log Σ_j w_j k(((x_i - x_j)/h)²) - left_i k(0) of the sorted points.

        With `spread`, for the Gaussian, also the mean of ((x_i - x_j)/h)² weighted by the terms of that sum.
        """
        n, left, core = len(self.x), native_matrix(left), native(self.x)
        if core is None:
            out = self._of_all_pairs(self.x, left)
            return out, self._spreads(out) if spread else np.empty(0)
        out, mean = np.empty(n), np.empty(n) if spread else None
        if self.kind == KINDS["gaussian"]:
            core.gauss_log_left_out(*self._points, *self.parts, left, 0, np.empty(n), out, mean)
        else:
            self._others(self.x, left, 0, out)
        return out, np.empty(0) if mean is None else mean

    def _of_all_pairs(self, queries: np.ndarray, left: np.ndarray | None) -> np.ndarray:
        window = partial(agnostic.log_window, self.kind)

        def of(rows: slice) -> np.ndarray:
            own = None if left is None else left[rows]
            given = queries[rows, None], self.x[:, None], self.weights, window, own, rows.start, self.scale
            return agnostic.log_kernel_sums(*given)

        return agnostic.by_blocks(of, len(queries), len(self.x))

    def _spreads(self, log_sums: np.ndarray) -> np.ndarray:
        points = self.x[:, None] / self.scale

        def of(rows: slice) -> np.ndarray:
            return agnostic.kernel_spreads(points[rows], points, self.weights, rows.start, log_sums[rows])

        found = agnostic.by_blocks(of, len(points), len(points))
        return np.where(log_sums > -np.inf, found, 0.0)

    @property
    def _points(self) -> tuple[np.ndarray, np.ndarray, float]:
        return self.x, self.weights, self.scale

    def _others(self, queries: np.ndarray, left: np.ndarray | None, begin: int, out: np.ndarray) -> None:
        core, asked = native(self.x), (native_matrix(queries), left, begin, out)
        if self.kind == KINDS["laplace"]:
            core.laplace_log_sums(*self._points, *self.parts, *asked)
        else:
            core.disc_log_sums(*self._points, *self.parts, self.kind, *asked)


def _binned(core: Any, x: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cut sorted points into bins no wider than `width`: where each begins, its first point, its centre."""
    starts, first, centres = np.empty(len(x)), np.empty(len(x) + 1, np.int64), np.empty(len(x))
    n = core.bin_points(x, width, starts, first, centres)
    return starts[:n].copy(), first[: n + 1].copy(), centres[:n].copy()


def line_sums(points: np.ndarray, weights: np.ndarray, kind: str, scale: float = 1.0) -> LineSums:
    """Sort points and prepare sums of a window over them, in O(n log n); a query is then O(1) or nearly.

    The Gaussian by a fast Gauss transform that leaves 1e-12 of every sum, tails included; windows with an
    end by running totals within bins, to 1e-11; the Laplace by one pass in either direction, to rounding.

    Parameters
    ----------
    points : array (n,)
    weights : array (n,)
        Points of weight zero are left out.
    kind : str
        The name of a window.
    scale : float
        The bandwidth h, in units of the points.

    Examples
    --------
    >>> sums = line_sums(np.array([0.0, 2.0]), np.ones(2), "gaussian")
    >>> np.exp(sums.log_sums(np.array([0.0]))).round(6)
    array([1.135335])
    >>> sums.log_sums(np.array([1e5])).round(3)  # far beyond the least number
    array([-4.9998e+09])
    """
    scale = float(scale)
    stored = np.flatnonzero(weights > 0)
    order = stored[np.argsort(points[stored], kind="stable")]
    x, w = native_matrix(points[order]), native_matrix(weights[order])
    parts: tuple[Any, ...]
    core = native(x)
    if core is None:
        parts = ()
    elif kind == "laplace":
        parts = np.empty(len(x)), np.empty(len(x))
        core.laplace_passes(x, w, scale, *parts)
    elif kind == "gaussian":
        bins = _binned(core, x, 0.5 * scale)
        moments = np.empty(GAUSS_TERMS * len(bins[0]))
        core.gauss_moments(x, w, scale, *bins, moments)
        parts = float(w.sum()), *bins, moments
    else:
        bins = _binned(core, x, 0.25 * scale)
        totals = np.empty(TOTALS * len(x))
        core.running_totals(x, w, scale, *bins, KINDS[kind], totals)
        parts = *bins, totals
    return LineSums(kind=KINDS[kind], order=order, x=x, weights=w, scale=scale, parts=parts)


#: Pairs of a query and a point that are held at a time.
_PAIRS = 2**20


@value
class NearSums:
    """Points sorted by their first coordinate, of which a query meets those within reach; see `near_sums`."""

    points: np.ndarray  # (n, d), sorted
    weights: np.ndarray  # (n,)
    scale: float
    reach: float  # in units of the scale

    def log_sums(self, queries: np.ndarray, log_profile: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return log Σ_i w_i k(|q - x_i|²/h²) of every query, (m,)."""
        out = np.zeros(len(queries))
        for index, row_of in self._pairs(queries):
            steps = (queries[row_of] - self.points[index]) / self.scale
            terms = np.exp(log_profile(np.sum(steps * steps, axis=1))) * self.weights[index]
            out += np.bincount(row_of, weights=terms, minlength=len(out))
        with np.errstate(divide="ignore"):
            return np.log(out)

    def cdf(
        self, queries: np.ndarray, cdf: Callable[[np.ndarray], np.ndarray], *, upper: bool = False
    ) -> np.ndarray:
        """Return Σ_i w_i F((q - x_i)/h) / Σ_i w_i of numbers (m,), or of those above."""
        side, x = -1.0 if upper else 1.0, self.points[:, 0]
        low, high = self._ends(queries)
        whole = np.cumsum(self.weights[::-1])[::-1] if upper else np.cumsum(self.weights)
        running = np.append(whole, 0.0) if upper else np.append(0.0, whole)
        out = running[high if upper else low]
        for index, row_of in self._pairs(queries[:, None]):
            terms = cdf(side * (queries[row_of] - x[index]) / self.scale) * self.weights[index]
            out += np.bincount(row_of, weights=terms, minlength=len(out))
        return out / self.weights.sum()

    def _ends(self, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, away = self.points[:, 0], self.reach * self.scale
        return np.searchsorted(x, first - away), np.searchsorted(x, first + away, "right")

    def _pairs(self, queries: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the pairs within reach, block by block: the indices of the points, and of the queries."""
        low, high = self._ends(queries[:, 0])
        some = np.flatnonzero(high > low)
        blocks = np.cumsum((high - low)[some]) // _PAIRS
        for block in np.unique(blocks):
            rows = some[blocks == block]
            counts = high[rows] - low[rows]
            begins = np.cumsum(counts) - counts
            index = np.arange(counts.sum()) + np.repeat(low[rows] - begins, counts)
            yield index, np.repeat(rows, counts)


def near_sums(points: np.ndarray, weights: np.ndarray, scale: float, reach: float) -> NearSums:
    """Sort points (n, d) for sums of a window that ends at `reach` times `scale`.

    Examples
    --------
    >>> sums = near_sums(np.array([[0.0], [0.5], [9.0]]), np.ones(3), 1.0, 1.0)
    >>> np.exp(sums.log_sums(np.array([[0.0], [9.0]]), lambda s: np.log(1.0 - s)))
    array([1.75, 1.  ])
    """
    order = np.argsort(points[:, 0], kind="stable")
    return NearSums(points=points[order], weights=weights[order], scale=scale, reach=reach)


@value
class TailSums:
    """Points of a line, prepared for sums of their windows' distribution functions."""

    line: LineSums
    before: np.ndarray  # (n + 1,), the weight of the points before each
    after: np.ndarray  # (n + 1,), the weight of each point and those after it
    moments: np.ndarray  # of each bin for the Gaussian, else empty

    def cdf(self, queries: np.ndarray, *, upper: bool = False) -> np.ndarray:
        """Return Σ_i w_i F((q - x_i)/h) / Σ_i w_i of queries (m,), or of those above, to 1e-10 of itself."""
        out, line, core = np.empty(len(queries)), self.line, native(self.before)
        if core is None:
            return self._of_all_pairs(queries, -1.0 if upper else 1.0)
        asked = self.after if upper else self.before, -1 if upper else 1, native_matrix(queries), out
        points = line.x, line.weights, line.scale
        if line.kind == KINDS["gaussian"]:
            core.normal_tails(*points, *line.parts[1:4], self.moments, *asked)
        elif line.kind == KINDS["laplace"]:
            core.laplace_tails(*points, *line.parts, *asked)
        else:
            core.disc_tails(*points, *line.parts, line.kind, *asked)
        return out / self.before[-1]

    def _of_all_pairs(self, queries: np.ndarray, side: float) -> np.ndarray:
        line, share = self.line, self.line.weights / self.before[-1]

        def of(rows: slice) -> np.ndarray:
            steps = side * (queries[rows, None] - line.x) / line.scale
            return agnostic.mass_below(line.kind, steps) @ share

        return agnostic.by_blocks(of, len(queries), len(line.x))


def tail_sums(line: LineSums) -> TailSums:
    """Prepare the points of a line, in O(n); a query is then nearly O(1), whatever their number.

    Examples
    --------
    >>> tails = tail_sums(line_sums(np.array([0.0, 9.0]), np.ones(2), "gaussian"))
    >>> tails.cdf(np.array([0.0])).round(6), tails.cdf(np.array([9.0]), upper=True).round(6)
    (array([0.25]), array([0.25]))
    """
    before = np.concatenate([[0.0], np.cumsum(line.weights)])
    after = np.concatenate([np.cumsum(line.weights[::-1])[::-1], [0.0]])
    moments = np.empty(0)
    core = native(line.x)
    if core is not None and line.kind == KINDS["gaussian"]:
        moments = np.empty(TAIL_TERMS * len(line.parts[1]))
        core.plain_moments(line.x, line.weights, line.scale, *line.parts[1:4], moments)
    return TailSums(line=line, before=before, after=after, moments=moments)
