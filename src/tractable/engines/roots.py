"""Roots in brackets, for a whole array at once: of increasing functions, and of conditions, by bisection.

One equation alone is solved by `scipy.optimize.brentq`, which needs fewer evaluations without a slope.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.gamma import log_minus_digamma, trigamma_excess
from tractable.arrays.namespace import Array, namespace_of


def increasing_root(
    function: Callable[..., tuple[Array, Array]],
    low: Array,
    high: Array,
    levels: Array | None = None,
    *,
    start: Array | None = None,
    max_iter: int = 200,
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
    levels : array (m,), optional
        ``function(x, levels)`` is then called with only those entries of both that still move.
    start : array, optional
        The first point inside the bracket; its middle by default.
    max_iter : int
        The most steps to take; halving alone needs fewer.

    Examples
    --------
    >>> import numpy as np
    >>> increasing_root(lambda x: (x**3 - 2.0, 3.0 * x**2), np.array([0.0]), np.array([2.0])).round(12)
    array([1.25992105])
    >>> levels = np.array([4.0, 9.0])
    >>> increasing_root(lambda x, q: (x * x - q, 2.0 * x), np.zeros(2), np.full(2, 10.0), levels)
    array([2., 3.])
    """
    xp = namespace_of(low, high)
    evaluate = function if levels is None else _Moving(function, levels)
    x, step = _middle(xp, low, high) if start is None else start, high - low
    tiny = float(xp.finfo(x.dtype).smallest_normal)
    for _ in range(max_iter):
        value, slope = evaluate(x)
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


def log_minus_digamma_root(gap: Array) -> Array:
    """Return a > 0 with log a - ψ(a) = gap > 0: the likeliest shape of a Gamma distribution.

    Examples
    --------
    >>> import numpy as np
    >>> log_minus_digamma_root(np.array([0.5772156649015329])).round(12)
    array([1.])
    """
    # Minka's rational approximation (2002) is within 1.5 % of it everywhere.
    near = (3.0 - gap + namespace_of(gap).sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (12.0 * gap)
    near = namespace_of(gap).where(gap > 1e8, 1.0 / gap, near)  # where its numerator cancels
    # The derivative of log a - ψ(a) is -trigamma_excess(a)/a².
    return increasing_root(
        lambda a: (gap - log_minus_digamma(a), trigamma_excess(a) / a / a), 0.98 * near, 1.02 * near
    )


def _middle(xp: Any, low: Array, high: Array) -> Array:
    less, more = xp.minimum(xp.abs(low), xp.abs(high)), xp.maximum(xp.abs(low), xp.abs(high))
    unlike = ((low > 0.0) | (high < 0.0)) & (less < 0.25 * more)
    one = xp.ones_like(low)
    size = xp.sqrt(xp.where(unlike, less, one)) * xp.sqrt(xp.where(unlike, more, one))
    return xp.where(unlike, xp.where(low > 0.0, size, -size), 0.5 * low + 0.5 * high)


class _Moving:
    """A function of x and its level, evaluated where x has moved since the last call; elsewhere zero."""

    def __init__(self, function: Callable[[Array, Array], tuple[Array, Array]], levels: Array) -> None:
        self.function, self.levels = function, levels
        self.last: Array = None

    def __call__(self, x: Array) -> tuple[Array, Array]:
        xp, last = namespace_of(x), self.last
        self.last = x
        if last is None:
            return self.function(x, self.levels)
        moves = xp.abs(x - last) > 2.0 * xp.finfo(x.dtype).eps * xp.abs(x)
        value, slope = xp.zeros_like(x), xp.ones_like(x)
        if not bool(xp.any(moves)):
            return value, slope
        found = self.function(*(xp.take(part, xp.nonzero(moves)[0]) for part in (x, self.levels)))
        return put_back(moves, found[0], value), put_back(moves, found[1], slope)


def put_back(some: Array, found: Array, others: Array) -> Array:
    """Return `others` (m,) with what was found of some entries, in their order, in their positions.

    Examples
    --------
    >>> import numpy as np
    >>> put_back(np.array([False, True, True]), np.array([5.0, 6.0]), np.zeros(3))
    array([0., 5., 6.])
    """
    xp = namespace_of(others)
    if found.shape[0] == 0:
        return others
    place = xp.cumulative_sum(xp.astype(some, xp.int64)) - 1
    return xp.where(some, xp.take(found, xp.where(some, place, xp.zeros_like(place))), others)


def bisect(
    reached: Callable[[Array], Array], low: Array, high: Array, *, whole: bool = False, max_iter: int = 2**12
) -> Array:
    """Return about the least number of each bracket at which a condition holds, by bisection.

    It ends when no number lies between the ends of any bracket.

    Parameters
    ----------
    reached : callable
        ``reached(x)`` says of each number whether the condition holds; from some number on it does.
    low, high : array
        At `low` it does not hold, at `high` it does.
    whole : bool
        Whether the numbers are whole, as the ends then are.
    max_iter : int
        The most halvings.

    Examples
    --------
    >>> import numpy as np
    >>> squares = np.array([10.0, 16.0])
    >>> bisect(lambda x: x * x >= squares, np.zeros(2), np.full(2, 20.0)).round(12)
    array([3.16227766, 4.        ])
    >>> bisect(lambda x: x * x >= squares, np.zeros(2), np.full(2, 20.0), whole=True)
    array([4., 4.])
    """
    xp = namespace_of(low, high)
    for _ in range(max_iter):
        middle = xp.floor(0.5 * (low + high)) if whole else 0.5 * (low + high)
        # Above 2⁵³ neighbouring whole numbers are more than one apart, and there is none in between.
        if not bool(xp.any((low < middle) & (middle < high))):
            break
        holds = reached(middle)
        low, high = xp.where(holds, low, middle), xp.where(holds, middle, high)
    return high
