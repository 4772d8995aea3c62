"""Neighbours: scores of their number, neighbours of rows, cells of trees, and the cost of searches."""

from typing import Any

import numpy as np

from tractable.base import check_columns, check_fitted
from tractable.neighbors import NearestNeighbors, NeighborCurve
from tractable.plotting.columns import two_columns
from tractable.plotting.plot import picture
from tractable.plotting.rows import (
    column_names,
    draw_rows,
    refuse_given_distances,
    sample_note,
    with_column_names,
)
from tractable.plotting.style import COLOURS, finish, hide_spines, title, which_columns
from tractable.spatial import Brute, Index, KDTree, SearchReport
from tractable.spatial.hyperplane_index import HyperplaneIndex, leaf_polygons

#: Neighbours of more rows than this are not linked by lines.
MAX_LINKED = 400


@picture.register
def _curve(x: NeighborCurve, ax: Any, *, label: str = "leave-one-out", colour: str = COLOURS[0]) -> Any:
    """Draw the score of every number of neighbours, with one standard error, and the best number."""
    low, high = x.scores - x.standard_errors, x.scores + x.standard_errors
    ax.fill_between(x.n_neighbors, low, high, color=colour, alpha=0.15, lw=0, label="± 1 s.e.")
    ax.plot(x.n_neighbors, x.scores, color=colour, marker=".", label=label)
    best = f"K = {x.best_n_neighbors}"
    ax.plot(x.best_n_neighbors, x.best_score, "o", ms=8, mfc="none", color=COLOURS[5], label=best)
    return finish(ax, whole_numbers=True, xlabel="number of neighbours", ylabel=f"cross-validated {x.score}")


@picture.register
def _neighbours(x: NearestNeighbors, ax: Any, *, data: Any = None, dims: Any = None) -> Any:
    """Draw rows over two columns, linked to their neighbours; `data` are rows to query."""
    check_fitted(x)
    refuse_given_distances(x)
    points, names = np.asarray(x.index_.points, dtype=float), column_names(x)
    columns = [0, 0] if len(names) == 1 else two_columns(x, dims)
    queries = None if data is None else np.asarray(check_columns(x, data), dtype=float)
    rows = points if queries is None else queries
    k = min(x.n_neighbors, len(points) - (queries is None))
    found = None
    if k > 0 and len(rows) <= MAX_LINKED:
        named = None if queries is None else with_column_names(x, rows)
        found = x.kneighbors(named, k, return_distance=False)
    return _draw_links(ax, points, rows, found, names, columns, k, queries is not None, "rows")


@picture.register
def _brute(x: Brute, ax: Any, *, row: Any = None, k: int = 1) -> Any:
    return _draw_index(x, ax, row, k)


def _draw_index(x: Index, ax: Any, row: Any, k: int) -> Any:
    """Draw the points of an index over two columns, linked from `row` to its k nearest."""
    names, points = [f"x{j}" for j in range(x.points.shape[1])], np.asarray(x.points, dtype=float)
    columns = [0, 1] if len(names) > 1 else [0, 0]
    queries = np.empty((0, len(names))) if row is None else np.asarray(row, dtype=float).reshape(1, -1)
    found = None if row is None else x.query(queries, k)[1]
    return _draw_links(ax, points, queries, found, names, columns, k, row is not None, "points")


def _draw_links(
    ax: Any,
    points: np.ndarray,
    rows: np.ndarray,
    found: Any,
    names: list[str],
    columns: list[int],
    k: int,
    queried: bool,
    label: str,
) -> Any:
    """Draw points, and lines from each row to the points `found` for it; queried rows are stars.

    With one column (given twice) the vertical axis is the position of the row.
    """
    from matplotlib.collections import LineCollection

    first, second = columns

    def positions(x: np.ndarray) -> np.ndarray:
        return x[:, columns] if first != second else np.column_stack([x[:, 0], np.arange(len(x))])

    if found is not None:
        ends = [
            (a, positions(points)[j])
            for a, near in zip(positions(rows), np.asarray(found), strict=True)
            for j in near
        ]
        ax.add_collection(LineCollection(ends, colors=COLOURS[0], linewidths=0.7, alpha=0.6, zorder=1))
    draw_rows(ax, positions(points), s=14, color="0.25", zorder=2, label=label)
    if queried:
        ax.scatter(*positions(rows).T, s=60, marker="*", color=COLOURS[5], lw=0, label="looked up")
    ax.set(xlabel=names[first], ylabel=names[second] if first != second else "row")
    linked = f"the {k} nearest" if k > 1 else "the nearest"
    shown = label == "rows" or queried
    title(ax, linked if shown else "", which_columns([names[first], names[second]], len(names)))
    return finish(ax, boxed=True)


