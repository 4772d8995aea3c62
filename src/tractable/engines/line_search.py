"""Steps halved until the value falls enough (Armijo): what the searches of this room share."""

from collections.abc import Iterator
from typing import Any

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["halved", "improves", "inner"]

#: Share of the promised decrease that a step must keep.
ARMIJO = 1e-4


def halved(before: float, slope: float, rounding: float) -> Iterator[tuple[float, float]]:
    """Yield lengths 1, ½, ¼, … and the value that each must reach, while a value can tell.

    Examples
    --------
    >>> [length for length, _ in halved(1.0, 0.5, 0.1)]
    [1.0, 0.5, 0.25]
    """
    length = 1.0
    while length == 1.0 or length * slope > rounding:
        yield length, before - ARMIJO * length * slope
        length *= 0.5


def improves(here: Any, there: Any, bound: float, rounding: float) -> bool:
    """Say whether the value fell enough or, where it cannot tell any more, whether the gradient shrank.

    `here` and `there` begin with a value and a gradient.
    """
    if float(there[0]) <= bound and float(there[0]) < float(here[0]):
        return True
    level = abs(float(there[0]) - float(here[0])) <= rounding
    return level and inner(there[1], there[1]) < inner(here[1], here[1])


def inner(a: Array, b: Array) -> float:
    """Return Σ a b over all entries."""
    return float(namespace_of(a).sum(a * b))
