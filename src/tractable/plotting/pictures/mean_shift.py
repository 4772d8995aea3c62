"""Hills of a density: modes, and the part of the plane that climbs to each."""

from typing import Any

import numpy as np

from tractable.base import check_columns, check_fitted
from tractable.density import MeanShift
from tractable.plotting.cluster_line import draw_cluster_line
from tractable.plotting.columns import two_columns
from tractable.plotting.plot import picture
from tractable.plotting.points import draw_rows, how_many
from tractable.plotting.rows import box_of, column_names, rows_like
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []

ORPHAN = "0.6"


@picture.register
def _mean_shift(x: MeanShift, ax: Any, *, data: Any = None, dims: Any = None, n_cells: int = 150) -> Any:
    """Draw modes over the rows of their clusters; where the model has two columns, their basins too.

    The rows are those it was fitted to, or `data`.
    """
    check_fitted(x)
    names = column_names(x)
    every = x.rows_ if data is None else np.asarray(check_columns(x, data), dtype=float)
    labels = x.predict(rows_like(x, every))
    if x.n_features_in_ == 1:
        edges = _edges(x, every[:, 0])
        return draw_cluster_line(ax, names[0], x.cluster_centers_[:, 0], edges, every[:, 0], labels, "modes")
    first, second = two_columns(x, dims)
    rows, centers = every[:, [first, second]], x.cluster_centers_[:, [first, second]]
    if x.n_features_in_ == 2:
        low, high = box_of(np.concatenate([rows, centers]))
        sides = [np.linspace(low[j], high[j], n_cells) for j in (0, 1)]
        _basins(ax, x, sides)
    colours = [ORPHAN if label < 0 else _colour(label) for label in labels]
    draw_rows(ax, rows, c=colours, label=None)
    ax.scatter(*centers.T, s=90, marker="^", c="black", ec="white", lw=1.2, zorder=3, label="modes")
    if np.any(labels < 0):
        ax.scatter([], [], s=9, c=ORPHAN, lw=0, label="orphans")
    ax.set(xlabel=names[first], ylabel=names[second])
    quiet(ax)
    legend(ax, boxed=True, head=how_many(len(rows)))
    return ax


def _basins(ax: Any, x: MeanShift, sides: list[np.ndarray]) -> None:
    """Shade the points of the plane by the mode they belong to; orphans are left white."""
    from matplotlib.colors import to_rgb

    across, up = sides
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    labels = x.predict(rows_like(x, grid))
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


def _edges(x: MeanShift, line: np.ndarray) -> list[float]:
    """Return where along a line the nearest hill changes."""
    low, high = box_of(line[:, None])
    points = np.linspace(low[0], high[0], 400)
    labels = x.predict(rows_like(x, points[:, None]))
    return points[1:][np.diff(labels) != 0].tolist()


def _colour(label: int) -> str:
    return COLOURS[int(label) % len(COLOURS)]
