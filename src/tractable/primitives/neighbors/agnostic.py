"""The functions of `tractable.primitives.neighbors` in the array API."""

from collections.abc import Iterable
from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.primitives.kmeans.agnostic import kmeans_plus_plus, squared_distances

__all__ = [
    "distances",
    "halve",
    "join_leaves",
    "mend_lists",
    "nearest",
    "tree_nearest",
    "two_means",
    "within",
]


def nearest(
    x: Array, points: Array, k: int, form: str = "euclidean", order: float = 2.0
) -> tuple[Array, Array]:
    """See `tractable.primitives.neighbors.nearest`."""
    xp = namespace_of(x, points)
    every = distances(x, points, form, order)
    ranks = xp.argsort(every, axis=1, stable=True)[:, :k]
    return xp.take_along_axis(every, ranks, axis=1), ranks


def within(
    x: Array, points: Array, radii: Array, form: str = "euclidean", order: float = 2.0
) -> tuple[Array, Array, Array]:
    """See `tractable.primitives.neighbors.within`."""
    xp = namespace_of(x, points)
    every = distances(x, points, form, order)
    ranks = xp.argsort(every, axis=1, stable=True)
    every = xp.take_along_axis(every, ranks, axis=1)
    rows, columns = xp.nonzero(every <= radii[:, None])
    flat = rows * points.shape[0] + columns
    return rows, xp.take(xp.reshape(ranks, (-1,)), flat), xp.take(xp.reshape(every, (-1,)), flat)


def distances(x: Array, points: Array, form: str = "euclidean", order: float = 2.0) -> Array:
    """Return the distances of all pairs, (m, n), coordinate by coordinate."""
    xp = namespace_of(x, points)
    total = xp.zeros_like(x[:, :1] - points[:, 0])
    steps = [xp.abs(x[:, j : j + 1] - points[:, j]) for j in range(x.shape[1])]
    if form == "euclidean":
        return _euclidean(xp, steps, total)
    for step in steps:
        if form == "manhattan":
            total = total + step
        elif form == "hamming":
            total = total + xp.astype(step != 0.0, total.dtype)
        else:
            total = xp.maximum(total, step)
    if form == "hamming":
        return total / x.shape[1]
    return _minkowski(xp, steps, total, order) if form == "minkowski" else total


def _euclidean(xp: Any, steps: list[Array], zeros: Array) -> Array:
    """Squares of steps, over the largest where squares would overflow or vanish."""
    largest = zeros
    for step in steps:
        largest = xp.maximum(largest, step)
    edge = float(xp.finfo(zeros.dtype).max) ** 0.4
    extreme = (largest > edge) | ((largest < 1.0 / edge) & (largest > 0.0))
    unit = xp.where(extreme, largest, xp.ones_like(largest))
    total = zeros
    for step in steps:
        total = total + (step / unit) ** 2
    return unit * xp.sqrt(total)


def _minkowski(xp: Any, steps: list[Array], largest: Array, order: float) -> Array:
    """Powers of steps over the largest: none overflows, whatever the order."""
    unit = xp.where(largest > 0.0, largest, xp.ones_like(largest))
    total = xp.zeros_like(largest)
    for step in steps:
        total = total + (step / unit) ** order
    return largest * total ** (1.0 / order)


def halve(x: Array, rows: list[int], a: int, b: int, margin: float) -> tuple[Array, float, set, set]:
    """Return the plane that parts a group between its rows a and b, and the two parts.

    The projections of the rows must differ.
    """
    xp = namespace_of(x)
    normal = (x[b, :] - x[a, :]) / xp.sqrt(xp.sum((x[b, :] - x[a, :]) ** 2))
    ranked = sorted(rows, key=lambda i: float(xp.sum(x[i, :] * normal)))
    left = len(rows) // 2
    both = max(0, min(int(margin * len(rows)), left - 1))
    below, above = (float(xp.sum(x[ranked[i], :] * normal)) for i in (left - 1, left))
    return normal, 0.5 * (below + above), set(ranked[: left + both]), set(ranked[left - both :])


def tree_nearest(x: Array, k: int, points: Array, order: Array, trees: Any) -> list[tuple[list, set, int]]:
    """Return for each row its k nearest (distance, index), the points measured, and the nodes opened."""
    return [_Search(x[r, :], k, points, order, trees).result() for r in range(x.shape[0])]


class _Search:
    """One row's search, by recursion."""

    def __init__(self, row: Array, k: int, points: Array, order: Array, trees: Any) -> None:
        self.row, self.k, self.points, self.order, self.trees = row, k, points, order, trees
        self.found: dict[int, float] = {}
        self.opened = 0
        for root in trees.roots:
            self.descend(int(root), 0.0)

    def descend(self, node: int, bound: float) -> None:
        if bound > self.farthest():
            return
        self.opened += 1
        if node < 0:
            self.measure(-1 - node)
            return
        xp = namespace_of(self.row)
        about = self.row - self.trees.centre
        over = float(xp.sum(about * self.trees.normals[node, :]) - self.trees.offsets[node])
        side = int(over > 0.0)
        self.descend(int(self.trees.children[node, side]), bound)
        if self.trees.look_back[node]:
            self.descend(int(self.trees.children[node, 1 - side]), max(bound, abs(over)))

    def measure(self, leaf: int) -> None:
        xp = namespace_of(self.row)
        for i in self.trees.members[self.trees.ptr[leaf] : self.trees.ptr[leaf + 1]]:
            apart = xp.sqrt(xp.sum((self.row - self.points[int(i), :]) ** 2))
            self.found[int(self.order[int(i)])] = float(apart)

    def ranked(self) -> list[tuple[float, int]]:
        return sorted((apart, i) for i, apart in self.found.items())[: self.k]

    def farthest(self) -> float:
        near = self.ranked()
        return near[-1][0] if len(near) == self.k else float("inf")

    def result(self) -> tuple[list, set, int]:
        return self.ranked(), set(self.found), self.opened


def two_means(rows: Array, uniforms: Array, max_iter: int = 50) -> tuple[Array, Array]:
    """Return the two centres of a group of rows, and which rows are nearer to the second."""
    xp = namespace_of(rows)
    centers = xp.take(rows, kmeans_plus_plus(rows, None, uniforms), axis=0)
    right = xp.argmin(squared_distances(rows, centers), axis=1)
    for _ in range(max_iter):
        centers = xp.stack([xp.mean(rows[right == side, :], axis=0) for side in (0, 1)])
        before, right = right, xp.argmin(squared_distances(rows, centers), axis=1)
        if xp.all(before == right):
            break
    return centers, right


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
