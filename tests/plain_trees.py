"""Trees of hyperplanes, 2-means splits and neighbour lists by recursion and sets: oracles for the tests."""

import numpy as np

from tractable.primitives import squared_distances
from tractable.primitives.kmeans.agnostic import kmeans_plus_plus


def halve(x, rows, a, b, margin):
    """Return the hyperplane that splits a group between its rows a and b, and the two parts.

    The projections of the rows must differ.
    """
    normal = (x[b, :] - x[a, :]) / np.sqrt(np.sum((x[b, :] - x[a, :]) ** 2))
    ranked = sorted(rows, key=lambda i: float(np.sum(x[i, :] * normal)))
    left = len(rows) // 2
    both = max(0, min(int(margin * len(rows)), left - 1))
    below, above = (float(np.sum(x[ranked[i], :] * normal)) for i in (left - 1, left))
    return normal, 0.5 * (below + above), set(ranked[: left + both]), set(ranked[left - both :])


def tree_nearest(x, k, points, order, trees):
    """Return for each row its k nearest (distance, index), the points measured, and the nodes opened."""
    return [_Search(x[r, :], k, points, order, trees).result() for r in range(x.shape[0])]


class _Search:
    """One row's search, by recursion."""

    def __init__(self, row, k, points, order, trees):
        self.row, self.k, self.points, self.order, self.trees = row, k, points, order, trees
        self.found = {}
        self.opened = 0
        for root in trees.roots:
            self.descend(int(root), 0.0)

    def descend(self, node, bound):
        if bound > self.farthest():
            return
        self.opened += 1
        if node < 0:
            self.measure(-1 - node)
            return
        about = self.row - self.trees.centre
        over = float(np.sum(about * self.trees.normals[node, :]) - self.trees.offsets[node])
        side = int(over > 0.0)
        self.descend(int(self.trees.children[node, side]), bound)
        if self.trees.look_back[node]:
            self.descend(int(self.trees.children[node, 1 - side]), max(bound, abs(over)))

    def measure(self, leaf):
        for i in self.trees.members[self.trees.ptr[leaf] : self.trees.ptr[leaf + 1]]:
            apart = np.sqrt(np.sum((self.row - self.points[int(i), :]) ** 2))
            self.found[int(self.order[int(i)])] = float(apart)

    def ranked(self):
        return sorted((apart, i) for i, apart in self.found.items())[: self.k]

    def farthest(self):
        near = self.ranked()
        return near[-1][0] if len(near) == self.k else float("inf")

    def result(self):
        return self.ranked(), set(self.found), self.opened


def two_means(rows, uniforms, max_iter=50):
    """Return the two centres of a group of rows, and which rows are nearer to the second."""
    centers = rows[kmeans_plus_plus(rows, None, uniforms)]
    right = np.argmin(squared_distances(rows, centers), axis=1)
    for _ in range(max_iter):
        centers = np.stack([np.mean(rows[right == side, :], axis=0) for side in (0, 1)])
        before, right = right, np.argmin(squared_distances(rows, centers), axis=1)
        if np.all(before == right):
            break
    return centers, right


def join_leaves(x, leaves, k):
    """Return the k nearest others of each point among those it shares a leaf with."""
    shared = [set() for _ in range(x.shape[0])]
    for leaf in leaves:
        held = [int(i) for i in leaf]
        for i in held:
            shared[i].update(held)
    return [_nearest(x, i, shared[i], k) for i in range(x.shape[0])]


def mend_lists(x, lists, k):
    """Return the k nearest of each point among its neighbours and theirs."""
    return [_nearest(x, i, {*own, *(j for a in own for j in lists[a])}, k) for i, own in enumerate(lists)]


def _nearest(x, i, others, k):
    return sorted(others - {i}, key=lambda j: float(np.sum((x[i, :] - x[j, :]) ** 2)))[:k]
