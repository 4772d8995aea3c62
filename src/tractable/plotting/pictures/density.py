"""Density estimates: Gaussians, histograms, kernel densities, neighbour densities, and their searches."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tractable.arrays.namespace import to_numpy
from tractable.base import check_columns, check_fitted
from tractable.density import (
    AdaptiveKernelDensity,
    BinSearch,
    GaussianDensity,
    Histogram,
    KernelDensity,
    NearestNeighborDensity,
)
from tractable.distributions import HistogramDensity
from tractable.plotting.columns import (
    chosen_columns,
    column_labels,
    data_columns,
    model_columns,
    resolve_coverages,
    two_columns,
)
from tractable.plotting.curves import batch_members
from tractable.plotting.plot import draw, picture, with_options
from tractable.plotting.regions import draw_regions
from tractable.plotting.rows import (
    bounding_box,
    column_names,
    draw_rows,
    sample_note,
    sampled_rows,
    with_column_names,
)
from tractable.plotting.style import COLOURS, finish, hide_spines, title, which_columns
from tractable.smoothing import BandwidthSearch

#: Probabilities of the regions of a kernel density when not given.
COVERAGES = (0.5, 0.9)

#: The label of an estimate that does not integrate to one.
ESTIMATE = "estimate, no density"

#: Rows scored at a time, to bound the memory of kernel sums.
BLOCK = 512


@picture.register(GaussianDensity)
@picture.register(Histogram)
@picture.register(KernelDensity)
def _fitted(x: Any, ax: Any, **options: Any) -> Any:
    """Draw the fitted distribution."""
    check_fitted(x)
    return draw(x.distribution_, ax, **options)


@picture.register
def _histogram(x: HistogramDensity, ax: Any, **options: Any) -> Any:
    drawing = _multivariate_histogram if x.event_shape else _univariate_histogram
    return with_options(drawing, x, ax, options)


def _univariate_histogram(
    x: HistogramDensity,
    ax: Any,
    *,
    coverage: float = 0.9,
    data: Any = None,
    labels: Sequence[str] | None = None,
    label: str = "x",
) -> Any:
    """Draw heights as steps with a credible band; `data` are ticks at the bottom."""
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
        ax.plot(rows, np.full(len(rows), 0.015), "|", ms=5, color="0.4", transform=ax.get_xaxis_transform())
    return finish(ax, xlabel=label or "x", ylabel="density", ylim=(0.0, 1.05 * float(np.max(high))))


def _steps(x: HistogramDensity, ax: Any, label: str, labels: Sequence[str] | None) -> Any:
    """Draw the heights of each member of a batch."""
    for member, name, colour in zip(*batch_members(x, labels), COLOURS, strict=False):
        ax.stairs(to_numpy(member.heights), to_numpy(member.edges), color=colour, lw=1.5, label=name)
    return finish(ax, xlabel=label or "x", ylabel="density")


def _multivariate_histogram(
    x: HistogramDensity,
    ax: Any,
    *,
    data: Any = None,
    dims: Any = None,
    coverage: float = 0.9,
    labels: Sequence[str] | None = None,
) -> Any:
    """Draw one column as steps, or two as an image of their density; of a batch, one column as steps."""
    if x.batch_shape:
        column = chosen_columns(x, dims, most=1)
        if len(column) > 1:
            raise ValueError(f"dims must name one column of a batch, got {dims!r}")
        return draw(x.marginal(column).as_univariate(), ax, label=column_labels(x, column)[0], labels=labels)
    columns = chosen_columns(x, dims)
    shown, names, rows = x.marginal(columns), column_labels(x, columns), data_columns(x, data, columns)
    if len(columns) == 1:
        ax = draw(shown.as_univariate(), ax, data=rows, label=names[0], coverage=coverage)
    else:
        _image(shown, ax, rows, names)
    title(ax, which_columns(names, x.dim))
    return ax


def _image(x: HistogramDensity, ax: Any, rows: np.ndarray | None, names: list[str]) -> None:
    edges, heights = [to_numpy(axis) for axis in x.edges], to_numpy(x.heights)
    mesh = ax.pcolormesh(*edges, np.where(heights > 0, heights, np.nan).T, cmap="Blues", vmin=0.0)
    ax.figure.colorbar(mesh, ax=ax, label="density")
    if rows is not None:
        draw_rows(ax, rows, s=4, color=COLOURS[5])
    finish(ax, xlabel=names[0], ylabel=names[1])


@picture.register
def _bin_search(x: BinSearch, ax: Any) -> Any:
    """Draw the leave-one-out log-likelihood of every number of bins."""
    n, best = x.n_bins.max(axis=1), int(np.argmax(x.scores))
    ax.plot(n, x.scores, color=COLOURS[0])
    ax.plot(n[best], x.scores[best], "o", color=COLOURS[5], label=f"{n[best]} bins")
    return finish(ax, xscale="log", xlabel="bins", ylabel="leave-one-out log-likelihood of a row")


@picture.register(NearestNeighborDensity)
@picture.register(AdaptiveKernelDensity)
def _estimate(x: Any, ax: Any, *, data: Any = None, **options: Any) -> Any:
    """Draw the estimate over one or two columns; one that is not normalised for more, by shaded rows."""
    check_fitted(x)
    if data is not None:
        rows = check_columns(x, data)
    elif isinstance(x, NearestNeighborDensity):
        rows = x.index_.points
    else:
        rows = x._unique_rows_.standardizer.inverse_transform(x._unique_rows_.points)
    label = "density" if getattr(x, "normalized_", False) else ESTIMATE
    return with_options(partial(draw_estimate, np.asarray(rows, dtype=float), label), x, ax, options)


def draw_estimate(
    rows: np.ndarray,
    label: str,
    x: Any,
    ax: Any,
    *,
    dims: Any = None,
    n_cells: int = 120,
    coverage: float | None = None,
    coverages: Sequence[float] | None = None,
) -> Any:
    """Draw an estimate over one or two columns; for more, without marginals, rows shaded by it."""
    _, regions = resolve_coverages(coverage, coverages, COVERAGES)
    if getattr(x, "normalized_", False):
        columns = model_columns(x, dims)
        if columns != list(range(x.n_features_in_)):
            marginal = x.distribution_.marginal(columns)
            return _draw(x, ax, rows[:, columns], marginal.log_prob, label, n_cells, regions, columns)
    elif x.n_features_in_ > 2:
        return _shaded(x, ax, rows, dims)
    elif dims is not None:
        raise ValueError("dims must not be given: the estimate is no density and has no marginals")
    return _draw(x, ax, rows, x.score_samples, label, n_cells, regions)


def _draw(
    x: Any,
    ax: Any,
    rows: np.ndarray,
    scores: Callable[[Any], Any],
    label: str,
    n_cells: int,
    coverages: Any,
    columns: Sequence[int] | None = None,
) -> Any:
    whole = columns is None
    columns = range(rows.shape[1]) if columns is None else columns
    names = [column_names(x)[j] for j in columns]

    def heights(points: np.ndarray) -> np.ndarray:
        asked = with_column_names(x, points) if whole else points
        parts = [asked[a : a + BLOCK] for a in range(0, len(asked), BLOCK)]
        return np.exp(np.concatenate([np.asarray(scores(part)) for part in parts]))

    low, high = bounding_box(rows, 0.15)
    sides = [np.linspace(a, b, n_cells) for a, b in zip(low, high, strict=True)]
    if rows.shape[1] == 1:
        _curve(ax, rows[:, 0], np.linspace(sides[0][0], sides[0][-1], 8 * n_cells), heights, label)
        ax.set(xlabel=names[0], ylabel=label)
    else:
        _regions(ax, rows, sides, heights, coverages)
        ax.set(xlabel=names[0], ylabel=names[1])
    return finish(ax)


def _curve(ax: Any, rows: np.ndarray, at: np.ndarray, heights: Any, label: str) -> None:
    found = heights(at[:, None])
    finite = np.isfinite(found)
    ax.plot(at[finite], found[finite], color=COLOURS[0], label=label)
    ax.set_ylim(0.0, 1.08 * float(found[finite].max()))
    ticks = rows[sampled_rows(rows)]
    ax.plot(ticks, np.zeros(len(ticks)), "|", color="0.4", ms=9, clip_on=False, label="rows")


def _regions(ax: Any, rows: np.ndarray, sides: list[np.ndarray], heights: Any, coverages: Any) -> None:
    """Draw where the estimate exceeds the levels above which the given fractions of the rows lie."""
    grid = np.stack(np.meshgrid(*sides), axis=-1)
    found = heights(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    most = float(found[np.isfinite(found)].max())
    at_rows = np.minimum(heights(rows), most)
    levels = np.unique([float(np.quantile(at_rows, 1.0 - coverage)) for coverage in coverages])
    draw_rows(ax, rows, label="rows")
    draw_regions(ax, sides[0], sides[1], np.minimum(found, most), levels.tolist(), coverages[: len(levels)])


def _shaded(x: Any, ax: Any, rows: np.ndarray, dims: Any) -> Any:
    """Draw rows over two of many columns, darker where the estimate is higher."""
    first, second = two_columns(x, dims)
    parts = [rows[a : a + BLOCK] for a in range(0, len(rows), BLOCK)]
    scores = np.concatenate([np.asarray(x.score_samples(with_column_names(x, part))) for part in parts])
    finite = np.isfinite(scores)
    top = scores[finite].max() if finite.any() else 0.0
    shade = np.minimum(scores, top)
    marks = draw_rows(ax, rows[:, [first, second]], c=shade, s=16, cmap="cividis_r", alpha=1.0, label=None)
    ax.figure.colorbar(marks, ax=ax, label="log of the estimate")
    names = column_names(x)
    ax.set(xlabel=names[first], ylabel=names[second])
    title(ax, sample_note(len(rows)), which_columns([names[first], names[second]], len(names)))
    hide_spines(ax)
    return ax


@picture.register
def _bandwidth_search(x: BandwidthSearch, ax: Any) -> Any:
    """Draw the criterion at every candidate, by the bandwidth of the first column, and the chosen one."""
    widths, chosen = x.candidates[:, 0], float(x.bandwidth[0])
    shown = np.isfinite(x.criteria)
    order = np.argsort(widths[shown])
    ax.plot(widths[shown][order], x.criteria[shown][order], ".-", color=COLOURS[0], label="candidates")
    label = f"bandwidth {chosen:.3g}" + ("" if x.settled else " (rule of thumb: no minimum)")
    if np.isfinite(x.criterion):
        ax.plot(chosen, x.criterion, "o", ms=8, mfc="none", color=COLOURS[5], label=label)
    else:
        ax.axvline(chosen, color=COLOURS[5], lw=1.0, label=label)
    columns = len(x.bandwidth)
    xlabel = "bandwidth" if columns == 1 else f"bandwidth of the first of {columns} columns"
    return finish(ax, xscale="log", xlabel=xlabel, ylabel="criterion, lower is better")
