"""The functions of `tractable.primitives.kernel_sums` in the array API."""

from collections.abc import Callable

import numpy as np

from tractable.arrays.devices import on_accelerator
from tractable.arrays.log_space import log_sum_exp
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.primitives import SILENT, squared_distances

#: Pairs of a query and a point that are held at a time; and on an accelerator.
PAIRS, DEVICE_PAIRS = 2**22, 2**25


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
    step = max(1, (DEVICE_PAIRS if on_accelerator(points) else PAIRS) // max(1, points.shape[0]))
    parts = []
    for start in range(0, queries.shape[0], step):
        end = min(start + step, queries.shape[0])
        block = queries[start:end, :]
        counts = weights[None, :] + xp.zeros_like(block[:, :1])
        if left is not None:
            index = xp.arange(points.shape[0], device=device(points))[None, :]
            mine = xp.arange(block.shape[0], device=device(points))[:, None] + (first + start)
            counts = counts - xp.where(index == mine, left[start:end][:, None], xp.zeros_like(counts))
        parts.append(_block(block, points, counts, log_profile, scale))
    return xp.concat(parts) if parts else queries[:, 0]


def _block(
    block: Array, points: Array, counts: Array, log_profile: Callable[[Array], Array], scale: float
) -> Array:
    xp = namespace_of(points)
    squares = squared_distances(block, points, scale)
    some = counts > 0
    log_counts = xp.log(xp.where(some, counts, xp.ones_like(counts)))
    terms = xp.where(some, log_counts + log_profile(squares), xp.full_like(counts, -xp.inf))
    return log_sum_exp(terms)


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
