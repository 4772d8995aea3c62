"""See `tractable.primitives.leaf_join`: lists of candidates as sets."""

from collections.abc import Iterable

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["join_leaves", "mend_lists"]


def join_leaves(x: Array, leaves: Iterable[Iterable[int]], k: int) -> list[list[int]]:
    """Return the k nearest others of each point among those it shares a leaf with."""
    shared: list[set[int]] = [set() for _ in range(x.shape[0])]
    for leaf in leaves:
        held = [int(i) for i in leaf]
        for i in held:
            shared[i].update(held)
    return [_nearest(x, i, shared[i], k) for i in range(x.shape[0])]


def mend_lists(x: Array, lists: list[list[int]], k: int) -> list[list[int]]:
    """Return the k nearest of each point among its neighbours and theirs."""
    return [_nearest(x, i, {*own, *(j for a in own for j in lists[a])}, k) for i, own in enumerate(lists)]


def _nearest(x: Array, i: int, others: set[int], k: int) -> list[int]:
    xp = namespace_of(x)
    return sorted(others - {i}, key=lambda j: float(xp.sum((x[i, :] - x[j, :]) ** 2)))[:k]
