"""Rows and their nearest neighbours: a line from each row to those nearest to it."""

from typing import Any

import numpy as np

from tractable.base import check_columns, check_fitted
from tractable.neighbors import NearestNeighbors
from tractable.plotting.columns import two_columns
from tractable.plotting.near_points import dots, draw_points, finished, links, nearest, placed
from tractable.plotting.plot import picture
from tractable.plotting.rows import column_names, rows_like
from tractable.plotting.style import COLOURS
from tractable.spatial import Brute

__all__: list[str] = []

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
