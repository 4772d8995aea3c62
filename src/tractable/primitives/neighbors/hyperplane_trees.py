"""Trees of planes: each node sends a row to the side of a plane on which it lies, each leaf holds points.

A plane is a direction of length one and an offset; rows with ``(x - centre) · normal > offset`` go right. A
search goes down to one leaf of each tree (defeatist), and behind a plane it may look back only where the node
says so: then the distance from the plane bounds that of all points behind it.

Neighbour lists come from the leaves: all pairs of a leaf are measured, then lists are mended. Their squared
distances, in single precision about the mean of the leaf (in double where they are too small for that), only
rank candidates.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tractable.primitives.neighbors import sorted_pairs
from tractable.primitives.threads import ordered_map, single_threaded_blas
from tractable.value import replace, value


@value
class HyperplaneTrees:
    """One or several trees over the same points.

    A child that is not negative is a node; child -1 - j is leaf j, which holds the points
    ``members[ptr[j]:ptr[j + 1]]``.
    """

    centre: np.ndarray  # (d,), about which the planes are
    roots: np.ndarray  # (trees,)
    normals: np.ndarray  # (nodes, d), of length one, or zero where points are all equal
    offsets: np.ndarray  # (nodes,)
    children: np.ndarray  # (nodes, 2)
    look_back: np.ndarray  # (nodes,), whether a search may look behind the plane
    ptr: np.ndarray  # (leaves + 1,)
    members: np.ndarray
    depth: int  # planes between a root and its farthest leaf

    @property
    def n_nodes(self) -> int:
        """Planes and leaves."""
        return len(self.offsets) + len(self.ptr) - 1

    @property
    def memory(self) -> int:
        """Bytes."""
        return sum(x.nbytes for x in vars(self).values() if isinstance(x, np.ndarray))

    @property
    def planes(self) -> tuple[np.ndarray, ...]:
        """What a descent reads."""
        return self.normals, self.offsets, self.children, self.look_back


def joined(trees: Sequence[HyperplaneTrees]) -> HyperplaneTrees:
    """Return several trees over the same points as one value."""
    nodes = np.cumsum([0, *(len(t.offsets) for t in trees)])
    leaves = np.cumsum([0, *(len(t.ptr) - 1 for t in trees)])
    held = np.cumsum([0, *(len(t.members) for t in trees)])

    def moved(slots: np.ndarray, i: int) -> np.ndarray:
        return np.where(slots >= 0, slots + nodes[i], slots - leaves[i])

    return HyperplaneTrees(
        centre=trees[0].centre,
        roots=np.concatenate([moved(t.roots, i) for i, t in enumerate(trees)]),
        normals=np.concatenate([t.normals for t in trees]),
        offsets=np.concatenate([t.offsets for t in trees]),
        children=np.concatenate([moved(t.children, i) for i, t in enumerate(trees)]),
        look_back=np.concatenate([t.look_back for t in trees]),
        ptr=np.concatenate([[0], *(t.ptr[1:] + held[i] for i, t in enumerate(trees))]),
        members=np.concatenate([t.members for t in trees]),
        depth=max(t.depth for t in trees),
    )


def leaves_of(x: np.ndarray, trees: HyperplaneTrees, tree: int = 0) -> np.ndarray:
    """Return the leaf of a tree to which each row of x descends, (m,)."""
    from tractable.primitives.neighbors.compiled_hyperplane_trees import leaves_of as compiled

    out = np.empty(len(x), np.int64)
    compiled.for_work(2048 * len(x))(x - trees.centre, trees.roots[tree], *trees.planes, trees.depth, out)
    return out


def tree_nearest(
    x: np.ndarray, k: int, points: np.ndarray, order: np.ndarray, trees: HyperplaneTrees, size: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the k nearest of the points in the leaves that a search of the trees opens.

    Parameters
    ----------
    x : array (m, d)
    k : int
    points : array (n, d)
        As the trees number them.
    order : array (n,)
        What each of them is called outside.
    trees : HyperplaneTrees
    size : float
        Of the point farthest from the centre: rounding of projections is as large as that.

    Returns
    -------
    distances, indices : arrays (m, k)
        Where fewer are found, the last are infinity and -1.
    visited, measured : arrays (m,)
        Nodes opened and different points measured.
    """
    return _searched(x, k, points, order, trees, size)[:4]


