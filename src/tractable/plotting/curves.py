"""Distributions of numbers as curves and stems."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, to_numpy
from tractable.plotting.style import COLOURS

__all__ = ["curve_points", "draw_band", "draw_curve", "draw_histogram", "draw_stems", "prob_at"]

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
    from tractable.arrays.batched import as_reals

    return as_reals("points", points.tolist(), d.mean)
