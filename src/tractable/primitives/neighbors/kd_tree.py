"""The k-d tree: halves of halves of the points, and the search that opens few of them.

Neighbours and distances are those of `tractable.primitives.neighbors`, to the bit, which is its oracle.
"""

from collections.abc import Callable

import numpy as np

from tractable.primitives import runs_compiled
from tractable.primitives.neighbors import FORMS, sorted_pairs
from tractable.primitives.threads import even_blocks, ordered_map
from tractable.value import value

#: Operations that count for each coordinate of a tree that is searched, and for each leaf of one that is
#: built: a tree of 8192 points, in leaves of 32, takes some fifteen milliseconds.
WORK, BUILT_LEAF = 1024, 2**12


@value
class KDNodes:
    """A tree in arrays; nodes in preorder, so that a left child follows its parent."""

    order: np.ndarray  # (n,), the points as leaves hold them
    nodes: np.ndarray  # (m, 4): first of `order`, last + 1, right child (0 in a leaf), depth
    dims: np.ndarray  # (m,), the side that is split
    lows: np.ndarray  # (m,), the largest coordinate of the left child
    highs: np.ndarray  # (m,), the smallest of the right
    packed: np.ndarray  # (n d,), coordinates of leaves, one after another
    box: np.ndarray  # (2, d), the smallest and largest of all

    @property
    def memory(self) -> int:
        """Bytes."""
        return sum(a.nbytes for a in self.arrays)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """All of them, in order."""
        return self.order, self.nodes, self.dims, self.lows, self.highs, self.packed, self.box


