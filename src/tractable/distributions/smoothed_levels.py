"""Searches for many levels at once that ask no more about those which are found."""

from collections.abc import Callable

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["Unsettled"]


class Unsettled:
    """A function and its slope at every entry, for `increasing_root`: asked only where an entry still moves.

    An entry that came back within its rounding is found: its value is zero from then on.

    Parameters
    ----------
    function : callable
        ``function(x, level)`` returns values and slopes, entry by entry.
    levels : array (m,)

    Examples
    --------
    >>> import numpy as np
    >>> from tractable.engines.roots import increasing_root
    >>> square = Unsettled(lambda x, q: (x * x - q, 2.0 * x), np.array([4.0, 9.0]))
    >>> increasing_root(square, np.array([0.0, 0.0]), np.array([10.0, 10.0]))
    array([2., 3.])
    """

    def __init__(self, function: Callable[[Array, Array], tuple[Array, Array]], levels: Array) -> None:
        self.function, self.levels = function, levels
        self.last: Array = None

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Return values and slopes; zero and one where the entry did not move."""
        xp = namespace_of(x)
        if self.last is None:
            self.last = x
            return self.function(x, self.levels)
        moves = xp.abs(x - self.last) > 2.0 * xp.finfo(x.dtype).eps * xp.abs(x)
        self.last = x
        value, slope = xp.zeros_like(x), xp.ones_like(x)
        if not bool(xp.any(moves)):
            return value, slope
        kept = xp.nonzero(moves)[0]
        found = self.function(xp.take(x, kept), xp.take(self.levels, kept))
        place = xp.cumulative_sum(xp.astype(moves, xp.int64)) - 1
        place = xp.where(moves, place, xp.zeros_like(place))
        return xp.where(moves, xp.take(found[0], place), value), xp.where(
            moves, xp.take(found[1], place), slope
        )
