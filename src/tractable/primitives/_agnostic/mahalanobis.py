"""See `tractable.primitives.mahalanobis`."""

from tractable.arrays.linalg import solve_triangular
from tractable.arrays.namespace import Array, namespace_of

__all__ = ["squared_mahalanobis"]


def squared_mahalanobis(x: Array, mean: Array, lower: Array) -> Array:
    """See `tractable.primitives.mahalanobis.squared_mahalanobis`."""
    xp = namespace_of(x, mean, lower)
    white = solve_triangular(lower, (x - mean).T)
    return xp.sum(white * white, axis=0)
