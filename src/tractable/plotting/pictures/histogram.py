"""Histograms: steps with bands of what the counts leave open; two columns as a map."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.arrays.namespace import to_numpy
from tractable.base import check_fitted
from tractable.density import BinSearch, Histogram
from tractable.distributions import HistogramDensity
from tractable.plotting.columns import as_number, chosen_columns, named_columns, shown_data
from tractable.plotting.members import as_members
from tractable.plotting.options import with_options
from tractable.plotting.plot import draw, picture
from tractable.plotting.points import draw_rows
from tractable.plotting.style import COLOURS, legend, quiet, title, which_columns

__all__: list[str] = []


@picture.register
def _estimator(x: Histogram, ax: Any, **options: Any) -> Any:
    check_fitted(x)
    return draw(x.distribution_, ax, **options)


@picture.register
def _histogram(x: HistogramDensity, ax: Any, **options: Any) -> Any:
    return with_options(_vectors if x.event_shape else _numbers, x, ax, options)


def _numbers(
    x: HistogramDensity,
    ax: Any,
    *,
    data: Any = None,
    label: str = "x",
    labels: Sequence[str] | None = None,
    coverage: float = 0.9,
) -> Any:
    """Draw heights as steps, with a credible band about each; `data` are ticks below."""
    if x.batch_shape:
        return _steps(x, ax, label, labels)
    edges = to_numpy(x.edges)
    low, high = (to_numpy(end) for end in x.height_interval(coverage))
    ax.stairs(
        high, edges, baseline=low, fill=True, color=COLOURS[0], alpha=0.2, lw=0, label=f"{coverage:.0%}"
    )
    ax.stairs(to_numpy(x.heights), edges, color=COLOURS[0], lw=1.5, label="density")
    if data is not None:
        rows = np.asarray(data, dtype=float).reshape(-1)
        # In heights of the axes, so that ticks stay where they are.
        ax.plot(rows, np.full(len(rows), 0.015), "|", ms=5, color="0.4", transform=ax.get_xaxis_transform())
    ax.set(xlabel=label or "x", ylabel="density", ylim=(0.0, 1.05 * float(np.max(high))))
    quiet(ax)
    legend(ax)
    return ax


def _steps(x: HistogramDensity, ax: Any, label: str, labels: Sequence[str] | None) -> Any:
    """Draw the heights of each member of a batch."""
    for member, name, colour in zip(*as_members(x, labels), COLOURS, strict=False):
        ax.stairs(to_numpy(member.heights), to_numpy(member.edges), color=colour, lw=1.5, label=name)
    ax.set(xlabel=label or "x", ylabel="density")
    quiet(ax)
    legend(ax)
    return ax


def _vectors(
    x: HistogramDensity,
    ax: Any,
    *,
    data: Any = None,
    dims: Any = None,
    coverage: float = 0.9,
    labels: Sequence[str] | None = None,
) -> Any:
    """Draw one column as steps, or two as a map of their density; of a batch, the first as steps."""
    if x.batch_shape:
        column = chosen_columns(x, dims, most=1)
        if len(column) > 1:
            raise ValueError(f"dims must name one column of a batch, got {dims!r}")
        return draw(as_number(x.marginal(column)), ax, label=named_columns(x, column)[0], labels=labels)
    columns = chosen_columns(x, dims)
    shown, names, rows = x.marginal(columns), named_columns(x, columns), shown_data(x, data, columns)
    if len(columns) == 1:
        ax = draw(as_number(shown), ax, data=rows, label=names[0], coverage=coverage)
    else:
        _map(shown, ax, rows, names)
    title(ax, which_columns(names, x.dim))
    return ax


def _map(x: HistogramDensity, ax: Any, rows: np.ndarray | None, names: list[str]) -> None:
    edges, heights = [to_numpy(axis) for axis in x.edges], to_numpy(x.heights)
    mesh = ax.pcolormesh(*edges, np.where(heights > 0, heights, np.nan).T, cmap="Blues", vmin=0.0)
    ax.figure.colorbar(mesh, ax=ax, label="density")
    if rows is not None:
        draw_rows(ax, rows, s=4, color=COLOURS[5])
    ax.set(xlabel=names[0], ylabel=names[1])
    quiet(ax)
    legend(ax)


@picture.register
def _search(x: BinSearch, ax: Any) -> Any:
    """Draw how well each number of bins foretells a row from the others."""
    n, best = x.n_bins.max(axis=1), int(np.argmax(x.scores))
    ax.plot(n, x.scores, color=COLOURS[0])
    ax.plot(n[best], x.scores[best], "o", color=COLOURS[5], label=f"{n[best]} bins")
    ax.set(xscale="log", xlabel="bins", ylabel="leave-one-out log-likelihood of a row")
    quiet(ax)
    legend(ax)
    return ax
