"""Regression on one column: the data, the prediction and the band that holds new targets."""

from typing import Any

import numpy as np

from tractable.base import PredictiveMixin, check_fitted
from tractable.plotting.plot import draw
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []


@draw.register
def _regression(
    x: PredictiveMixin, ax: Any, *, X: Any = None, y: Any = None, coverage: float = 0.9, grid: Any = None
) -> Any:
    """Draw the prediction over the range of X, or over `grid`; the inner band is of the function alone."""
    check_fitted(x)
    if X is None and grid is None:
        raise ValueError("X must be given, the rows of one column to draw over; or grid")
    if y is not None and X is None:
        raise ValueError("X must be given with y, the rows that the targets belong to")
    rows = None if X is None else _column(X, "X")
    points = _range_of(rows) if rows is not None and grid is None else np.sort(_column(grid, "grid"))
    if y is not None:
        ax.scatter(rows, np.reshape(np.asarray(y, dtype=float), -1), s=12, color="0.55", lw=0, label="data")
    asked = _like(x, points)
    for noise, shade, what in ((True, 0.15, "new targets"), (False, 0.35, "the function")):
        low, high = _band(x.predict_interval(asked, coverage, include_noise=noise))
        ax.fill_between(
            points, low, high, color=COLOURS[0], alpha=shade, lw=0, label=f"{coverage:.0%}, {what}"
        )
    ax.plot(points, np.reshape(x.predict(asked), -1), color=COLOURS[0], label="prediction")
    ax.set(xlabel=getattr(x, "feature_names_in_", ["x"])[0], ylabel="y")
    quiet(ax)
    legend(ax)
    return ax


def _column(X: Any, name: str) -> np.ndarray:
    """Return the one column of X."""
    found = np.asarray(X, dtype=float)
    if found.ndim == 2 and found.shape[1] == 1:
        return found[:, 0]
    if found.ndim == 1:
        return found
    raise ValueError(f"{name} must have one column to be drawn, got shape {found.shape}")


def _range_of(rows: np.ndarray) -> np.ndarray:
    low, high = rows.min(), rows.max()
    margin = 0.05 * (high - low or 1.0)
    return np.linspace(low - margin, high + margin, 200)


def _like(x: Any, points: np.ndarray) -> Any:
    """Return points as the rows that the model knows: with its column name, where it has one."""
    names = getattr(x, "feature_names_in_", None)
    if names is None:
        return points[:, None]
    import pandas as pd

    return pd.DataFrame({names[0]: points})


def _band(interval: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if interval.size != 2 * len(interval):
        raise ValueError(f"x must have one target to be drawn, got {interval.shape[1]}")
    low, high = np.reshape(interval, (-1, 2)).T
    return low, high
