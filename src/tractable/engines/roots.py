"""Roots of increasing functions: Newton's steps, kept inside a bracket, for a whole array at once."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["increasing_root"]


def increasing_root(
    function: Callable[[Array], tuple[Array, Array]], low: Array, high: Array, *, max_iter: int = 200
) -> Array:
    """Return where an increasing function of each entry is zero: Newton's step, or half the bracket.

    A step is Newton's where that stays inside the bracket and at least halves the step before; otherwise the
    bracket is halved, in logarithms where its ends have one sign and unlike sizes. It ends when no entry
    moves by more than its rounding.

    Parameters
    ----------
    function : callable
        ``function(x)`` returns the values and the slopes at x, entry by entry.
    low, high : array
        Where the function is at most, and at least, zero.
    max_iter : int
        The most steps to take; halving alone needs fewer.

    Examples
    --------
    >>> import numpy as np
    >>> increasing_root(lambda x: (x**3 - 2.0, 3.0 * x**2), np.array([0.0]), np.array([2.0])).round(12)
    array([1.25992105])
    """
    xp = namespace_of(low, high)
    x, step = _middle(xp, low, high), high - low
    tiny = float(xp.finfo(x.dtype).smallest_normal)
    for _ in range(max_iter):
        value, slope = function(x)
        low, high = xp.where(value <= 0, x, low), xp.where(value >= 0, x, high)
        flat = ~(slope > 0)
        with np.errstate(over="ignore"):
            newton = x - value / xp.where(flat, xp.ones_like(slope), slope)
        trusted = (newton >= low) & (newton <= high) & (xp.abs(newton - x) <= 0.5 * xp.abs(step)) & ~flat
        after = xp.where(trusted, newton, _middle(xp, low, high))
        step, x = after - x, after
        if bool(xp.all(xp.abs(step) <= xp.finfo(x.dtype).eps * xp.abs(x) + tiny)):
            break
    return x


def _middle(xp: Any, low: Array, high: Array) -> Array:
    less, more = xp.minimum(xp.abs(low), xp.abs(high)), xp.maximum(xp.abs(low), xp.abs(high))
    unlike = ((low > 0.0) | (high < 0.0)) & (less < 0.25 * more)
    one = xp.ones_like(low)
    size = xp.sqrt(xp.where(unlike, less, one)) * xp.sqrt(xp.where(unlike, more, one))
    return xp.where(unlike, xp.where(low > 0.0, size, -size), 0.5 * low + 0.5 * high)
