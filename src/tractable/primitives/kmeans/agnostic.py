"""The functions of `tractable.primitives.kmeans` in the array API."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from tractable.arrays.namespace import Array, device, namespace_of


def squared_distances(x: Array, centers: Array) -> Array:
    """Return |x_i - μ_k|² of every row and centre, (n, K), by differences: nothing cancels."""
    xp = namespace_of(x)
    columns = [xp.sum((x - centers[k, :]) ** 2, axis=1) for k in range(centers.shape[0])]
    return xp.stack(columns, axis=1)


def kmeans_plus_plus(x: Array, weights: Any, uniforms: Array) -> Array:
    xp = namespace_of(x)
    x = xp.astype(x, xp.float64)
    count = xp.ones(x.shape[0], dtype=xp.float64, device=device(x)) if weights is None else weights
    (first,) = _drawn(count, [float(uniforms[0, 0])])
    chosen = [first]
    closest = xp.sum((x - x[first, :]) ** 2, axis=1)
    for k in range(1, uniforms.shape[0]):
        levels = [float(uniforms[k, t]) for t in range(uniforms.shape[1])]
        if float(xp.sum(count * closest)) == 0.0:
            chosen += _drawn(count, levels[:1])
            continue
        tried = _drawn(count * closest, levels)
        left = [xp.minimum(closest, xp.sum((x - x[i, :]) ** 2, axis=1)) for i in tried]
        costs = [float(xp.sum(count * rest)) for rest in left]
        best = costs.index(min(costs))
        chosen.append(tried[best])
        closest = left[best]
    return xp.asarray(chosen, device=device(x))


def _drawn(mass: Array, levels: list[float]) -> list[int]:
    """Return the rows in which the cumulative mass first exceeds each share of the whole."""
    xp = namespace_of(mass)
    held = xp.cumulative_sum(mass)
    rows = [int(xp.sum(xp.astype(held <= u * held[-1], xp.int64))) for u in levels]
    last = int(xp.max(xp.nonzero(mass > 0)[0]))
    return [min(row, last) for row in rows]


def assign(x: Array, weights: Any, shift: Array, scale: float, centers: Array) -> dict[str, Any]:
    xp = namespace_of(x)
    x = (xp.astype(x, xp.float64) - shift) * scale
    distances = squared_distances(x, centers)
    labels = xp.argmin(distances, axis=1)
    own = xp.arange(centers.shape[0], device=device(x))
    indicator = xp.astype(labels[:, None] == own[None, :], xp.float64)
    indicator = indicator if weights is None else indicator * weights[:, None]
    return {
        "labels": labels,
        "sums": indicator.T @ x,
        "counts": xp.sum(indicator, axis=0),
        "cost": xp.sum(indicator * distances),
    }


def distance_sums(x: Array, columns: Array, weights: Array, starts: Sequence[int]) -> Array:
    xp = namespace_of(x, columns)
    squares = xp.zeros_like(x[:, :1] * columns[:1, :])
    for j in range(x.shape[1]):
        squares = squares + (x[:, j : j + 1] - columns[j : j + 1, :]) ** 2
    distances = xp.sqrt(squares) * weights
    return xp.stack([xp.sum(distances[:, a:b], axis=1) for a, b in pairwise(starts)], axis=1)
