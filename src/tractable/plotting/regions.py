"""Distributions of pairs: regions of highest density, ellipses of Gaussians, and samples."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.plotting.columns import chosen_columns, column_labels, data_columns
from tractable.plotting.curves import batch_members, draw_histogram, draw_univariate_batch
from tractable.plotting.rows import draw_rows, sampled_rows
from tractable.plotting.style import COLOURS, finish, title, which_columns

#: Draws that estimate the densities bounding a region, and draws that are shown as points.
N_DRAWS, N_SHOWN = 4_000, 1_000


def draw_density_regions(
    d: Any, ax: Any, *, data: np.ndarray | None, names: Sequence[str], coverages: Sequence[float]
) -> Any:
    """Draw the smallest regions that hold a distribution of pairs with the given probabilities.

    The density that bounds a region is a quantile of the densities of draws (Hyndman 1996).
    """
    draws, sides = _draws_and_grid(d, 161)
    density = np.asarray(d.prob(np.stack(np.meshgrid(*sides), axis=-1)))
    at_draws = np.asarray(d.prob(draws))
    if data is not None:
        draw_rows(ax, data)
    levels = [float(np.quantile(at_draws, 1.0 - coverage)) for coverage in coverages]
    draw_regions(ax, sides[0], sides[1], density, levels, coverages)
    return finish(ax, xlabel=names[0], ylabel=names[1])


def draw_regions(
    ax: Any,
    x: np.ndarray,
    y: np.ndarray,
    density: np.ndarray,
    levels: Sequence[float],
    coverages: Sequence[float],
) -> None:
    """Draw where a density over a grid exceeds each level; the label lists the coverages."""
    from matplotlib.lines import Line2D

    rising = np.unique([level for level in levels if level > 0.0])  # of nearly discrete rows some are equal
    if not len(rising):  # the density of a grid may be zero where columns hardly vary
        return
    shades = 0.35 + 0.65 * np.arange(len(rising)) / max(len(rising) - 1, 1)
    ax.contour(x, y, density, rising, colors=COLOURS[0], alpha=1.0, linewidths=0.4 + 1.2 * shades)
    top = max(float(np.nanmax(density)), rising[-1] * (1 + 1e-9))
    ax.contourf(x, y, density, [*rising, top], colors=COLOURS[0], alpha=0.15)
    label = ", ".join(f"{coverage:.0%}" for coverage in sorted(coverages))
    ax.add_line(Line2D([], [], color=COLOURS[0], label=label))


def highest_density_level(density: np.ndarray, mass: np.ndarray, coverage: float) -> float:
    """Return the density above which cells of the given masses hold a probability of `coverage`."""
    order = np.argsort(density, axis=None)[::-1]
    held = np.cumsum(mass.ravel()[order])
    last = min(int(np.searchsorted(held, coverage * held[-1])), density.size - 1)
    return float(density.ravel()[order[last]])


def ellipse_points(mean: Any, covariance: Any, radius: float, n: int = 120) -> np.ndarray:
    """Return n points (n, 2) at a Mahalanobis distance `radius` from a mean.

    The covariance is scaled to unit diagonal first: one whose entries differ by many orders of magnitude
    has no accurate eigenvectors otherwise.
    """
    angle = np.linspace(0, 2 * np.pi, n)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    scale = np.sqrt(np.diagonal(covariance))
    scale = np.where(scale > 0.0, scale, 1.0)
    values, vectors = np.linalg.eigh(np.asarray(covariance) / scale / scale[:, None])
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(mean) + radius * (circle @ root.T) * scale


def mahalanobis_radius(coverage: float) -> float:
    """Return the Mahalanobis radius of the ellipse that holds a Gaussian pair with a probability.

    The squared radius is exponential with mean 2.
    """
    return float(np.sqrt(-2.0 * np.log1p(-coverage)))


def draw_samples(x: Any, ax: Any, columns: Sequence[int], names: Sequence[str], rows: Any) -> Any:
    """Draw samples of some columns, of a distribution that has no closed form of their density."""
    draws = np.asarray(x.sample(N_SHOWN, rng=0), dtype=float)[:, list(columns)]
    if len(columns) == 1:
        ax.hist(draws[:, 0], bins="fd", density=True, color=COLOURS[0], alpha=0.35, label="draws")
        if rows is not None:
            ticks, style = rows[sampled_rows(rows)], {"transform": ax.get_xaxis_transform()}
            ax.plot(ticks, np.full(len(ticks), 0.015), "|", ms=6, color="0.4", label="data", **style)
        ax.set(xlabel=names[0], ylabel="density")
    else:
        if rows is not None:
            draw_rows(ax, rows)
        ax.scatter(*draws.T, s=4, color=COLOURS[0], alpha=0.5, lw=0, label="draws")
        ax.set(xlabel=names[0], ylabel=names[1])
    return finish(ax)


def draw_batch(
    x: Any,
    ax: Any,
    *,
    data: Any,
    dims: Any,
    labels: Sequence[str] | None,
    coverages: Sequence[float],
    most: int = 2,
) -> Any:
    """Draw a batch of distributions of vectors over one or two of their columns, each in its colour."""
    members, labels = batch_members(x, labels)
    columns = chosen_columns(x, dims, most=most)
    names, rows = column_labels(x, columns), data_columns(x, data, columns)
    whole = columns == list(range(x.event_shape[0]))
    parts = members if whole else [member.marginal(columns) for member in members]
    if len(columns) == 1:
        numbers = [part.as_univariate() for part in parts]
        if rows is not None:
            draw_histogram(numbers[0], ax, rows)
        draw_univariate_batch(numbers, ax, labels, names[0])
    else:
        coverage = sorted(coverages)[len(coverages) // 2]  # one region for each member
        _member_regions(parts, ax, labels, names, float(coverage), rows)
    title(ax, which_columns(names, x.event_shape[0]))
    return ax


def _member_regions(
    pairs: Sequence[Any],
    ax: Any,
    labels: Sequence[str],
    columns: Sequence[str],
    coverage: float,
    data: np.ndarray | None,
) -> None:
    """Draw for each distribution of pairs the smallest region that holds it with a probability."""
    from matplotlib.lines import Line2D

    if data is not None:
        draw_rows(ax, data)
    for pair, label, colour in zip(pairs, labels, COLOURS, strict=False):
        draws, sides = _draws_and_grid(pair, 121)
        heights = np.asarray(pair.log_prob(np.stack(np.meshgrid(*sides), axis=-1)))
        level = float(np.quantile(np.asarray(pair.log_prob(draws)), 1.0 - coverage))
        bounded = np.maximum(heights, level - 50.0)  # contours need finite heights
        ax.contour(*sides, bounded, [level], colors=[colour], linestyles="solid")
        ax.add_line(Line2D([], [], color=colour, label=f"{label}, {coverage:.0%}"))
    ax.set(xlabel=columns[0], ylabel=columns[1])
    ax.autoscale_view()
    finish(ax)


def _draws_and_grid(d: Any, n: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return draws of a distribution of pairs, and the n points of each side of a grid around them."""
    draws = np.asarray(d.sample(N_DRAWS, rng=0), dtype=float)
    low, high = np.quantile(draws, [0.001, 0.999], axis=0)
    margin = 0.15 * (high - low)
    return draws, [np.linspace(low[j] - margin[j], high[j] + margin[j], n) for j in (0, 1)]