def tree_candidates(
    x: np.ndarray, k: int, points: np.ndarray, order: np.ndarray, trees: HyperplaneTrees, size: float
) -> np.ndarray:
    """Return what the points are called that `tree_nearest` measures for one row (1, d), in order."""
    seen = _searched(x, k, points, order, trees, size)[4]
    return np.sort(order[seen >= 0])


def _searched(
    x: np.ndarray, k: int, points: np.ndarray, order: np.ndarray, trees: HyperplaneTrees, size: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    from tractable.primitives.neighbors.compiled_hyperplane_trees import tree_nearest as compiled

    near, ids = np.empty((len(x), k)), np.empty((len(x), k), np.int64)
    visited, measured = np.zeros(len(x), np.int64), np.zeros(len(x), np.int64)
    seen = np.full(len(points), -1, np.int32)
    run = compiled.for_work(4 * x.size * len(points))
    run(*_for_search(x, points, order, trees, size), near, ids, visited, measured, seen)
    return near, ids, visited, measured, seen


def tree_within(
    x: np.ndarray,
    radii: np.ndarray,
    points: np.ndarray,
    order: np.ndarray,
    trees: HyperplaneTrees,
    size: float,
) -> tuple[np.ndarray, ...]:
    """Return rows, indices and distances of the pairs within each row's radius, and what the search cost.

    See `tree_nearest`; pairs come by row, then by distance, then by index.
    """
    from tractable.primitives.neighbors.compiled_hyperplane_trees import tree_within as compiled

    cost = np.zeros(len(x), np.int64), np.zeros(len(x), np.int64)
    run = compiled.for_work(4 * x.size * len(points))
    found = run(*_for_search(x, points, order, trees, size), radii, *cost)
    return *sorted_pairs(*found), *cost


def _for_search(
    x: np.ndarray, points: np.ndarray, order: np.ndarray, trees: HyperplaneTrees, size: float
) -> tuple[Any, ...]:
    about = x - trees.centre
    sizes = np.sqrt(np.einsum("ij,ij->i", about, about))
    slack = 2.3e-16 * (x.shape[1] + 4) * (sizes + size)
    leaves = trees.ptr, trees.members
    return x, about, points, order, trees.roots, *trees.planes, *leaves, slack, trees.depth


#: Rows of the groups that a thread halves at a time.
ROWS = 8192


@value
class Split:
    """What became of the groups of a level: two parts of each, on either side of a plane."""

    normals: np.ndarray  # (groups, d)
    offsets: np.ndarray  # (groups,)
    ids: np.ndarray  # points of all parts, one part after another
    ptr: np.ndarray  # (2 groups + 1,)
    whole: np.ndarray  # (groups,), those that cannot be split and become leaves
    look_back: bool = False


def grow(
    x: np.ndarray,
    leaf_size: int,
    split: Callable[[np.ndarray, np.ndarray, int], Split],
    max_depth: int | None = None,
) -> HyperplaneTrees:
    """Grow a tree over the rows of x, level by level, until its leaves hold at most `leaf_size` of them.

    Parameters
    ----------
    x : array (n, d)
    leaf_size : int
    split : callable
        ``split(ids, ptr, level)`` parts every group ``ids[ptr[g]:ptr[g + 1]]`` of a level in two.
    max_depth : int, optional

    Examples
    --------
    >>> x = np.arange(8.0)[:, None]
    >>> ends = np.array([0.0, 0.99])
    >>> tree = grow(x, 2, lambda ids, ptr, level: halve(x, ids, ptr, np.tile(ends, (len(ptr) - 1, 1))))
    >>> tree.depth, tree.n_nodes, np.diff(tree.ptr).tolist()
    (2, 7, [2, 2, 2, 2])
    """
    ids, ptr = np.arange(len(x), dtype=np.int32), np.array([0, len(x)])
    planes: list[Split] = []
    slots, held, sizes = [], [], []
    n_inner = n_leaves = 0
    while len(ptr) > 1:
        inner, found = (np.diff(ptr) > leaf_size) & (len(planes) != max_depth), None
        if inner.any():
            found = split(*_groups(ids, ptr, inner), len(planes))
            inner[inner] = ~found.whole
        leaves, ends = _groups(ids, ptr, ~inner)
        held.append(leaves)
        sizes.append(np.diff(ends))
        slots.append(np.where(inner, n_inner + np.cumsum(inner) - 1, -n_leaves - np.cumsum(~inner)))
        n_inner, n_leaves = n_inner + int(inner.sum()), n_leaves + len(ends) - 1
        if found is None or not inner.any():
            break
        found = _split_groups(found)
        planes.append(found)
        ids, ptr = found.ids, found.ptr
    looks = [np.full(len(p.offsets), p.look_back) for p in planes]
    return HyperplaneTrees(
        centre=np.zeros(x.shape[1]),
        roots=slots[0],
        normals=np.concatenate([np.empty((0, x.shape[1])), *(p.normals for p in planes)]),
        offsets=np.concatenate([np.empty(0), *(p.offsets for p in planes)]),
        children=np.concatenate([np.empty(0, np.int64), *slots[1:]]).reshape(-1, 2),
        look_back=np.concatenate([np.empty(0, bool), *looks]),
        ptr=np.concatenate([[0], np.cumsum(np.concatenate(sizes))]),
        members=np.concatenate(held),
        depth=len(planes),
    )


def halve(
    x: np.ndarray,
    ids: np.ndarray,
    ptr: np.ndarray,
    uniforms: np.ndarray,
    *,
    margin: float = 0.0,
    far: bool = False,
    look_back: bool = False,
    n_threads: int | None = None,
) -> Split:
    """Part groups of rows at the medians of their projections on the direction from one row to another.

    Rows of equal projections stay together, so that a row is on the side of the plane that says so. A share
    `margin` of the rows of a group on either side of the plane, those nearest to it, goes to both parts.

    Parameters
    ----------
    x : array (n, d)
    ids, ptr : arrays
        Rows of group g are ``ids[ptr[g]:ptr[g + 1]]``, two at least.
    uniforms : array (groups, 2)
        Which two rows give the direction.
    margin : float
        From 0 to below 1/2.
    far : bool
        Whether the two rows are the farthest from the first, and the farthest from that one.
    look_back : bool
        Whether searches may look behind these planes.
    n_threads : int, optional

    Returns
    -------
    Split
        Groups whose rows are all equal are `whole`.

    Examples
    --------
    >>> x, uniforms = np.arange(8.0)[:, None], np.array([[0.0, 0.99]])
    >>> found = halve(x, np.arange(8, dtype=np.int32), np.array([0, 8]), uniforms, margin=0.2)
    >>> found.offsets.tolist(), [sorted(p.tolist()) for p in np.split(found.ids, found.ptr[1:-1])]
    ([3.5], [[0, 1, 2, 3, 4], [3, 4, 5, 6, 7]])
    """
    from tractable.primitives.neighbors.compiled_hyperplane_trees import halve as compiled

    groups, d = len(ptr) - 1, x.shape[1]
    normals, offsets = np.empty((groups, d)), np.empty(groups)

    run = compiled.for_work(1024 * len(ids))

    def part(some: slice) -> tuple[np.ndarray, np.ndarray]:
        ends = ptr[some.start : some.stop + 1]
        sizes = np.diff(ends)
        halves = np.empty(int(np.sum(sizes + 2 * np.floor(margin * sizes))), np.int32)
        cuts = np.empty(2 * len(sizes), np.int64)
        run(x, ids, ends, uniforms[some], margin, far, normals[some], offsets[some], halves, cuts)
        return halves[: cuts[-1]], np.diff(cuts, prepend=0)

    found = list(ordered_map(part, _even_parts(ptr), n_threads))
    sizes = np.concatenate([sizes for _, sizes in found])
    return Split(
        normals=normals,
        offsets=offsets,
        ids=np.concatenate([halves for halves, _ in found]),
        ptr=np.concatenate([[0], np.cumsum(sizes)]),
        whole=sizes[1::2] == 0,
        look_back=look_back,
    )


def _even_parts(ptr: np.ndarray) -> list[slice]:
    """Return consecutive groups, together of some thousands of rows."""
    cuts = np.unique(np.searchsorted(ptr, np.arange(0, ptr[-1], ROWS)))
    return [slice(int(a), int(b)) for a, b in pairwise([*cuts, len(ptr) - 1]) if a < b]


def halved_sizes(n: int, margin: float) -> tuple[int, int]:
    """Return the sizes of the parts of a group of n rows that all differ; both are smaller than n.

    Examples
    --------
    >>> halved_sizes(9, 0.25)
    (6, 7)
    """
    left = n // 2
    both = max(0, min(int(margin * n), left - 1))
    return left + both, n - left + both


def _groups(ids: np.ndarray, ptr: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return some of the groups, one after another."""
    if wanted.all():
        return ids, ptr
    sizes = np.diff(ptr)
    return ids[np.repeat(wanted, sizes)], np.concatenate([[0], np.cumsum(sizes[wanted])])


def _split_groups(found: Split) -> Split:
    """Leave out groups that could not be split."""
    if not found.whole.any():
        return found
    apart = ~found.whole
    ids, ptr = _groups(found.ids, found.ptr, np.repeat(apart, 2))
    return replace(
        found,
        normals=found.normals[apart],
        offsets=found.offsets[apart],
        ids=ids,
        ptr=ptr,
        whole=np.zeros(int(apart.sum()), bool),
    )


def two_means(
    x: np.ndarray, ids: np.ndarray, ptr: np.ndarray, uniforms: np.ndarray, max_iter: int = 50
) -> Split:
    """Part each group by 2-means: the plane half-way between two centres, each the mean of its side.

    Seeds are greedy k-means++; Lloyd's steps go on until no row changes sides.

    Parameters
    ----------
    x, ids, ptr
        See `halve`.
    uniforms : array (groups, 2, trials)
        For the seeds, see `tractable.primitives.kmeans.kmeans_plus_plus`.
    max_iter : int

    Returns
    -------
    Split
        Groups whose rows are all equal are `whole`.

    Examples
    --------
    >>> x, uniforms = np.array([[0.0], [8.0], [1.0], [9.0]]), np.full((1, 2, 2), 0.6)
    >>> found = two_means(x, np.arange(4, dtype=np.int32), np.array([0, 4]), uniforms)
    >>> found.offsets.tolist(), found.ids.tolist(), found.ptr.tolist()
    ([4.5], [0, 2, 1, 3], [0, 2, 4])
    """
    from tractable.primitives.neighbors.compiled_hyperplane_trees import part

    groups = len(ptr) - 1
    normals, offsets = np.empty((groups, x.shape[1])), np.empty(groups)
    parts, ends = np.empty(len(ids), np.int32), np.empty(2 * groups, np.int64)
    part.for_work(2048 * len(ids))(x, ids, ptr, uniforms, max_iter, normals, offsets, parts, ends)
    bounds = np.concatenate([[0], ends])
    sizes = np.diff(bounds).reshape(-1, 2)
    return Split(
        normals=normals, offsets=offsets, ids=parts, ptr=bounds, whole=sizes.min(axis=1, initial=len(x)) == 0
    )


#: Leaves, or points, that a thread takes at a time.
LEAVES, POINTS = 16, 4096


@value
class NeighbourLists:
    """Candidates of each point, sorted; filled in place."""

    near: np.ndarray  # (n, k), squared distances in single precision; infinity where there is none yet
    ids: np.ndarray  # (n, k), -1 where there is none yet
    measured: np.ndarray  # (n,), how many pairs were looked at
    scale: float  # by which differences are multiplied

    @classmethod
    def empty(cls, n: int, k: int, scale: float) -> "NeighbourLists":
        """Return lists of nothing."""
        return cls(
            near=np.full((n, k), np.inf, np.float32),
            ids=np.full((n, k), -1, np.int32),
            measured=np.zeros(n, np.int64),
            scale=scale,
        )


def join_leaves(
    x: np.ndarray, trees: HyperplaneTrees, lists: NeighbourLists, most: int, n_threads: int | None = None
) -> np.ndarray:
    """Offer every point all others of its leaf in each tree; return the numbers of these leaves, (n, trees).

    Each tree must hold each point once. Lists are empty at first. Leaves of more than `most` points, all of
    them equal, are taken in pieces, and it is these that are numbered.

    Examples
    --------
    >>> x = np.array([[0.0], [5.0], [1.0]])
    >>> lists = NeighbourLists.empty(3, 2, 1.0)
    >>> join_leaves(x, grow(x, 3, None), lists, 3).tolist()
    [[0], [0], [0]]
    >>> lists.ids.tolist()
    [[2, 1], [2, 0], [0, 1]]
    """
    from tractable.primitives.neighbors.compiled_hyperplane_trees import join

    run = join.for_work(256 * len(trees.members) * most)
    ends = even_pieces(trees.ptr, most)
    per_tree = np.searchsorted(ends, len(x) * np.arange(len(trees.roots) + 1))
    pieces = np.empty((len(x), len(trees.roots)), np.int32)

    def part(some: tuple[int, int, int]) -> None:
        tree, first, last = some
        ptr = ends[first : last + 1]
        run(x, ptr, trees.members, first, tree, lists.scale, pieces, lists.near, lists.ids, lists.measured)

    with single_threaded_blas():
        for tree, (first, last) in enumerate(pairwise(per_tree)):
            parts = ((tree, start, min(start + LEAVES, last)) for start in range(first, last, LEAVES))
            for _ in ordered_map(part, parts, n_threads):
                pass
    return pieces


def mend_lists(
    x: np.ndarray,
    centre: np.ndarray,
    lists: NeighbourLists,
    pieces: np.ndarray,
    n_threads: int | None = None,
) -> None:
    """Offer every point the neighbours of its neighbours, but for those it met in a leaf.

    `centre` is the mean of the points, `pieces` are what `join_leaves` returned.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [2.0]])
    >>> lists = NeighbourLists.empty(3, 2, 1.0)
    >>> lists.ids[:], lists.near[:] = [[1, -1], [2, -1], [1, -1]], [[1, np.inf]] * 3
    >>> mend_lists(x, x.mean(axis=0), lists, np.array([[0], [0], [1]], np.int32))
    >>> lists.ids.tolist()
    [[1, 2], [2, -1], [1, -1]]
    """
    from tractable.primitives.neighbors.compiled_hyperplane_trees import mend

    run = mend.for_work(256 * lists.ids.size)
    old, rows = lists.ids.copy(), np.empty(x.shape, np.float32)
    # To compare more leaves than that takes longer than to measure points of few columns.
    n_trees = min(pieces.shape[1], x.shape[1] // 4)

    def about_centre(start: int) -> None:
        some = slice(start, start + POINTS)
        np.multiply(x[some] - centre, lists.scale, out=rows[some], casting="same_kind")

    def part(start: int) -> None:
        end = min(start + POINTS, len(x))
        run(x, rows, start, end, lists.scale, pieces, n_trees, old, lists.near, lists.ids, lists.measured)

    for step in about_centre, part:
        for _ in ordered_map(step, range(0, len(x), POINTS), n_threads):
            pass


def finish_lists(
    x: np.ndarray, order: np.ndarray, lists: NeighbourLists, k: int, n_threads: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return distances and indices of the k nearest candidates, measured in double precision, (n, k).

    Point i is called ``order[i]`` outside. Where there are fewer candidates, the last are infinity and -1.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [3.0]])
    >>> lists = NeighbourLists.empty(3, 2, 1.0)
    >>> lists.ids[:] = [[2, 1], [0, 2], [1, -1]]
    >>> distances, indices = finish_lists(x, np.arange(3), lists, 2)
    >>> distances.tolist(), indices.tolist()
    ([[1.0, 3.0], [1.0, 2.0], [2.0, inf]], [[1, 2], [0, 2], [1, -1]])
    """
    from tractable.primitives.neighbors.compiled_hyperplane_trees import finish

    distances, indices = np.empty((len(x), k)), np.empty((len(x), k), np.int64)
    run = finish.for_work(256 * lists.ids.size)

    def part(start: int) -> None:
        run(x, start, min(start + POINTS, len(x)), order, lists.ids, distances, indices)

    for _ in ordered_map(part, range(0, len(x), POINTS), n_threads):
        pass
    return distances, indices


def even_pieces(ptr: np.ndarray, most: int) -> np.ndarray:
    """Cut leaves of more than `most` points into even pieces."""
    pieces = -(-np.diff(ptr) // most)
    if not np.any(pieces > 1):
        return ptr
    cuts = [
        np.linspace(lo, hi, n + 1).astype(np.int64)[1:]
        for lo, hi, n in zip(ptr, ptr[1:], pieces, strict=False)
    ]
    return np.concatenate([[0], *cuts])
