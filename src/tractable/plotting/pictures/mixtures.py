"""Mixtures fitted by EM: densities, responsibilities, objectives; mixtures of regressors and of experts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.base import check_fitted
from tractable.data import is_frame
from tractable.distributions import MultivariateNormal
from tractable.mixture.base import EMMixture
from tractable.mixture.regression.estimator import MixtureOfRegressors
from tractable.mixture.table.estimator import BaseTableMixture
from tractable.plotting.columns import ColumnAxis, check_show, jittered, model_columns, positions_of
from tractable.plotting.pictures.distributions import usual_columns
from tractable.plotting.pictures.regression import draw_coefficients, draw_predicted
from tractable.plotting.plot import draw, picture, with_options
from tractable.plotting.regions import ellipse_points, mahalanobis_radius
from tractable.plotting.rows import (
    column_names,
    columns_by_name,
    curve_grid,
    draw_rows,
    rows_argument,
    sample_note,
    sampled_rows,
    target_name,
    with_column_names,
)
from tractable.plotting.style import COLOURS, finish

#: What `show` may be, of mixtures of rows and of mixtures of regressions.
SHOWN, SHOWN_REGRESSION = ("density", "objective", "responsibilities"), ("density", "objective")

#: Components beyond this many have no colour of their own.
MAX_NAMED = 7

#: Targets at which the density of a mixture of regressions is drawn.
N_TARGETS = 200


@picture.register
def _mixture(x: EMMixture, ax: Any, *, show: str = "density", **options: Any) -> Any:
    """Draw the density; with ``show="responsibilities"`` rows in the colours of their components.

    With ``show="objective"`` the objective at each iteration of EM.
    """
    check_fitted(x)
    check_show(show, SHOWN)
    if show == "objective":
        return with_options(_objective, x, ax, options)
    if show == "responsibilities":
        return with_options(_responsibilities, x, ax, options)
    if isinstance(x, BaseTableMixture) and _is_categorical(x, options.get("dims")):
        return with_options(_categories, x, ax, options)
    return draw(x.distribution_, ax, **options)


def _objective(x: Any, ax: Any, *, label: str = "") -> Any:
    """Draw the objective at each iteration; the label of the last says whether EM converged."""
    heights = x.objective_trace_
    steps = np.arange(len(heights))  # the first is that of the initial parameters
    ax.plot(steps, heights, ".-", ms=4, color=COLOURS[0], label=label or None)
    end = f"{'' if x.converged_ else 'not '}converged after {steps[-1]}"
    ax.plot(steps[-1], heights[-1], "o", ms=8, mfc="none", color=COLOURS[5], label=end)
    return finish(ax, whole_numbers=True, xlabel="iteration of EM", ylabel="objective per row")


def _responsibilities(x: EMMixture, ax: Any, *, data: Any = None, dims: Any = None) -> Any:
    """Draw rows over two columns, in the colours of the components mixed by the responsibilities.

    Over one column: the responsibilities themselves.
    """
    from matplotlib.colors import to_rgb

    if data is None:
        raise ValueError("data must be given, the rows whose responsibilities are drawn")
    columns = model_columns(x, dims)
    axes = [_axis(x, j) for j in columns]
    responsibilities = np.asarray(x.predict_proba(data), dtype=float)
    rows = positions_of(
        axes, [axis.name for axis in axes], data if is_frame(data) else np.asarray(data)[:, columns]
    )
    complete = np.isfinite(rows).all(axis=1)
    rows, responsibilities = jittered(axes, rows[complete]), responsibilities[complete]
    colours = [_component_colour(k) for k in range(responsibilities.shape[1])]
    if len(columns) == 1:
        some = sampled_rows(rows)
        for k, colour in enumerate(colours):
            points = np.column_stack([rows[:, 0], responsibilities[:, k]])[some]
            ax.plot(*points.T, ".", ms=4, color=colour, label=f"component {k}")
    else:
        mixed = np.clip(responsibilities @ np.array([to_rgb(colour) for colour in colours]), 0.0, 1.0)
        draw_rows(ax, rows, s=14, c=mixed, label=None)
        _component_ellipses(x.distribution_.marginal(columns), ax, colours)
    ax.set(xlabel=axes[0].name, ylabel="responsibility" if len(columns) == 1 else axes[1].name)
    for axis, drawn in zip(axes, (ax.xaxis, ax.yaxis), strict=False):
        axis.label_ticks(drawn)
    return finish(ax, head=sample_note(len(rows)))


def _component_ellipses(pair: Any, ax: Any, colours: Sequence[str]) -> None:
    """Draw the ellipse that holds half of each component, if the components are Gaussian."""
    gaussian = isinstance(pair.components, MultivariateNormal)
    for k, colour in enumerate(colours):
        points = np.empty((0, 2))
        if gaussian:
            one = pair.components[k]
            covariance = np.asarray(one.covariance, dtype=float)
            points = ellipse_points(one.mean, covariance, mahalanobis_radius(0.5))
        ax.plot(*points.T, color=colour, lw=1.5, label=f"component {k}")


def _component_colour(k: int) -> str:
    """Return the colour of a component; the first colour is that of the whole mixture."""
    return COLOURS[1 + k % MAX_NAMED]


def _is_categorical(x: Any, dims: Any) -> bool:
    """Return whether a single column of categories is to be drawn."""
    columns = model_columns(x, usual_columns(x.distribution_, dims))
    return len(columns) == 1 and _axis(x, columns[0]).categories is not None


def _categories(x: Any, ax: Any, *, data: Any = None, dims: Any = None) -> Any:
    """Draw π_k p_k(category) as stacked bars, whose tops are p(category), with frequencies of `data`."""
    (column,) = model_columns(x, usual_columns(x.distribution_, dims))
    axis, mixture = _axis(x, column), x.distribution_
    codes = np.arange(len(axis.categories or ()))
    (part,) = mixture.components.marginal([column]).parts
    heights = np.asarray(mixture.weights) * np.asarray(part.prob(codes[:, None].astype(float)))
    bottom = np.zeros(len(codes))
    for k, height in enumerate(heights.T):
        label = f"component {k}" if heights.shape[1] <= MAX_NAMED else None
        ax.bar(codes, height, 0.7, bottom=bottom, color=_component_colour(k), alpha=0.8, label=label)
        bottom = bottom + height
    if data is not None:
        rows = columns_by_name(data, [axis.name], "data")[axis.name] if is_frame(data) else data
        found = axis.codes(rows if is_frame(data) else np.asarray(rows)[:, column])
        counts = np.bincount(found[np.isfinite(found)].astype(int), minlength=len(codes))
        style = {"ls": "none", "marker": "_", "ms": min(24.0, 180.0 / len(codes)), "mew": 2.0, "color": "0.1"}
        ax.plot(codes, counts / counts.sum(), label="data", **style)
    ax.set(xlabel=axis.name, ylabel="probability")
    axis.label_ticks(ax.xaxis)
    return finish(ax)


def _axis(x: Any, column: int) -> ColumnAxis:
    """Return the axis of a column, with the categories that a table mixture knows."""
    name = column_names(x)[column]
    if not isinstance(x, BaseTableMixture):
        return ColumnAxis(name=name)
    kind, categories = x._columns_.kinds[column], x._columns_.categories[column]
    if kind == "bernoulli":
        return ColumnAxis(name=name, categories=(False, True), labels=("no", "yes"))
    if kind == "categorical" and categories is None:
        (part,) = x.distribution_.components.marginal([column]).parts
        categories = tuple(range(part.probabilities.shape[1]))
    return ColumnAxis(name=name, categories=categories, whole=kind == "poisson")


@picture.register
def _regression_mixture(
    x: MixtureOfRegressors,
    ax: Any,
    *,
    data: Any = None,
    X: Any = None,
    y: Any = None,
    grid: Any = None,
    coverage: float = 0.9,
    show: str = "density",
) -> Any:
    """Draw p(y | x) over the range of the rows, or `grid`, and the mean of each component.

    A component's line is faint where its weight is small. For several columns, targets against predictions;
    without rows, the coefficients of the components. With ``show="objective"``, the objective at each
    iteration of EM.
    """
    check_fitted(x)
    rows = rows_argument(data, X)
    check_show(show, SHOWN_REGRESSION)
    if show == "objective":
        return _objective(x, ax)
    if y is not None and rows is None:
        raise ValueError("data must be given with y, the rows that the targets belong to")
    if rows is None and grid is None:
        return draw_coefficients(x, ax, coverage, [f"component {k}" for k in range(len(x.coef_))])
    if x.n_features_in_ > 1 and grid is None:
        return draw_predicted(x, ax, rows, y, coverage, target_name(y))
    from matplotlib import colormaps

    points, at = curve_grid(rows, grid)
    dist = x.predict_dist(with_column_names(x, points[:, None]))
    targets = _targets(dist, y)
    with np.errstate(under="ignore"):
        density = dist.prob(targets[:, None])
    # The square root of the density makes components of small weight visible.
    ax.pcolormesh(points, targets, np.sqrt(density), cmap="Blues", shading="gouraud", rasterized=True)
    ax.plot([], [], "s", ms=9, color=colormaps["Blues"](0.5), label="density")
    if y is not None and at is not None:
        observed = np.reshape(np.asarray(y, dtype=float), -1)
        draw_rows(ax, np.column_stack([at, observed]), s=8, color="0.25")
    for k, (mean, weight) in enumerate(zip(dist.components.mean.T, dist.weights.T, strict=True)):
        colour = COLOURS[1 + k % (len(COLOURS) - 1)]
        _fading_line(ax, points, mean, weight, colour, f"component {k}")
    return finish(ax, xlabel=column_names(x)[0], ylabel=target_name(y), ylim=(targets[0], targets[-1]))


def _targets(dist: Any, y: Any) -> np.ndarray:
    """Return a grid over the middle 99.8 % of the predictive distributions and the observed targets."""
    low, high = np.min(dist.icdf(0.001)), np.max(dist.icdf(0.999))
    if y is not None:
        observed = np.asarray(y, dtype=float)
        low, high = min(low, observed.min()), max(high, observed.max())
    return np.linspace(low, high, N_TARGETS)


def _fading_line(
    ax: Any, points: np.ndarray, mean: np.ndarray, weight: np.ndarray, colour: str, label: str
) -> None:
    """Draw a line whose opacity is the square root of the weight."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    ends = np.column_stack([points, mean])
    colours = np.tile(to_rgba(colour), (len(points) - 1, 1))
    colours[:, 3] = np.sqrt(0.5 * (weight[1:] + weight[:-1]))
    segments = [*np.stack([ends[:-1], ends[1:]], axis=1)]
    ax.add_collection(LineCollection(segments, colors=colours, linewidths=1.8))
    ax.plot([], [], color=colour, label=label)
