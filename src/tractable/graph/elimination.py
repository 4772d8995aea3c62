"""Variable elimination: sums and maxima of products of factors, one variable after the other."""

from collections.abc import Iterable, Mapping, Sequence
from math import log, prod
from typing import Any

import numpy as np

from tractable.distributions.table.factor import MOST_CELLS, Axis, Factor
from tractable.value import value


@value
class EliminationOrder:
    """The order in which variables are summed out, and how large the tables on the way become.

    Parameters
    ----------
    order : tuple of str
        The variables, the first to go first.
    width : int
        Variables of the largest table less one; the least over all orders is the treewidth.
    cells : int
        Cells of the largest table.
    """

    order: tuple[str, ...]
    width: int
    cells: int


def elimination_order(axes: Iterable[Sequence[Axis]], gone: Iterable[str]) -> EliminationOrder:
    """Return an order of variables by the greedy rule: next is the one whose table has the fewest cells.

    Parameters
    ----------
    axes : iterable of axes
        Those of each factor.
    gone : iterable of str
        The variables to eliminate.

    Examples
    --------
    >>> chain = [(("a", (0, 1)), ("b", (0, 1))), (("b", (0, 1)), ("c", (0, 1)))]
    >>> elimination_order(chain, ["a", "b"])
    EliminationOrder(order=('a', 'b'), width=1, cells=4)
    """
    axes = list(axes)
    scopes = [{name for name, _ in scope} for scope in axes]
    sizes = {name: len(levels) for scope in axes for name, levels in scope}
    beside: dict[str, set[str]] = {name: set() for name in gone}
    for scope in scopes:
        for name in scope & beside.keys():
            beside[name] |= scope - {name}
    order, width = [], max((len(s) - 1 for s in scopes), default=0)
    cells = max((prod(sizes[name] for name in s) for s in scopes), default=1)
    cost = {name: sizes[name] * prod(sizes[other] for other in near) for name, near in beside.items()}
    while beside:
        name = min(cost, key=cost.__getitem__)
        near = beside.pop(name)
        order.append(name)
        width, cells = max(width, len(near)), max(cells, cost.pop(name))
        for other in near & beside.keys():
            beside[other] = (beside[other] | near) - {name, other}
            cost[other] = sizes[other] * prod(sizes[further] for further in beside[other])
    return EliminationOrder(order=tuple(order), width=width, cells=cells)


@value
class Eliminated:
    """What is left of a product of factors when variables are eliminated.

    Parameters
    ----------
    factor : Factor
        Of the other variables, the product of what is left, divided by exp(log_scale).
    log_scale : float
        By which numbers were divided on the way, so that they are neither too large nor too small.
    steps : tuple of (str, Factor)
        Each variable, with the product of the factors that had it: up to a constant, what p(variable | the
        others of the factor) is in the product of all.
    """

    factor: Factor
    log_scale: float
    steps: tuple[tuple[str, Factor], ...]


def eliminate(factors: Iterable[Factor], gone: Iterable[str], *, maximize: bool = False) -> Eliminated:
    """Sum a product of factors over variables, or maximise it, in a greedy order.

    Parameters
    ----------
    factors : iterable of Factor
        At least one.
    gone : iterable of str
        Variables to eliminate, each in some factor.
    maximize : bool
        Whether the maximum over the variables is taken, not the sum.

    Examples
    --------
    >>> a = Factor(values=[0.2, 0.8], axes={"a": 2})
    >>> b = Factor(values=[[0.9, 0.1], [0.5, 0.5]], axes={"a": 2, "b": 2})
    >>> found = eliminate([a, b], ["a"])
    >>> import numpy as np
    >>> (found.factor.values * np.exp(found.log_scale)).round(2)
    array([0.58, 0.42])
    """
    left = list(factors)
    plan = elimination_order([factor.axes for factor in left], gone)
    if plan.cells > MOST_CELLS:
        raise ValueError(
            f"too many variables depend on each other for an exact answer: one table of {plan.width + 1} "
            f"of them has {plan.cells} cells; observe more of them, or ask for fewer"
        )
    turn = {name: i for i, name in enumerate(plan.order)}
    # The factors that have each variable and none that goes before it; behind them those that have none.
    waiting: list[list[Factor]] = [[] for _ in range(len(turn) + 1)]
    for factor in left:
        waiting[_first(factor, turn)].append(factor)
    steps, log_scale = [], 0.0
    for i, name in enumerate(plan.order):
        product, log_size = _product(waiting[i])
        steps.append((name, product))
        reduced = product.max(name) if maximize else product.sum(name)
        waiting[_first(reduced, turn)].append(reduced)
        log_scale += log_size
    whole, log_size = _product(waiting[-1])
    return Eliminated(factor=whole, log_scale=log_scale + log_size, steps=tuple(steps))


