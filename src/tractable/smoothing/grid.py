"""Density estimates on even grids: linear binning of the points, and one convolution by FFT."""

import math
from typing import Any

import numpy as np

from tractable.primitives.bins import linear_binning
from tractable.smoothing.rows import as_lengths, as_rows
from tractable.smoothing.sums import WindowSums
from tractable.smoothing.windows import WINDOWS
from tractable.statistics.rows import counts
from tractable.value import value

#: Nodes of the inner grid a bandwidth, and the most of them.
_A_BANDWIDTH = 40
_MOST_NODES = 2**19

#: A window is below the least number beyond so many bandwidths.
_REACH = 39.0

#: What a grid may be off by, as a part of the peak; where its bound is more, sums are exact.
_TOLERANCE = 1e-4

#: Where |K''| of a Gaussian window is largest, in bandwidths, and how high it is there, times √(2π).
_EXTREMA = ((0.0, 1.0), (math.sqrt(3.0), 2.0 * math.exp(-1.5)))


@value
class GridDensity:
    """A density on an even grid, and a bound of its error.

    Parameters
    ----------
    x : array (n,)
        The nodes.
    prob : array (n,)
        The density at the nodes.
    error_bound : float
        Bound of the absolute error at every node.
    path : str
        How the sums were computed: "binned FFT", or the name of an exact sum.

    Examples
    --------
    >>> found = binned_density(np.array([0.0, 1.0]), None, 0.5, -1.0, 2.0, 4)
    >>> found.x, found.path
    (array([-1.,  0.,  1.,  2.]), 'binned FFT')
    """

    x: np.ndarray  # (n,)
    prob: np.ndarray  # (n,)
    error_bound: float
    path: str


def binned_density(x: Any, weights: Any, bandwidth: Any, low: float, high: float, n: int) -> GridDensity:
    """Return Σ_i w_i K_h(x - x_i) / Σ_i w_i of a Gaussian window on n nodes from low to high.

    Points are shared out between the two nodes of an inner grid beside each (Jones and Lotwick 1984), which
    is linear interpolation of K_h: the error is at most δ²/8 Σ_i w_i max |K_h''| beside x_i, over Σ_i w_i.
    That bound is summed likewise, and given. Where it is above 1e-4 of the peak, as for windows far narrower
    than the grid is fine, or where the inner grid would be of millions of nodes, every node is summed exactly
    instead, as `path` shows.

    Parameters
    ----------
    x : array (m,)
        Points further from the grid than a window reaches cost nothing.
    weights : array (m,), optional
        Frequencies of the points; one each by default.
    bandwidth : float
        The bandwidth h.
    low, high : float
        First and last node of the grid.
    n : int
        Two nodes at least.

    Examples
    --------
    >>> found = binned_density(np.array([0.0, 1.0]), None, 0.5, -1.0, 2.0, 4)
    >>> found.prob.round(3), bool(found.error_bound < 1e-4)
    (array([0.054, 0.453, 0.453, 0.054]), True)
    """
    points, given = as_rows(x, weights)
    if points.shape[1] != 1:
        raise ValueError(f"x must be numbers (m,), got shape {points.shape}")
    h = float(as_lengths("bandwidth", bandwidth, 1)[0])
    if not (isinstance(n, (int, np.integer)) and n >= 2):
        raise ValueError(f"n must be a whole number from 2, got {n!r}")
    if not (low < high and math.isfinite(high - low)):
        raise ValueError(f"low must be below high, both finite, got {low!r} and {high!r}")
    return grid_density(points[:, 0], given, h, float(low), float(high), int(n))


def grid_density(
    x: np.ndarray,
    weights: np.ndarray | None,
    h: float,
    low: float,
    high: float,
    n: int,
    ends: tuple[float, float] | None = None,
) -> GridDensity:
    """Return `binned_density` of what has been checked; the ends of the points may be known."""
    total = float(len(x)) if weights is None else float(weights.sum())
    least, most = (float(x.min()), float(x.max())) if ends is None else ends
    inner = _inner_grid(least, most, h, low, high, n)
    if inner is None:
        return _exactly(x, weights, h, total, np.linspace(low, high, n))
    if least < inner.low or most > inner.high:
        near = (x >= inner.low) & (x <= inner.high)
        x, weights = x[near], None if weights is None else weights[near]
    found = _convolved(linear_binning(x, weights, inner.low, inner.step, inner.size), inner, h, total)
    if found[1] > _TOLERANCE * found[0].max():
        return _exactly(x, weights, h, total, np.linspace(low, high, n))
    return GridDensity(x=np.linspace(low, high, n), prob=found[0], error_bound=found[1], path="binned FFT")


