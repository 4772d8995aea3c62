"""A posterior on a grid: a curve of one parameter, regions of two."""

from collections.abc import Sequence
from typing import Any

from tractable.arrays.namespace import to_numpy
from tractable.distributions import GridPosterior
from tractable.plotting.columns import told_coverages
from tractable.plotting.plot import picture
from tractable.plotting.regions import draw_regions, level_holding
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []


@picture.register
def _grid(
    x: GridPosterior,
    ax: Any,
    *,
    names: Sequence[str] | None = None,
    coverage: float | None = None,
    coverages: Sequence[float] | None = None,
) -> Any:
    """Draw the density of one parameter as a curve, of two as regions."""
    n = len(x.grid)
    if n > 2:
        raise ValueError(f"x must be about one or two parameters, got {n}; take a marginal")
    names = [f"parameter {i + 1}" for i in range(n)] if names is None else list(names)
    if len(names) != n:
        raise ValueError(f"names must have {n} entries, got {len(names)}")
    held, regions = told_coverages(coverage, coverages)
    density, mass = to_numpy(x.density), to_numpy(x.mass)
    axes = [to_numpy(axis) for axis in x.grid]
    if n == 1:
        low, high = (float(end) for end in x.interval(held))
        inside = (axes[0] >= low) & (axes[0] <= high)
        style = {"color": COLOURS[0], "alpha": 0.2, "lw": 0}
        ax.fill_between(axes[0][inside], density[inside], label=f"{held:.0%}", **style)
        ax.plot(axes[0], density, color=COLOURS[0], label="density")
        ax.set(xlabel=names[0], ylabel="density", ylim=(0, None))
    else:
        levels = [level_holding(density, mass, c) for c in regions]
        draw_regions(ax, axes[0], axes[1], density.T, levels, regions)
        ax.set(xlabel=names[0], ylabel=names[1])
    quiet(ax)
    legend(ax)
    return ax
