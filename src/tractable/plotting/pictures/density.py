"""Histograms: steps with bands of what the counts leave open; two columns as a map."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tractable.arrays.namespace import to_numpy
from tractable.base import check_columns, check_fitted
from tractable.covariance import resolve_dims
from tractable.density import (
    AdaptiveKernelDensity,
    BinSearch,
    GaussianDensity,
    Histogram,
    KernelDensity,
    NearestNeighborDensity,
)
from tractable.distributions import (
    HistogramDensity,
    SmoothedEmpirical,
    Univariate,
    UnivariateHistogram,
    UnivariateSmoothedEmpirical,
)
from tractable.plotting.columns import (
    as_number,
    chosen_columns,
    named_columns,
    shown_data,
    told_coverages,
    two_columns,
)
from tractable.plotting.curves import as_members
from tractable.plotting.plot import draw, draw_as, picture
from tractable.plotting.regions import draw_draws, draw_plane, draw_regions
from tractable.plotting.rows import box_of, column_names, draw_rows, how_many, rows_like, some_rows
from tractable.plotting.style import COLOURS, legend, quiet, title, which_columns
from tractable.smoothing import BandwidthSearch, check_window

__all__ = ["draw_estimate"]


@picture.register
def _histogram(x: Histogram, ax: Any, **options: Any) -> Any:
    check_fitted(x)
    return draw(x.distribution_, ax, **options)


@picture.register
def _one_column(
    x: UnivariateHistogram,
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


def _steps(x: UnivariateHistogram, ax: Any, label: str, labels: Sequence[str] | None) -> Any:
    """Draw the heights of each member of a batch."""
    for member, name, colour in zip(*as_members(x, labels), COLOURS, strict=False):
        ax.stairs(to_numpy(member.heights), to_numpy(member.edges), color=colour, lw=1.5, label=name)
    ax.set(xlabel=label or "x", ylabel="density")
    quiet(ax)
    legend(ax)
    return ax


@picture.register
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


COVERAGES = (0.5, 0.9)


@picture.register
def _kernel_density(x: KernelDensity, ax: Any, **options: Any) -> Any:
    check_fitted(x)
    return draw(x.distribution_, ax, **options)


@picture.register
def _numbers(x: UnivariateSmoothedEmpirical, ax: Any, **options: Any) -> Any:
    return draw_as(Univariate, x, ax, **options)


@picture.register
def _smoothed(
    x: SmoothedEmpirical,
    ax: Any,
    *,
    data: Any = None,
    dims: Any = None,
    coverage: float | None = None,
    coverages: Sequence[float] | None = None,
) -> Any:
    columns, (held, regions) = chosen_columns(x, dims), told_coverages(coverage, coverages, COVERAGES)
    names, rows = named_columns(x, columns), shown_data(x, data, columns)
    whole = columns == list(range(x.dim))
    # Other windows are not closed under marginals.
    if not whole and check_window(x.window).name != "gaussian":
        draw_draws(x, ax, columns, names, rows)
        title(ax, which_columns(names, x.dim))
        return ax
    shown = x if whole else x.marginal(columns)
    if len(columns) > 1:
        draw_plane(shown, ax, data=rows, names=names, coverages=regions)
    else:
        given = None if rows is None else rows[:, 0]
        draw(shown.as_univariate(), ax, data=given, label=names[0], coverage=held)
    title(ax, which_columns(names, x.dim))
    return ax


NEIGHBOR_COVERAGES = (0.5, 0.9)

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
    rows, (_, shares) = (
        _rows(x, x.index_.points, data),
        told_coverages(coverage, coverages, NEIGHBOR_COVERAGES),
    )
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
    rows = _rows(x, x.places_.middle + x.places_.spread * x.places_.points, data)
    _, shares = told_coverages(coverage, coverages, NEIGHBOR_COVERAGES)
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


@picture.register
def _bandwidths(x: BandwidthSearch, ax: Any) -> Any:
    """Draw the criterion at every candidate, by the width along the first column, and what was chosen."""
    widths, chosen = x.candidates[:, 0], float(x.bandwidth[0])
    shown = np.isfinite(x.criteria)
    order = np.argsort(widths[shown])
    ax.plot(widths[shown][order], x.criteria[shown][order], ".-", color=COLOURS[0], label="candidates")
    told = f"bandwidth {chosen:.3g}" + ("" if x.settled else " (a rule's: none was best)")
    if np.isfinite(x.criterion):
        ax.plot(chosen, x.criterion, "o", ms=8, mfc="none", color=COLOURS[5], label=told)
    else:
        ax.axvline(chosen, color=COLOURS[5], lw=1.0, label=told)
    columns = len(x.bandwidth)
    label = "bandwidth" if columns == 1 else f"bandwidth of the first of {columns} columns"
    ax.set(xscale="log", xlabel=label, ylabel="criterion, lower is better")
    quiet(ax)
    legend(ax)
    return ax


@picture.register
def _gaussian_density(x: GaussianDensity, ax: Any, **options: Any) -> Any:
    check_fitted(x)
    return draw(x.distribution_, ax, **options)
