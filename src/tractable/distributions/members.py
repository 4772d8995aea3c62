"""The members of a batch, one by one: for answers that have no batched form."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of

__all__ = ["over_batch"]


def over_batch(
    function: Callable[..., Array],
    batch_shape: tuple[int, ...],
    *distributions: Any,
    shape: tuple[int, ...] = (),
) -> Array:
    """Return what a function says of each member of a batch, stacked: (*batch, *shape).

    Parameters
    ----------
    function : callable
        ``function(*members)`` of one member of each distribution.
    batch_shape : tuple
    *distributions : Distribution
    shape : tuple
        What one answer's shape would be, where the batch is empty and there is none to ask.

    Examples
    --------
    >>> from tractable import Normal
    >>> over_batch(lambda d: d.mean, (2,), Normal(mean=[1.0, 2.0], variance=1.0))
    array([1., 2.])
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
