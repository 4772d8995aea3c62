"""Mixtures of regressions on one column: the density of the target, with a line for every plane."""

from typing import Any

import numpy as np

from tractable.base import check_fitted
from tractable.mixture.regression.estimator import BaseRegressionMixture
from tractable.plotting.climb import SHOWN, draw_climb
from tractable.plotting.coefficients import draw_coefficients
from tractable.plotting.line_rows import given_rows, line_points
from tractable.plotting.plot import picture
from tractable.plotting.points import draw_rows
from tractable.plotting.predicted import draw_predicted
from tractable.plotting.rows import column_names, rows_like, target_name
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []

#: Targets at which the density is drawn.
N_LEVELS = 200


@picture.register
def _planes(
    x: BaseRegressionMixture,
    ax: Any,
    *,
    data: Any = None,
    X: Any = None,
    y: Any = None,
    grid: Any = None,
    coverage: float = 0.9,
    show: str = "density",
) -> Any:
    """Draw p(y | x) over the range of the rows, or `grid`, and the planes.

    Planes are faint where their shares are small. Of several columns, targets against predictions.
    Without rows, the coefficients of the planes. With
    ``show="climb"``, what EM reached at each of its steps.
    """
    check_fitted(x)
    rows = given_rows(data, X)
    if show not in SHOWN:
        raise ValueError(f"show must be one of {', '.join(SHOWN)}, got {show!r}")
    if show == "climb":
        return draw_climb(ax, x.objective_trace_, x.converged_)
    if y is not None and rows is None:
        raise ValueError("data must be given with y, the rows that the targets belong to")
    if rows is None and grid is None:
        return draw_coefficients(x, ax, coverage, [f"plane {k}" for k in range(len(x.coef_))])
    if x.n_features_in_ > 1 and grid is None:
        return draw_predicted(x, ax, rows, y, coverage, target_name(y))
    from matplotlib import colormaps

    points, at = line_points(rows, grid)
    dist = x.predict_dist(rows_like(x, points[:, None]))
    levels = _levels(dist, y)
    with np.errstate(under="ignore"):
        density = dist.prob(levels[:, None])
    # The root of the density: a road less travelled is seen too.
    ax.pcolormesh(points, levels, np.sqrt(density), cmap="Blues", shading="gouraud", rasterized=True)
    ax.plot([], [], "s", ms=9, color=colormaps["Blues"](0.5), label="density")
    if y is not None and at is not None:
        seen = np.reshape(np.asarray(y, dtype=float), -1)
        draw_rows(ax, np.column_stack([at, seen]), s=8, color="0.25")
    for k, (plane, share) in enumerate(zip(dist.components.mean.T, dist.weights.T, strict=True)):
        _trusted(ax, points, plane, share, COLOURS[1 + k % (len(COLOURS) - 1)], f"plane {k}")
    ax.set(xlabel=column_names(x)[0], ylabel=target_name(y), ylim=(levels[0], levels[-1]))
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
