"""Points of the plane, and lines from some of them to their nearest."""

from typing import Any

import numpy as np

from tractable.plotting.points import draw_rows
from tractable.plotting.style import COLOURS, legend, quiet, title, which_columns

__all__ = ["dots", "draw_points", "finished", "links", "nearest", "placed"]


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
