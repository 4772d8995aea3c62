"""Regression: the prediction over one column in its bands, over several beside what was observed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from tractable.base import PredictiveMixin, check_fitted
from tractable.plotting.plot import picture
from tractable.plotting.rows import column_names, draw_rows, given_rows, line_points, rows_like, target_name
from tractable.plotting.style import COLOURS, legend, legend_name, quiet, title

__all__ = ["draw_coefficients", "draw_predicted", "knows_noise"]


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


#: Intervals of more rows than this are a solid block.
MOST_BARS = 300


def draw_predicted(x: Any, ax: Any, rows: Any, y: Any, coverage: float, called: str) -> Any:
    """Draw observed targets against predicted ones with intervals; without targets, rows as predicted."""
    centre = np.asarray(x.predict(rows), dtype=float)
    if centre.ndim > 1 and centre.shape[1] > 1:
        raise ValueError(f"x must have one target to be drawn, got {centre.shape[1]}")
    centre = centre.reshape(-1)
    seen = None if y is None else np.reshape(np.asarray(y, dtype=float), -1)
    if seen is not None and len(seen) != len(centre):
        raise ValueError("y must have one target for each row of data")
    order = np.argsort(centre, kind="stable")
    across = centre[order] if seen is not None else np.arange(1, len(order) + 1)
    if knows_noise(x):
        low, high = np.reshape(x.predict_interval(rows, coverage), (-1, 2))[order].T
        style: dict[str, Any] = {"color": COLOURS[0], "label": f"{coverage:.0%}, new targets"}
        if len(order) > MOST_BARS:
            ax.fill_between(across, low, high, alpha=0.2, lw=0, **style)
        else:
            ax.vlines(across, low, high, alpha=0.35, lw=1.2, **style)
    ax.plot(across, centre[order], color=COLOURS[0], lw=1.0, label="prediction")
    if seen is not None:
        draw_rows(ax, np.column_stack([across, seen[order]]), s=12, color="0.3", zorder=3)
    ax.set(xlabel=f"predicted {called}" if seen is not None else "rows, in order of prediction")
    ax.set(ylabel=called)
    quiet(ax)
    legend(ax)
    return ax


def knows_noise(x: Any) -> bool:
    """Whether there are intervals to draw: of a fit without errors, or of too few rows, there are none."""
    noise = np.asarray(getattr(x, "sigma2_", 1.0), dtype=float)
    return hasattr(x, "predict_interval") and bool(np.all(noise > 0.0))


#: Columns beyond this many are left out, those with the smallest coefficients.
MOST_COLUMNS = 25


def draw_coefficients(
    x: Any, ax: Any, coverage: float, labels: Sequence[str] | None = None, names: Sequence[str] | None = None
) -> Any:
    """Draw the coefficients of each target, class or plane side by side, the first column on top.

    Columns are called by `names`, or as the model knows them.
    """
    coef = np.atleast_2d(np.asarray(x.coef_, dtype=float))
    names, (m, d) = names or column_names(x), coef.shape
    keep = np.sort(np.argsort(-np.abs(coef).max(axis=0), kind="stable")[:MOST_COLUMNS])
    reach = _reach(x, coef, coverage)
    places, step = np.arange(len(keep))[::-1].astype(float), 0.7 / m
    for k in range(m):
        at, colour = places + step * (0.5 * (m - 1) - k), COLOURS[k % len(COLOURS)]
        told = None if labels is None else legend_name(labels[k])
        if reach is not None:
            part = np.abs(reach[k][:, keep])
            ax.errorbar(coef[k, keep], at, xerr=part, fmt="none", ecolor=colour, capsize=2, alpha=0.6)
        ax.plot(coef[k, keep], at, "o", ms=5, color=colour, label=told)
    if reach is not None:
        ax.plot([], [], color="0.4", label=f"{coverage:.0%}")
    ax.axvline(0.0, color="0.7", lw=0.8, zorder=0)
    ax.set_yticks(places, [names[j] for j in keep])
    ax.set(xlabel="coefficient", ylabel="column", ylim=(-0.6, len(keep) - 0.4))
    title(ax, f"the {len(keep)} largest of {d} coefficients" if d > len(keep) else "")
    quiet(ax)
    legend(ax)
    return ax


def _reach(x: Any, coef: np.ndarray, coverage: float) -> np.ndarray | None:
    """Return how far intervals reach to either side, (m, 2, d), where the model knows."""
    if hasattr(x, "coef_interval"):
        try:
            found = np.asarray(x.coef_interval(coverage), dtype=float)
        except (ValueError, AttributeError):  # a penalty leaves estimates without errors
            return None
        ends = np.reshape(found, (*coef.shape, 2))
    elif hasattr(x, "posterior_") and coef.shape[0] == 1:
        belief, ends = x.posterior_, np.empty((*coef.shape, 2))
        first = belief.event_shape[0] - coef.shape[1]  # the intercept is before them
        for j in range(coef.shape[1]):
            ends[0, j] = belief.marginal([first + j]).as_univariate().interval(coverage)
    else:
        return None
    if not np.isfinite(ends).all():
        return None
    return np.moveaxis(ends - coef[..., None], -1, 1)
