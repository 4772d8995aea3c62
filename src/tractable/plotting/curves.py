"""Distributions of numbers as curves and stems."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, to_numpy
from tractable.plotting.columns import as_number, chosen_columns, named_columns, shown_data
from tractable.plotting.rows import draw_rows
from tractable.plotting.style import COLOURS, legend, legend_name, quiet, title, which_columns

__all__ = [
    "as_members",
    "curve_points",
    "draw_band",
    "draw_batch",
    "draw_curve",
    "draw_histogram",
    "draw_members",
    "draw_numbers",
    "draw_stems",
    "prob_at",
]

#: More stems than this would be a solid block: they become a line.
MOST_STEMS = 200

#: More whole numbers than this are thinned out: no picture shows more.
MOST_POINTS = 10_000


def prob_at(d: Any, points: np.ndarray) -> np.ndarray:
    """Return the density (or probability) of one distribution at points on the host."""
    return to_numpy(d.prob(_there(points, d)))


def curve_points(d: Any) -> np.ndarray:
    """Return where one distribution is worth drawing: its whole numbers or atoms, or a grid.

    A grid is finer where the curve is narrow. It reaches out to one draw in twenty thousand, but where tails
    are long no further than a third beyond the middle 98 %.
    """
    if hasattr(d, "atoms"):
        return np.unique(to_numpy(d.atoms))
    far, near = _quantiles(d, [5e-5, 1 - 5e-5]), _quantiles(d, [0.01, 0.99])
    if d.discrete:
        if far[1] - far[0] < MOST_POINTS:
            return np.arange(far[0], far[1] + 1.0)
        # Finer towards both ends, where all but a few of them may lie.
        steps = np.geomspace(1.0, far[1] - far[0], MOST_POINTS // 5) - 1.0
        even = np.linspace(far[0], far[1], MOST_POINTS // 2)
        return np.unique(np.floor(np.concatenate([even, far[0] + steps, far[1] - steps])))
    room = 0.35 * (near[1] - near[0])
    low, high = max(far[0], near[0] - room), min(far[1], near[1] + room)
    inner = _quantiles(d, np.linspace(0.001, 0.999, 200))
    points = np.concatenate([np.linspace(low, high, 400), inner])
    return np.unique(points[(points >= low) & (points <= high)])


def draw_curve(d: Any, ax: Any, points: np.ndarray, *, scale: float = 1.0, **style: Any) -> None:
    """Draw scale · p(x); a density that is infinite at an end runs out of the picture."""
    density = scale * prob_at(d, points)
    finite = np.isfinite(density)
    ax.plot(points[finite], density[finite], **style)
    if np.isinf(prob_at(d, np.asarray([float(end) for end in d.support or ()]))).any():
        bulk = scale * prob_at(d, _quantiles(d, np.linspace(0.1, 0.9, 9)))
        bulk = bulk[np.isfinite(bulk)]
        # Where most of it lies at the ends, what there is between them sets the scale.
        ax.set_ylim(0, 4.0 * np.median(bulk if len(bulk) else density[finite]))


def draw_band(d: Any, ax: Any, points: np.ndarray, coverage: float) -> None:
    """Shade the equal-tailed interval under a curve."""
    low, high = (float(end) for end in d.interval(coverage))
    inside = np.unique([low, *points[(points >= low) & (points <= high)], high])
    density = prob_at(d, inside)
    finite = np.isfinite(density)
    style = {"color": COLOURS[0], "alpha": 0.2, "lw": 0}
    ax.fill_between(inside[finite], density[finite], label=f"{coverage:.0%}", **style)


def draw_stems(
    d: Any, ax: Any, points: np.ndarray, *, scale: float = 1.0, coverage: float | None = None, **style: Any
) -> None:
    """Draw scale · P(x) as stems, pale outside the equal-tailed interval; as a line where they are many."""
    mass = scale * prob_at(d, points)
    if np.all(points == np.rint(points)):
        ax.xaxis.get_major_locator().set_params(integer=True)  # there is nothing between whole numbers
    if len(points) > MOST_STEMS:
        ax.plot(points, mass, drawstyle="steps-mid", **style)
        return
    low, high = (-np.inf, np.inf) if coverage is None else (float(end) for end in d.interval(coverage))
    inside = (points >= low) & (points <= high)
    colour, label = style.get("color", COLOURS[0]), style.get("label")
    told = label if coverage is None else f"{label}, {coverage:.0%}"
    for chosen, alpha, name in ((inside, 1.0, told), (~inside, 0.35, None)):
        ax.vlines(points[chosen], 0.0, mass[chosen], color=colour, alpha=alpha, lw=1.5)
        ax.plot(points[chosen], mass[chosen], "o", ms=4, color=colour, alpha=alpha, label=name)


def draw_histogram(d: Any, ax: Any, data: Any) -> None:
    """Draw what was observed behind a distribution: a histogram, or the share of each whole number."""
    rows = np.asarray(data, dtype=float).reshape(-1)
    rows = rows[~np.isnan(rows)]
    if d.discrete:
        values, counts = np.unique(rows, return_counts=True)
        ax.bar(values, counts / len(rows), width=0.8, color="0.85", label="data")
    else:
        ax.hist(rows, bins="fd", density=True, color="0.85", label="data")


def _quantiles(d: Any, levels: Any) -> np.ndarray:
    return to_numpy(d.icdf(_there(np.asarray(levels), d)))


def _there(points: np.ndarray, d: Any) -> Array:
    """Return points as an array of the distribution's library."""
    from tractable.covariance.rows import as_reals

    return as_reals("points", points.tolist(), d.mean)


