"""Gaussian processes: functions with bands, parts of a sum, relevance of columns, searches for a kernel."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from tractable.base import check_number
from tractable.gaussian_process import FunctionParts, GaussianProcessRegressor, KernelSearch, Relevance
from tractable.plotting.pictures.regression import draw_band_and_rows
from tractable.plotting.plot import draw_as, picture
from tractable.plotting.rows import (
    bounding_box,
    column_names,
    rows_argument,
    single_column,
    target_name,
    with_column_names,
)
from tractable.plotting.style import COLOURS, finish, legend_label, title

#: Columns whose relevance is drawn, the most relevant.
MAX_COLUMNS = 25


@picture.register(GaussianProcessRegressor)
def _process(
    x: Any,
    ax: Any,
    *,
    data: Any = None,
    X: Any = None,
    y: Any = None,
    coverage: float = 0.9,
    grid: Any = None,
    column: Any = None,
) -> Any:
    """Draw the function over its column with two bands, and the rows of the fit.

    Of several columns, a slice along `column`, its name or position, or the most relevant one, the others at
    their medians. With `data`, targets against predictions.
    """
    rows, kept = rows_argument(data, X), np.asarray(x.X_train_, dtype=float)
    if column is None and rows is not None:
        return draw_as(RegressorMixin, x, ax, data=rows, y=y, coverage=coverage, grid=grid)
    if np.ndim(x.y_train_) > 1 and np.shape(x.y_train_)[1] > 1:
        raise ValueError(f"x must have one target to be drawn, got {np.shape(x.y_train_)[1]}")
    if x.categories_:
        raise ValueError("data must be given, the rows to draw: x has columns of words")
    j = int(x.relevance().order[0]) if column is None else _place(column_names(x), column)
    low, high = bounding_box(kept[:, [j]], 0.05)
    points = np.linspace(low[0], high[0], 200) if grid is None else np.sort(single_column(grid, "grid"))
    asked = np.tile(np.median(kept, axis=0), (len(points), 1))
    asked[:, j] = points
    observed = np.column_stack([kept[:, j], np.reshape(x.y_train_, -1)]) if x.n_features_in_ == 1 else None
    draw_band_and_rows(x, ax, points, with_column_names(x, asked), observed, coverage)
    title(ax, "other columns at their medians" if x.n_features_in_ > 1 else "")
    return finish(ax, xlabel=column_names(x)[j], ylabel=target_name(y))


@picture.register(FunctionParts)
def _parts(x: Any, ax: Any, *, coverage: float = 0.9, column: Any = None) -> Any:
    """Draw the posterior of each part with a band, along one column of the rows."""
    check_number("coverage", coverage, above=0.0, below=1.0)
    if column is None and len(x.columns) > 1:
        raise ValueError(
            f"column must be given, one of {list(x.columns)}: the parts have rows of several columns"
        )
    j = 0 if column is None else _place(list(x.columns), column)
    at = np.asarray(x.rows, dtype=float)[:, j]
    order = np.argsort(at, kind="stable")
    intervals = x.interval(coverage)
    for k, name in enumerate(x.names):
        colour = COLOURS[k % len(COLOURS)]
        low, high = intervals[k][order].T
        ax.fill_between(at[order], low, high, color=colour, alpha=0.2, lw=0)
        ax.plot(at[order], np.asarray(x.mean[k])[order], color=colour, label=legend_label(name))
    ax.fill_between([], [], [], color="0.5", alpha=0.2, lw=0, label=f"{coverage:.0%}")
    return finish(ax, xlabel=x.columns[j], ylabel="part of the function")


@picture.register(Relevance)
def _relevance(x: Any, ax: Any) -> Any:
    """Draw the relevance of the columns as bars, the most relevant on top."""
    chosen = x.order[:MAX_COLUMNS]
    positions = np.arange(len(chosen))[::-1]
    ax.barh(positions, x.relevance[chosen], color=COLOURS[0], height=0.7)
    ax.set_yticks(positions, [x.names[j] for j in chosen])
    title(
        ax, f"the {len(chosen)} most relevant of {len(x.names)} columns" if len(x.names) > len(chosen) else ""
    )
    return finish(ax, xlabel="relevance", ylabel="column", xlim=(0, None))


@picture.register(KernelSearch)
def _kernel_search(x: Any, ax: Any) -> Any:
    """Draw the criterion of all kernels that were tried by their depth, and the path with their names."""
    for depth in sorted({one.depth for one in x.candidates}):
        tried = [one.criterion for one in x.candidates if one.depth == depth]
        ax.plot(np.full(len(tried), depth), tried, "o", ms=4, color="0.7", zorder=1)
    ax.plot([], [], "o", ms=4, color="0.7", label="tried")
    depths, heights = [one.depth for one in x.path], [one.criterion for one in x.path]
    ax.plot(depths, heights, "o-", color=COLOURS[0], label="best of each depth")
    ax.set_xticks(depths, [one.expression.replace(" + ", "\n+ ") for one in x.path])
    # Kernels that explain nothing would press those on the path together.
    span = max(heights) - min(heights) or 1.0
    least = min(one.criterion for one in x.candidates)
    ax.set_ylim(max(least, min(heights) - span) - 0.1 * span, max(heights) + 0.1 * span)
    return finish(ax, xlabel="kernel", ylabel="log evidence - ½ p log n")


def _place(names: list[str], column: Any) -> int:
    """Return the position of a column given by name or position."""
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, (int, np.integer)) and 0 <= column < len(names):
        return int(column)
    raise ValueError(f"column must be one of {names}, or its position, got {column!r}")
