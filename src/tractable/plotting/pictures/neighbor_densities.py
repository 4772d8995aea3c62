"""Densities by neighbours: a curve over one column, regions of two that hold shares of the rows."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tractable.base import check_columns, check_fitted
from tractable.covariance import resolve_dims
from tractable.density import AdaptiveKernelDensity, NearestNeighborDensity
from tractable.plotting.columns import told_coverages, two_columns
from tractable.plotting.plot import picture
from tractable.plotting.points import draw_rows, how_many, some_rows
from tractable.plotting.regions import draw_regions
from tractable.plotting.rows import box_of, column_names, rows_like
from tractable.plotting.style import COLOURS, legend, quiet, title, which_columns

__all__ = ["draw_estimate"]

COVERAGES = (0.5, 0.9)

#: Rows scored at a time: windows about many rows are held for each.
BLOCK = 512


@picture.register
def _nearest(
    x: NearestNeighborDensity,
    ax: Any,
    *,
    data: Any = None,
    dims: Any = None,
    n_cells: int = 120,
    coverage: float | None = None,
    coverages: Sequence[float] | None = None,
) -> Any:
    """Draw the estimate, which is no density, over one or two columns; of more, the rows by its height."""
    check_fitted(x)
    rows, (_, shares) = _rows(x, x.index_.points, data), told_coverages(coverage, coverages, COVERAGES)
    return draw_estimate(x, ax, rows, dims, "estimate, no density", n_cells, shares)


@picture.register
def _adaptive(
    x: AdaptiveKernelDensity,
    ax: Any,
    *,
    data: Any = None,
    dims: Any = None,
    n_cells: int = 120,
    coverage: float | None = None,
    coverages: Sequence[float] | None = None,
) -> Any:
    """Draw the density over one or two columns; the balloon form, which has no marginals, over its own."""
    check_fitted(x)
    rows = _rows(x, x.rows_, data)
    _, shares = told_coverages(coverage, coverages, COVERAGES)
    if not x.normalized_:
        return draw_estimate(x, ax, rows, dims, "estimate, no density", n_cells, shares)
    names = getattr(x, "feature_names_in_", None)
    wanted = range(min(2, x.n_features_in_)) if dims is None else dims
    columns = list(resolve_dims(wanted, x.n_features_in_, None if names is None else tuple(names)))
    if columns == list(range(x.n_features_in_)):
        return _drawn(x, ax, rows, x.score_samples, "density", n_cells, shares)
    shown = x.distribution_.marginal(columns)
    return _drawn(x, ax, rows[:, columns], shown.log_prob, "density", n_cells, shares, columns)


def draw_estimate(
    x: Any, ax: Any, rows: np.ndarray, dims: Any, told: str, n_cells: int, shares: Sequence[float]
) -> Any:
    """Draw heights that have no marginals: over one or two columns, or of more the rows by them."""
    if x.n_features_in_ > 2:
        return _shaded(x, ax, rows, dims)
    if dims is not None:
        raise ValueError("dims must not be given: the estimate is no density and has no marginals")
    return _drawn(x, ax, rows, x.score_samples, told, n_cells, shares)


def _drawn(
    x: Any,
    ax: Any,
    rows: np.ndarray,
    scores: Callable[[Any], Any],
    told: str,
    n_cells: int,
    coverages: Any,
    columns: Sequence[int] | None = None,
) -> Any:
    whole = columns is None
    columns = range(rows.shape[1]) if columns is None else columns
    names = [column_names(x)[j] for j in columns]

    def heights(points: np.ndarray) -> np.ndarray:
        asked = rows_like(x, points) if whole else points
        parts = [asked[a : a + BLOCK] for a in range(0, len(asked), BLOCK)]
        return np.exp(np.concatenate([np.asarray(scores(part)) for part in parts]))

    low, high = box_of(rows, 0.15)
    sides = [np.linspace(a, b, n_cells) for a, b in zip(low, high, strict=True)]
    if rows.shape[1] == 1:
        _curve(ax, rows[:, 0], np.linspace(sides[0][0], sides[0][-1], 8 * n_cells), heights, told)
        ax.set(xlabel=names[0], ylabel=told)
    else:
        _regions(ax, rows, sides, heights, coverages)
        ax.set(xlabel=names[0], ylabel=names[1])
    quiet(ax)
    legend(ax)
    return ax


def _curve(ax: Any, rows: np.ndarray, at: np.ndarray, heights: Any, told: str) -> None:
    found = heights(at[:, None])
    finite = np.isfinite(found)
    ax.plot(at[finite], found[finite], color=COLOURS[0], label=told)
    ax.set_ylim(0.0, 1.08 * float(found[finite].max()))
    ticks = rows[some_rows(rows)]
    ax.plot(ticks, np.zeros(len(ticks)), "|", color="0.4", ms=9, clip_on=False, label="rows")


def _regions(ax: Any, rows: np.ndarray, sides: list[np.ndarray], heights: Any, coverages: Any) -> None:
    """Draw where the estimate is above the levels above which shares of the rows lie."""
    grid = np.stack(np.meshgrid(*sides), axis=-1)
    found = heights(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    most = float(found[np.isfinite(found)].max())
    at_rows = np.minimum(heights(rows), most)
    levels = np.unique([float(np.quantile(at_rows, 1.0 - share)) for share in coverages])
    draw_rows(ax, rows, label="rows")
    draw_regions(ax, sides[0], sides[1], np.minimum(found, most), levels.tolist(), coverages[: len(levels)])


def _rows(x: Any, kept: Any, data: Any) -> np.ndarray:
    """Return the rows to show: those that were kept, or `data`."""
    return np.asarray(kept if data is None else check_columns(x, data), dtype=float)


def _shaded(x: Any, ax: Any, rows: np.ndarray, dims: Any) -> Any:
    """Draw rows over two of many columns, the darker the denser they lie among all."""
    first, second = two_columns(x, dims)
    parts = [rows[a : a + BLOCK] for a in range(0, len(rows), BLOCK)]
    scores = np.concatenate([np.asarray(x.score_samples(rows_like(x, part))) for part in parts])
    finite = np.isfinite(scores)
    top = scores[finite].max() if finite.any() else 0.0
    shade = np.minimum(scores, top)
    marks = draw_rows(ax, rows[:, [first, second]], c=shade, s=16, cmap="cividis_r", alpha=1.0, label=None)
    ax.figure.colorbar(marks, ax=ax, label="log of the estimate")
    names = column_names(x)
    ax.set(xlabel=names[first], ylabel=names[second])
    title(ax, how_many(len(rows)), which_columns([names[first], names[second]], len(names)))
    quiet(ax)
    return ax
