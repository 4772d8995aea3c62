"""Variable elimination: sums and maxima of products of factors, one variable after the other."""

from collections.abc import Iterable, Mapping, Sequence
from math import prod

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
