"""Sets of probabilities, given as they are or by their logarithms, and batches member by member."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, all_true, device, freeze, namespace_of
from tractable.arrays.saddle_point import count_deviance
from tractable.distributions.checks import check_probabilities
from tractable.distributions.distribution import Distribution


def as_probabilities(x: Array) -> Array:
    """Return probabilities that add up to one along the last axis; unchanged if they do, up to rounding."""
    xp = namespace_of(x)
    total = xp.sum(x, axis=-1, keepdims=True)
    sums_to_one = xp.abs(total - 1.0) <= x.shape[-1] * xp.finfo(x.dtype).eps
    return x if all_true(sums_to_one) else xp.where(sums_to_one, x, x / total)


def log_or_minus_inf(p: Array) -> Array:
    """Return log p, -inf at 0."""
    xp = namespace_of(p)
    log = xp.log(xp.where(p > 0, p, xp.ones_like(p)))
    return xp.where(p > 0, log, xp.full_like(p, -xp.inf))


def entropy_term(p: Array, log_p: Array) -> Array:
    """Return -p log p, 0 at 0: one term of an entropy."""
    xp = namespace_of(p)
    return -p * xp.where(p > 0, log_p, xp.zeros_like(p))


def divergence_term(p: Array, log_p: Array, q: Array, log_q: Array) -> Array:
    """Return p log(p / q) + q - p, one term of a divergence; q may be too small for anything but its log."""
    xp = namespace_of(p)
    p, log_p, q, log_q = xp.broadcast_arrays(p, log_p, q, log_q)
    near = (abs(p - q) <= 0.1 * (p + q)) & (q > 0)
    one = xp.ones_like(p)
    close = count_deviance(xp.where(near, p, one), xp.where(near, q, one))
    some = (p > 0) & ~near
    ratio = xp.where(some, log_p, xp.zeros_like(p)) - xp.where(some, log_q, xp.zeros_like(p))
    return xp.where(near, close, p * ratio + (q - p))


def as_component_weights(weights: Any, components: Distribution) -> Array:
    """Return weights (*batch, K) of the components' library and dtype, frozen."""
    like = components.mean
    xp = namespace_of(like)
    k = components.batch_shape[-1]
    if weights is None:
        return freeze(xp.full(components.batch_shape, 1.0 / k, dtype=like.dtype, device=device(like)))
    if hasattr(weights, "dtype") and namespace_of(weights, like) is not xp:
        raise ValueError("weights and components must be arrays of one library")
    weights = as_reals("weights", weights, like)
    if weights.ndim < 1 or weights.shape[-1] != k:
        raise ValueError(f"weights must have shape (*batch, {k}), got {tuple(weights.shape)}")
    check_probabilities("weights", weights)
    return freeze(as_probabilities(xp.astype(weights, like.dtype)))


def over_batch(
    function: Callable[..., Array],
    batch_shape: tuple[int, ...],
    *distributions: Any,
    shape: tuple[int, ...] = (),
) -> Array:
    """Return a function of each member of a batch, stacked: (*batch, *shape).

    Distributions of other batch shapes are expanded; `shape` is that of one value, for an empty batch.
    """
    if not batch_shape:
        return function(*distributions)
    whole = [d if d.batch_shape == batch_shape else d.expand(batch_shape) for d in distributions]
    found = [function(*(d[i] for d in whole)) for i in np.ndindex(batch_shape)]
    if not found:
        like = distributions[0].mean
        return namespace_of(like).zeros((*batch_shape, *shape), dtype=like.dtype, device=device(like))
    xp = namespace_of(*found)
    stacked = xp.stack([xp.asarray(x) for x in found])
    return xp.reshape(stacked, batch_shape + tuple(stacked.shape[1:]))
