"""Seats for shares: the most probable counts."""

from typing import Any

from tractable.arrays.namespace import Array, device, namespace_of

__all__ = ["apportioned"]


def apportioned(n: Array, weights: Array) -> Array:
    """Return whole numbers that add up to n and make Π w_k^(n_k) / n_k! greatest (D'Hondt's rule).

    Every next seat goes to the greatest w_k / (n_k + 1), of equals to the first; all but a few are given at
    once, since the most probable count of a category is above n p_k - 1.

    Parameters
    ----------
    n : array (*batch,) of whole numbers
    weights : array (*batch, K)
        Not negative, with one above 0.

    Examples
    --------
    >>> import numpy as np
    >>> apportioned(np.array(10.0), np.array([0.5, 0.3, 0.2]))
    array([5., 3., 2.])
    """
    xp: Any = namespace_of(weights)
    shares = weights / xp.sum(weights, axis=-1, keepdims=True)
    # A little less than the share, so that rounding gives no seat too many.
    counts = xp.floor(n[..., None] * shares * (1.0 - 16.0 * xp.finfo(weights.dtype).eps))
    left = n - xp.sum(counts, axis=-1)
    places = xp.arange(weights.shape[-1], dtype=xp.int64, device=device(weights))
    while bool(xp.any(left > 0)):
        best = xp.argmax(weights / (counts + 1.0), axis=-1)
        chosen = (places == best[..., None]) & (left > 0)[..., None]
        counts = counts + xp.astype(chosen, counts.dtype)
        left = left - 1.0
    return counts
