"""Local smoothers: the weight of every target in the mean, or in the line, about a point."""

from functools import cached_property, partial
from typing import Any

import numpy as np

from tractable.primitives import SILENT, squared_distances
from tractable.primitives.blocks import over_blocks
from tractable.smoothing import BandwidthSearch
from tractable.smoothing.windows import Window
from tractable.value import replace, value

#: Entries of a block of weights: what is computed on the way to predictions stays in the cache.
BLOCK = 2**16

#: Directions in which the rows within reach spread less than this have no slope: it would be that of their
#: rounding. Each column is in bandwidths, or in units of its range where that is less, and directions are
#: beside the one in which the rows spread most.
FLAT = 1e-3

#: Columns up to which moments of lines are formed: of more, their products are more work than the rows are.
MOST_COLUMNS = 32

#: A spread below the second moment over this number has less than half of its digits.
HALF_THE_DIGITS = 1e7

#: A column whose range is less than this beside its largest entry varies by rounding.
ROUNDING = 1e-10

#: Multiples of the first bandwidth that are tried, in octaves, and about the best of them.
COARSE = np.arange(-5.0, 5.5, 0.5)
FINE = np.array([-0.4, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.4])


@value
class LocalSmoother:
    """Rows in units of a bandwidth, how often each counts, and the degree of the local polynomial, 0 or 1."""

    points: np.ndarray  # (n, d), less the origin, over the bandwidth
    origin: np.ndarray  # (d,)
    counts: np.ndarray  # (n,)
    window: Window
    degree: int

    @classmethod
    def of(cls, x: np.ndarray, lengths: np.ndarray, **options: Any) -> "LocalSmoother":
        """Return the smoother of rows x and a bandwidth of each column.

        The origin is a row: those less it have the digits of their differences, which rows over a bandwidth
        far from zero have not. It is zero for columns that vary by rounding.

        Parameters
        ----------
        x : array (n, d)
            Rows.
        lengths : array (d,)
            The bandwidth.
        **options
            The other fields.
        """
        origin = np.where(_varies(x), x[0], 0.0)
        return cls(points=(x - origin) / lengths, origin=origin, **options)

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
        return _local_lines(weights, (self.points[None, :, :] - queries[:, None, :]) / self.scales)

    @SILENT
    def weights(self, queries: np.ndarray, own: np.ndarray | None = None) -> np.ndarray:
        """Return w_i(x) = c_i K(x - x_i) / Σ_j c_j K(x - x_j), (m, n).

        In logarithms: far from all rows the nearest one has all the weight, as it has of a window without an
        end in the limit. Where no row is within the reach of a window the nearest ones have it.
        """
        squares, log_counts = squared_distances(queries, self.points), np.log(self.counts)
        logs = self.window.log_profile(squares) + log_counts
        if own is not None:
            itself = np.arange(len(own)), own
            one_less = np.log(np.maximum(self.counts[own] - 1.0, 0.0)) - log_counts[own]
            logs[itself] += one_less
        top = np.max(logs, axis=1, keepdims=True)
        alone = ~np.isfinite(top[:, 0])
        if np.any(alone):
            counted = np.broadcast_to(log_counts, squares.shape).copy()
            if own is not None:
                counted[itself] += one_less
            distances = np.where(np.isfinite(counted[alone]), squares[alone], np.inf)
            nearest = distances == np.min(distances, axis=1, keepdims=True)
            logs[alone] = np.where(nearest, counted[alone], -np.inf)
            top[alone] = np.max(logs[alone], axis=1, keepdims=True)
        logs -= top
        found = np.exp(logs, out=logs)
        found /= np.sum(found, axis=1, keepdims=True)
        return found

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
        moments = _LineMoments.of(self, y) if 0 < self.degree * self.points.shape[1] <= MOST_COLUMNS else None

        def product(rows: slice) -> np.ndarray:
            block, left_out = queries[rows], None if own is None else own[rows]
            if moments is None:
                return self(block, left_out) @ y
            return moments.fitted(block, left_out)

        width = len(self.points) * (1 if self.degree == 0 or moments else 2 * self.points.shape[1])
        blocks = over_blocks(product, len(queries), BLOCK // width)
        return np.concatenate([np.empty((0, y.shape[1])), *blocks])

    def left_out_error(self, y: np.ndarray) -> float:
        """Return the mean squared error of rows that are left out, averaged over targets (n, t)."""
        every = np.arange(len(y))
        errors = np.mean((self.fitted(self.points, y, every) - y) ** 2, axis=1)
        return float(self.counts @ errors / np.sum(self.counts))

    @cached_property
    def scales(self) -> np.ndarray:
        """Return the scales of the columns, (d,), in which spreads are judged; no line depends on them."""
        return np.where(_varies(self.points), np.minimum(np.ptp(self.points, axis=0), 1.0), 1.0)


def _varies(x: np.ndarray) -> np.ndarray:
    """Return which columns vary by more than rounding, (d,)."""
    return np.ptp(x, axis=0) > ROUNDING * np.max(np.abs(x), axis=0)


@value
class _LineMoments:
    """What weighted lines about many queries are computed from, by one product with their weights.

    With the rows u_i and targets y_i about their means, a row of W [u, u uᵀ, y, u y] has the moments of the
    rows under the weights of one query, and the covariances C of u and s of u with y follow: the line at the
    query z is ȳ - (ū - z)ᵀ C⁻¹ s. Differences of moments lose digits where the rows within reach are few
    beside all; queries that would lose more than half of them are computed from the differences themselves.
    """

    smoother: LocalSmoother
    y: np.ndarray  # (n, t)
    centre: np.ndarray  # (d,)
    offset: np.ndarray  # (t,)
    features: np.ndarray  # (n, d + d (d + 1) / 2 + t + d t)

    @classmethod
    def of(cls, smoother: LocalSmoother, y: np.ndarray) -> "_LineMoments":
        """Return the rows and products of columns and targets."""
        centre, offset = np.mean(smoother.points, axis=0), np.mean(y, axis=0)
        u, centred = (smoother.points - centre) / smoother.scales, y - offset
        i, j = np.triu_indices(u.shape[1])
        crossed = (u[:, :, None] * centred[:, None, :]).reshape(len(u), -1)
        features = np.hstack([u, u[:, i] * u[:, j], centred, crossed])
        return cls(smoother=smoother, y=y, centre=centre, offset=offset, features=features)

    def fitted(self, queries: np.ndarray, own: np.ndarray | None) -> np.ndarray:
        """Return S y of a block of queries, (m, t)."""
        d, t = len(self.centre), len(self.offset)
        i, j = np.triu_indices(d)
        means = self.smoother.weights(queries, own) @ self.features
        mean, products, target, crossed = np.split(means, np.cumsum([d, len(i), t]), axis=1)
        second = np.empty((len(queries), d, d))
        second[:, i, j] = second[:, j, i] = products
        sizes = np.max(products[:, i == j], axis=1, keepdims=True)
        covariance = second - mean[:, :, None] * mean[:, None, :]
        step, least = _steps(covariance, mean - (queries - self.centre) / self.smoother.scales)
        cross = crossed.reshape(-1, d, t) - mean[:, :, None] * target[:, None, :]
        found = self.offset + target - np.einsum("md,mdt->mt", step, cross)
        (lossy,) = np.nonzero(least * HALF_THE_DIGITS < np.ravel(sizes))
        some = max(1, BLOCK // (2 * d * len(self.y)))
        for rows in np.split(lossy, range(some, len(lossy), some)):
            found[rows] = self.smoother(queries[rows], None if own is None else own[rows]) @ self.y
        return found


def _local_lines(weights: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """Return the weights of targets in the intercept of weighted lines about each query.

    With means ū and the covariance C of the gaps u_i = x_i - x under the weights w, the line is
    ȳ - ūᵀC⁻¹ Σ w_i (u_i - ū) y_i at the query. Directions without spread have no slope.
    """
    mean = np.einsum("mn,mnd->md", weights, gaps)
    centred = gaps - mean[:, None, :]
    covariance = np.swapaxes(weights[:, :, None] * centred, 1, 2) @ centred
    step, _ = _steps(covariance, mean)
    return weights * (1.0 - np.einsum("mnd,md->mn", centred, step))


def _steps(covariance: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return C⁻¹ ū of every query, (m, d), in the directions with spread, and the least of these spreads."""
    values, vectors = np.linalg.eigh(covariance)
    spread = values > FLAT**2 * np.maximum(values[:, -1:], 1.0)
    along = np.einsum("mdk,md->mk", vectors, mean)
    slope = np.where(spread, along / np.where(spread, values, 1.0), 0.0)
    return np.einsum("mdk,mk->md", vectors, slope), np.min(np.where(spread, values, np.inf), axis=1)


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