def _product(factors: Sequence[Factor]) -> tuple[Factor, float]:
    """Return the product of factors, over its largest value, and the logarithm of that.

    It is divided after every factor: a product of many observations is too small for a number.
    """
    product, log_scale = factors[0].rescaled()
    for factor in factors[1:]:
        product, log_size = (product * factor).rescaled()
        log_scale += log_size
    return product, log_scale


def _first(factor: Factor, turn: Mapping[str, int]) -> int:
    """Return the turn of the variable of a factor that goes first."""
    return min((turn.get(name, len(turn)) for name, _ in factor.axes), default=len(turn))


#: Variables of a table, and tables of a product, that one call of `einsum` takes.
MOST_AXES, MOST_OPERANDS = 20, 16


class BucketTree:
    """A product of factors, all variables of which are summed out once, for the marginals of each.

    A variable's bucket holds the factors that have it and none that goes before, and the sums of earlier
    buckets. The sum over the variable goes to the bucket of the next of the others. Backwards along the same
    edges, the marginal of a bucket is its product times that of the next bucket over the sum it was given
    (Dechter 1999). Factors are NumPy arrays: a product and its sum are one call of `einsum`.

    Parameters
    ----------
    factors : iterable of (array, tuple of str)
        Values, and the variables of their axes.
    order : sequence of str
        All variables, in the order of elimination.
    """

    def __init__(self, factors: Iterable[tuple[np.ndarray, tuple[str, ...]]], order: Sequence[str]) -> None:
        self.turn = {name: i for i, name in enumerate(order)}
        turn = self.turn
        self._held: list[list[Any]] = [[] for _ in order]
        self._sums: list[np.ndarray] = []
        self._next: list[int] = []
        self._beliefs: dict[int, np.ndarray] = {}
        self.log_mass = 0.0
        for values, names in factors:
            axes = [turn[name] for name in names]
            if axes:
                self._held[min(axes)] += [values, axes]
            else:
                self.log_mass += log(values) if values > 0.0 else -np.inf
        self._around: list[list[int]] = []
        for held in self._held:
            around = sorted({j for axes in held[1::2] for j in axes})
            self._around.append(around)
            found = np.einsum(*held, around[1:])
            largest = float(found.max())
            if largest > 0.0:
                found = found / largest
                self.log_mass += log(largest)
            else:
                self.log_mass = -np.inf
            following = around[1] if len(around) > 1 else -1
            if following >= 0:
                self._held[following] += [found, around[1:]]
            self._sums.append(found)
            self._next.append(following)

    def marginal(self, name: str) -> np.ndarray:
        """Return the probabilities of a variable, not yet one in sum."""
        i = self.turn[name]
        return np.einsum(self._belief(i), self._around[i], [i])

    def _belief(self, i: int) -> np.ndarray:
        """Return the product of all factors, summed over what is in other buckets alone."""
        path = [i]
        while path[-1] not in self._beliefs and self._next[path[-1]] >= 0:
            path.append(self._next[path[-1]])
        for j in reversed(path):
            if j in self._beliefs:
                continue
            outside: list[Any] = []
            following, shared = self._next[j], self._around[j][1:]
            if following >= 0:
                above = np.einsum(self._beliefs[following], self._around[following], shared)
                below = self._sums[j]
                outside = [np.divide(above, below, out=np.zeros_like(above), where=below > 0.0), shared]
            self._beliefs[j] = np.einsum(*self._held[j], *outside, self._around[j])
        return self._beliefs[i]


def is_small(plan: EliminationOrder, axes: Sequence[Sequence[str]]) -> bool:
    """Whether a `BucketTree` suits factors: tables of few cells, and few factors that have a variable."""
    turn = {name: i for i, name in enumerate(plan.order)}
    held = np.bincount([min(turn[name] for name in names) for names in axes if names], minlength=1)
    return plan.cells <= 2**14 and plan.width < MOST_AXES and int(held.max()) <= MOST_OPERANDS
