"""Density estimates: a curve of one column, regions of two."""

from collections.abc import Sequence
from typing import Any

from tractable.base import check_fitted
from tractable.density import KernelDensity
from tractable.distributions import SmoothedEmpirical, Univariate
from tractable.plotting.columns import chosen_columns, named_columns, shown_data, told_coverages
from tractable.plotting.draws import draw_draws
from tractable.plotting.options import with_options
from tractable.plotting.plot import draw, draw_as, picture
from tractable.plotting.regions import draw_plane
from tractable.plotting.style import title, which_columns
from tractable.smoothing import check_window

__all__: list[str] = []

COVERAGES = (0.5, 0.9)


@picture.register
def _estimator(x: KernelDensity, ax: Any, **options: Any) -> Any:
    check_fitted(x)
    return draw(x.distribution_, ax, **options)


@picture.register
def _smoothed(x: SmoothedEmpirical, ax: Any, **options: Any) -> Any:
    if x.event_shape:
        return with_options(_vectors, x, ax, options)
    return draw_as(Univariate, x, ax, **options)


def _vectors(
    x: SmoothedEmpirical,
    ax: Any,
    *,
    data: Any = None,
    dims: Any = None,
    coverage: float | None = None,
    coverages: Sequence[float] | None = None,
) -> Any:
    columns, (held, regions) = chosen_columns(x, dims), told_coverages(coverage, coverages, COVERAGES)
    names, rows = named_columns(x, columns), shown_data(x, data, columns)
    whole = columns == list(range(x.dim))
    # Other windows are not closed under marginals.
    if not whole and check_window(x.window).name != "gaussian":
        draw_draws(x, ax, columns, names, rows)
        title(ax, which_columns(names, x.dim))
        return ax
    shown = x if whole else x.marginal(columns)
    if len(columns) > 1:
        draw_plane(shown, ax, data=rows, names=names, coverages=regions)
    else:
        given = None if rows is None else rows[:, 0]
        draw(shown.as_univariate(), ax, data=given, label=names[0], coverage=held)
    title(ax, which_columns(names, x.dim))
    return ax
