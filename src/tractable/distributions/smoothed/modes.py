"""The highest point of a smoothed sample."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.distributions.mixture.mixture import Mixture
from tractable.distributions.mixture.modes import normal_modes
from tractable.distributions.multivariate_normal import MultivariateNormal
from tractable.distributions.probabilities import as_shares

__all__ = ["highest"]

# ruff: noqa: SLF001  (smoothed samples of one kind ask each other)


#: The densest points from which the search climbs, and how many are looked at.
_STARTS, _LOOKED_AT = 64, 20_000

#: The most points over which Newton's method, which sums them densely, is worth its last digits.
_MOST_COMPONENTS = 2_000


def highest(d: Any) -> Array:
    """Return the best point, (d,), that climbing from the densest points of the sample leads to."""
    xp = namespace_of(d._rows)
    stride = max(1, d._rows.shape[0] // _LOOKED_AT)
    rows = d._rows[::stride, :]
    rows = xp.concat([rows, _between_edges(d, rows)], axis=0)
    order = xp.argsort(-d._density(rows), stable=True)[: min(_STARTS, rows.shape[0])]
    starts = xp.take(rows, order, axis=0)
    squares = bool(xp.all((d._widths > 1e-140) & (d._widths < 1e140)))
    exact = d._is_gaussian and d._rows.shape[0] <= _MOST_COMPONENTS and squares
    found = _normal_modes(d, starts) if exact else _climbed(d, starts)
    found = xp.concat([starts[:1, :], found], axis=0)
    found = found if d._domain is None else d._domain.fold(found)
    heights = d._density(found)
    # Of points that are equally high up to rounding, take one that was climbed to.
    close = heights >= xp.max(heights) - 1e-13 * xp.abs(xp.max(heights)) - 1e-14
    return found[int(xp.max(xp.nonzero(close)[0])) if exact else int(xp.argmax(heights)), :]


def _between_edges(d: Any, rows: Array) -> Array:
    """Return the middles between the ends of windows on a line: a box is highest between two of them."""
    xp = namespace_of(rows)
    if d.dim > 1 or np.isinf(d._window.support):
        return rows[:0, :]
    h = d._window.support * d._widths
    edges = xp.sort(xp.concat([rows - h, rows + h], axis=0), axis=0)
    middles = 0.5 * (edges[1:, :] + edges[:-1, :])
    if d._domain is not None:
        middles = d._domain.fold(middles)
    return middles


def _normal_modes(d: Any, starts: Array) -> Array:
    """Newton's method on the mixture of normals that it is, the images beyond a domain's ends included."""
    xp = namespace_of(starts)
    images = [(np.ones(d.dim), np.zeros(d.dim))] if d._domain is None else d._domain.images
    place = {"dtype": xp.float64, "device": device(starts)}
    means = [d._rows * xp.asarray(s, **place) + xp.asarray(o, **place) for s, o in images]
    share = d._sums.weights / xp.sum(d._sums.weights) / len(images)
    mixture = Mixture(
        weights=as_shares(xp.concat([share] * len(images))),
        components=MultivariateNormal(mean=xp.concat(means, axis=0), covariance=d.structure),
    )
    return normal_modes(mixture, starts)


def _climbed(d: Any, x: Array) -> Array:
    """Steps along the axes of the window from every start, the best taken, halved where none is better."""
    xp = namespace_of(x)
    eye = xp.eye(d.dim, dtype=xp.float64, device=device(x))
    axes = xp.astype(d._scale.color(xp.concat([eye, -eye], axis=0)), xp.float64)
    heights, size = d._density(x), 0.5 * xp.ones_like(x[:, 0])
    while bool(xp.any(size > 1e-9)):
        tried = x[:, None, :] + size[:, None, None] * axes
        scored = xp.reshape(d._density(xp.reshape(tried, (-1, d.dim))), (x.shape[0], -1))
        best = xp.argmax(scored, axis=1)
        place = xp.arange(x.shape[0], device=device(x))
        flat = xp.reshape(tried, (-1, d.dim))
        moved, height = xp.take(flat, place * scored.shape[1] + best, axis=0), xp.max(scored, axis=1)
        better = height > heights
        x = xp.where(better[:, None], moved, x)
        heights = xp.where(better, height, heights)
        size = xp.where(better, size, 0.5 * size)
    return x
