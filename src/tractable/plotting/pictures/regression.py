"""Regression: the prediction over one column in its bands, over several beside what was observed."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from tractable.base import PredictiveMixin, check_fitted
from tractable.plotting.coefficients import draw_coefficients
from tractable.plotting.line_rows import given_rows, line_points
from tractable.plotting.plot import picture
from tractable.plotting.points import draw_rows
from tractable.plotting.predicted import draw_predicted, knows_noise
from tractable.plotting.rows import column_names, rows_like, target_name
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []


@picture.register(RegressorMixin)
@picture.register(PredictiveMixin)
def _regression(
    x: Any,
    ax: Any,
    *,
    data: Any = None,
    X: Any = None,
    y: Any = None,
    coverage: float = 0.9,
    grid: Any = None,
) -> Any:
    """Draw the prediction over the range of the rows, or over `grid`, in two bands.

    The inner band is of the function alone. Of several columns, targets against predictions.
    Without rows, the coefficients.
    """
    check_fitted(x)
    rows, y = _known_rows(x, given_rows(data, X), y, grid)
    if y is not None and rows is None:
        raise ValueError("data must be given with y, the rows that the targets belong to")
    if rows is None and grid is None:
        if not hasattr(x, "coef_"):
            raise ValueError("data must be given, the rows to draw over; or grid")
        return _coefficients(x, ax, coverage)
    if x.n_features_in_ > 1 and grid is None:
        return draw_predicted(x, ax, rows, y, coverage, target_name(y))
    return _line(x, ax, rows, y, coverage, grid)


def _known_rows(x: Any, rows: Any, y: Any, grid: Any) -> tuple[Any, Any]:
    """Return the rows to draw: of models that keep their rows, those, when none are given."""
    if rows is not None or grid is not None or not hasattr(x, "targets_") or not hasattr(x, "index_"):
        return rows, y
    targets = np.asarray(x.targets_, dtype=float)
    single = targets.ndim == 1 or targets.shape[1] == 1
    return rows_like(x, np.asarray(x.index_.points)), targets.reshape(-1) if single else None


def _coefficients(x: Any, ax: Any, coverage: float) -> Any:
    coef = np.atleast_2d(np.asarray(x.coef_, dtype=float))
    several = len(coef) > 1
    return draw_coefficients(x, ax, coverage, [f"target {k}" for k in range(len(coef))] if several else None)


def _line(x: Any, ax: Any, rows: Any, y: Any, coverage: float, grid: Any) -> Any:
    points, at = line_points(rows, grid)
    if y is not None and at is not None:
        seen = np.reshape(np.asarray(y, dtype=float), -1)
        draw_rows(ax, np.column_stack([at, seen]), s=12, color="0.55")
    asked = rows_like(x, points[:, None])
    bands = ((True, 0.15, "new targets"), (False, 0.35, "the function"))
    for noise, shade, what in bands if knows_noise(x) else ():
        low, high = _band(x.predict_interval(asked, coverage, include_noise=noise))
        ax.fill_between(
            points, low, high, color=COLOURS[0], alpha=shade, lw=0, label=f"{coverage:.0%}, {what}"
        )
    ax.plot(points, np.reshape(x.predict(asked), -1), color=COLOURS[0], label="prediction")
    ax.set(xlabel=column_names(x)[0], ylabel=target_name(y))
    quiet(ax)
    legend(ax)
    return ax


def _band(interval: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if interval.size != 2 * len(interval):
        raise ValueError(f"x must have one target to be drawn, got {interval.shape[1]}")
    low, high = np.reshape(interval, (-1, 2)).T
    return low, high
