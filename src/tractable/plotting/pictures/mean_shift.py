"""Hills of a density: modes, and the part of the plane that climbs to each."""

from typing import Any

import numpy as np

from tractable.base import check_fitted
from tractable.covariance import resolve_dims
from tractable.density import MeanShift
from tractable.plotting.plot import draw
from tractable.plotting.style import COLOURS, quiet

__all__: list[str] = []

ORPHAN = "0.6"


@draw.register
def _mean_shift(x: MeanShift, ax: Any, *, dims: Any = None, n_cells: int = 150) -> Any:
    """Draw modes over the rows of their clusters; where the model has two columns, their basins too."""
    check_fitted(x)
    names = getattr(x, "feature_names_in_", None)
    first, second = _two_columns(x, dims, names)
    rows, centers = x.rows_[:, [first, second]], x.cluster_centers_[:, [first, second]]
    labels = x.predict(_like(x.rows_, names))
    if x.n_features_in_ == 2:
        low, high = _limits(np.concatenate([rows, centers]))
        sides = [np.linspace(low[j], high[j], n_cells) for j in (0, 1)]
        _basins(ax, x, sides, names)
    colours = [ORPHAN if label < 0 else _colour(label) for label in labels]
    ax.scatter(*rows.T, s=9, c=colours, lw=0)
    ax.scatter(*centers.T, s=90, marker="^", c="black", ec="white", lw=1.2, zorder=3, label="modes")
    if np.any(labels < 0):
        ax.scatter([], [], s=9, c=ORPHAN, lw=0, label="orphans")
    called = [f"x{j}" if names is None else str(names[j]) for j in (first, second)]
    ax.set(xlabel=called[0], ylabel=called[1])
    quiet(ax)
    ax.legend(loc="best", framealpha=0.9, fontsize="small")  # in a box: its mark is no mode
    return ax


def _basins(ax: Any, x: MeanShift, sides: list[np.ndarray], names: Any) -> None:
    """Shade the points of the plane by the mode they belong to; orphans are left white."""
    from matplotlib.colors import to_rgb

    across, up = sides
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    labels = x.predict(_like(grid, names))
    image = np.zeros((len(grid), 4))
    shades = np.asarray([to_rgb(_colour(k)) for k in range(len(x.cluster_centers_))])
    image[:, :3] = shades[labels]
    image[:, 3] = np.where(labels < 0, 0.0, 0.18)
    ax.imshow(
        image.reshape(len(up), len(across), 4),
        extent=(across[0], across[-1], up[0], up[-1]),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
    )


def _two_columns(x: MeanShift, dims: Any, names: Any) -> list[int]:
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


def _colour(label: int) -> str:
    return COLOURS[int(label) % len(COLOURS)]


def _like(rows: np.ndarray, names: Any) -> Any:
    """Return rows as the model knows them: with its column names, where it has any."""
    if names is None:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=names)
