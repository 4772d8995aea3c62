"""Growing a tree of planes, level by level."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from tractable.primitives.plane_trees import PlaneTrees
from tractable.primitives.threads import ordered_map
from tractable.value import replace, value

__all__ = ["Split", "grow", "halve", "halved_sizes"]

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
) -> PlaneTrees:
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
    return PlaneTrees(
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
    from tractable.primitives._compiled.plane_trees import halve as compiled

    groups, d = len(ptr) - 1, x.shape[1]
    normals, offsets = np.empty((groups, d)), np.empty(groups)

    def part(some: slice) -> tuple[np.ndarray, np.ndarray]:
        ends = ptr[some.start : some.stop + 1]
        sizes = np.diff(ends)
        halves = np.empty(int(np.sum(sizes + 2 * np.floor(margin * sizes))), np.int32)
        cuts = np.empty(2 * len(sizes), np.int64)
        compiled(x, ids, ends, uniforms[some], margin, far, normals[some], offsets[some], halves, cuts)
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
    kept = ~found.whole
    ids, ptr = _groups(found.ids, found.ptr, np.repeat(kept, 2))
    return replace(
        found,
        normals=found.normals[kept],
        offsets=found.offsets[kept],
        ids=ids,
        ptr=ptr,
        whole=np.zeros(int(kept.sum()), bool),
    )
