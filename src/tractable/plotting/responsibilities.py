"""Rows in the colours of the components of a mixture that they belong to."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.covariance import resolve_dims
from tractable.data import is_frame
from tractable.distributions import MultivariateNormal
from tractable.plotting.categories import component_colour
from tractable.plotting.column_axes import ColumnAxis, apart, as_places
from tractable.plotting.matrices import edge, radius_holding
from tractable.plotting.points import draw_rows, how_many, some_rows
from tractable.plotting.rows import column_names
from tractable.plotting.style import legend, quiet

__all__ = ["draw_responsibilities", "model_columns"]


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
