"""Positions in sorted arrays; NaN comes after every number."""

from tractable.primitives.compiled_options import compiled


@compiled()
def first_at_least(x, v):  # type: ignore[no-untyped-def]
    """Return how many entries of a sorted array are below v."""
    low, high = 0, len(x)
    while low < high:
        middle = (low + high) >> 1
        if x[middle] >= v:
            high = middle
        else:
            low = middle + 1
    return low


@compiled()
def first_above(x, v):  # type: ignore[no-untyped-def]
    """Return how many entries of a sorted array are not above v."""
    low, high = 0, len(x)
    while low < high:
        middle = (low + high) >> 1
        if x[middle] > v:
            high = middle
        else:
            low = middle + 1
    return low
