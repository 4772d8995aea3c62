"""Rows with missing entries: each measured by the coordinates it has."""

from collections.abc import Callable
from math import prod

import numpy as np

from tractable.arrays.grouping import by_pattern
from tractable.arrays.namespace import Array, device, namespace_of, to_numpy

__all__ = ["over_observed"]

Measure = Callable[[tuple[int, ...], Array], Array]


def over_observed(measure: Measure, x: Array, batch_shape: tuple[int, ...]) -> Array:
    """Measure rows (*samples, *batch, d) by their observed coordinates; a row of nothing but NaN measures 0.

    Parameters
    ----------
    measure : callable
        ``measure(dims, rows)`` takes the positions of the observed coordinates and rows of only those.
    x : array
        Rows with NaN where an entry is missing.
    batch_shape : tuple of int
        Batch axes that rows broadcast with.
    """
    n_batch = len(batch_shape)
    xp = namespace_of(x)
    if x.ndim <= n_batch:
        x = xp.reshape(x, (1,) * (n_batch + 1 - x.ndim) + tuple(x.shape))
    own = tuple(x.shape[x.ndim - n_batch - 1 : -1])
    return _grouped(measure, x, batch_shape) if prod(own) == 1 else _selected(measure, x, batch_shape)


def _grouped(measure: Measure, x: Array, batch_shape: tuple[int, ...]) -> Array:
    """Every distribution of the batch sees the same rows: gather those of a pattern, and put them back."""
    xp = namespace_of(x)
    n_axes = x.ndim - len(batch_shape) - 1
    samples, rest = tuple(x.shape[:n_axes]), tuple(x.shape[n_axes:])
    rows = xp.reshape(x, (prod(samples), *rest))
    missing = to_numpy(xp.isnan(rows)).reshape(prod(samples), rest[-1])
    groups = by_pattern(missing)
    parts = [
        _measured(measure, pattern, xp.take(rows, _index(group, x), axis=0), batch_shape)
        for pattern, group in groups
    ]
    order = np.concatenate([group for _, group in groups])
    measured = xp.take(xp.concat(parts, axis=0), _index(np.argsort(order), x), axis=0)
    return xp.reshape(measured, samples + batch_shape)


def _selected(measure: Measure, x: Array, batch_shape: tuple[int, ...]) -> Array:
    """Each distribution of the batch has rows of its own: measure all by each pattern, and select."""
    xp = namespace_of(x)
    missing = xp.isnan(x)
    out = xp.zeros(np.broadcast_shapes(tuple(x.shape[:-1]), batch_shape), dtype=x.dtype, device=device(x))
    for pattern, _ in by_pattern(to_numpy(missing).reshape(-1, x.shape[-1])):
        here = xp.all(missing == xp.asarray(pattern, device=device(x)), axis=-1)
        out = xp.where(here, _measured(measure, pattern, x, batch_shape), out)
    return out


def _measured(measure: Measure, pattern: np.ndarray, rows: Array, batch_shape: tuple[int, ...]) -> Array:
    xp = namespace_of(rows)
    observed = np.flatnonzero(~pattern)
    if not len(observed):
        shape = np.broadcast_shapes(tuple(rows.shape[:-1]), batch_shape)
        return xp.zeros(shape, dtype=rows.dtype, device=device(rows))
    return measure(tuple(observed.tolist()), xp.take(rows, _index(observed, rows), axis=-1))


def _index(positions: np.ndarray, like: Array) -> Array:
    xp = namespace_of(like)
    return xp.asarray(positions, dtype=xp.int64, device=device(like))
