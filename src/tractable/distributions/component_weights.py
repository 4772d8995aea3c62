"""The weights of a mixture's components, checked and of the components' kind."""

from typing import Any

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, device, freeze, namespace_of
from tractable.distributions.checks import check_shares
from tractable.distributions.distribution import Distribution
from tractable.distributions.shares import as_shares

__all__ = ["as_component_weights"]


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
    check_shares("weights", weights)
    return freeze(as_shares(xp.astype(weights, like.dtype)))
