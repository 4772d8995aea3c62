"""Quantiles of log-concave densities, for a whole array at once."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array

__all__ = ["quantile"]

_REACH, _MOST_STEPS = 750.0, 200  # beyond exp(±750) there are no numbers

Tails = Callable[[Array], tuple[Array, Array, Array]]


def quantile(xp: Any, tails: Tails, lower: Array, upper: Array, start: Array) -> Array:
    """Return the u, from -750 to 750, at which the tails are as given; the smaller of the two decides.

    Newton's method on the logarithm of that tail, which is concave, so that a step overshoots once at most;
    where a step leaves the bracket, the bracket is halved.

    Parameters
    ----------
    xp : namespace
    tails : callable
        ``tails(u)`` returns P(U ≤ u), P(U > u) and the density of U at u.
    lower, upper : array
        What the two tails should be.
    start : array
        Near the centre.
    """
    falls = lower > upper
    target = xp.where(falls, upper, lower)
    inside = (target > 0.0) & (target <= 0.5)
    target = xp.where(inside, target, xp.full_like(target, 0.5))
    u, low, high = start, xp.full_like(start, -_REACH), xp.full_like(start, _REACH)
    eps = float(xp.finfo(u.dtype).eps)
    for _ in range(_MOST_STEPS):
        with np.errstate(all="ignore"):
            below, above, density = tails(u)
            tail = xp.where(falls, above, below)
            step = tail / density * (xp.log(tail) - xp.log(target))
            newton = u - xp.where(falls, -step, step)
            short = xp.where(falls, above > target, below < target)
            low, high = xp.where(short, u, low), xp.where(short, high, u)
            fits = (newton >= low) & (newton <= high)
        after = xp.where(fits, newton, 0.5 * (low + high))
        moved, u = xp.abs(after - u), after
        # Newton converges quadratically: a step of half the digits is the last that matters.
        if bool(xp.all((moved <= 1e-2 * eps**0.5) & fits | (high - low <= 4.0 * eps * xp.abs(u)) | ~inside)):
            break
    end = xp.where(lower <= 0.0, xp.full_like(u, -xp.inf), xp.where(upper <= 0.0, xp.full_like(u, xp.inf), u))
    return xp.where(xp.isnan(lower), lower, end)
