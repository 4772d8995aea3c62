"""The functions of `tractable.primitives.kernel_sums` in the array API."""

from collections.abc import Callable

import numpy as np

from tractable.arrays.log_space import log_sum_exp
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.primitives import SILENT, squared_distances


@SILENT
def log_kernel_sums(
    queries: Array,
    points: Array,
    weights: Array | None,
    log_profile: Callable[[Array], Array],
    left: Array | None = None,
    first: int = 0,
    scale: float = 1.0,
) -> Array:
    xp = namespace_of(points)
    weights = xp.ones_like(points[:, 0]) if weights is None else weights
    log_windows = log_profile(squared_distances(queries, points, scale))
    if left is None:
        return log_sum_exp(log_windows + xp.log(weights))
    counts = weights[None, :] + xp.zeros_like(queries[:, :1])
    index = xp.arange(points.shape[0], device=device(points))[None, :]
    mine = xp.arange(queries.shape[0], device=device(points))[:, None] + first
    counts = counts - xp.where(index == mine, left[:, None], xp.zeros_like(counts))
    some = counts > 0
    log_counts = xp.log(xp.where(some, counts, xp.ones_like(counts)))
    return log_sum_exp(xp.where(some, log_counts + log_windows, xp.full_like(counts, -xp.inf)))


@SILENT
def log_window(kind: int, squares: np.ndarray) -> np.ndarray:
    """Return log k of squared distances, of a window by its number in `KINDS`."""
    r = np.sqrt(squares)
    if kind in (-1, 5):
        return -0.5 * squares if kind == -1 else -r
    rest, of_squares = np.maximum(1.0 - r, 0.0), np.maximum(1.0 - squares, 0.0)
    heights = r <= 1.0, rest, of_squares, of_squares**2, np.sin(0.5 * np.pi * rest)
    return np.log(np.asarray(heights[kind], dtype=np.float64))


def mass_below(kind: int, t: np.ndarray) -> np.ndarray:
    """Return the mass of such a window below t, with the digits of the lower tail."""
    from scipy.special import ndtr

    if kind in (-1, 5):
        below = np.asarray(ndtr(-np.abs(t)) if kind == -1 else 0.5 * np.exp(-np.abs(t)))
    else:
        s = np.maximum(1.0 - np.abs(t), 0.0)
        cubes = 0.25 * s * s * (3.0 - s), s**3 * (20.0 - 15.0 * s + 3.0 * s * s) / 16.0
        below = (0.5 * s, 0.5 * s * s, *cubes, np.sin(0.25 * np.pi * s) ** 2)[kind]
    return np.where(t > 0.0, 1.0 - below, below)


#: Pairs of a query and a point that are held at a time.
PAIRS = 2**21


def by_blocks(of: Callable[[slice], np.ndarray], n_queries: int, n_points: int) -> np.ndarray:
    """Return what a function of some queries and all points gives, in blocks that the memory allows."""
    step = max(1, PAIRS // max(1, n_points))
    parts = [of(slice(start, min(start + step, n_queries))) for start in range(0, n_queries, step)]
    return np.concatenate(parts) if parts else np.empty(0)


@SILENT
def left_out_scales(
    queries: np.ndarray, points: np.ndarray, weights: np.ndarray | None, first: int, rates: np.ndarray
) -> np.ndarray:
    squares, w = _others(queries, points, weights, first)
    return np.stack([np.sum(w * np.exp(-rate * squares), axis=1) for rate in rates], axis=1)


@SILENT
def kernel_spreads(
    queries: np.ndarray, points: np.ndarray, weights: np.ndarray | None, first: int, log_sums: np.ndarray
) -> np.ndarray:
    squares, w = _others(queries, points, weights, first)
    return np.sum(w * squares * np.exp(-0.5 * squares - log_sums[:, None]), axis=1)


def _others(
    queries: np.ndarray, points: np.ndarray, weights: np.ndarray | None, first: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return squared distances (m, n) and the weights of the points; query j itself, first + j, has none."""
    w = np.ones((len(queries), len(points))) * (1.0 if weights is None else weights)
    rows = np.arange(len(queries))
    w[rows, first + rows] = 0.0
    return squared_distances(queries, points), w


@SILENT
def log_local_windows(
    x: np.ndarray, points: np.ndarray, whiten: np.ndarray, heights: np.ndarray, *, of_rows: bool
) -> np.ndarray:
    away = x[:, None, :] - points
    white = np.einsum("ikl,ijl->ijk" if of_rows else "jkl,ijl->ijk", whiten, away, optimize=True)
    return log_sum_exp(heights - 0.5 * np.sum(white * white, axis=-1))
