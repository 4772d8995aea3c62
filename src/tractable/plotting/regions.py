"""Distributions of pairs as regions of greatest density."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.plotting.points import draw_rows
from tractable.plotting.style import COLOURS, legend, quiet

__all__ = ["draw_plane", "draw_regions", "level_holding"]

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
