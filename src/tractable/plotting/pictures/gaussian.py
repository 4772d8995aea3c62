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
    check_coverages,
    chosen_columns,
    named_columns,
    shown_data,
)
from tractable.plotting.matrices import edge, radius_holding
from tractable.plotting.plot import draw, picture
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []

COVERAGES = (0.5, 0.9, 0.99)


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
    coverages: Sequence[float] = COVERAGES,
    labels: Sequence[str] | None = None,
) -> Any:
    """Draw one column as a curve, two as ellipses; of a batch, one of each member."""
    coverages = check_coverages(coverages)
    if x.batch_shape:
        return draw_batch(x, ax, data=data, dims=dims, labels=labels, coverages=coverages)
    columns = chosen_columns(x, dims)
    shown, names, rows = x.marginal(columns), named_columns(x, columns), shown_data(x, data, columns)
    if len(columns) == 1:
        ax = draw(as_number(shown), ax, data=rows, label=names[0], coverage=max(coverages))
    else:
        _ellipses(shown, ax, rows, names, coverages)
    dim = x.event_shape[0]
    if dim > len(columns):
        ax.set_title(f"{' and '.join(names)}, of {dim} columns", fontsize="medium")
    return ax


def _ellipses(
    x: MultivariateNormal, ax: Any, rows: np.ndarray | None, names: list[str], coverages: Sequence[float]
) -> None:
    if rows is not None:
        ax.scatter(*rows.T, s=9, color="0.6", lw=0, label="data")
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
