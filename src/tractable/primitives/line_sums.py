"""Sums of windows over points on a line, prepared once: a Gauss transform, running totals, two passes."""

from typing import Any

import numpy as np

from tractable.primitives.kernel_sums import KINDS, NONE
from tractable.value import value

__all__ = ["LineSums", "line_sums"]


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
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        if self.kind == KINDS["gaussian"]:
            from tractable.primitives._compiled.gauss_transform import log_sums

            log_sums(self.x, self.weights, self.scale, *self.parts, queries, out)
        else:
            self._others(queries, NONE, 0, out)
        return out

    def log_left_out(
        self, left: np.ndarray, begin: int, end: int, *, spread: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return log Σ_j w_j k(((x_i - x_j)/h)²) - left_i k(0) of the sorted points from `begin` to `end`.

        With `spread`, for the Gaussian, also the mean of ((x_i - x_j)/h)² under the shares of that sum.
        """
        out, mean = np.empty(end - begin), np.empty(end - begin if spread else 0)
        if self.kind == KINDS["gaussian"]:
            from tractable.primitives._compiled.gauss_points import sums_at_points
            from tractable.primitives._compiled.gauss_transform import log_left_out

            points, whole = (self.x, self.weights, self.scale, *self.parts), np.empty(end - begin)
            sums_at_points(*points, begin, whole)
            log_left_out(*points, whole, left[begin:end], begin, out, mean)
        else:
            self._others(self.x[begin:end], left[begin:end], begin, out)
        return out, mean

    def _others(self, queries: np.ndarray, left: np.ndarray, begin: int, out: np.ndarray) -> None:
        from tractable.primitives._compiled.sorted_sums import log_disc_sums, log_laplace_sums

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
    from tractable.primitives._compiled import gauss_transform, sorted_sums

    scale = float(scale)
    kept = np.flatnonzero(weights > 0)
    order = kept[np.argsort(points[kept], kind="stable")]
    x, w = np.ascontiguousarray(points[order]), np.ascontiguousarray(weights[order])
    parts: tuple[Any, ...]
    if kind == "laplace":
        parts = sorted_sums.laplace_passes(x, w, scale)
    elif kind == "gaussian":
        bins = gauss_transform.bin_points(x, 0.5 * scale)
        parts = (float(w.sum()), *bins, gauss_transform.gauss_moments(x, w, scale, *bins))
    else:
        bins = gauss_transform.bin_points(x, 0.25 * scale)[1:]
        parts = (*bins, sorted_sums.running_totals(x, w, scale, *bins, KINDS[kind]))
    return LineSums(kind=KINDS[kind], order=order, x=x, weights=w, scale=scale, parts=parts)