@value
class _InnerGrid:
    """Nodes so fine that windows between two of them are nearly straight."""

    low: float
    high: float
    step: float
    size: int
    positions: np.ndarray  # (n,), which of them are those asked for


def _inner_grid(least: float, most: float, h: float, low: float, high: float, n: int) -> _InnerGrid | None:
    outer = (high - low) / (n - 1)
    finer = max(1, math.ceil(min(outer / h * _A_BANDWIDTH, _MOST_NODES / n)))
    step = outer / finer
    if not step > 0.0:
        return None
    before = max(0.0, math.ceil(min(low - least, _REACH * h) / step) + 1)
    after = max(0.0, math.ceil(min(most - high, _REACH * h) / step) + 1)
    size = before + (n - 1) * finer + 1 + after
    if size > 4 * max(_MOST_NODES, n):
        return None
    start = low - before * step
    return _InnerGrid(
        low=start,
        high=start + (size - 1) * step,
        step=step,
        size=int(size),
        positions=int(before) + finer * np.arange(n),
    )


def _convolved(masses: np.ndarray, inner: _InnerGrid, h: float, total: float) -> tuple[np.ndarray, float]:
    """Return the density at the nodes asked for, and how far off it may be."""
    from scipy.fft import irfft, next_fast_len, rfft

    fine = inner.step / h
    # Distances at which a window is below the least number need no place in the convolution.
    reach = min(inner.size - 1, math.ceil(_REACH / fine))
    u = np.arange(-reach, reach + 1) * fine
    length = next_fast_len(inner.size + 2 * reach, real=True)
    rows = np.stack([np.exp(-0.5 * u * u), _steepest(u, fine)])
    both = irfft(rfft(rows, length) * rfft(masses, length), length)
    scale = 1.0 / (total * h * math.sqrt(2.0 * math.pi))
    rounding = 8.0 * np.finfo(float).eps * math.log2(length) * scale * float(np.abs(both[0]).max())
    curved = float(both[1, reach + inner.positions].max()) * scale * fine**2 / 8.0
    return np.maximum(both[0, reach + inner.positions], 0.0) * scale, curved + rounding


def _exactly(
    x: np.ndarray, weights: np.ndarray | None, h: float, total: float, nodes: np.ndarray
) -> GridDensity:
    if not len(x):
        return GridDensity(x=nodes, prob=np.zeros(len(nodes)), error_bound=0.0, path="direct sum")
    sums = WindowSums(
        points=((x - nodes[0]) / h)[:, None],
        weights=counts(weights, x),
        window=WINDOWS["gaussian"],
    )
    queries = ((nodes - nodes[0]) / h)[:, None]
    prob = np.exp(sums.log_sums(queries) - math.log(total * h * math.sqrt(2.0 * math.pi)))
    # Where narrow windows are far apart, a distance in bandwidths is rounded by parts of one.
    farthest = max(float(queries[-1, 0]), float(np.abs(sums.points).max()))
    error = sums.tolerance + _REACH * 2.0 * float(np.finfo(float).eps) * farthest
    return GridDensity(x=nodes, prob=prob, error_bound=error * float(prob.max()), path=sums.path)


def _steepest(u: np.ndarray, step: float) -> np.ndarray:
    """Return the largest |u² - 1| exp(-u²/2) within a step of each u."""
    wide = np.concatenate([[u[0] - step], u, [u[-1] + step]])
    heights = np.abs(wide * wide - 1.0) * np.exp(-0.5 * wide * wide)
    found = np.maximum(np.maximum(heights[:-2], heights[2:]), heights[1:-1])
    for position, height in _EXTREMA:
        found = np.where(np.abs(np.abs(u) - position) <= step, np.maximum(found, height), found)
    return found
