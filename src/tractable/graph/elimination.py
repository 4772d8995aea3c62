"""Variable elimination: sums and maxima of products of factors, one variable after the other."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
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

#: Cells of a table that is summed over several variables at once, rather than over one after the other.
FEW_CELLS = 2**9

#: A sum below this may have lost digits to numbers too small to represent.
LEAST_SUM = 1e-200


@value
class Cluster:
    """Variables that are summed out together: a step of a `ClusterTree`.

    Parameters
    ----------
    operands : tuple of (int, list of int)
        The arrays of its product, each with its axes: a factor by its position, the sum of an earlier
        cluster by the number of factors plus its position.
    kept : list of int
        The axes that are not summed out, which the sum of this cluster has.
    """

    operands: tuple[tuple[int, list[int]], ...]
    kept: list[int]


@value
class ClusterPlan:
    """The sums by which all variables of a product of factors are eliminated, whatever its values are.

    Parameters
    ----------
    n_factors : int
        How many factors there are.
    clusters : tuple of Cluster
        The steps.
    following : tuple of int
        For each cluster the one that is given its sum; -1 where no variable is left.
    homes : dict of str to (int, int)
        For each variable the cluster that sums it out, and its axis there.
    """

    n_factors: int
    clusters: tuple[Cluster, ...]
    following: tuple[int, ...]
    homes: dict[str, tuple[int, int]]


def cluster_plan(axes: Iterable[Sequence[Axis]]) -> ClusterPlan | None:
    """Return sums that eliminate all variables in a greedy order; None where they have too many cells.

    A variable's bucket holds the factors that have it and none that goes before, and the sums of earlier
    buckets; its sum goes to the bucket of the next of the other variables (Dechter 1999). Two buckets whose
    joint table has few cells are one cluster: a call of `einsum` costs more than such a table.

    Parameters
    ----------
    axes : iterable of axes
        Those of each factor.
    """
    axes = list(axes)
    sizes = {name: len(levels) for scope in axes for name, levels in scope}
    plan = elimination_order(axes, sizes)
    if plan.cells > 2**14 or plan.width >= MOST_AXES:
        return None
    turn = {name: i for i, name in enumerate(plan.order)}
    n = len(axes)
    # Of each factor, then of the sum of each bucket: its variables. Of each bucket: arrays and variables.
    scopes: list[set[str]] = [{name for name, _ in scope} for scope in axes]
    waiting: list[list[int]] = [[] for _ in plan.order]
    for i, scope in enumerate(scopes):
        if scope:
            waiting[min(turn[name] for name in scope)].append(i)
    held: dict[int, list[int]] = {}
    joint: dict[int, set[str]] = {}
    for k in range(len(plan.order)):
        inside = set().union(*(scopes[i] for i in waiting[k]))
        arrays = list(waiting[k])
        for i in waiting[k]:
            if (
                i in held
                and len(arrays) + len(held[i]) - 1 <= MOST_OPERANDS
                and prod(sizes[other] for other in inside | joint[i]) <= FEW_CELLS
            ):
                inside |= joint.pop(i)
                arrays.remove(i)
                arrays += held.pop(i)
        if len(arrays) > MOST_OPERANDS:
            return None
        held[n + k], joint[n + k] = arrays, inside
        scopes.append({other for other in inside if turn[other] > k})
        if scopes[-1]:
            waiting[min(turn[other] for other in scopes[-1])].append(n + k)
    return _numbered(n, held, joint, [sorted(scope, key=turn.__getitem__) for scope in scopes], axes)


def _numbered(
    n: int,
    held: Mapping[int, Sequence[int]],
    joint: Mapping[int, set[str]],
    sums: Sequence[Sequence[str]],
    axes: Sequence[Sequence[Axis]],
) -> ClusterPlan:
    """Return the plan of clusters, with names of variables replaced by axes, counted in each cluster."""
    where = {bucket: n + j for j, bucket in enumerate(held)}
    following, homes, clusters = [-1] * len(held), {}, []
    for j, (bucket, arrays) in enumerate(held.items()):
        axis = {name: a for a, name in enumerate(sorted(joint[bucket]))}
        operands = []
        for i in arrays:
            names = [name for name, _ in axes[i]] if i < n else sums[i]
            operands.append((where.get(i, i), [axis[name] for name in names]))
            if i >= n:
                following[where[i] - n] = j
        homes.update({name: (j, a) for name, a in axis.items() if name not in sums[bucket]})
        clusters.append(Cluster(operands=tuple(operands), kept=[axis[name] for name in sums[bucket]]))
    return ClusterPlan(n_factors=n, clusters=tuple(clusters), following=tuple(following), homes=homes)


class ClusterTree:
    """A product of factors, all variables of which are summed out once, for the marginals of each.

    Forwards, the sum of each cluster goes to the one that follows. Backwards along the same edges, a cluster
    is given the sum of everything that is outside of it and of what leads to it. Factors are NumPy arrays: a
    product and its sum are one call of `einsum`.

    Parameters
    ----------
    plan : ClusterPlan
        The sums.
    factors : sequence of arrays
        The values of the factors.
    """

    def __init__(self, plan: ClusterPlan, factors: Sequence[Any]) -> None:
        self._plan = plan
        self._arrays = list(factors)
        self._outside: dict[int, list[Any]] = {}
        #: The logarithm of the sum.
        self.log_mass = 0.0
        #: Whether no sum is so small that digits may be lost.
        self.is_accurate = True
        for constant in factors:
            if not constant.ndim:
                self._scale(float(constant))
        for cluster in plan.clusters:
            found = np.einsum(*self._operands(cluster), cluster.kept)
            self._arrays.append(found / self._scale(float(found.max())))

    def _scale(self, largest: float) -> float:
        """Count a scale by which numbers are divided; 1 where all are 0."""
        if largest < LEAST_SUM:
            self.is_accurate = False
        self.log_mass += log(largest) if largest > 0.0 else -np.inf
        return largest or 1.0

    def __contains__(self, name: str | None) -> bool:
        return name in self._plan.homes

    def marginal(self, name: str) -> np.ndarray:
        """Return the probabilities of a variable, not yet one in sum."""
        j, axis = self._plan.homes[name]
        return np.einsum(*self._operands(self._plan.clusters[j]), *self._given(j), [axis])

    def _operands(self, cluster: Cluster, without: int = -1) -> list[Any]:
        """Return the arrays of a cluster, each followed by its axes, as `einsum` takes them."""
        return [x for i, axes in cluster.operands if i != without for x in (self._arrays[i], axes)]

    def _given(self, j: int) -> list[Any]:
        """Return the sum of what is outside of a cluster and of those before it, and its axes there."""
        path = [j]
        while path[-1] not in self._outside and self._plan.following[path[-1]] >= 0:
            path.append(self._plan.following[path[-1]])
        self._outside.setdefault(path[-1], [])
        for k, after in reversed(list(pairwise(path))):
            cluster, own = self._plan.clusters[after], self._plan.n_factors + k
            held = [*self._operands(cluster, without=own), *self._outside[after]]
            axes = {a for some in held[1::2] for a in some}
            shared = zip(dict(cluster.operands)[own], self._plan.clusters[k].kept, strict=True)
            both = [pair for pair in shared if pair[0] in axes]
            self._outside[k] = []
            if both:
                found = np.einsum(*held, [there for there, _ in both])
                self._outside[k] = [found / (float(found.max()) or 1.0), [here for _, here in both]]
        return self._outside[j]
