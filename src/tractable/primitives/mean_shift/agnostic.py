"""The functions of `tractable.primitives.mean_shift` in the array API."""

from typing import Any

from tractable.arrays.namespace import Array, namespace_of

#: Points at a distance of one belong to the flat window, however their difference was rounded.
EDGE = 1.0 + 1e-12


def ascend(points: Array, weights: Array, x: Array, *, flat: bool, tol: float, max_iter: int) -> Any:
    """See `tractable.primitives.mean_shift.ascend`: all starts take a step at a time."""
    xp = namespace_of(points)
    mass = xp.zeros_like(x[:, 0])
    steps, done = xp.zeros_like(mass), xp.zeros_like(mass) > 0
    lost = done
    for _ in range(max_iter):
        if bool(xp.all(done)):
            break
        weighted = _window_weights(points, weights, x, flat=flat)
        total = xp.sum(weighted, axis=1)
        some = total > 0.0
        step = (weighted @ points) / xp.where(some, total, xp.ones_like(total))[:, None] - x
        moves = some & ~done
        mass = xp.where(done, mass, total)
        x = xp.where(moves[:, None], x + step, x)
        steps = steps + xp.astype(moves, steps.dtype)
        lost = lost | (~some & ~done)
        done = done | ~some | (xp.sum(step * step, axis=1) <= tol * tol)
    converged = done & ~lost
    return x, mass, xp.astype(steps, xp.int64), converged


def expand(points: Array, weights: Array, x: Array, tilt: float) -> tuple[Array, Array, Array]:
    xp = namespace_of(points)
    squared = _squared(points, x)
    offset = xp.min(squared, axis=1)
    weighted = weights * xp.exp(0.5 * (offset[:, None] - squared) + tilt * xp.sqrt(squared))
    mass = xp.sum(weighted, axis=1)
    weighted = weighted / mass[:, None]
    away = points[None, :, :] - x[:, None, :]
    shift = xp.sum(weighted[..., None] * away, axis=1)
    spread = xp.matrix_transpose(away) @ (weighted[..., None] * away) - shift[:, :, None] * shift[:, None, :]
    return xp.log(mass) - 0.5 * offset, shift, spread


def _squared(points: Array, x: Array) -> Array:
    xp = namespace_of(points)
    return xp.sum((points[None, :, :] - x[:, None, :]) ** 2, axis=-1)


def _window_weights(points: Array, weights: Array, x: Array, *, flat: bool) -> Array:
    """Return the weight of each point in the window about each x, (m, n)."""
    xp = namespace_of(points)
    squared = _squared(points, x)
    if flat:
        return xp.where(squared <= EDGE, weights, xp.zeros_like(weights))
    return weights * xp.exp(0.5 * (xp.min(squared, axis=1)[:, None] - squared))
