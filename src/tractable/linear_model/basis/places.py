"""Where basis functions are put: the range of a column, and points spread over it."""

from typing import Any

from tractable.arrays.namespace import Array, device, namespace_of

__all__ = ["PLACEMENTS", "check_placement", "column_range", "spread_over", "standardised"]

PLACEMENTS = ("quantiles", "grid")


def check_placement(placement: Any) -> str:
    """Return a way to spread points that is known."""
    if placement not in PLACEMENTS:
        raise ValueError(f"placement must be one of {list(PLACEMENTS)}, got {placement!r}")
    return str(placement)


def column_range(X: Array) -> tuple[Array, Array]:
    """Return the middle and the half width of every column; a constant one gets the half width 1."""
    xp = namespace_of(X)
    low, high = xp.min(X, axis=0), xp.max(X, axis=0)
    half = 0.5 * high - 0.5 * low
    return 0.5 * low + 0.5 * high, xp.where(half > 0, half, xp.ones_like(half))


def standardised(X: Array, middle: Array, half: Array) -> Array:
    """Return the columns in units of their range, which is [-1, 1]."""
    return (X - middle) / half


def spread_over(column: Array, weights: Array, n: int, placement: str) -> Array:
    """Return at most n different points over the range of a column, both ends among them.

    Evenly spaced, or at evenly spaced quantiles: the least value that the share q of the weight does not
    exceed, so that a row of weight two is a row given twice.
    """
    xp = namespace_of(column)
    levels = xp.linspace(0.0, 1.0, n, dtype=xp.float64, device=device(column)) if n > 1 else _middle(column)
    if placement == "grid":
        low, high = xp.min(column), xp.max(column)
        points = low * (1.0 - levels) + high * levels
    else:
        order = xp.argsort(column)
        filled = xp.cumulative_sum(xp.take(weights, order))
        at = xp.searchsorted(filled, levels * filled[-1])
        last = column.shape[0] - 1
        points = xp.take(column, xp.take(order, xp.clip(at, 0, last)))
    return xp.unique_values(points)


def _middle(column: Array) -> Array:
    xp = namespace_of(column)
    return xp.asarray([0.5], dtype=xp.float64, device=device(column))
