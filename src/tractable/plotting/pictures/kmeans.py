"""Clusters about centres: each centre and the part of the plane that is nearest to it."""

from typing import Any

import numpy as np

from tractable.base import check_columns, check_fitted
from tractable.mixture import KMeans
from tractable.plotting.cluster_line import draw_cluster_line
from tractable.plotting.columns import two_columns
from tractable.plotting.plot import picture
from tractable.plotting.points import draw_rows, how_many
from tractable.plotting.rows import box_of, column_names, rows_like
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []

N_CELLS = 400


@picture.register
def _kmeans(x: KMeans, ax: Any, *, data: Any = None, dims: Any = None) -> Any:
    """Draw centres over `data`; where the model has two columns, the cells of the centres too."""
    check_fitted(x)
    names = column_names(x)
    rows = None if data is None else np.asarray(check_columns(x, data), dtype=float)
    labels = None if rows is None else x.predict(rows_like(x, rows))
    if x.n_features_in_ == 1:
        middles = x.cluster_centers_[:, 0]
        ordered = np.sort(middles)
        line = None if rows is None else rows[:, 0]
        edges = 0.5 * (ordered[1:] + ordered[:-1])
        return draw_cluster_line(ax, names[0], middles, edges.tolist(), line, labels, "centres")
    first, second = two_columns(x, dims)
    centers = x.cluster_centers_[:, [first, second]]
    shown = centers if rows is None else np.concatenate([centers, rows[:, [first, second]]])
    if x.n_features_in_ == 2:
        _cells(ax, centers, *box_of(shown))
    if rows is not None and labels is not None:
        colours = np.asarray(COLOURS)[labels % len(COLOURS)]
        draw_rows(ax, rows[:, [first, second]], s=12, c=colours, label=None)
    ax.scatter(*centers.T, s=90, marker="X", c="black", ec="white", lw=1.2, zorder=3, label="centres")
    ax.set(xlabel=names[first], ylabel=names[second])
    quiet(ax)
    legend(ax, boxed=True, head="" if rows is None else how_many(len(rows)))
    return ax


def _cells(ax: Any, centers: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Shade the points of the plane by the centre they are nearest to."""
    from matplotlib.colors import ListedColormap

    x, y = (np.linspace(low[j], high[j], N_CELLS) for j in (0, 1))
    apart = [(x - cx)[None, :] ** 2 + (y - cy)[:, None] ** 2 for cx, cy in centers]
    nearest = np.argmin(apart, axis=0)
    shades = ListedColormap([COLOURS[k % len(COLOURS)] for k in range(len(centers))])
    ax.imshow(
        nearest,
        extent=(low[0], high[0], low[1], high[1]),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        cmap=shades,
        vmin=-0.5,
        vmax=len(centers) - 0.5,
        alpha=0.15,
    )
