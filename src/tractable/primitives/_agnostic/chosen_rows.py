"""See `tractable.primitives.chosen_rows`."""

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["row_products", "weighted_rows"]


def weighted_rows(matrix: Array, which: Array, weights: Array) -> Array:
    """See `tractable.primitives.chosen_rows.weighted_rows`."""
    return weights @ namespace_of(matrix).take(matrix, which, axis=0)


def row_products(matrix: Array, which: Array, vector: Array) -> Array:
    """See `tractable.primitives.chosen_rows.row_products`."""
    return namespace_of(matrix).take(matrix, which, axis=0) @ vector
