"""Neighbours: how good each number of them is."""

from typing import Any

import numpy as np

from tractable.base import check_columns, check_fitted
from tractable.neighbors import NearestNeighbors, NeighborCurve
from tractable.plotting.columns import two_columns
from tractable.plotting.plot import picture
from tractable.plotting.rows import column_names, draw_rows, how_many, rows_like
from tractable.plotting.style import COLOURS, legend, quiet, title, which_columns
from tractable.spatial import Brute, Index, KDTree, SearchReport
from tractable.spatial.plane_cells import plane_cells
from tractable.spatial.plane_index import PlaneIndex

__all__ = ["dots", "draw_points", "finished", "links", "nearest", "placed"]


@picture.register
def _curve(x: NeighborCurve, ax: Any, *, label: str = "leave-one-out", colour: str = COLOURS[0]) -> Any:
    """Draw the score of every number of neighbours, with one standard error, and the best."""
    low, high = x.scores - x.standard_errors, x.scores + x.standard_errors
    ax.fill_between(x.n_neighbors, low, high, color=colour, alpha=0.15, lw=0, label="± 1 s.e.")
    ax.plot(x.n_neighbors, x.scores, color=colour, marker=".", label=label)
    told = f"K = {x.best_n_neighbors}"
    ax.plot(x.best_n_neighbors, x.best_score, "o", ms=8, mfc="none", color=COLOURS[5], label=told)
    ax.set(xlabel="number of neighbours", ylabel=f"{x.score}, left out")
    ax.xaxis.get_major_locator().set_params(integer=True)
    quiet(ax)
    legend(ax)
    return ax


#: Lines between more rows than this are a solid block.
MOST_LINKED = 400


@picture.register
def _neighbours(x: NearestNeighbors, ax: Any, *, data: Any = None, dims: Any = None) -> Any:
    """Draw rows over two columns, linked to their neighbours; `data` are other rows to look up."""
    check_fitted(x)
    points, names = np.asarray(x.index_.points, dtype=float), column_names(x)
    columns = [0, 0] if len(names) == 1 else two_columns(x, dims)
    asked = None if data is None else np.asarray(check_columns(x, data), dtype=float)
    rows = points if asked is None else asked
    k = min(x.n_neighbors, len(points) - (asked is None))
    if k > 0 and len(rows) <= MOST_LINKED:
        found = x.kneighbors(None if asked is None else rows_like(x, rows), k, return_distance=False)
        links(ax, placed(rows, columns), placed(points, columns), found)
    dots(ax, placed(points, columns), "0.25", "rows")
    if asked is not None:
        ax.scatter(*placed(asked, columns).T, s=60, marker="*", color=COLOURS[5], lw=0, label="looked up")
    return finished(ax, names, columns, nearest(k))


@picture.register
def _points(x: Brute, ax: Any, *, row: Any = None, k: int = 1) -> Any:
    return draw_points(x, ax, row, k)


def draw_points(x: Any, ax: Any, row: Any = None, k: int = 1) -> Any:
    """Draw the points of an index over two columns, linked from `row` to its k nearest."""
    d = x.points.shape[1]
    columns = [0, 1] if d > 1 else [0, 0]
    points = np.asarray(x.points, dtype=float)
    if row is not None:
        at = np.asarray(row, dtype=float).reshape(1, -1)
        links(ax, placed(at, columns), placed(points, columns), x.query(at, k)[1])
        ax.scatter(*placed(at, columns).T, s=60, marker="*", color=COLOURS[5], lw=0, label="looked up")
    dots(ax, placed(points, columns), "0.25", "points")
    told = "" if row is None else nearest(k)
    return finished(ax, [f"x{j}" for j in range(d)], columns, told)


def placed(rows: np.ndarray, columns: list[int]) -> np.ndarray:
    """Return where rows are in the plane: of one column, along it, one above the other by their order."""
    if columns[0] != columns[1]:
        return rows[:, columns]
    return np.column_stack([rows[:, 0], np.arange(len(rows))])


def links(ax: Any, rows: np.ndarray, points: np.ndarray, found: Any) -> None:
    """Draw a line from each row to the points that were found for it."""
    from matplotlib.collections import LineCollection

    lines = [(row, points[j]) for row, near in zip(rows, np.asarray(found), strict=True) for j in near]
    ax.add_collection(LineCollection(lines, colors=COLOURS[0], linewidths=0.7, alpha=0.6, zorder=1))


def dots(ax: Any, points: np.ndarray, colour: str, label: str) -> None:
    """Draw points."""
    draw_rows(ax, points, s=14, color=colour, zorder=2, label=label)


def nearest(k: int) -> str:
    """Say how many are linked."""
    return f"the {k} nearest" if k > 1 else "the nearest"


def finished(ax: Any, names: list[str], columns: list[int], told: str) -> Any:
    """Name the axes, and say what the lines are."""
    first, second = columns
    ax.set(xlabel=names[first], ylabel=names[second] if first != second else "row")
    title(ax, told, which_columns([names[first], names[second]], len(names)))
    quiet(ax)
    legend(ax, boxed=True)
    return ax


@picture.register
def _planes(x: PlaneIndex, ax: Any, *, tree: int = 0, row: Any = None, k: int = 1) -> Any:
    """Draw the cells of one tree; points kept more than once; what a search for `row` and k sees."""
    if x.points.shape[1] != 2 or x.metric.rows("points", x.points) is not x.points:
        return draw_points(x, ax, row, k)
    cells = plane_cells(x, tree)
    _cells(ax, list(cells.values()))
    kept = np.bincount(np.concatenate([x.leaf_points(leaf) for leaf in cells]), minlength=len(x))
    _index_points(ax, x.points[kept == 1], "0.25", "points")
    if np.any(kept > 1):
        _index_points(ax, x.points[kept > 1], COLOURS[5], "kept on both sides")
    _search(ax, x, row, k)
    return _finished(ax, len(x.points))


@picture.register
def _boxes(x: KDTree, ax: Any, *, row: Any = None, k: int = 1) -> Any:
    """Draw the boxes of the leaves, and what a search for `row` and k sees."""
    if x.points.shape[1] != 2 or x.metric.rows("points", x.points) is not x.points:
        return draw_points(x, ax, row, k)  # cells of other spaces are no shapes of this plane
    _cells(ax, [_corners(low, high) for low, high in x.cells()])
    _index_points(ax, x.points, "0.25", "points")
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


def _index_points(ax: Any, points: np.ndarray, colour: str, label: str) -> None:
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


@picture.register
def _cost(x: SearchReport, ax: Any) -> Any:
    """Draw in how many searches how many points were measured."""
    ax.hist(x.measured, bins="auto", color=COLOURS[0], alpha=0.6, lw=0, label="searches")
    middle = float(np.mean(x.measured))
    ax.axvline(middle, color=COLOURS[5], lw=1.2, label=f"mean {middle:.4g}")
    ax.set(xlabel="points measured for a row", ylabel="rows searched for")
    quiet(ax)
    legend(ax)
    return ax
