"""Distributions of probabilities and of counts of categories: a triangle for three, bars for more."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.distributions import Beta, Dirichlet
from tractable.distributions.discrete.counting import CountVectors
from tractable.plotting.columns import check_single
from tractable.plotting.plot import draw, picture
from tractable.plotting.rows import draw_rows, sampled_rows
from tractable.plotting.style import COLOURS, finish, legend

#: The corners of the triangle, at each of which one of three probabilities is 1.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


def draw_bars(
    ax: Any,
    mean: Any,
    interval: tuple[Any, Any],
    *,
    coverage: float,
    names: Sequence[str] | None,
    label: str,
    data: np.ndarray | None = None,
) -> Any:
    """Draw the mean and the interval of each category as bars; `data` (n, K) are observed rows."""
    mean, low, high = (np.asarray(part, dtype=float) for part in (mean, *interval))
    if names is not None and len(names) != len(mean):
        raise ValueError(f"names must have {len(mean)} entries, got {len(names)}")
    codes = np.arange(len(mean))
    ax.bar(codes, mean, color=COLOURS[0], alpha=0.35, label="mean")
    if data is not None:
        ax.plot(*np.broadcast_arrays(codes + 0.2, data[sampled_rows(data)]), "_", ms=9, color="0.4")
        ax.plot([], [], "_", ms=9, color="0.4", label="data")
    errors = np.maximum(np.stack([mean - low, high - mean]), 0.0)  # a mean may lie outside its interval
    ax.errorbar(codes, mean, errors, fmt="none", ecolor=COLOURS[0], capsize=3, label=f"{coverage:.0%}")
    if names is not None or len(mean) <= 20:
        ax.set_xticks(codes, [str(k) for k in codes] if names is None else [str(name) for name in names])
    return finish(ax, xlabel="category", ylabel=label, ylim=(0, None))


@picture.register
def _dirichlet(
    x: Dirichlet, ax: Any, *, data: Any = None, names: Sequence[str] | None = None, coverage: float = 0.9
) -> Any:
    """Draw the density of three probabilities over a triangle; of two as a curve, of more as bars."""
    check_single(x)
    k = x.event_shape[0]
    names = [f"x{j}" for j in range(k)] if names is None else list(names)
    if len(names) != k:
        raise ValueError(f"names must have {k} entries, got {len(names)}")
    if k == 2:
        first = None if data is None else np.asarray(data, dtype=float)[:, 0]
        return draw(x.marginal(0), ax, data=first, label=names[0], coverage=coverage)
    if k != 3:
        rows = None if data is None else np.asarray(data, dtype=float)
        total = x.concentration.sum()
        ends = Beta(alpha=x.concentration, beta=total - x.concentration).interval(coverage)
        return draw_bars(ax, x.mean, ends, coverage=coverage, names=names, label="share", data=rows)
    probabilities = _grid()
    density = np.asarray(x.prob(probabilities))
    top = np.quantile(density[np.isfinite(density)], 0.995)
    ax.tricontourf(*(probabilities @ CORNERS).T, np.clip(density, 0.0, top), levels=12, cmap="Blues")
    ax.plot(*CORNERS[[0, 1, 2, 0]].T, color="0.4", lw=1.0)
    if data is not None:
        draw_rows(ax, np.asarray(data, dtype=float) @ CORNERS, color="0.3")
    ax.plot(*(np.asarray(x.mean) @ CORNERS), marker="+", ms=9, color=COLOURS[5], lw=0, label="mean")
    _frame(ax, names)
    return ax


def _grid(n: int = 90) -> np.ndarray:
    """Return three probabilities at the points of a triangular lattice inside the triangle."""
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    keep = i + j < n
    whole = np.stack([i[keep], j[keep], n - 1 - (i + j)[keep]], axis=-1) + 1.0 / 3.0
    return whole / n


def _frame(ax: Any, names: Sequence[str]) -> None:
    ax.set_aspect("equal")
    ax.set(xticks=[], yticks=[], xlabel=f"{names[0]} → {names[1]}", ylabel=f"→ {names[2]}")
    ax.spines[:].set_visible(False)
    offsets = ((0.0, -12.0), (0.0, -12.0), (0.0, 6.0))
    for name, corner, offset in zip(names, CORNERS, offsets, strict=True):
        ax.annotate(name, corner, offset, textcoords="offset points", ha="center")
    legend(ax)


@picture.register
def _counts(
    x: CountVectors, ax: Any, *, data: Any = None, names: Sequence[str] | None = None, coverage: float = 0.9
) -> Any:
    """Draw the mean and the interval of each count; `data` are rows of counts."""
    check_single(x)
    rows = None if data is None else np.asarray(data, dtype=float)
    if rows is not None and (rows.ndim != 2 or rows.shape[1] != x.n_classes):
        raise ValueError(f"data must be rows of {x.n_classes} counts, got shape {rows.shape}")
    ends = x.marginals.interval(coverage)
    return draw_bars(
        ax, x.mean, ends, coverage=coverage, names=names, label=f"count, of {int(x.n_trials)}", data=rows
    )
