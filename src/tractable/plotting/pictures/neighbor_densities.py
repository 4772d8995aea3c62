"""Densities by neighbours: a curve over one column, regions of two that hold shares of the rows."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tractable.base import check_fitted
from tractable.covariance import resolve_dims
from tractable.density import AdaptiveKernelDensity, NearestNeighborDensity
from tractable.plotting.columns import check_coverages
from tractable.plotting.plot import draw
from tractable.plotting.regions import draw_regions
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []

COVERAGES = (0.5, 0.9)

#: Rows scored at a time: windows about many rows are held for each.
BLOCK = 512


@draw.register
def _nearest(x: NearestNeighborDensity, ax: Any, *, n_cells: int = 120, coverages: Any = COVERAGES) -> Any:
    """Draw the estimate, which is no density, over its one or two columns."""
    check_fitted(x)
    return _drawn(x, ax, x.index_.points, x.score_samples, "estimate, no density", n_cells, coverages)


@draw.register
def _adaptive(
    x: AdaptiveKernelDensity, ax: Any, *, dims: Any = None, n_cells: int = 120, coverages: Any = COVERAGES
) -> Any:
    """Draw the density over one or two columns; the balloon form, which has no marginals, over its own."""
    check_fitted(x)
    rows = x.places_.middle + x.places_.spread * x.places_.points
    if not x.normalized_:
        if dims is not None:
            raise ValueError("dims must not be given: the balloon form is no density and has no marginals")
        return _drawn(x, ax, rows, x.score_samples, "estimate, no density", n_cells, coverages)
    names = getattr(x, "feature_names_in_", None)
    wanted = range(min(2, x.n_features_in_)) if dims is None else dims
    columns = list(resolve_dims(wanted, x.n_features_in_, None if names is None else tuple(names)))
    if columns == list(range(x.n_features_in_)):
        return _drawn(x, ax, rows, x.score_samples, "density", n_cells, coverages)
    shown = x.distribution_.marginal(columns)
    return _drawn(x, ax, rows[:, columns], shown.log_prob, "density", n_cells, coverages, columns)


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
    found = getattr(x, "feature_names_in_", None)
    whole = columns is None
    columns = range(rows.shape[1]) if columns is None else columns
    names = [f"x{j}" if found is None else str(found[j]) for j in columns]
    if rows.shape[1] > 2:
        raise ValueError(f"x must have one or two columns to be drawn, it has {rows.shape[1]}")

    def heights(points: np.ndarray) -> np.ndarray:
        asked = _named(points, names) if whole and found is not None else points
        parts = [asked[a : a + BLOCK] for a in range(0, len(asked), BLOCK)]
        return np.exp(np.concatenate([np.asarray(scores(part)) for part in parts]))

    low, high = rows.min(axis=0), rows.max(axis=0)
    room = 0.15 * np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
    sides = [np.linspace(a - r, b + r, n_cells) for a, b, r in zip(low, high, room, strict=True)]
    if rows.shape[1] == 1:
        _curve(ax, rows[:, 0], np.linspace(sides[0][0], sides[0][-1], 8 * n_cells), heights, told)
        ax.set(xlabel=names[0], ylabel=told)
    else:
        _regions(ax, rows, sides, heights, check_coverages(coverages))
        ax.set(xlabel=names[0], ylabel=names[1])
    quiet(ax)
    legend(ax)
    return ax


def _curve(ax: Any, rows: np.ndarray, at: np.ndarray, heights: Any, told: str) -> None:
    found = heights(at[:, None])
    finite = np.isfinite(found)
    ax.plot(at[finite], found[finite], color=COLOURS[0], label=told)
    ax.set_ylim(0.0, 1.08 * float(found[finite].max()))
    ax.plot(rows, np.zeros(len(rows)), "|", color="0.4", ms=9, clip_on=False, label="rows")


def _regions(ax: Any, rows: np.ndarray, sides: list[np.ndarray], heights: Any, coverages: Any) -> None:
    """Draw where the estimate is above the levels above which shares of the rows lie."""
    grid = np.stack(np.meshgrid(*sides), axis=-1)
    found = heights(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    most = float(found[np.isfinite(found)].max())
    at_rows = np.minimum(heights(rows), most)
    levels = np.unique([float(np.quantile(at_rows, 1.0 - share)) for share in coverages])
    ax.scatter(*rows.T, s=9, color="0.6", lw=0, label="rows")
    draw_regions(ax, sides[0], sides[1], np.minimum(found, most), levels.tolist(), coverages[: len(levels)])


def _named(points: np.ndarray, names: Sequence[str]) -> Any:
    import pandas as pd

    return pd.DataFrame(points, columns=list(names))
