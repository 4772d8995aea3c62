"""Sums of windows over points on a line, prepared once: a Gauss transform, running totals, two passes."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tractable.primitives.kernel_sums import KINDS
from tractable.value import value


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
        out = np.empty(len(queries))
        if self.kind == KINDS["gaussian"]:
            from tractable.primitives.kernel_sums.compiled_gauss import log_sums

            log_sums(self.x, self.weights, self.scale, *self.parts, queries, out)
        else:
            self._others(queries, None, 0, out)
        return out

    def log_left_out(
        self, left: np.ndarray, begin: int, end: int, *, spread: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return log Σ_j w_j k(((x_i - x_j)/h)²) - left_i k(0) of the sorted points from `begin` to `end`.

        With `spread`, for the Gaussian, also the mean of ((x_i - x_j)/h)² weighted by the terms of that sum.
        """
        out, mean = np.empty(end - begin), np.empty(end - begin if spread else 0)
        if self.kind == KINDS["gaussian"]:
            from tractable.primitives.kernel_sums.compiled_gauss import log_left_out, sums_at_points

            points, whole = (self.x, self.weights, self.scale, *self.parts), np.empty(end - begin)
            sums_at_points(*points, begin, whole)
            log_left_out(*points, whole, left[begin:end], begin, out, mean)
        else:
            self._others(self.x[begin:end], left[begin:end], begin, out)
        return out, mean

    def _others(self, queries: np.ndarray, left: np.ndarray | None, begin: int, out: np.ndarray) -> None:
        from tractable.primitives.kernel_sums.compiled_line import log_disc_sums, log_laplace_sums

        if self.kind == KINDS["laplace"]:
            log_laplace_sums(self.x, self.weights, self.scale, *self.parts, queries, left, begin, out)
        else:
            log_disc_sums(self.x, self.weights, self.scale, *self.parts, self.kind, queries, left, begin, out)


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
    from tractable.primitives.kernel_sums import compiled_gauss, compiled_line

    scale = float(scale)
    stored = np.flatnonzero(weights > 0)
    order = stored[np.argsort(points[stored], kind="stable")]
    x, w = np.ascontiguousarray(points[order]), np.ascontiguousarray(weights[order])
    parts: tuple[Any, ...]
    if kind == "laplace":
        parts = compiled_line.laplace_passes(x, w, scale)
    elif kind == "gaussian":
        bins = compiled_gauss.bin_points(x, 0.5 * scale)
        parts = (float(w.sum()), *bins, compiled_gauss.gauss_moments(x, w, scale, *bins))
    else:
        bins = compiled_gauss.bin_points(x, 0.25 * scale)[1:]
        parts = (*bins, compiled_line.running_totals(x, w, scale, *bins, KINDS[kind]))
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
    moments: np.ndarray  # (bins, K) for the Gaussian, else empty

    def cdf(self, queries: np.ndarray, *, upper: bool = False) -> np.ndarray:
        """Return Σ_i w_i F((q - x_i)/h) / Σ_i w_i of queries (m,), or of those above, to 1e-10 of itself."""
        from tractable.primitives.kernel_sums import compiled_line as compiled

        out = np.empty(len(queries))
        line, running, side = self.line, self.after if upper else self.before, -1 if upper else 1
        if line.kind == KINDS["gaussian"]:
            bins = line.parts[1:4]
            compiled.normal_tails(
                line.x, line.weights, line.scale, *bins, self.moments, running, side, queries, out
            )
        elif line.kind == KINDS["laplace"]:
            compiled.laplace_tails(line.x, line.scale, *line.parts, running, side, queries, out)
        else:
            rest = (line.kind, running, side, queries, out)
            compiled.disc_tails(line.x, line.weights, line.scale, *line.parts, *rest)
        return out / self.before[-1]


def tail_sums(line: LineSums) -> TailSums:
    """Prepare the points of a line, in O(n); a query is then nearly O(1), whatever their number.

    Examples
    --------
    >>> tails = tail_sums(line_sums(np.array([0.0, 9.0]), np.ones(2), "gaussian"))
    >>> tails.cdf(np.array([0.0])).round(6), tails.cdf(np.array([9.0]), upper=True).round(6)
    (array([0.25]), array([0.25]))
    """
    from tractable.primitives.kernel_sums.compiled_line import plain_moments

    before = np.concatenate([[0.0], np.cumsum(line.weights)])
    after = np.concatenate([np.cumsum(line.weights[::-1])[::-1], [0.0]])
    moments = np.empty((0, 0))
    if line.kind == KINDS["gaussian"]:
        moments = plain_moments(line.x, line.weights, line.scale, *line.parts[2:4])
    return TailSums(line=line, before=before, after=after, moments=moments)