def kd_build(points: np.ndarray, leaf_size: int = 32) -> KDNodes:
    """Split points (n, d) at the median of their widest side, until at most `leaf_size` are left: O(n log n).

    Points that coincide stay together, however many.

    Examples
    --------
    >>> tree = kd_build(np.array([[0.0], [1.0], [5.0], [6.0]]), leaf_size=2)
    >>> tree.nodes[:, :2].tolist(), float(tree.lows[0]), float(tree.highs[0])
    ([[0, 4], [0, 2], [2, 4]], 1.0, 5.0)
    """
    from tractable.primitives.neighbors.compiled_kd_tree import build as compiled

    points = np.ascontiguousarray(points, dtype=np.float64)
    n, d = points.shape
    room = 2 * (n // ((leaf_size + 1) // 2) + 1)
    order, nodes, dims = np.arange(n), np.empty((room, 4), np.int64), np.zeros(room, np.int64)
    lows, highs, packed, box = np.zeros(room), np.zeros(room), np.empty(n * d), np.empty((2, d))
    build: Callable[..., int] = compiled if runs_compiled(points, BUILT_LEAF * n / leaf_size) else _halved
    m = build(points, order, leaf_size, nodes, dims, lows, highs, packed, box)
    return KDNodes(
        order=order,
        nodes=nodes[:m].copy(),
        dims=dims[:m].copy(),
        lows=lows[:m].copy(),
        highs=highs[:m].copy(),
        packed=packed,
        box=box,
    )


def _halved(
    points: np.ndarray,
    order: np.ndarray,
    leaf_size: int,
    nodes: np.ndarray,
    dims: np.ndarray,
    *out: np.ndarray,
) -> int:
    """Build a tree of few points: what the compiled function does, in NumPy."""
    lows, highs, packed, box = out
    d, made, todo = points.shape[1], 0, [(0, len(points), -1, 0)]
    while todo:
        first, last, parent, depth = todo.pop()
        node, made = made, made + 1
        if parent >= 0:
            nodes[parent, 2] = node
        nodes[node] = first, last, 0, depth
        held = points[order[first:last]]
        corners = np.stack([held.min(axis=0), held.max(axis=0)])
        box[:] = box if node else corners
        dim = int(np.argmax(corners[1] - corners[0]))
        if last - first <= leaf_size or corners[0, dim] == corners[1, dim]:
            order[first:last].sort()
            packed[first * d : last * d] = points[order[first:last]].T.ravel()
            continue
        half = (last - first) // 2
        ranks = np.argpartition(held[:, dim], half)
        order[first:last] = order[first:last][ranks]
        side = held[ranks, dim]
        dims[node], lows[node], highs[node] = dim, side[:half].max(), side[half]
        todo += [(first + half, last, node, depth + 1), (first, first + half, -1, depth + 1)]
    return made


def kd_leaves(tree: KDNodes, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the points in the order of the leaves, where leaves begin, and the corners of their boxes.

    Parameters
    ----------
    tree : KDNodes
    points : array (n, d)
        Those the tree was built of.

    Returns
    -------
    rows, first, low, high : arrays (n, d), (b + 1,), (b, d) and (b, d)

    Examples
    --------
    >>> points = np.array([[6.0], [1.0], [5.0], [0.0]])
    >>> rows, first, low, high = kd_leaves(kd_build(points, leaf_size=2), points)
    >>> first.tolist(), low.ravel().tolist(), high.ravel().tolist()
    ([0, 2, 4], [0.0, 5.0], [1.0, 6.0])
    """
    first, rows = tree.nodes[tree.nodes[:, 2] == 0, 0], points[tree.order]
    corners = np.minimum.reduceat(rows, first), np.maximum.reduceat(rows, first)
    return rows, np.append(first, len(rows)), *corners


def kd_nearest(
    x: np.ndarray, tree: KDNodes, k: int, form: str = "euclidean", order: float = 2.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return distances and indices of the k nearest points, nodes opened and points measured for each row.

    Children are opened nearest first; one is left closed when its cell is farther than k points already are.

    Parameters
    ----------
    x : array (m, d)
    tree : KDNodes
    k, form, order
        See `tractable.primitives.neighbors.nearest`; not "hamming".

    Examples
    --------
    >>> tree = kd_build(np.array([[0.0], [1.0], [5.0], [6.0]]), leaf_size=2)
    >>> [a.tolist() for a in kd_nearest(np.array([[5.2]]), tree, 1)[1:]]
    [[[2]], [2], [2]]
    """
    return _searched(x, tree, k, form, order)[:4]


def kd_candidates(
    x: np.ndarray, tree: KDNodes, k: int, form: str = "euclidean", order: float = 2.0
) -> np.ndarray:
    """Return the points that `kd_nearest` measures for one row (1, d), in order.

    Examples
    --------
    >>> tree = kd_build(np.array([[0.0], [1.0], [5.0], [6.0]]), leaf_size=2)
    >>> kd_candidates(np.array([[5.2]]), tree, 1).tolist()
    [2, 3]
    """
    entered = _searched(x, tree, k, form, order)[4] >= 0
    return np.sort(np.concatenate([tree.order[first:last] for first, last, *_ in tree.nodes[entered]]))


def _searched(
    x: np.ndarray, tree: KDNodes, k: int, form: str, order: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    from tractable.primitives.neighbors.compiled_kd_tree import nearest

    x, m = np.ascontiguousarray(x, dtype=np.float64), len(x)
    near, ids = np.empty((m, k)), np.empty((m, k), np.int64)
    visited, measured = np.empty(m, np.int64), np.empty(m, np.int64)
    out = near, ids, visited, measured, np.full(len(tree.nodes), -1, np.int32)
    # A tree of many points is searched by compiled code for a single row too.
    run = nearest.for_work(WORK * tree.packed.size)
    run(x, k, FORMS.index(form), float(order), *tree.arrays, *out)
    return out


def kd_within(
    x: np.ndarray, tree: KDNodes, radii: np.ndarray, form: str = "euclidean", order: float = 2.0
) -> tuple[np.ndarray, ...]:
    """Return rows, indices and distances of pairs within each row's radius, nodes opened, points measured.

    Pairs come by row, then by distance, then by index.

    Parameters
    ----------
    x, tree, form, order
        See `kd_nearest`.
    radii : array (m,)

    Examples
    --------
    >>> tree = kd_build(np.array([[0.0], [1.0], [5.0], [6.0]]), leaf_size=2)
    >>> kd_within(np.array([[5.2]]), tree, np.array([1.0]))[1].tolist()
    [2, 3]
    """
    from tractable.primitives.neighbors.compiled_kd_tree import within

    x, radii = np.ascontiguousarray(x, dtype=np.float64), np.ascontiguousarray(radii, dtype=np.float64)
    cost = np.empty(len(x), np.int64), np.empty(len(x), np.int64)
    run = within.for_work(WORK * tree.packed.size)
    return *sorted_pairs(*run(x, radii, FORMS.index(form), float(order), *tree.arrays, *cost)), *cost


#: Points of one call: neighbours of each other, that share their candidates.
TOGETHER = 512


def kd_scatters(points: np.ndarray, tree: KDNodes, ks: np.ndarray) -> np.ndarray:
    """Return Σ (y - x)(y - x)ᵀ over the k points y nearest to every other point x, for each k.

    No neighbours are stored, which would be most of the memory, and of the time, where k is hundreds.

    Parameters
    ----------
    points : array (n, d)
        Those the tree was built of, all different.
    tree : KDNodes
    ks : array (k,) of int
        In order, from 1 to n - 1.

    Returns
    -------
    array (n, len(ks), d, d)

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [5.0]])
    >>> kd_scatters(points, kd_build(points), np.array([1, 2]))[..., 0, 0].tolist()
    [[1.0, 26.0], [1.0, 17.0], [16.0, 41.0]]
    """
    from tractable.primitives.neighbors.compiled_kd_tree import scatters

    (n, d), with_itself = points.shape, np.asarray(ks) + 1
    out = np.empty((n, len(ks), d, d))
    run = scatters.for_work(4 * points.size * n)

    def fill(part: slice) -> None:
        found = np.empty(((part.stop - part.start) * len(ks), d, d))
        run(points, with_itself, part.start, part.stop, *tree.arrays, found)
        out[tree.order[part]] = found.reshape(-1, len(ks), d, d)

    for _ in ordered_map(fill, even_blocks(n, TOGETHER)):
        pass
    return out
