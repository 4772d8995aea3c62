"""Clusterings: centres and modes with their cells, reports on clusters, and choices of their number."""

from typing import Any

import numpy as np

from tractable.base import check_columns, check_fitted
from tractable.data.names import number_of
from tractable.density import MeanShift
from tractable.metrics import ClusterReport
from tractable.mixture import KMeans
from tractable.mixture.selection import ComponentChoice, NumberOfClusters
from tractable.plotting.columns import two_columns
from tractable.plotting.plot import picture
from tractable.plotting.rows import bounding_box, column_names, draw_rows, sample_note, with_column_names
from tractable.plotting.style import COLOURS, finish, hide_spines

#: Points along each side of the image of the cells.
N_CELLS = 400

#: The colour of rows that belong to no mode.
OUTLIER = "0.6"

NAMES = {
    "calinski_harabasz": "Calinski-Harabasz index",
    "silhouette": "mean silhouette",
    "davies_bouldin": "Davies-Bouldin index",
    "gap": "gap",
    "elbow": "scatter within clusters",
}


@picture.register
def _kmeans(x: KMeans, ax: Any, *, data: Any = None, dims: Any = None) -> Any:
    """Draw centres over `data`; a model of two columns with the cells of the centres."""
    check_fitted(x)
    rows = None if data is None else np.asarray(check_columns(x, data), dtype=float)
    labels = None if rows is None else x.predict(with_column_names(x, rows))
    if x.n_features_in_ == 1:
        ordered = np.sort(x.cluster_centers_[:, 0])
        return _draw_line(x, ax, 0.5 * (ordered[1:] + ordered[:-1]), rows, labels, "centres")
    columns = two_columns(x, dims)
    centers = x.cluster_centers_[:, columns]
    shown = centers if rows is None else np.concatenate([centers, rows[:, columns]])
    if x.n_features_in_ == 2:
        _cells(ax, centers, *bounding_box(shown))
    if rows is not None and labels is not None:
        colours = np.asarray(COLOURS)[labels % len(COLOURS)]
        draw_rows(ax, rows[:, columns], s=12, c=colours, label=None)
    return _finish(x, ax, columns, 0 if rows is None else len(rows), "X", "centres")


def _finish(
    x: Any, ax: Any, columns: list[int], n_rows: int, marker: str, label: str, *, outliers: bool = False
) -> Any:
    """Draw the centres of clusters over two columns, with the names of these and a legend."""
    style = {"s": 90, "c": "black", "ec": "white", "lw": 1.2, "zorder": 3}
    ax.scatter(*x.cluster_centers_[:, columns].T, marker=marker, label=label, **style)
    if outliers:
        ax.scatter([], [], s=9, c=OUTLIER, lw=0, label="outliers")
    first, second = (column_names(x)[j] for j in columns)
    return finish(ax, xlabel=first, ylabel=second, boxed=True, head=sample_note(n_rows))


