"""MacKay's fixed point: precisions from what the rows decide, again and again, until nothing moves."""

from collections.abc import Callable
from typing import Any, TypeVar

from tractable.arrays.namespace import Array, namespace_of
from tractable.value import value

__all__ = ["FixedPoint", "bounded_ratio", "fixed_point"]

S = TypeVar("S")


@value
class FixedPoint:
    """Where the iterations stopped.

    Parameters
    ----------
    state : value
        After the last whole step.
    scores : tuple of float
        The objective before each.
    converged : bool
    interrupted : bool
        By Ctrl-C: use the state, then raise KeyboardInterrupt again.
    """

    state: Any
    scores: tuple[float, ...]
    converged: bool
    interrupted: bool = False


def fixed_point(step: Callable[[S], tuple[S, float, bool]], state: S, *, max_iter: int) -> FixedPoint:
    """Repeat ``step(state) -> (following, score of the state, whether it was the last)``.

    An interruption (Ctrl-C) ends the search with the last whole step, and is said in the result.

    Parameters
    ----------
    step : callable
    state : value
        Where to begin.
    max_iter : int
        Most steps.

    Examples
    --------
    >>> found = fixed_point(lambda x: (0.5 * x + 1.0, x, abs(x - 2.0) < 1e-3), 0.0, max_iter=100)
    >>> round(found.state, 2), found.converged, len(found.scores)
    (2.0, True, 12)
    """
    scores: tuple[float, ...] = ()
    settled = False
    try:
        while not settled and len(scores) < max_iter:
            following, score, settled = step(state)
            # All or none, should an interruption fall between.
            state, scores = following, (*scores, score)
    except KeyboardInterrupt:
        return FixedPoint(state=state, scores=scores, converged=False, interrupted=True)
    return FixedPoint(state=state, scores=scores, converged=settled)


def bounded_ratio(above: Any, below: Any, most: Any, before: Any) -> Array:
    """Return above / below, at most `most`; nothing above says nothing, and leaves what was before.

    Examples
    --------
    >>> float(bounded_ratio(1.0, 0.0, 1e6, 2.0)), float(bounded_ratio(0.0, 0.0, 1e6, 2.0))
    (1000000.0, 2.0)
    """
    xp = namespace_of(above, below, most, before)
    above, below, most, before = (xp.asarray(part, dtype=xp.float64) for part in (above, below, most, before))
    within = above < most * below
    ratio = xp.where(within, above / xp.where(within, below, 1.0), most)
    return xp.where(above > 0, ratio, before)
