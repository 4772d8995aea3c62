"""Mixtures of regressions on one column: the density of the target, with a line for every plane."""

from typing import Any

import numpy as np

from tractable.base import check_fitted
from tractable.mixture.regression_shell import PlanesEstimator
from tractable.plotting.pictures.regression import _column, _like, _range_of
from tractable.plotting.plot import draw
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []

#: Targets at which the density is drawn.
N_LEVELS = 200


@draw.register
def _planes(x: PlanesEstimator, ax: Any, *, X: Any = None, y: Any = None, grid: Any = None) -> Any:
    """Draw p(y | x) over the range of X, or `grid`, and the planes, faint where their shares are small."""
    check_fitted(x)
    if X is None and grid is None:
        raise ValueError("X must be given, the rows of one column to draw over; or grid")
    if y is not None and X is None:
        raise ValueError("X must be given with y, the rows that the targets belong to")
    rows = None if X is None else _column(X, "X")
    points = _range_of(rows) if rows is not None and grid is None else np.sort(_column(grid, "grid"))
    dist = x.predict_dist(_like(x, points))
    levels = _levels(dist, y)
    with np.errstate(under="ignore"):
        density = dist.prob(levels[:, None])
    # The root of the density: a road less travelled is seen too.
    ax.pcolormesh(points, levels, np.sqrt(density), cmap="Blues", shading="gouraud", rasterized=True)
    if y is not None:
        ax.scatter(rows, np.reshape(np.asarray(y, dtype=float), -1), s=8, color="0.25", lw=0, label="data")
    for k, (plane, share) in enumerate(zip(dist.components.mean.T, dist.weights.T, strict=True)):
        _trusted(ax, points, plane, share, COLOURS[1 + k % (len(COLOURS) - 1)], f"plane {k}")
    ax.set(xlabel=getattr(x, "feature_names_in_", ["x"])[0], ylabel="y", ylim=(levels[0], levels[-1]))
    quiet(ax)
    legend(ax)
    return ax


def _levels(dist: Any, y: Any) -> np.ndarray:
    """Return targets from below what is likely, or was seen, to above it."""
    low, high = np.min(dist.icdf(0.001)), np.max(dist.icdf(0.999))
    if y is not None:
        seen = np.asarray(y, dtype=float)
        low, high = min(low, seen.min()), max(high, seen.max())
    return np.linspace(low, high, N_LEVELS)


def _trusted(
    ax: Any, points: np.ndarray, plane: np.ndarray, share: np.ndarray, colour: str, label: str
) -> None:
    """Draw a line that fades where its share is small."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    ends = np.column_stack([points, plane])
    colours = np.tile(to_rgba(colour), (len(points) - 1, 1))
    colours[:, 3] = np.sqrt(0.5 * (share[1:] + share[:-1]))
    ax.add_collection(
        LineCollection([*np.stack([ends[:-1], ends[1:]], axis=1)], colors=colours, linewidths=1.8)
    )
    ax.plot([], [], color=colour, label=label)