def _cells(ax: Any, centers: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Shade the points of the plane by the centre they are nearest to."""
    from matplotlib.colors import ListedColormap

    x, y = (np.linspace(low[j], high[j], N_CELLS) for j in (0, 1))
    distances = [(x - cx)[None, :] ** 2 + (y - cy)[:, None] ** 2 for cx, cy in centers]
    nearest = np.argmin(distances, axis=0)
    shades = ListedColormap([_colour(k) for k in range(len(centers))])
    style = {"cmap": shades, "vmin": -0.5, "vmax": len(centers) - 0.5, "alpha": 0.15}
    _draw_image(ax, nearest, x, y, **style)


def _draw_image(ax: Any, image: np.ndarray, x: np.ndarray, y: np.ndarray, **style: Any) -> None:
    extent = (x[0], x[-1], y[0], y[-1])
    ax.imshow(image, extent=extent, origin="lower", aspect="auto", interpolation="nearest", **style)


@picture.register
def _mean_shift(x: MeanShift, ax: Any, *, data: Any = None, dims: Any = None, n_cells: int = 150) -> Any:
    """Draw modes over the rows of their clusters; a model of two columns with the basins of the modes.

    The rows are those of the fit, or `data`.
    """
    check_fitted(x)
    every = x.rows_ if data is None else np.asarray(check_columns(x, data), dtype=float)
    labels = x.predict(with_column_names(x, every))
    if x.n_features_in_ == 1:
        return _draw_line(x, ax, _edges(x, every[:, 0]), every, labels, "modes")
    columns = two_columns(x, dims)
    rows, centers = every[:, columns], x.cluster_centers_[:, columns]
    if x.n_features_in_ == 2:
        low, high = bounding_box(np.concatenate([rows, centers]))
        sides = [np.linspace(low[j], high[j], n_cells) for j in (0, 1)]
        _basins(ax, x, sides)
    colours = [OUTLIER if label < 0 else _colour(label) for label in labels]
    draw_rows(ax, rows, c=colours, label=None)
    return _finish(x, ax, columns, len(rows), "^", "modes", outliers=bool(np.any(labels < 0)))


def _basins(ax: Any, x: MeanShift, sides: list[np.ndarray]) -> None:
    """Shade the points of the plane by the mode they belong to; outliers stay white."""
    from matplotlib.colors import to_rgb

    across, up = sides
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    labels = x.predict(with_column_names(x, grid))
    image = np.zeros((len(grid), 4))
    shades = np.asarray([to_rgb(_colour(k)) for k in range(len(x.cluster_centers_))])
    image[:, :3] = shades[labels]
    image[:, 3] = np.where(labels < 0, 0.0, 0.18)
    _draw_image(ax, image.reshape(len(up), len(across), 4), across, up)


def _edges(x: MeanShift, line: np.ndarray) -> list[float]:
    """Return the points along a line at which the cluster changes."""
    low, high = bounding_box(line[:, None])
    points = np.linspace(low[0], high[0], 400)
    labels = x.predict(with_column_names(x, points[:, None]))
    return points[1:][np.diff(labels) != 0].tolist()


def _colour(label: int) -> str:
    return COLOURS[int(label) % len(COLOURS)]


@picture.register
def _report(x: ClusterReport, ax: Any) -> Any:
    """Draw the radius and the spread of each cluster, and half the distance to the nearest other centre."""
    heights = np.arange(len(x.labels))[::-1]
    ax.barh(heights, x.radius, height=0.55, color=COLOURS[4], alpha=0.45, label="farthest row")
    ax.barh(heights, x.spread, height=0.55, color=COLOURS[0], label="root mean square")
    finite = np.isfinite(x.separation)
    style = {"ms": 18, "mew": 2.5, "color": COLOURS[5], "label": "half way to the nearest other centre"}
    ax.plot(0.5 * x.separation[finite], heights[finite], "|", **style)
    names = [f"{label}  ({size:.6g})" for label, size in zip(x.labels, x.sizes, strict=True)]
    ax.set_yticks(heights, names)
    ax.set(xlabel="distance from the centre", ylabel="cluster (size)", xlim=(0, None))
    ax.set_ylim(-0.6, len(heights) + 0.9)  # room for the legend above the bars
    hide_spines(ax)
    ax.legend(frameon=False, loc="upper right", ncols=2, fontsize="small")
    return ax


def _criterion(x: Any, criterion: str | None) -> str:
    name = x.criterion if criterion is None else criterion
    if name not in x.scores:
        raise ValueError(f"criterion must be of {', '.join(x.scores)}, got {criterion!r}")
    return str(name)


@picture.register
def _number(x: NumberOfClusters, ax: Any, *, criterion: str | None = None) -> Any:
    """Draw the score of every number of clusters, and the chosen number."""
    name = _criterion(x, criterion)
    elbow = name == "elbow"
    heights = x.inertias if elbow else x.scores[name]
    errors = x.gap_errors if name == "gap" else None
    ax.errorbar(x.n_clusters, heights, yerr=errors, fmt=".-", color=COLOURS[0], capsize=3)
    if elbow:
        ax.plot(x.n_clusters[[0, -1]], heights[[0, -1]], color="0.6", lw=0.8, ls="--", label="chord")
    best = x.choices[name]
    at = x.n_clusters == best
    ax.plot(best, heights[at][0], "o", ms=10, mfc="none", mew=1.5, color=COLOURS[5], label=f"K = {best}")
    return finish(
        ax,
        whole_numbers=True,
        xlabel="number of clusters",
        ylabel=NAMES[name] + (" (± 1 s.e.)" if name == "gap" else ""),
    )


@picture.register
def _choice(x: ComponentChoice, ax: Any, *, criterion: str | None = None) -> Any:
    """Draw the criterion of every mixture, a line for each covariance type, and the chosen one."""
    name = _criterion(x, criterion)
    table = x.scores[name]
    for n, kind in enumerate(x.covariance_types):
        ax.plot(x.n_components, table[n], ".-", color=COLOURS[n % len(COLOURS)], label=kind)
    bad = x.collapsed
    if bad.any():
        numbers = np.broadcast_to(x.n_components, bad.shape)
        ax.plot(numbers[bad], table[bad], "x", ms=8, mew=1.5, color="0.4", label="collapsed: left out")
    i, j = x.position(name)
    label = f"{number_of(int(x.n_components[j]), 'component')}, {x.covariance_types[i]}"
    ax.plot(x.n_components[j], table[i, j], "o", ms=10, mfc="none", mew=1.5, color="0.2", label=label)
    return finish(
        ax, whole_numbers=True, xlabel="number of components", ylabel=f"{name.upper()}, lower is better"
    )


def _draw_line(x: Any, ax: Any, edges: Any, rows: np.ndarray | None, labels: Any, label: str) -> Any:
    """Draw clusters of one column: a histogram of the rows of each, its centre, and the edges between."""
    centers = x.cluster_centers_[:, 0]
    if rows is not None:
        rows = rows[:, 0]
        bins = np.histogram_bin_edges(rows, bins="fd")
        bins = bins if len(bins) > 6 else np.histogram_bin_edges(rows, bins=10)
        parts = [rows[labels == k] for k in range(len(centers))]
        colours = [_colour(k) for k in range(len(centers))]
        ax.hist(parts, bins=bins, stacked=True, color=colours, alpha=0.45, lw=0)
        if np.any(labels < 0):
            outliers = rows[labels < 0]
            ax.plot(outliers, np.zeros(len(outliers)), "|", ms=9, color="0.5", label="outliers")
    for edge in edges:
        ax.axvline(edge, color="0.5", lw=0.8, ls="--")
    style = {"marker": "X", "ms": 10, "mfc": "black", "mec": "white", "ls": "none"}
    ax.plot(centers, np.full(len(centers), 0.03), transform=ax.get_xaxis_transform(), label=label, **style)
    if rows is None:
        spread = np.ptp(centers) or np.max(np.abs(centers)) or 1.0
        ax.set(xlim=(centers.min() - 0.3 * spread, centers.max() + 0.3 * spread), yticks=[], ylim=(0, 1))
    return finish(ax, xlabel=column_names(x)[0], ylabel="rows", boxed=True)
