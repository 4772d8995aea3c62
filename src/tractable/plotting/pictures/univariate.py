"""Distributions of numbers: densities as curves, probabilities as stems, with intervals; grid posteriors."""

from collections.abc import Sequence
from typing import Any

from tractable.arrays.namespace import to_numpy
from tractable.distributions import Categorical, GridPosterior, Univariate
from tractable.plotting.columns import resolve_coverages
from tractable.plotting.curves import (
    batch_members,
    curve_points,
    draw_band,
    draw_curve,
    draw_histogram,
    draw_stems,
    draw_univariate_batch,
)
from tractable.plotting.plot import picture
from tractable.plotting.regions import draw_regions, highest_density_level
from tractable.plotting.style import COLOURS, finish


@picture.register
def _univariate(
    x: Univariate,
    ax: Any,
    *,
    data: Any = None,
    label: str = "x",
    labels: Sequence[str] | None = None,
    coverage: float = 0.9,
) -> Any:
    """Draw one distribution with its interval, or a curve for each member of a batch.

    `label` names the number, `labels` the members. Categories have no order and so no interval.
    """
    if data is not None:
        draw_histogram(x, ax, data)
    if x.batch_shape:
        members, names = batch_members(x, labels)
        return draw_univariate_batch(members, ax, names, label)
    points = curve_points(x)
    unordered = isinstance(getattr(x, "components", x), Categorical)
    height = "probability" if x.discrete else "density"
    if x.discrete:
        draw_stems(x, ax, points, color=COLOURS[0], label=height, coverage=None if unordered else coverage)
    else:
        draw_band(x, ax, points, coverage)
        draw_curve(x, ax, points, color=COLOURS[0], label=height)
    return finish(ax, xlabel=label or "x", ylabel=height, ylim=(0, None))


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
    held, regions = resolve_coverages(coverage, coverages)
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
        levels = [highest_density_level(density, mass, c) for c in regions]
        draw_regions(ax, axes[0], axes[1], density.T, levels, regions)
        ax.set(xlabel=names[0], ylabel=names[1])
    return finish(ax)
