"""Clusters about centres: each centre and the part of the plane that is nearest to it."""

from typing import Any

import numpy as np

from tractable.base import check_columns, check_fitted
from tractable.covariance import resolve_dims
from tractable.mixture import KMeans
from tractable.plotting.plot import draw
from tractable.plotting.style import COLOURS, quiet

__all__: list[str] = []

N_CELLS = 400


@draw.register
def _kmeans(x: KMeans, ax: Any, *, data: Any = None, dims: Any = None) -> Any:
    """Draw centres over `data`; where the model has two columns, the cells of the centres too."""
    check_fitted(x)
    names = getattr(x, "feature_names_in_", None)
    first, second = _two_columns(x, dims, names)
    centers = x.cluster_centers_[:, [first, second]]
    rows = None if data is None else np.asarray(check_columns(x, data), dtype=float)
    shown = centers if rows is None else np.concatenate([centers, rows[:, [first, second]]])
    if x.n_features_in_ == 2:
        _cells(ax, centers, *_limits(shown))
    if rows is not None:
        colours = np.asarray(COLOURS)[x.predict(_like(rows, names)) % len(COLOURS)]
        ax.scatter(rows[:, first], rows[:, second], s=12, c=colours, lw=0)
    ax.scatter(*centers.T, s=90, marker="X", c="black", ec="white", lw=1.2, zorder=3, label="centres")
    called = [f"x{j}" if names is None else str(names[j]) for j in (first, second)]
    ax.set(xlabel=called[0], ylabel=called[1])
    quiet(ax)
    ax.legend(loc="best", framealpha=0.9)  # in a box: its mark is no centre
    return ax


def _two_columns(x: KMeans, dims: Any, names: Any) -> list[int]:
    if x.n_features_in_ < 2:
        raise ValueError("x must have two columns to be drawn, it has one")
    wanted = range(2) if dims is None else dims
    columns = list(resolve_dims(wanted, x.n_features_in_, None if names is None else tuple(names)))
    if len(columns) != 2:
        raise ValueError(f"dims must name two columns, got {dims!r}")
    return columns


def _limits(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = points.min(axis=0), points.max(axis=0)
    room = 0.08 * np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
    return low - room, high + room


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


def _like(rows: np.ndarray, names: Any) -> Any:
    """Return rows as the model knows them: with its column names, where it has any."""
    if names is None:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=names)
