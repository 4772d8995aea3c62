"""Modes of mixtures of vectors of any family: pattern search from every component's mode."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of

__all__ = ["searched_modes"]

#: The longest step, in units of the smallest component's scale: longer ones jump over valleys.
LONGEST = 0.25

#: The shortest.
SHORTEST = 1e-9

#: Two ends within so many scales are one mode; within NEAR where no valley is between them.
SAME, NEAR = 1e-4, 0.1


def searched_modes(mixture: Any, starts: Array) -> Array:
    """Return the local maxima of one mixture of vectors that its components' modes lead to, (m, d)."""
    xp = namespace_of(starts)
    scale = _least_scale(mixture)
    ends, heights = _climbed(mixture, starts, scale)
    ends = xp.take(ends, xp.argsort(-heights, stable=True), axis=0)
    kept = ends[:1, :]
    for i in range(1, ends.shape[0]):
        distance = xp.max(xp.abs(kept - ends[i, :]) / scale, axis=-1)
        near = xp.nonzero(distance <= NEAR)[0]
        same = bool(xp.any(distance <= SAME))
        if not (same or any(not _valley(mixture, kept[int(j), :], ends[i, :]) for j in near)):
            kept = xp.concat([kept, ends[i : i + 1, :]])
    return kept


def _climbed(mixture: Any, x: Array, scale: Array) -> tuple[Array, Array]:
    """Try steps in every direction from every point, take the best, halve them where none is better."""
    xp = namespace_of(x)
    counted = xp.asarray(_by_coordinate(lambda d: bool(d.discrete), mixture), device=device(x))
    directions = _directions(x, _by_coordinate(lambda d: d.support is not None, mixture))
    height, length = mixture.log_prob(x), xp.full_like(x[:, 0], LONGEST)
    eps = float(xp.finfo(x.dtype).eps)
    while bool(xp.any(length > SHORTEST)):
        steps = length[:, None] * scale
        steps = xp.where(counted, xp.where(steps > 1.0, xp.round(steps), xp.ones_like(steps)), steps)
        tried = x[:, None, :] + _stepped(directions, steps)
        scores = xp.reshape(mixture.log_prob(xp.reshape(tried, (-1, x.shape[-1]))), tried.shape[:2])
        scores = xp.where(xp.isnan(scores), xp.full_like(scores, -xp.inf), scores)
        k = xp.argmax(scores, axis=1)
        best = xp.max(scores, axis=1)
        better = best > height + 4.0 * eps * xp.abs(height)
        chosen = xp.stack([tried[i, int(k[i]), :] for i in range(x.shape[0])])
        x, height = xp.where(better[:, None], chosen, x), xp.where(better, best, height)
        length = xp.where(better, length, 0.5 * length)
    return x, height


def _directions(x: Array, free: list[bool]) -> Array:
    """Return ±e_i for entries that are free to move alone, and e_i - e_j, which keeps a sum, (m, d)."""
    xp = namespace_of(x)
    eye = np.eye(x.shape[-1])
    alone = eye[np.array(free)]
    pairs = [a - b for i, a in enumerate(eye) for j, b in enumerate(eye) if i != j]
    return xp.asarray(np.array([*alone, *-alone, *pairs]), dtype=x.dtype, device=device(x))


def _stepped(directions: Array, steps: Array) -> Array:
    """Return the moves (n, m, d): each direction times the shortest step of the axes it moves along."""
    xp = namespace_of(steps)
    involved = xp.where(directions != 0, steps[:, None, :], xp.full_like(directions, xp.inf))
    return directions * xp.min(involved, axis=-1)[..., None]


def _least_scale(mixture: Any) -> Array:
    """Return the least positive scale of the components in each coordinate, (d,)."""
    components = mixture.components
    scales = components.stddev
    xp = namespace_of(scales)
    if not bool(xp.all(xp.isfinite(scales))) and hasattr(components, "interval"):
        low, high = components.interval(0.5)
        scales = xp.where(xp.isfinite(scales), scales, 0.5 * (high - low))
    usable = xp.isfinite(scales) & (scales > 0) & (mixture.weights > 0)[:, None]
    least = xp.min(xp.where(usable, scales, xp.full_like(scales, xp.inf)), axis=0)
    return xp.where(xp.isfinite(least), least, xp.ones_like(least))


def _by_coordinate(says: Callable[[Any], bool], d: Any) -> list[bool]:
    """Return what is said of the distribution of each coordinate."""
    if hasattr(d, "components"):
        return _by_coordinate(says, d.components)
    if hasattr(d, "parts"):
        return [one for part in d.parts for one in _by_coordinate(says, part)]
    return [says(d)] * int(np.prod(d.event_shape))


def _valley(mixture: Any, a: Array, b: Array) -> bool:
    """Whether the density half-way between two points is lower than at both."""
    middle, ends = mixture.log_prob(0.5 * (a + b)), (mixture.log_prob(a), mixture.log_prob(b))
    return bool(middle < min(ends) - 8.0 * namespace_of(a).finfo(a.dtype).eps * abs(middle))
