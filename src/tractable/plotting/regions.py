"""Distributions of pairs as regions of greatest density."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.plotting.rows import draw_rows, some_rows
from tractable.plotting.style import COLOURS, legend, quiet

__all__ = ["draw_draws", "draw_plane", "draw_regions", "edge", "level_holding", "radius_holding"]

N_DRAWS = 4_000


def draw_plane(
    d: Any, ax: Any, *, data: np.ndarray | None, names: Sequence[str], coverages: Sequence[float]
) -> Any:
    """Draw the smallest regions that hold a distribution of pairs with the given probabilities.

    The density that bounds a region is a quantile of the densities of draws (Hyndman 1996).
    """
    draws = np.asarray(d.sample(N_DRAWS, rng=0), dtype=float)
    low, high = np.quantile(draws, [0.001, 0.999], axis=0)
    room = 0.15 * (high - low)
    x, y = (np.linspace(low[j] - room[j], high[j] + room[j], 161) for j in (0, 1))
    density = np.asarray(d.prob(np.stack(np.meshgrid(x, y), axis=-1)))
    held = np.asarray(d.prob(draws))
    if data is not None:
        draw_rows(ax, data)
    draw_regions(ax, x, y, density, [float(np.quantile(held, 1.0 - c)) for c in coverages], coverages)
    ax.set(xlabel=names[0], ylabel=names[1])
    quiet(ax)
    legend(ax)
    return ax


def draw_regions(
    ax: Any,
    x: np.ndarray,
    y: np.ndarray,
    density: np.ndarray,
    levels: Sequence[float],
    coverages: Sequence[float],
) -> None:
    """Draw where a density over a grid exceeds each level, and say what the regions hold."""
    from matplotlib.lines import Line2D

    order = np.argsort(levels)
    rising = np.asarray(levels)[order]
    shades = 0.35 + 0.65 * np.arange(len(rising)) / max(len(rising) - 1, 1)
    ax.contour(x, y, density, rising, colors=COLOURS[0], alpha=1.0, linewidths=0.4 + 1.2 * shades)
    top = max(float(np.nanmax(density)), rising[-1] * (1 + 1e-9))
    ax.contourf(x, y, density, [*rising, top], colors=COLOURS[0], alpha=0.15)
    told = ", ".join(f"{coverage:.0%}" for coverage in sorted(coverages))
    ax.add_line(Line2D([], [], color=COLOURS[0], label=told))


def level_holding(density: np.ndarray, mass: np.ndarray, coverage: float) -> float:
    """Return the density above which cells of the given mass hold a probability of `coverage`."""
    order = np.argsort(density, axis=None)[::-1]
    held = np.cumsum(mass.ravel()[order])
    place = min(int(np.searchsorted(held, coverage * held[-1])), density.size - 1)
    return float(density.ravel()[order[place]])


def edge(mean: Any, covariance: Any, radius: float, n: int = 120) -> np.ndarray:
    """Return the points (n, 2) at a Mahalanobis distance from a mean."""
    angle = np.linspace(0, 2 * np.pi, n)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    # By columns of their own scale: a covariance of entries far apart has no factor otherwise.
    scale = np.sqrt(np.diagonal(covariance))
    scale = np.where(scale > 0.0, scale, 1.0)
    unit = np.asarray(covariance) / scale / scale[:, None]
    values, vectors = np.linalg.eigh(unit)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(mean) + radius * (circle @ root.T) * scale


def radius_holding(coverage: float) -> float:
    """Return the Mahalanobis radius of the ellipse that holds a Gaussian pair with a probability."""
    return float(np.sqrt(-2.0 * np.log1p(-coverage)))  # the squared radius is exponential


N_SHOWN = 1_000


def draw_draws(x: Any, ax: Any, columns: Sequence[int], names: Sequence[str], rows: Any) -> Any:
    """Draw events drawn from a distribution that cannot tell the density of some of its columns."""
    draws = np.asarray(x.sample(N_SHOWN, rng=0), dtype=float)[:, list(columns)]
    if len(columns) == 1:
        ax.hist(draws[:, 0], bins="fd", density=True, color=COLOURS[0], alpha=0.35, label="draws")
        if rows is not None:
            tall = ax.get_xaxis_transform()
            ticks = rows[some_rows(rows)]
            ax.plot(ticks, np.full(len(ticks), 0.015), "|", ms=6, color="0.4", transform=tall, label="data")
        ax.set(xlabel=names[0], ylabel="density")
    else:
        if rows is not None:
            draw_rows(ax, rows)
        ax.scatter(*draws.T, s=4, color=COLOURS[0], alpha=0.5, lw=0, label="draws")
        ax.set(xlabel=names[0], ylabel=names[1])
    quiet(ax)
    legend(ax)
    return ax
