"""Mixtures that EM fitted: the density, whose rows are whose, or the climb of the likelihood."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.base import check_fitted
from tractable.covariance import resolve_dims
from tractable.data import is_frame
from tractable.distributions import MultivariateNormal
from tractable.mixture.regression_shell import PlanesEstimator
from tractable.mixture.shell import EMMixture
from tractable.mixture.table_shell import TableShell
from tractable.plotting.columns import ColumnAxis, apart, as_places
from tractable.plotting.pictures.multivariate import usual_columns
from tractable.plotting.pictures.regression import draw_coefficients, draw_predicted
from tractable.plotting.plot import columns_by_name, draw, picture, with_options
from tractable.plotting.regions import edge, radius_holding
from tractable.plotting.rows import (
    column_names,
    draw_rows,
    given_rows,
    how_many,
    line_points,
    rows_like,
    some_rows,
    target_name,
)
from tractable.plotting.style import COLOURS, legend, quiet

__all__ = [
    "SHOWN_REGRESSION",
    "component_colour",
    "draw_categories",
    "draw_climb",
    "draw_responsibilities",
    "model_columns",
]


SHOWN = ("density", "climb", "responsibilities")


@picture.register
def _mixture(x: EMMixture, ax: Any, *, show: str = "density", **options: Any) -> Any:
    """Draw the density; with ``show="responsibilities"`` rows in the colours of their components.

    With ``show="climb"`` what EM reached at each of its steps.
    """
    check_fitted(x)
    if show not in SHOWN:
        raise ValueError(f"show must be one of {', '.join(SHOWN)}, got {show!r}")
    if show == "climb":
        return with_options(_climb, x, ax, options)
    if show == "responsibilities":
        return with_options(_responsibilities, x, ax, options)
    if isinstance(x, TableShell) and _of_words(x, options.get("dims")):
        return with_options(_words, x, ax, options)
    return draw(x.distribution_, ax, **options)


def _climb(x: EMMixture, ax: Any, *, label: str = "") -> Any:
    return draw_climb(ax, x.lower_bounds_, x.converged_, label=label)


def _responsibilities(x: EMMixture, ax: Any, *, data: Any = None, dims: Any = None) -> Any:
    axes = [_axis(x, j) for j in range(x.n_features_in_)]
    return draw_responsibilities(x, ax, axes, model_columns(x, dims), data)


def _words(x: Any, ax: Any, *, data: Any = None, dims: Any = None) -> Any:
    """Draw a column of categories by their names."""
    (column,) = model_columns(x, usual_columns(x.distribution_, dims))
    axis = _axis(x, column)
    codes = None
    if data is not None:
        rows = columns_by_name(data, [axis.name], "data")[axis.name] if is_frame(data) else data
        codes = axis.codes(rows if is_frame(data) else np.asarray(rows)[:, column])
    return draw_categories(x.distribution_, ax, axis, column, codes)


def _of_words(x: Any, dims: Any) -> bool:
    """Say whether what is to be drawn is one column of categories."""
    columns = model_columns(x, usual_columns(x.distribution_, dims))
    return len(columns) == 1 and _axis(x, columns[0]).categories is not None


def _axis(x: Any, column: int) -> ColumnAxis:
    """Return what the places of a column are: of a table, its categories."""
    name = column_names(x)[column]
    if not isinstance(x, TableShell):
        return ColumnAxis(name=name)
    kind, categories = x.columns_.kinds[column], x.columns_.categories[column]
    if kind == "bernoulli":
        return ColumnAxis(name=name, categories=(False, True), words=("no", "yes"))
    if kind == "categorical" and categories is None:
        categories = tuple(range(x.units_.sizes[column]))
    return ColumnAxis(name=name, categories=categories, whole=kind == "poisson")


#: Targets at which the density is drawn.
N_LEVELS = 200


@picture.register
def _planes(
    x: PlanesEstimator,
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
    if show not in SHOWN_REGRESSION:
        raise ValueError(f"show must be one of {', '.join(SHOWN)}, got {show!r}")
    if show == "climb":
        return draw_climb(ax, x.lower_bounds_, x.converged_)
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


def draw_responsibilities(x: Any, ax: Any, axes: Sequence[ColumnAxis], columns: list[int], data: Any) -> Any:
    """Draw rows over two columns, in their components' colours mixed as the responsibilities are.

    Over one column: the responsibilities themselves.
    """
    if data is None:
        raise ValueError("data must be given, the rows whose responsibilities are drawn")
    shares = np.asarray(x.predict_proba(data), dtype=float)
    shown = [axes[j] for j in columns]
    named = is_frame(data)
    rows = as_places(shown, [a.name for a in shown], data if named else np.asarray(data)[:, columns])
    there = np.isfinite(rows).all(axis=1)
    rows, shares = apart(shown, rows[there]), shares[there]
    colours = [component_colour(k) for k in range(shares.shape[1])]
    if len(columns) == 1:
        drawn = some_rows(rows)
        for k, colour in enumerate(colours):
            places = np.column_stack([rows[:, 0], shares[:, k]])[drawn]
            ax.plot(*places.T, ".", ms=4, color=colour, label=f"component {k}")
    else:
        _mixed(ax, rows, shares, colours)
        _rings(x.distribution_.marginal(columns), ax, colours)
    ax.set(xlabel=shown[0].name, ylabel="responsibility" if len(columns) == 1 else shown[1].name)
    for axis, drawn in zip(shown, (ax.xaxis, ax.yaxis), strict=False):
        axis.mark(drawn)
    quiet(ax)
    legend(ax, head=how_many(len(rows)))
    return ax


def model_columns(x: Any, dims: Any) -> list[int]:
    """Return the one or two columns of a fitted model to draw over: the first ones when not given."""
    names = column_names(x)
    wanted = range(min(2, len(names))) if dims is None else dims
    columns = list(resolve_dims(wanted, len(names), tuple(names)))
    if not 1 <= len(columns) <= 2:
        raise ValueError(f"dims must name one or two columns, got {dims!r}")
    return columns


def _mixed(ax: Any, rows: np.ndarray, shares: np.ndarray, colours: Sequence[str]) -> None:
    from matplotlib.colors import to_rgb

    mixed = np.clip(shares @ np.array([to_rgb(colour) for colour in colours]), 0.0, 1.0)
    draw_rows(ax, rows, s=14, c=mixed, label=None)


def _rings(pair: Any, ax: Any, colours: Sequence[str]) -> None:
    """Draw the half of each component nearest its mean, where that is an ellipse."""
    ellipses = isinstance(pair.components, MultivariateNormal)
    for k, colour in enumerate(colours):
        ring = np.empty((0, 2))
        if ellipses:
            one = pair.components[k]
            ring = edge(one.mean, np.asarray(one.covariance, dtype=float), radius_holding(0.5))
        ax.plot(*ring.T, color=colour, lw=1.5, label=f"component {k}")


#: More components than this are told apart by no colour.
MOST_NAMED = 7


def component_colour(k: int) -> str:
    """Return the colour of a component, in every picture of a mixture; the first of all is for the whole."""
    return COLOURS[1 + k % MOST_NAMED]


def draw_categories(mixture: Any, ax: Any, axis: ColumnAxis, column: int, codes: np.ndarray | None) -> Any:
    """Draw π_k p_k(category) on top of each other, so that their tops are p(category); `codes` are rows."""
    places = np.arange(len(axis.categories or ()))
    part = mixture.components.parts[column]
    heights = np.asarray(mixture.weights) * np.asarray(part.prob(places[:, None].astype(float)))
    bottom = np.zeros(len(places))
    for k, height in enumerate(heights.T):
        told = f"component {k}" if heights.shape[1] <= MOST_NAMED else None
        ax.bar(places, height, 0.7, bottom=bottom, color=component_colour(k), alpha=0.8, label=told)
        bottom = bottom + height
    if codes is not None:
        seen = np.bincount(codes[np.isfinite(codes)].astype(int), minlength=len(places))
        width = min(24.0, 180.0 / len(places))
        style = {"ls": "none", "marker": "_", "ms": width, "mew": 2.0, "color": "0.1"}
        ax.plot(places, seen / seen.sum(), label="data", **style)
    ax.set(xlabel=axis.name, ylabel="probability")
    axis.mark(ax.xaxis)
    quiet(ax)
    legend(ax)
    return ax


SHOWN_REGRESSION = ("density", "climb")


def draw_climb(ax: Any, bounds: Sequence[float], converged: bool, *, label: str = "") -> Any:
    """Draw the objective at each step; the last is marked, and said to be no end where EM was stopped."""
    heights = np.asarray(bounds, dtype=float)
    steps = np.arange(1, len(heights) + 1)
    ax.plot(steps, heights, ".-", ms=4, color=COLOURS[0], label=label or None)
    told = f"settled after {len(steps)}" if converged else f"not settled after {len(steps)}"
    ax.plot(steps[-1], heights[-1], "o", ms=8, mfc="none", color=COLOURS[5], label=told)
    ax.set(xlabel="step of EM", ylabel="objective a row")
    ax.xaxis.get_major_locator().set_params(integer=True)
    quiet(ax)
    legend(ax)
    return ax
