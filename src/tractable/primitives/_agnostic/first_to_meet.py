"""See `tractable.primitives.first_to_meet`."""

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["PARALLEL", "first_to_meet"]

#: Lines that close in more slowly than this never meet.
PARALLEL = 1e-13


def first_to_meet(
    heights: Array, slopes: Array, free: Array, level: float, positive: bool
) -> tuple[int, float]:
    """See `tractable.primitives.first_to_meet.first_to_meet`."""
    xp = namespace_of(heights)
    never = xp.full_like(heights, float("inf"))
    ways = never
    for side in (1.0,) if positive else (1.0, -1.0):
        closing = 1.0 - side * slopes
        may = free & (closing > PARALLEL)
        distance = level - side * heights
        distance = xp.where(distance > 0, distance, xp.zeros_like(distance))
        ways = xp.minimum(
            ways, xp.where(may, distance / xp.where(may, closing, xp.ones_like(closing)), never)
        )
    j = int(xp.argmin(ways))
    return j, float(ways[j])
