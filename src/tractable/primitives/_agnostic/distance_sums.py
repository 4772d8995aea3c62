"""See `tractable.primitives.distance_sums`."""

from collections.abc import Sequence
from itertools import pairwise

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["distance_sums"]


def distance_sums(x: Array, columns: Array, weights: Array, starts: Sequence[int]) -> Array:
    """See `tractable.primitives.distance_sums.distance_sums`."""
    xp = namespace_of(x, columns)
    squares = xp.zeros_like(x[:, :1] * columns[:1, :])
    for j in range(x.shape[1]):
        squares = squares + (x[:, j : j + 1] - columns[j : j + 1, :]) ** 2
    distances = xp.sqrt(squares) * weights
    return xp.stack([xp.sum(distances[:, a:b], axis=1) for a, b in pairwise(starts)], axis=1)
