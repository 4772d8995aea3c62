"""Searches for many levels at once that ask no more about those which are found."""

from collections.abc import Callable

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["Unsettled", "put_back"]


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
        found = self.function(*(xp.take(part, xp.nonzero(moves)[0]) for part in (x, self.levels)))
        return put_back(moves, found[0], value), put_back(moves, found[1], slope)


def put_back(some: Array, found: Array, others: Array) -> Array:
    """Return `others` (m,) with what was found of some entries, in their order, in their places.

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
