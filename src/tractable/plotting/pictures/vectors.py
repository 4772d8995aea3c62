"""Vectors of other kinds: samples as points, Laplace densities as regions, and batches of anything."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.distributions import (
    Empirical,
    Laplace,
    MultivariateLaplace,
    Stacked,
    Univariate,
)
from tractable.plotting.batches import draw_batch, draw_numbers
from tractable.plotting.columns import (
    INTERVAL,
    check_single,
    chosen_columns,
    named_columns,
    shown_data,
    told_coverages,
)
from tractable.plotting.draws import draw_draws
from tractable.plotting.members import as_members
from tractable.plotting.options import with_options
from tractable.plotting.plot import draw, draw_as, picture
from tractable.plotting.points import draw_rows
from tractable.plotting.regions import draw_plane
from tractable.plotting.style import COLOURS, legend, quiet, title, which_columns

__all__: list[str] = []


@picture.register
def _empirical(x: Empirical, ax: Any, **options: Any) -> Any:
    if x.event_shape:
        return with_options(_sample, x, ax, options)
    return draw_as(Univariate, x, ax, **options)


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
