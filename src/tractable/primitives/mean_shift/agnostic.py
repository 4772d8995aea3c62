"""The functions of `tractable.primitives.mean_shift` in the array API."""

from typing import Any

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.primitives import SILENT, squared_distances

#: Points at a distance of one belong to the flat window, however their difference was rounded.
EDGE = 1.0 + 1e-12


@SILENT
def ascend(
    points: Array,
    weights: Array,
    x: Array,
    *,
    flat: bool,
    tol: float,
    max_iter: int,
    modes: Array | None = None,
    radii: Array | None = None,
) -> dict[str, Any]:
    """See `tractable.primitives.mean_shift.ascend`: all starts that have not ended take a step at a time."""
    xp = namespace_of(points)
    x = xp.astype(x, points.dtype)
    rows = xp.arange(x.shape[0], device=device(points))
    mass, basin = xp.zeros_like(x[:, 0]), xp.zeros_like(rows) - 1
    ended: list[list[Array]] = []

    def end(which: Array, steps: int, *, converged: bool) -> None:
        """Set those apart that have ended, and go on with the others."""
        nonlocal rows, x, mass, basin
        if ended and not bool(xp.any(which)):
            return
        here, others = xp.nonzero(which)[0], xp.nonzero(~which)[0]
        one = xp.ones_like(xp.take(rows, here))
        state = rows, x, mass, basin
        ended.append([*(xp.take(a, here, axis=0) for a in state), steps * one, (one > 0) & converged])
        rows, x, mass, basin = (xp.take(a, others, axis=0) for a in state)

    for taken in range(max_iter):
        if modes is not None and radii is not None and modes.shape[0] and not flat:
            inside = squared_distances(x, modes) < radii * radii
            basin = xp.where(xp.any(inside, axis=1), xp.argmax(xp.astype(inside, xp.int64), axis=1), basin)
            end(basin >= 0, taken, converged=True)
        weighted = _window_weights(points, weights, x, flat=flat)
        mass = xp.sum(weighted, axis=1)
        some = mass > 0.0
        if not bool(xp.all(some)):
            weighted = xp.take(weighted, xp.nonzero(some)[0], axis=0)
            end(~some, taken, converged=False)
        step = (weighted @ points) / mass[:, None] - x
        x = x + step
        end(xp.sum(step * step, axis=1) <= tol * tol, taken + 1, converged=True)
        if not rows.shape[0]:
            break
    end(rows >= 0, max_iter, converged=False)
    joined = [xp.concat(parts) for parts in zip(*ended, strict=True)]
    order = xp.argsort(joined[0])
    names = "ends", "masses", "basins", "steps", "converged"
    return {name: xp.take(a, order, axis=0) for name, a in zip(names, joined[1:], strict=True)}


@SILENT
def expand(points: Array, weights: Array, x: Array, tilt: float) -> tuple[Array, Array, Array]:
    xp = namespace_of(points)
    squared = squared_distances(x, points)
    offset = xp.min(squared, axis=1)
    weighted = weights * xp.exp(0.5 * (offset[:, None] - squared) + tilt * xp.sqrt(squared))
    mass = xp.sum(weighted, axis=1)
    weighted = weighted / mass[:, None]
    away = points[None, :, :] - x[:, None, :]
    shift = xp.sum(weighted[..., None] * away, axis=1)
    spread = xp.matrix_transpose(away) @ (weighted[..., None] * away) - shift[:, :, None] * shift[:, None, :]
    return xp.log(mass) - 0.5 * offset, shift, spread


def _window_weights(points: Array, weights: Array, x: Array, *, flat: bool) -> Array:
    """Return the weight of each point in the window about each x, (m, n)."""
    xp = namespace_of(points)
    squared = squared_distances(x, points)
    if flat:
        return xp.where(squared <= EDGE, weights, xp.zeros_like(weights))
    return weights * xp.exp(0.5 * (xp.min(squared, axis=1)[:, None] - squared))
