"""See `tractable.primitives.two_means`: one group."""

from tractable.arrays.namespace import Array, namespace_of
from tractable.primitives._agnostic.seeding import kmeans_plus_plus, squared_distances

__all__ = ["two_means"]


def two_means(rows: Array, uniforms: Array, max_iter: int = 50) -> tuple[Array, Array]:
    """Return the two centres of a group of rows, and which rows are nearer to the second."""
    xp = namespace_of(rows)
    centers = xp.take(rows, kmeans_plus_plus(rows, None, uniforms), axis=0)
    right = xp.argmin(squared_distances(rows, centers), axis=1)
    for _ in range(max_iter):
        centers = xp.stack([xp.mean(rows[right == side, :], axis=0) for side in (0, 1)])
        before, right = right, xp.argmin(squared_distances(rows, centers), axis=1)
        if xp.all(before == right):
            break
    return centers, right
