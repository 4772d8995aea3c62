# ruff: noqa: SLF001  (parts of smoothed samples ask them)
"""The density of a smoothed sample folded into a domain: the sum over images, those that count."""

import itertools
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.special import log_sum_exp
from tractable.distributions.smoothed_levels import put_back
from tractable.smoothing import WINDOWS, Window

__all__ = ["folded_density"]

#: The log of less than a rounding of one.
_NOTHING = -39.0

#: Pairs of a query and a point that are held at a time.
_PAIRS = 2**20


def folded_density(d: Any, rows: Array) -> Array:
    """Return log p of rows (m, d) of the domain: the density at all images that are folded onto them.

    Images are left out where a bound by their distance from the points shows that they add nothing.
    """
    xp = namespace_of(rows)
    total = d._log_density(rows)
    maps = [_counting(d, rows, j, total) for j in range(d.dim)]
    n_images = int(np.prod([float(len(each)) for each in maps]))
    if d._is_gaussian and n_images > 2 * sum(len(each) for each in maps):
        return _factored(d, rows, maps)
    place = {"dtype": xp.float64, "device": device(rows)}
    for image in itertools.islice(itertools.product(*maps), 1, None):
        sign, offset = (xp.asarray([pair[i] for pair in image], **place) for i in (0, 1))
        total = log_sum_exp(xp.stack([total, _added(d, rows * sign + offset, total)], axis=-1))
    return total


def _counting(d: Any, rows: Array, j: int, total: Array) -> list[tuple[float, float]]:
    """Return the maps of a coordinate under which some row is near enough to the points to count."""
    first, *others = d._domain.maps(j)
    return [
        first,
        *((s, o) for s, o in others if _any(_log_most(d, rows[:, j] * s + o, j) > total + _NOTHING)),
    ]


def _any(some: Array) -> bool:
    return bool(namespace_of(some).any(some))


def _added(d: Any, rows: Array, total: Array) -> Array:
    """Return the density where it may add to a total; elsewhere none."""
    xp = namespace_of(rows)
    some = _log_most(d, rows) > total + _NOTHING
    if not _any(~some):
        return d._log_density(rows)
    found = d._log_density(xp.take(rows, xp.nonzero(some)[0], axis=0))
    return put_back(some, found, xp.full_like(total, -xp.inf))


def _log_most(d: Any, rows: Array, j: int | None = None) -> Array:
    """Return a bound on the density by the distance from the box about the points, in all axes or in one."""
    xp = namespace_of(rows)
    points, widths = (d._rows, d._widths) if j is None else (d._rows[:, j], d._widths[j])
    with np.errstate(over="ignore", invalid="ignore"):
        outside = xp.maximum(xp.min(points, axis=0) - rows, rows - xp.max(points, axis=0))
        away = xp.clip(outside, min=0.0) / widths
        squares = xp.sum(away * away, axis=-1) if j is None else away * away
    window: Window = d._window
    if WINDOWS.get(window.name) is not window:  # it may rise with the distance
        most = xp.full_like(squares, xp.inf)
        return xp.where(squares > window.support**2, -most, most)
    return window.log_profile(squares) - d._log_volume


def _factored(d: Any, rows: Array, maps: list[list[tuple[float, float]]]) -> Array:
    """Sum Gaussian windows over the images of each axis by itself, since their product is over all."""
    xp = namespace_of(rows)
    log_weights = xp.log(d._sums.weights / xp.sum(d._sums.weights))
    step = max(1, _PAIRS // d._rows.shape[0])
    parts = []
    for begin in range(0, rows.shape[0], step):
        block = rows[begin : min(begin + step, rows.shape[0]), :]
        logs = log_weights[None, :] + xp.zeros_like(block[:, :1])
        for j, each in enumerate(maps):
            away = [((block[:, j] * s + o)[:, None] - d._rows[:, j][None, :]) / d._widths[j] for s, o in each]
            logs = logs + log_sum_exp(xp.stack([-0.5 * z * z for z in away], axis=-1))
        parts.append(log_sum_exp(logs) - d._log_volume)
    return xp.concat(parts) if parts else rows[:, 0]
