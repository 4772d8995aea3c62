"""Basis functions: each as a curve along one column."""

from typing import Any

import numpy as np

from tractable.base import check_columns, check_fitted
from tractable.covariance import resolve_dims
from tractable.linear_model.basis.base import Basis
from tractable.plotting.labels import legend_name
from tractable.plotting.plot import picture
from tractable.plotting.rows import box_of, column_names, rows_like
from tractable.plotting.style import COLOURS, legend, quiet, title, which_columns

__all__: list[str] = []

#: More functions than this are told apart by no legend.
MOST_NAMED = 8


@picture.register
def _basis(x: Basis, ax: Any, *, data: Any = None, dims: Any = None) -> Any:
    """Draw the functions that change along one column, the others at their middle.

    Along the range of `data`, or where the functions were placed.
    """
    check_fitted(x)
    names = column_names(x)
    wanted = resolve_dims([0] if dims is None else dims, len(names), tuple(names))
    if len(wanted) != 1:
        raise ValueError(f"dims must name one column, got {dims!r}")
    column = int(wanted[0])
    low, high, middle = _range(x, data)
    rows = np.tile(middle, (400, 1))
    rows[:, column] = np.linspace(low[column], high[column], 400)
    columns = np.asarray(x.transform(rows_like(x, rows)), dtype=float)
    moving = np.flatnonzero(np.ptp(columns, axis=0) > 0.0)
    called = x.get_feature_names_out()
    for k, j in enumerate(moving):
        label = legend_name(called[j]) if len(moving) <= MOST_NAMED else None
        ax.plot(rows[:, column], columns[:, j], color=COLOURS[k % len(COLOURS)], label=label)
    ax.set(xlabel=names[column], ylabel="basis function")
    told = which_columns([names[column]], len(names))
    title(ax, f"along {told}" if told else "")
    quiet(ax)
    legend(ax)
    return ax


def _range(x: Any, data: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the least, the greatest and a middle value of each column."""
    if data is not None:
        rows = np.asarray(check_columns(x, data), dtype=float)
        return *box_of(rows, 0.02), np.median(rows, axis=0)
    d = x.n_features_in_
    if hasattr(x, "half_"):
        middle, half = (np.broadcast_to(np.asarray(part, dtype=float), d) for part in (x.middle_, x.half_))
    elif hasattr(x, "period_"):
        origin, period = (np.broadcast_to(np.asarray(p, dtype=float), d) for p in (x.origin_, x.period_))
        middle, half = origin + 0.5 * period, 0.5 * period
    elif hasattr(x, "centers_"):
        centers = [np.asarray(part, dtype=float).ravel() for part in x.centers_]
        width = np.broadcast_to(np.asarray(x.width_, dtype=float), d)
        middle = np.array([0.5 * (c.min() + c.max()) for c in centers])
        half = np.array([0.5 * (c.max() - c.min()) for c in centers]) + 1.5 * width
    else:
        widths = np.broadcast_to(np.asarray(getattr(x, "widths_", 1.0), dtype=float).ravel()[:1], d)
        middle, half = np.zeros(d), 3.0 * np.where(widths > 0, widths, 1.0)
    half = np.where(half > 0.0, half, 1.0)
    return middle - half, middle + half, middle
