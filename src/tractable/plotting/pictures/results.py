"""Results: a comparison of likelihoods, a posterior on a grid."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.arrays.namespace import to_numpy
from tractable.distributions import GridPosterior, LikelihoodComparison
from tractable.plotting.plot import draw
from tractable.plotting.regions import draw_regions, level_holding
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []


@draw.register
def _comparison(x: LikelihoodComparison, ax: Any) -> Any:
    """Draw how far each log-likelihood is below the best, with two standard errors, the best on top."""
    order = [x.names.index(name) for name in x.ranking]
    possible = [i for i in order if np.isfinite(x.differences[i])]
    heights = {i: len(order) - 1 - rank for rank, i in enumerate(order)}
    errors = np.nan_to_num(2.0 * x.difference_errors[possible])
    places = [heights[i] for i in possible]
    ax.errorbar(
        x.differences[possible], places, xerr=errors, fmt="o", color=COLOURS[0], capsize=3, label="± 2 s.e."
    )
    ax.axvline(0.0, color="0.7", lw=0.8, zorder=0)
    names = [x.names[i] + ("" if i in possible else " (impossible)") for i in order]
    ax.set_yticks([heights[i] for i in order], names)
    ax.set(xlabel="log-likelihood less than the best", ylabel="distribution", ylim=(-0.5, len(order) - 0.5))
    quiet(ax)
    legend(ax)
    return ax


@draw.register
def _grid(
    x: GridPosterior,
    ax: Any,
    *,
    names: Sequence[str] | None = None,
    coverage: float = 0.9,
    coverages: Sequence[float] = (0.5, 0.9, 0.99),
) -> Any:
    """Draw the density of one parameter as a curve, of two as regions."""
    n = len(x.grid)
    if n > 2:
        raise ValueError(f"x must be about one or two parameters, got {n}; take a marginal")
    names = [f"parameter {i + 1}" for i in range(n)] if names is None else list(names)
    if len(names) != n:
        raise ValueError(f"names must have {n} entries, got {len(names)}")
    density, mass = to_numpy(x.density), to_numpy(x.mass)
    axes = [to_numpy(axis) for axis in x.grid]
    if n == 1:
        low, high = (float(end) for end in x.interval(coverage))
        inside = (axes[0] >= low) & (axes[0] <= high)
        style = {"color": COLOURS[0], "alpha": 0.2, "lw": 0}
        ax.fill_between(axes[0][inside], density[inside], label=f"{coverage:.0%}", **style)
        ax.plot(axes[0], density, color=COLOURS[0], label="density")
        ax.set(xlabel=names[0], ylabel="density", ylim=(0, None))
    else:
        levels = [level_holding(density, mass, c) for c in coverages]
        draw_regions(ax, axes[0], axes[1], density.T, levels, coverages)
        ax.set(xlabel=names[0], ylabel=names[1])
    quiet(ax)
    legend(ax)
    return ax
