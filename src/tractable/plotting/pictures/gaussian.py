"""Gaussian densities: a curve of one column, ellipses of two."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.base import check_fitted
from tractable.density import GaussianDensity
from tractable.distributions import MultivariateNormal
from tractable.plotting.batches import draw_batch
from tractable.plotting.columns import (
    as_number,
    chosen_columns,
    named_columns,
    shown_data,
    told_coverages,
)
from tractable.plotting.matrices import edge, radius_holding
from tractable.plotting.plot import draw, picture
from tractable.plotting.points import draw_rows
from tractable.plotting.style import COLOURS, legend, quiet, title, which_columns

__all__: list[str] = []


@picture.register
def _estimator(x: GaussianDensity, ax: Any, **options: Any) -> Any:
    check_fitted(x)
    return draw(x.distribution_, ax, **options)


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
