"""Local smoothers: the weight of every target in the mean, or in the line, about a point."""

from functools import partial
from typing import Any

import numpy as np

from tractable.primitives import SILENT, squared_distances
from tractable.primitives.threads import even_blocks, ordered_map
from tractable.smoothing import BandwidthSearch
from tractable.smoothing.windows import Window
from tractable.value import replace, value

#: Entries of a block of weights: what is computed on the way to predictions stays in the cache.
BLOCK = 2**16

#: Directions in which the rows within reach spread less than this have no slope: it would be that of their
#: rounding. Each column is in bandwidths, or in units of its range where that is less, and directions are
#: beside the one in which the rows spread most.
FLAT = 1e-3

#: A column whose range is less than this beside its largest entry varies by rounding.
ROUNDING = 1e-10

#: Multiples of the first bandwidth that are tried, in octaves, and about the best of them.
COARSE = np.arange(-5.0, 5.5, 0.5)
FINE = np.array([-0.4, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.4])


@value
class LocalSmoother:
    """Rows in units of a bandwidth, how often each counts, and the degree of the local polynomial, 0 or 1."""

    points: np.ndarray  # (n, d), over the bandwidth
    counts: np.ndarray  # (n,)
    window: Window
    degree: int

    def narrowed(self, factor: float) -> "LocalSmoother":
        """Return the smoother of a bandwidth that many times as wide."""
        return replace(self, points=self.points / factor)

    def __call__(self, queries: np.ndarray, own: np.ndarray | None = None) -> np.ndarray:
        """Return S (m, n) with ŷ = S y at queries over the bandwidth.

        Where `own` are numbers of rows, each query is that row, and is left out, one copy of it.
        """
        weights = self.weights(queries, own)
        if self.degree == 0:
            return weights
        return _local_lines(weights, (self.points[None, :, :] - queries[:, None, :]) / self._units())

    @SILENT
    def weights(self, queries: np.ndarray, own: np.ndarray | None = None) -> np.ndarray:
        """Return w_i(x) = c_i K(x - x_i) / Σ_j c_j K(x - x_j), (m, n).

        In logarithms: far from all rows the nearest one has all the weight, as it has of a window without an
        end in the limit. Where no row is within the reach of a window the nearest ones have it.
        """
        squares = squared_distances(queries, self.points)
        log_counts = np.broadcast_to(np.log(self.counts), squares.shape)
        if own is not None:
            left = np.maximum(self.counts[own] - 1.0, 0.0)
            log_counts = log_counts.copy()
            log_counts[np.arange(len(own)), own] = np.log(left)
        logs = self.window.log_profile(squares) + log_counts
        top = np.max(logs, axis=1, keepdims=True)
        alone = ~np.isfinite(top[:, 0])
        if np.any(alone):
            distances = np.where(np.isfinite(log_counts[alone]), squares[alone], np.inf)
            nearest = distances == np.min(distances, axis=1, keepdims=True)
            logs[alone] = np.where(nearest, log_counts[alone], -np.inf)
            top[alone] = np.max(logs[alone], axis=1, keepdims=True)
        found = np.exp(logs - top)
        return found / np.sum(found, axis=1, keepdims=True)

    def fitted(self, queries: np.ndarray, y: np.ndarray, own: np.ndarray | None = None) -> np.ndarray:
        """Return S y, (m, t), block by block of queries on all cores.

        Parameters
        ----------
        queries : array (m, d)
            Rows over the bandwidth.
        y : array (n, t)
            Targets.
        own : array (m,), optional
            The rows that the queries are, each left out.
        """

        def product(rows: slice) -> np.ndarray:
            return self(queries[rows], None if own is None else own[rows]) @ y

        return np.concatenate([np.empty((0, y.shape[1])), *ordered_map(product, self._blocks(len(queries)))])

    def left_out_error(self, y: np.ndarray) -> float:
        """Return the mean squared error of rows that are left out, averaged over targets (n, t)."""
        every = np.arange(len(y))
        errors = np.mean((self.fitted(self.points, y, every) - y) ** 2, axis=1)
        return float(self.counts @ errors / np.sum(self.counts))

    def _units(self) -> np.ndarray:
        """Return the units of the columns, (d,), in which spreads are judged; lines do not depend on them."""
        ranges = np.ptp(self.points, axis=0)
        varies = ranges > ROUNDING * np.max(np.abs(self.points), axis=0)
        return np.where(varies, np.minimum(ranges, 1.0), 1.0)

    def _blocks(self, m: int) -> list[slice]:
        width = len(self.points) * (1 if self.degree == 0 else 2 * self.points.shape[1])
        return even_blocks(m, max(1, BLOCK // width))


def _local_lines(weights: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """Return the weights of targets in the intercept of weighted lines about each query.

    With means ū and the covariance C of the gaps u_i = x_i - x under the weights w, the line is
    ȳ - ūᵀC⁻¹ Σ w_i (u_i - ū) y_i at the query. Directions without spread have no slope.
    """
    mean = np.einsum("mn,mnd->md", weights, gaps)
    centred = gaps - mean[:, None, :]
    covariance = np.swapaxes(weights[:, :, None] * centred, 1, 2) @ centred
    values, vectors = np.linalg.eigh(covariance)
    spread = values > FLAT**2 * np.maximum(values[:, -1:], 1.0)
    along = np.einsum("mdk,md->mk", vectors, mean)
    slope = np.where(spread, along / np.where(spread, values, 1.0), 0.0)
    step = np.einsum("mdk,mk->md", vectors, slope)
    return weights * (1.0 - np.einsum("mnd,md->mn", centred, step))


def search_bandwidth(smoother: LocalSmoother, y: np.ndarray, lengths: np.ndarray) -> BandwidthSearch:
    """Return the multiple of bandwidths whose left-out rows are predicted with the least squared error."""
    if np.sum(smoother.counts) < 2.0:
        raise ValueError("bandwidth cannot be chosen from one row of X (n_samples = 1): give it as a number")
    error = partial(_error_at, smoother, y)
    tried = COARSE
    errors = np.array([error(octave) for octave in tried])
    best = tried[int(np.argmin(errors))]
    errors = np.append(errors, [error(best + step) for step in FINE])
    tried = np.append(tried, best + FINE)
    order = np.argsort(tried)
    tried, errors = tried[order], errors[order]
    # Of equal errors, as where the window holds all rows, the widest bandwidth is the smoothest.
    at = len(errors) - 1 - int(np.argmin(errors[::-1]))
    return BandwidthSearch(
        bandwidth=2.0 ** tried[at] * lengths,
        criterion=float(errors[at]),
        candidates=2.0 ** tried[:, None] * lengths,
        criteria=errors,
    )


def _error_at(smoother: LocalSmoother, y: np.ndarray, octave: Any) -> float:
    return smoother.narrowed(2.0**octave).left_out_error(y)
