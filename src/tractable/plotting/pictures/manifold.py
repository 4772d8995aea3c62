"""Maps of data: each point in the colour of how far its neighbourhood can be trusted."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.base import check_fitted
from tractable.manifold.base import Embedding
from tractable.metrics import NeighborhoodReport, neighborhood_report
from tractable.plotting.plot import picture
from tractable.plotting.rows import MAX_ROWS, column_names, opacity, sample_note, sampled_rows
from tractable.plotting.style import COLOURS, finish, hide_spines, title

#: Neighbours of a point whose ranks say how far it can be trusted, where none are given.
NEIGHBORS = 15


@picture.register
def _report(x: NeighborhoodReport, ax: Any, *, dims: Any = None, labels: Any = None) -> Any:
    """Draw the points of a map, in the colours of their trustworthiness; `labels` are their names."""
    return _draw_map(ax, x.embedding, x, dims, labels)


@picture.register
def _map(
    x: Embedding,
    ax: Any,
    *,
    data: Any = None,
    dims: Any = None,
    labels: Any = None,
    n_neighbors: int | None = None,
) -> Any:
    """Draw the map, each point in the colour of its trustworthiness; `data` are further rows to place."""
    check_fitted(x)
    names, points = column_names(x), x.embedding_[x.row_indices_]
    some = sampled_rows(points)
    report = None
    if not x._precomputed and len(some) > 2:  # noqa: SLF001  (a map of given distances has no rows)
        k = min(NEIGHBORS, (len(some) - 1) // 2) if n_neighbors is None else n_neighbors
        report = neighborhood_report(x.rows_[some], points[some], n_neighbors=k, metric=x.metric)
    _draw_map(ax, points[some], report, dims, _chosen(labels, len(points), some))
    if data is not None:
        new = np.asarray(x.transform(data), dtype=float)
        at = _positions(new, _two(new.shape[1], dims))[:MAX_ROWS]
        style = {"marker": "*", "s": 70, "color": COLOURS[5], "ec": "white", "lw": 0.5, "zorder": 3}
        ax.scatter(*at.T, label="placed", **style)
        finish(ax, boxed=True)
    shown = ", ".join(names) if len(names) <= 4 else f"{len(names)} columns"
    title(ax, "" if x._precomputed else f"map of {shown}", sample_note(len(points)))  # noqa: SLF001
    return ax


def _draw_map(ax: Any, points: np.ndarray, report: Any, dims: Any, labels: Any) -> Any:
    """Draw the points of a map over two of its coordinates, one coordinate over the positions of rows."""
    columns = _two(points.shape[1], dims)
    at = _positions(points, columns)
    size = float(np.clip(6000.0 / max(len(at), 1), 4.0, 26.0))
    style: dict[str, Any] = {"s": size, "lw": 0.0, "alpha": max(opacity(len(at)), 0.6), "zorder": 2}
    if report is None:
        ax.scatter(*at.T, color=COLOURS[0], **style)
    else:
        # A point whose neighbours are any rows has about one half; the worst are drawn last.
        order = np.argsort(report.trustworthiness)[::-1]
        colours = report.trustworthiness[order]
        marks = ax.scatter(*at[order].T, c=colours, cmap="viridis", vmin=0.5, vmax=1.0, **style)
        says = f"trustworthiness of {report.n_neighbors} neighbours"
        ax.figure.colorbar(marks, ax=ax, label=says, extend="min")
    if labels is not None:
        if len(labels) != len(points):
            raise ValueError(f"labels must be one for each of {len(points)} points, got {len(labels)}")
        for text, position in zip(labels, at, strict=True):
            ax.annotate(str(text), position, xytext=(4, 3), textcoords="offset points", fontsize="small")
    first, second = columns
    ax.set(xlabel=f"coordinate {first + 1}", ylabel="row" if first == second else f"coordinate {second + 1}")
    if first != second:
        ax.set_aspect("equal", adjustable="datalim")
    hide_spines(ax)
    return ax


def _two(dim: int, dims: Any) -> tuple[int, int]:
    """Return the two coordinates to draw, counted from 0; one coordinate is given twice."""
    if dims is None:
        return (0, 0) if dim == 1 else (0, 1)
    found = [int(j) for j in dims] if isinstance(dims, Sequence | np.ndarray) else []
    if len(found) != 2 or not all(0 <= j < dim for j in found):
        raise ValueError(f"dims must be two coordinates of the map, from 0 to {dim - 1}, got {dims!r}")
    return found[0], found[1]


def _positions(points: np.ndarray, columns: tuple[int, int]) -> np.ndarray:
    first, second = columns
    below = np.arange(len(points)) if first == second else points[:, second]
    return np.column_stack([points[:, first], below])


def _chosen(labels: Any, n: int, some: np.ndarray) -> Any:
    """Return the labels of the points that are drawn."""
    if labels is None or len(labels) != n:
        return labels
    return [labels[i] for i in some]
