"""Space subdivision: the cells of the plane that the leaves of a tree hold."""

from typing import Any

import numpy as np

from tractable.plotting.near_points import draw_points
from tractable.plotting.plot import picture
from tractable.plotting.points import draw_rows, how_many
from tractable.plotting.style import COLOURS, legend, quiet
from tractable.spatial import Index, KDTree
from tractable.spatial.hyperplane_index import HyperplaneIndex, leaf_polygons

__all__: list[str] = []


@picture.register
def _planes(x: HyperplaneIndex, ax: Any, *, tree: int = 0, row: Any = None, k: int = 1) -> Any:
    """Draw the cells of one tree; points kept more than once; what a search for `row` and k sees."""
    if x.points.shape[1] != 2 or x.metric.rows("points", x.points) is not x.points:
        return draw_points(x, ax, row, k)
    cells = leaf_polygons(x, tree)
    _cells(ax, list(cells.values()))
    kept = np.bincount(np.concatenate([x.leaf_points(leaf) for leaf in cells]), minlength=len(x))
    _points(ax, x.points[kept == 1], "0.25", "points")
    if np.any(kept > 1):
        _points(ax, x.points[kept > 1], COLOURS[5], "kept on both sides")
    _search(ax, x, row, k)
    return _finished(ax, len(x.points))


@picture.register
def _boxes(x: KDTree, ax: Any, *, row: Any = None, k: int = 1) -> Any:
    """Draw the boxes of the leaves, and what a search for `row` and k sees."""
    if x.points.shape[1] != 2 or x.metric.rows("points", x.points) is not x.points:
        return draw_points(x, ax, row, k)  # cells of other spaces are no shapes of this plane
    _cells(ax, [_corners(low, high) for low, high in x.cells()])
    _points(ax, x.points, "0.25", "points")
    _search(ax, x, row, k)
    return _finished(ax, len(x.points))


def _corners(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.array([low, [high[0], low[1]], high, [low[0], high[1]]])


def _cells(ax: Any, cells: list[np.ndarray]) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    colours = [to_rgba(COLOURS[i % 6], 0.18) for i in range(len(cells))]
    ax.add_collection(PolyCollection(cells, facecolors=colours, edgecolors="0.45", linewidths=0.7))
    every = np.concatenate(cells)
    ax.update_datalim(every)
    (left, bottom), (right, top) = every.min(axis=0), every.max(axis=0)
    ax.set(xlim=(left, right), ylim=(bottom, top))


def _points(ax: Any, points: np.ndarray, colour: str, label: str) -> None:
    draw_rows(ax, points, s=7, color=colour, label=label)


def _search(ax: Any, index: Index, row: Any, k: int) -> None:
    if row is None:
        return
    at = np.asarray(row, dtype=float).reshape(-1)
    seen = index.candidates(at, k)
    ax.scatter(*index.points[seen].T, s=34, fc="none", ec=COLOURS[0], lw=0.9, label="looked at")
    ax.scatter(*at, s=90, marker="*", c="black", ec="white", lw=0.8, zorder=3, label="searched for")


def _finished(ax: Any, n: int) -> Any:
    ax.set(xlabel="x0", ylabel="x1")
    quiet(ax)
    if len(ax.get_legend_handles_labels()[0]) > 1 or how_many(n):
        legend(ax, boxed=True)
    return ax
