"""Events: sets of outcomes of a table, with complement, union and intersection."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tractable.arrays.namespace import Array, freeze, to_numpy
from tractable.distributions.table.factor import total_over
from tractable.value import set_fields, value

if TYPE_CHECKING:
    from tractable.distributions.table.table import ProbabilityTable


@value
class Event:
    """A set of outcomes of a table of probabilities.

    ``~a`` is the complement, ``a | b`` the union, ``a & b`` the intersection, and ``a <= b`` whether every
    outcome of a is one of b. Of an exact table the probability is a fraction.

    Parameters
    ----------
    table : ProbabilityTable
        What the outcomes are the cells of.
    outcomes : array of bool, shaped like the table
        Which cells belong to the event.

    Examples
    --------
    >>> from tractable import ProbabilityTable
    >>> coins = ProbabilityTable(probabilities=[[0.25] * 2] * 2, axes={"one": ["H", "T"], "two": ["H", "T"]})
    >>> a, b = coins.event(one="H"), coins.event(two="H")
    >>> float((a | b).probability), float(a.probability + b.probability - (a & b).probability)
    (0.75, 0.75)
    >>> float(a.given(a | b).round(4))
    0.6667
    """

    table: "ProbabilityTable"
    outcomes: Array

    def __post_init__(self) -> None:
        outcomes = np.asarray(self.outcomes)
        if outcomes.dtype != bool or outcomes.shape != tuple(self.table.probabilities.shape):
            shape = tuple(self.table.probabilities.shape)
            raise ValueError(
                f"outcomes must be truth values of shape {shape}, got {outcomes.dtype} {outcomes.shape}"
            )
        set_fields(self, outcomes=freeze(outcomes))

    @property
    def probability(self) -> Any:
        """P(A), the sum of the probabilities of its outcomes."""
        p = to_numpy(self.table.probabilities)
        inside = p[self.outcomes]
        return total_over(inside, (0,))

    def given(self, other: "Event") -> Any:
        """Return P(A | B) = P(A, B) / P(B), which needs P(B) > 0."""
        below = self._same(other).probability
        if not below > 0:
            raise ValueError("other must be an event of positive probability, got one of probability 0")
        return (self & other).probability / below

    def __invert__(self) -> "Event":
        return Event(table=self.table, outcomes=~self.outcomes)

    def __or__(self, other: "Event") -> "Event":
        return Event(table=self.table, outcomes=self.outcomes | self._same(other).outcomes)

    def __and__(self, other: "Event") -> "Event":
        return Event(table=self.table, outcomes=self.outcomes & self._same(other).outcomes)

    def __le__(self, other: "Event") -> bool:
        return bool(np.all(~self.outcomes | self._same(other).outcomes))

    def _same(self, other: "Event") -> "Event":
        """Return another event of the same table."""
        if not isinstance(other, Event) or other.table is not self.table:
            raise ValueError("other must be an event of the same table")
        return other
