"""Regressions: predictions with bands over one column, against targets for several, or coefficients."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from tractable.base import check_fitted
from tractable.plotting.plot import picture
from tractable.plotting.rows import (
    column_names,
    curve_grid,
    draw_rows,
    rows_argument,
    target_name,
    with_column_names,
)
from tractable.plotting.style import COLOURS, finish, legend_label, title

#: Intervals of more rows than this are drawn as one band.
MAX_BARS = 300

#: Columns with a coefficient drawn, those of the largest; the others are left out.
MAX_COLUMNS = 25


@picture.register(RegressorMixin)
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
    """Draw the prediction over the range of the rows, or over `grid`, with two bands.

    The inner band is that of the function, the outer one of new targets. For several columns, targets
    against predictions; without rows, the coefficients.
    """
    check_fitted(x)
    rows, y = _default_rows(x, rows_argument(data, X), y, grid)
    if y is not None and rows is None:
        raise ValueError("data must be given with y, the rows that the targets belong to")
    if rows is None and grid is None:
        if not hasattr(x, "coef_"):
            raise ValueError("data must be given, the rows to draw over; or grid")
        m = len(np.atleast_2d(x.coef_))
        return draw_coefficients(x, ax, coverage, [f"target {k}" for k in range(m)] if m > 1 else None)
    if x.n_features_in_ > 1 and grid is None:
        return draw_predicted(x, ax, rows, y, coverage, target_name(y))
    return _line(x, ax, rows, y, coverage, grid)


def _default_rows(x: Any, rows: Any, y: Any, grid: Any) -> tuple[Any, Any]:
    """Return the rows to draw: when none are given, those that a model stores with their targets."""
    if rows is not None or grid is not None:
        return rows, y
    untargeted = getattr(x, "inducing_points_", getattr(x, "X_train_", None))
    if untargeted is not None:
        return with_column_names(x, np.asarray(untargeted)), y
    held = x.index_.points if hasattr(x, "index_") else getattr(x, "X_fit_", None)
    if not hasattr(x, "targets_") or held is None:
        return rows, y
    targets = np.asarray(x.targets_, dtype=float)
    single = targets.ndim == 1 or targets.shape[1] == 1
    return with_column_names(x, np.asarray(held)), targets.reshape(-1) if single else None


def _line(x: Any, ax: Any, rows: Any, y: Any, coverage: float, grid: Any) -> Any:
    points, at = curve_grid(rows, grid)
    observed = None
    if y is not None and at is not None:
        observed = np.column_stack([at, np.reshape(np.asarray(y, dtype=float), -1)])
    draw_band_and_rows(x, ax, points, with_column_names(x, points[:, None]), observed, coverage)
    return finish(ax, xlabel=column_names(x)[0], ylabel=target_name(y))


def draw_band_and_rows(
    x: Any, ax: Any, points: np.ndarray, asked: Any, observed: Any, coverage: float
) -> None:
    """Draw the prediction of rows `asked` over points, with bands of the function and of new targets."""
    if observed is not None:
        draw_rows(ax, observed, s=12, color="0.55")
    bands = ((True, 0.15, "new targets"), (False, 0.35, "the function"))
    for noise, shade, what in bands if _has_intervals(x, coverage) else ():
        try:
            interval = x.predict_interval(asked, coverage, include_noise=noise)
        except ValueError:
            if noise:
                raise
            continue  # the model has intervals of targets alone
        if interval.size != 2 * len(interval):
            raise ValueError(f"x must have one target to be drawn, got {interval.shape[1]}")
        low, high = np.reshape(interval, (-1, 2)).T
        ax.fill_between(
            points, low, high, color=COLOURS[0], alpha=shade, lw=0, label=f"{coverage:.0%}, {what}"
        )
    ax.plot(points, np.reshape(x.predict(asked), -1), color=COLOURS[0], label="prediction")


def draw_predicted(x: Any, ax: Any, rows: Any, y: Any, coverage: float, name: str) -> Any:
    """Draw observed against predicted targets with intervals; without targets, predictions in order."""
    centre = np.asarray(x.predict(rows), dtype=float)
    if centre.ndim > 1 and centre.shape[1] > 1:
        raise ValueError(f"x must have one target to be drawn, got {centre.shape[1]}")
    centre = centre.reshape(-1)
    observed = None if y is None else np.reshape(np.asarray(y, dtype=float), -1)
    if observed is not None and len(observed) != len(centre):
        raise ValueError("y must have one target for each row of data")
    order = np.argsort(centre, kind="stable")
    across = centre[order] if observed is not None else np.arange(1, len(order) + 1)
    if _has_intervals(x, coverage):
        low, high = np.reshape(x.predict_interval(rows, coverage), (-1, 2))[order].T
        style: dict[str, Any] = {"color": COLOURS[0], "label": f"{coverage:.0%}, new targets"}
        if len(order) > MAX_BARS:
            ax.fill_between(across, low, high, alpha=0.2, lw=0, **style)
        else:
            ax.vlines(across, low, high, alpha=0.35, lw=1.2, **style)
    ax.plot(across, centre[order], color=COLOURS[0], lw=1.0, label="prediction")
    if observed is not None:
        draw_rows(ax, np.column_stack([across, observed[order]]), s=12, color="0.3", zorder=3)
    ax.set(xlabel=f"predicted {name}" if observed is not None else "rows, in order of prediction")
    return finish(ax, ylabel=name)


def _has_intervals(x: Any, coverage: float) -> bool:
    """Return whether there are intervals to draw: not of a fit without residuals, nor of few neighbours."""
    noise = np.asarray(getattr(x, "noise_variance_", 1.0), dtype=float)
    enough = coverage <= getattr(x, "max_coverage_", 1.0)
    return hasattr(x, "predict_interval") and enough and bool(np.all(noise > 0.0))


def draw_coefficients(
    x: Any, ax: Any, coverage: float, labels: Sequence[str] | None = None, names: Sequence[str] | None = None
) -> Any:
    """Draw the coefficients of each target, class or component side by side, the first column on top.

    `labels` are those of the targets, classes or components; `names` those of the columns, the model's when
    not given.
    """
    coef = np.atleast_2d(np.asarray(x.coef_, dtype=float))
    names, (m, d) = names or column_names(x), coef.shape
    keep = np.sort(np.argsort(-np.abs(coef).max(axis=0), kind="stable")[:MAX_COLUMNS])
    errors = _coefficient_errors(x, coef, coverage)
    positions, step = np.arange(len(keep))[::-1].astype(float), 0.7 / m
    for k in range(m):
        at, colour = positions + step * (0.5 * (m - 1) - k), COLOURS[k % len(COLOURS)]
        label = None if labels is None else legend_label(labels[k])
        if errors is not None:
            part = np.abs(errors[k][:, keep])
            ax.errorbar(coef[k, keep], at, xerr=part, fmt="none", ecolor=colour, capsize=2, alpha=0.6)
        ax.plot(coef[k, keep], at, "o", ms=5, color=colour, label=label)
    if errors is not None:
        ax.plot([], [], color="0.4", label=f"{coverage:.0%}")
    ax.axvline(0.0, color="0.7", lw=0.8, zorder=0)
    ax.set_yticks(positions, [names[j] for j in keep])
    ax.set(xlabel="coefficient", ylabel="column", ylim=(-0.6, len(keep) - 0.4))
    title(ax, f"the {len(keep)} largest of {d} coefficients" if d > len(keep) else "")
    return finish(ax)


def _coefficient_errors(x: Any, coef: np.ndarray, coverage: float) -> np.ndarray | None:
    """Return the distances of the ends of the intervals, (m, 2, d); None if the model has no intervals."""
    if hasattr(x, "coef_interval"):
        try:
            found = np.asarray(x.coef_interval(coverage), dtype=float)
        except (ValueError, AttributeError):  # penalised estimates have no standard errors
            return None
        ends = np.reshape(found, (*coef.shape, 2))
    elif hasattr(x, "posterior_") and coef.shape[0] == 1:
        posterior, ends = x.posterior_, np.empty((*coef.shape, 2))
        first = posterior.event_shape[0] - coef.shape[1]  # the intercept comes first
        for j in range(coef.shape[1]):
            ends[0, j] = posterior.marginal([first + j]).as_univariate().interval(coverage)
    else:
        return None
    if not np.isfinite(ends).all():
        return None
    return np.moveaxis(ends - coef[..., None], -1, 1)