N_DRAWS = 4_000


def as_members(x: Any, labels: Sequence[str] | None) -> tuple[list[Any], list[str]]:
    """Return the members of a batch and what they are called."""
    members = [x[i] for i in np.ndindex(x.batch_shape)]
    if len(members) > len(COLOURS):
        raise ValueError(f"x must be at most {len(COLOURS)} distributions, got {len(members)}")
    names = [legend_name(name) for name in (range(1, len(members) + 1) if labels is None else labels)]
    if len(names) != len(members):
        raise ValueError(f"labels must have {len(members)} entries, got {len(names)}")
    return members, names


def draw_members(
    pairs: Sequence[Any],
    ax: Any,
    names: Sequence[str],
    columns: Sequence[str],
    coverage: float,
    data: np.ndarray | None = None,
) -> Any:
    """Draw for each distribution of pairs the smallest region that holds it with a probability."""
    from matplotlib.lines import Line2D

    if data is not None:
        draw_rows(ax, data)
    for pair, name, colour in zip(pairs, names, COLOURS, strict=False):
        draws = np.asarray(pair.sample(N_DRAWS, rng=0), dtype=float)
        low, high = np.quantile(draws, [0.001, 0.999], axis=0)
        room = 0.15 * (high - low)
        sides = [np.linspace(low[j] - room[j], high[j] + room[j], 121) for j in (0, 1)]
        heights = np.asarray(pair.log_prob(np.stack(np.meshgrid(*sides), axis=-1)))
        level = float(np.quantile(np.asarray(pair.log_prob(draws)), 1.0 - coverage))
        bounded = np.maximum(heights, level - 50.0)  # of what is impossible no contour is made
        ax.contour(*sides, bounded, [level], colors=[colour], linestyles="solid")
        ax.add_line(Line2D([], [], color=colour, label=f"{name}, {coverage:.0%}"))
    ax.set(xlabel=columns[0], ylabel=columns[1])
    ax.autoscale_view()
    quiet(ax)
    legend(ax)
    return ax


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
    """Draw a batch of distributions of vectors over one or two of their columns."""
    members, called = as_members(x, labels)
    columns = chosen_columns(x, dims, most=most)
    names, rows = named_columns(x, columns), shown_data(x, data, columns)
    whole = columns == list(range(x.event_shape[0]))
    parts = members if whole else [member.marginal(columns) for member in members]
    if len(columns) == 1:
        if rows is not None:
            draw_histogram(as_number(parts[0]), ax, rows)
        draw_numbers([as_number(part) for part in parts], ax, called, names[0])
    else:
        draw_members(parts, ax, called, names, _middle(coverages), rows)
    title(ax, which_columns(names, x.event_shape[0]))
    return ax


def draw_numbers(members: Sequence[Any], ax: Any, names: Sequence[str], label: str) -> Any:
    """Draw a curve, or stems, for each of several distributions of numbers."""
    points = np.unique(np.concatenate([curve_points(d) for d in members]))
    for d, name, colour in zip(members, names, COLOURS, strict=False):
        (draw_stems if d.discrete else draw_curve)(d, ax, points, color=colour, label=name)
    ax.set(xlabel=label or "x", ylabel="probability" if members[0].discrete else "density")
    ax.set_ylim(bottom=0)
    quiet(ax)
    legend(ax)
    return ax


def _middle(coverages: Sequence[float]) -> float:
    """Return one of several probabilities: regions of many members, each of them once."""
    found = sorted(coverages)
    return float(found[len(found) // 2])
