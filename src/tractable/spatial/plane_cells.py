"""The cells of the plane that belong to the leaves of a tree."""

import numpy as np

from tractable.spatial.plane_index import PlaneIndex, as_whole

__all__ = ["plane_cells"]


def plane_cells(index: PlaneIndex, tree: int = 0, room: float = 0.05) -> dict[int, np.ndarray]:
    """Return the polygon of each leaf of a tree over points of two columns, within the box of the points.

    Rows in a leaf's polygon are those that descend to it.

    Parameters
    ----------
    index : SpillTree, TSVQTree or RandomizedForest
        Of Euclidean points (n, 2).
    tree : int
        Which of several.
    room : float
        By which share of its sides the box is larger than the points need.

    Examples
    --------
    >>> from tractable.spatial import TSVQTree
    >>> tree = TSVQTree([[0.0, 0.0], [9.0, 0.0], [0.0, 1.0], [9.0, 1.0]], leaf_size=2, random_state=0)
    >>> sorted(float(cell[:, 0].max()) for cell in plane_cells(tree, room=0.0).values())
    [4.5, 9.0]
    """
    plain = index.metric.rows("points", index.points) is index.points
    if index.points.shape[1] != 2 or not plain:
        raise ValueError("index must be of points of two columns and Euclidean to have cells in the plane")
    tree = as_whole("tree", tree, 0, len(index.trees.roots) - 1)
    unit = index._unit  # noqa: SLF001  (that of the planes)
    low, high = index.points.min(axis=0) * unit, index.points.max(axis=0) * unit
    space = room * np.where(high > low, high - low, 1.0)
    (a, b), (c, d) = low - space, high + space
    box = np.array([[a, b], [c, b], [c, d], [a, d]])
    found: dict[int, np.ndarray] = {}
    todo = [(int(index.trees.roots[tree]), box)]
    while todo:
        node, cell = todo.pop()
        if node < 0:
            found[-1 - node] = cell / unit
            continue
        normal, centre = index.trees.normals[node], index.trees.centre
        over = (cell - centre) @ normal - index.trees.offsets[node]
        left, right = (int(child) for child in index.trees.children[node])
        todo += [(right, _clipped(cell, over)), (left, _clipped(cell, -over))]
    return found


def _clipped(cell: np.ndarray, over: np.ndarray) -> np.ndarray:
    """Return the part of a convex polygon where `over`, given at its corners, is not negative."""
    kept = []
    for i in range(len(cell)):
        j = (i + 1) % len(cell)
        if over[i] >= 0.0:
            kept.append(cell[i])
        if (over[i] >= 0.0) != (over[j] >= 0.0):
            kept.append(cell[i] + over[i] / (over[i] - over[j]) * (cell[j] - cell[i]))
    return np.array(kept).reshape(-1, 2)
