"""See `tractable.primitives.seeding`."""

from typing import Any

from tractable.arrays.namespace import Array, device, namespace_of

__all__ = ["kmeans_plus_plus", "squared_distances"]


def squared_distances(x: Array, centers: Array) -> Array:
    """Return |x_i - μ_k|² of every row and centre, (n, K), by differences: nothing cancels."""
    xp = namespace_of(x)
    columns = [xp.sum((x - centers[k, :]) ** 2, axis=1) for k in range(centers.shape[0])]
    return xp.stack(columns, axis=1)


def kmeans_plus_plus(x: Array, weights: Any, uniforms: Array) -> Array:
    """See `tractable.primitives.seeding.kmeans_plus_plus`."""
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
