"""See `tractable.primitives.first_to_meet`."""

import numpy as np
from numba import njit

from tractable.primitives._agnostic.first_to_meet import PARALLEL

__all__ = ["first_to_meet"]


@njit(nogil=True, cache=True)
def first_to_meet(heights, slopes, free, level, positive):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.first_to_meet.first_to_meet`."""
    first, soonest = 0, np.inf
    for j in range(len(heights)):
        if not free[j]:
            continue
        closing = 1.0 - slopes[j]
        if closing > PARALLEL:
            way = max(level - heights[j], 0.0) / closing
            if way < soonest:
                first, soonest = j, way
        closing = 1.0 + slopes[j]
        if closing > PARALLEL and not positive:
            way = max(level + heights[j], 0.0) / closing
            if way < soonest:
                first, soonest = j, way
    return first, soonest
