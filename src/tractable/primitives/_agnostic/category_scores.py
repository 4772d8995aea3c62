"""See `tractable.primitives.category_scores`."""

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["category_scores"]


def category_scores(x: Array, tables: Array, starts: Array) -> Array:
    """See `tractable.primitives.category_scores.category_scores`."""
    xp = namespace_of(x)
    seen = ~xp.isnan(x)
    places = xp.astype(xp.where(seen, x, xp.zeros_like(x)), xp.int64) + xp.astype(starts, xp.int64)
    found = xp.reshape(xp.take(tables, xp.reshape(places, (-1,)), axis=0), (*x.shape, tables.shape[1]))
    return xp.sum(xp.where(seen[:, :, None], found, xp.zeros_like(found)), axis=1)