@picture.register
def _hyperplane_index(x: HyperplaneIndex, ax: Any, *, tree: int = 0, row: Any = None, k: int = 1) -> Any:
    """Draw the cells of one tree, points stored in several, and the points that a search for `row` visits."""
    if not _has_flat_cells(x):
        return _draw_index(x, ax, row, k)
    cells = leaf_polygons(x, tree)
    _draw_cells(ax, list(cells.values()))
    stored = np.bincount(np.concatenate([x.leaf_points(leaf) for leaf in cells]), minlength=len(x))
    draw_rows(ax, x.points[stored == 1], s=7, color="0.25", label="points")
    if np.any(stored > 1):
        draw_rows(ax, x.points[stored > 1], s=7, color=COLOURS[5], label="stored on both sides")
    return _draw_search(ax, x, row, k)


@picture.register
def _kd_tree(x: KDTree, ax: Any, *, row: Any = None, k: int = 1) -> Any:
    """Draw the boxes of the leaves, and the points that a search for `row` visits."""
    if not _has_flat_cells(x):
        return _draw_index(x, ax, row, k)
    _draw_cells(ax, [np.array([a, [b[0], a[1]], b, [a[0], b[1]]]) for a, b in x.cells()])
    draw_rows(ax, x.points, s=7, color="0.25", label="points")
    return _draw_search(ax, x, row, k)


def _has_flat_cells(x: Index) -> bool:
    """Return whether the cells are shapes in the plane of the points: two columns, Euclidean as they are."""
    return x.points.shape[1] == 2 and x.metric.rows("points", x.points) is x.points


def _draw_cells(ax: Any, cells: list[np.ndarray]) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba

    colours = [to_rgba(COLOURS[i % 6], 0.18) for i in range(len(cells))]
    ax.add_collection(PolyCollection(cells, facecolors=colours, edgecolors="0.45", linewidths=0.7))
    every = np.concatenate(cells)
    ax.update_datalim(every)
    (left, bottom), (right, top) = every.min(axis=0), every.max(axis=0)
    ax.set(xlim=(left, right), ylim=(bottom, top))


def _draw_search(ax: Any, index: Index, row: Any, k: int) -> Any:
    """Draw the points that a search for the k nearest of `row` visits."""
    if row is not None:
        at = np.asarray(row, dtype=float).reshape(-1)
        visited = index.candidates(at, k)
        ax.scatter(*index.points[visited].T, s=34, fc="none", ec=COLOURS[0], lw=0.9, label="visited")
        ax.scatter(*at, s=90, marker="*", c="black", ec="white", lw=0.8, zorder=3, label="searched for")
    ax.set(xlabel="x0", ylabel="x1")
    if len(ax.get_legend_handles_labels()[0]) > 1 or sample_note(len(index.points)):
        return finish(ax, boxed=True)
    hide_spines(ax)
    return ax


@picture.register
def _cost(x: SearchReport, ax: Any) -> Any:
    """Draw a histogram of the number of distances computed in a search."""
    ax.hist(x.measured, bins="auto", color=COLOURS[0], alpha=0.6, lw=0, label="searches")
    mean = float(np.mean(x.measured))
    ax.axvline(mean, color=COLOURS[5], lw=1.2, label=f"mean {mean:.4g}")
    return finish(ax, xlabel="distances computed for a row", ylabel="rows searched for")
