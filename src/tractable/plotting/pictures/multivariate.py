"""Gaussian densities: a curve of one column, ellipses of two."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.distributions import (
    Categorical,
    Distribution,
    Empirical,
    Laplace,
    Mixture,
    MultivariateLaplace,
    MultivariateNormal,
    MultivariateStudentT,
    Product,
    Stacked,
    Univariate,
    UnivariateEmpirical,
    UnivariateMixture,
)
from tractable.plotting.columns import (
    INTERVAL,
    as_number,
    check_single,
    chosen_columns,
    named_columns,
    shown_data,
    told_coverages,
)
from tractable.plotting.curves import as_members, curve_points, draw_batch, draw_numbers, prob_at
from tractable.plotting.plot import draw, draw_as, picture
from tractable.plotting.regions import draw_draws, draw_plane, edge, radius_holding
from tractable.plotting.rows import draw_rows
from tractable.plotting.style import COLOURS, legend, quiet, title, which_columns

__all__ = ["usual_columns"]


@picture.register
def _multivariate(
    x: MultivariateNormal,
    ax: Any,
    *,
    data: Any = None,
    dims: Any = None,
    coverage: float | None = None,
    coverages: Sequence[float] | None = None,
    labels: Sequence[str] | None = None,
) -> Any:
    """Draw one column as a curve, two as ellipses; of a batch, one of each member."""
    held, regions = told_coverages(coverage, coverages)
    if x.batch_shape:
        return draw_batch(x, ax, data=data, dims=dims, labels=labels, coverages=regions)
    columns = chosen_columns(x, dims)
    shown, names, rows = x.marginal(columns), named_columns(x, columns), shown_data(x, data, columns)
    if len(columns) == 1:
        ax = draw(as_number(shown), ax, data=rows, label=names[0], coverage=held)
    else:
        _ellipses(shown, ax, rows, names, regions)
    title(ax, which_columns(names, x.event_shape[0]))
    return ax


def _ellipses(
    x: MultivariateNormal, ax: Any, rows: np.ndarray | None, names: list[str], coverages: Sequence[float]
) -> None:
    if rows is not None:
        draw_rows(ax, rows)
    mean, covariance = np.asarray(x.mean, dtype=float), np.asarray(x.covariance, dtype=float)
    for shade, coverage in zip(np.linspace(1.0, 0.4, len(coverages)), coverages, strict=True):
        ax.plot(
            *edge(mean, covariance, radius_holding(coverage)).T,
            color=COLOURS[0],
            alpha=shade,
            label=f"{coverage:.0%}",
        )
    ax.plot(*mean, marker="+", ms=9, color=COLOURS[5], lw=0, label="mean")
    ax.set(xlabel=names[0], ylabel=names[1])
    quiet(ax)
    legend(ax)


@picture.register
def _univariate_sample(x: UnivariateEmpirical, ax: Any, **options: Any) -> Any:
    return draw_as(Univariate, x, ax, **options)


@picture.register
def _sample(x: Empirical, ax: Any, *, dims: Any = None, coverage: float = INTERVAL) -> Any:
    """Draw the values over two columns, the larger the more often; over one, their shares."""
    if len(x.event_shape) > 1:
        raise ValueError(f"x must be of numbers or vectors to be drawn, got events of shape {x.event_shape}")
    columns = chosen_columns(x, dims)
    names, values = named_columns(x, columns), np.asarray(x.values, dtype=float)[:, columns]
    if len(columns) == 1:
        number = Empirical(values=values[:, 0], weights=x.probabilities)
        ax = draw(number, ax, label=names[0], coverage=coverage)
    else:
        shares = np.asarray(x.probabilities, dtype=float)
        sizes = 12.0 + 28.0 * shares / shares.max()
        draw_rows(ax, values, s=sizes, color=COLOURS[0], alpha=0.7, label="values")
        ax.plot(*np.asarray(x.mean, dtype=float)[columns], "+", ms=9, color=COLOURS[5], label="mean")
        ax.set(xlabel=names[0], ylabel=names[1])
        quiet(ax)
        legend(ax)
    return _titled(ax, x, names)


@picture.register
def _laplace(
    x: MultivariateLaplace,
    ax: Any,
    *,
    data: Any = None,
    dims: Any = None,
    coverage: float | None = None,
    coverages: Sequence[float] | None = None,
    labels: Sequence[str] | None = None,
) -> Any:
    """Draw regions of two columns; of more, which have no density of their own here, draws over two."""
    held, regions = told_coverages(coverage, coverages)
    columns = chosen_columns(x, dims)
    if x.batch_shape and x.dim <= 2:
        return draw_batch(x, ax, data=data, dims=dims, labels=labels, coverages=regions)
    check_single(x)
    names, rows = named_columns(x, columns), shown_data(x, data, columns)
    if x.dim == 1:
        number = Laplace(location=x.location[0], scale=x.scale)
        return draw(number, ax, data=rows, label=names[0], coverage=held)
    if columns == [0, 1] and x.dim == 2:
        return draw_plane(x, ax, data=rows, names=names, coverages=regions)
    return _titled(draw_draws(x, ax, columns, names, rows), x, names)


@picture.register
def _stacked(
    x: Stacked, ax: Any, *, data: Any = None, dims: Any = None, labels: Sequence[str] | None = None
) -> Any:
    """Draw each member in its colour."""
    if not x.batch_shape:
        return draw(x.members[0], ax, data=data)
    if x.event_shape:
        return draw_batch(x, ax, data=data, dims=dims, labels=labels, coverages=(0.9,))
    members, names = as_members(x, labels)
    return draw_numbers([_alone(member) for member in members], ax, names, "x")


def _alone(member: Any) -> Any:
    return member.members[0] if isinstance(member, Stacked) else member


def _titled(ax: Any, x: Any, names: Sequence[str]) -> Any:
    title(ax, which_columns(names, x.event_shape[0]))
    return ax


#: Components beyond this many are only seen in the whole.
MOST_COMPONENTS = 20


@picture.register
def _numbers(x: UnivariateMixture, ax: Any, **options: Any) -> Any:
    """Draw the density, and under it each component times its weight."""
    if not x.batch_shape and x.n_components <= MOST_COMPONENTS:
        points = curve_points(x)
        style: dict[str, Any] = (
            {"lw": 0.8, "ls": ":", "marker": "."} if x.discrete else {"lw": 1.0, "ls": "--"}
        )
        style |= {"ls": "none", "ms": 8} if isinstance(x.components, Categorical) else {}  # no order
        for k in range(x.n_components):
            height = float(x.weights[k]) * prob_at(x.components[k], points)
            colour, label = COLOURS[1 + k % (len(COLOURS) - 1)], "components" if k == 0 else None
            ax.plot(points, height, color=colour, label=label, zorder=3, **style)
    return draw_as(Univariate, x, ax, **options)


@picture.register(Mixture)
@picture.register(Product)
@picture.register(MultivariateStudentT)
def _joint(
    x: Distribution,
    ax: Any,
    *,
    data: Any = None,
    dims: Any = None,
    coverage: float | None = None,
    coverages: Sequence[float] | None = None,
    labels: Sequence[str] | None = None,
) -> Any:
    """Draw one column as a curve, or two as regions; of a product the first column when not told."""
    held, regions = told_coverages(coverage, coverages)
    dims, most = usual_columns(x, dims), 1 if isinstance(x, Product) else 2
    if x.batch_shape:
        told: dict[str, Any] = {"labels": labels, "coverages": regions, "most": most}
        return draw_batch(x, ax, data=data, dims=dims, **told)
    columns = chosen_columns(x, dims, most=most)
    names, rows = named_columns(x, columns), shown_data(x, data, columns)
    part: Any = x.marginal(columns)  # type: ignore[attr-defined]
    if len(columns) == 1:
        number = as_number(part)
        if isinstance(number, Univariate):
            ax = draw(number, ax, data=rows, label=names[0], coverage=held)
        else:  # components of different families, which have no quantiles together
            ax = draw_draws(x, ax, columns, names, rows)
    else:
        ax = _pair(part, ax, rows, names, regions)
    title(ax, which_columns(names, x.event_shape[0]))
    return ax


def usual_columns(x: Distribution, dims: Any) -> Any:
    """Return the columns to draw; when not told, and some are counted: two measured ones, or the first."""
    if dims is not None or not isinstance(x, Mixture) or not _has_counts(x):
        return dims
    parts = x.components.parts if isinstance(x.components, Product) else ()
    measured = [j for j, part in enumerate(parts) if not part.discrete and not part.event_shape]
    plain = len(parts) == x.event_shape[0]
    return measured[:2] if plain and len(measured) > 1 else [0]


def _pair(
    x: Distribution, ax: Any, rows: np.ndarray | None, names: Sequence[str], coverages: Sequence[float]
) -> Any:
    if _has_counts(x):
        raise ValueError("dims must name one column where columns are counted, or two that are not")
    if isinstance(x, Mixture) and isinstance(x.components, MultivariateNormal):
        _components(x, ax)
    return draw_plane(x, ax, data=rows, names=names, coverages=coverages)


def _components(x: Mixture, ax: Any) -> None:
    """Draw the half of each component nearest its mean, the fainter the smaller its weight."""
    if x.n_components > MOST_COMPONENTS:
        return  # the first of them would say nothing of the others
    components: Any = x.components
    covariances = np.asarray(components.covariance, dtype=float)
    covariances = np.broadcast_to(covariances, (x.n_components, 2, 2))
    strength = np.sqrt(x.weights / x.weights.max())
    for k in range(x.n_components):
        ring = edge(components.mean[k], covariances[k], radius_holding(0.5))
        label = "components, 50%" if k == 0 else None
        ax.plot(*ring.T, color=COLOURS[5], lw=1.0, ls="--", zorder=3, alpha=float(strength[k]), label=label)


def _has_counts(x: Distribution) -> bool:
    if isinstance(x, Mixture):
        return _has_counts(x.components)
    return any(part.discrete for part in x.parts) if isinstance(x, Product) else x.discrete
