"""See `tractable.primitives.plane_trees` and `tractable.primitives.plane_growth`: one row at a time."""

from typing import Any

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["halve", "tree_nearest"]


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
