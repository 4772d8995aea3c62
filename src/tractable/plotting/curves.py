"""Distributions of numbers as curves and stems."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, to_numpy
from tractable.plotting.style import COLOURS, finish, legend_label

#: More stems than this are drawn as a line.
MAX_STEMS = 200

#: A range of more whole numbers than this is thinned out.
MAX_POINTS = 10_000


def prob_at(d: Any, points: np.ndarray) -> np.ndarray:
    """Return the density (or probability) of one distribution at NumPy points, as a NumPy array."""
    return to_numpy(d.prob(_array_of(points, d)))


def curve_points(d: Any) -> np.ndarray:
    """Return the points at which one distribution is drawn: its atoms, its whole numbers, or a grid.

    The grid reaches from the quantile 0.00005 to 0.99995, for long tails no further than a third of the
    middle 98 % beyond it, and includes 200 quantiles, so that it is fine where the density is high.
    """
    if hasattr(d, "atoms"):
        return np.unique(to_numpy(d.atoms))
    far, near = _quantiles(d, [5e-5, 1 - 5e-5]), _quantiles(d, [0.01, 0.99])
    if d.discrete:
        if far[1] - far[0] < MAX_POINTS:
            return np.arange(far[0], far[1] + 1.0)
        # Finer towards both ends, near which most of the probability may lie.
        steps = np.geomspace(1.0, far[1] - far[0], MAX_POINTS // 5) - 1.0
        even = np.linspace(far[0], far[1], MAX_POINTS // 2)
        return np.unique(np.floor(np.concatenate([even, far[0] + steps, far[1] - steps])))
    margin = 0.35 * (near[1] - near[0])
    low, high = max(far[0], near[0] - margin), min(far[1], near[1] + margin)
    inner = _quantiles(d, np.linspace(0.001, 0.999, 200))
    points = np.concatenate([np.linspace(low, high, 400), inner])
    return np.unique(points[(points >= low) & (points <= high)])


def draw_curve(d: Any, ax: Any, points: np.ndarray, *, scale: float = 1.0, **style: Any) -> None:
    """Draw scale · p(x); a density that is infinite at an end of its support leaves the axes there."""
    density = scale * prob_at(d, points)
    finite = np.isfinite(density)
    ax.plot(points[finite], density[finite], **style)
    if np.isinf(prob_at(d, np.asarray([float(end) for end in d.support or ()]))).any():
        bulk = scale * prob_at(d, _quantiles(d, np.linspace(0.1, 0.9, 9)))
        bulk = bulk[np.isfinite(bulk)]
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
    """Draw scale · P(x) as stems, pale outside the equal-tailed interval; as a line if there are many."""
    mass = scale * prob_at(d, points)
    if np.all(points == np.rint(points)):
        ax.xaxis.get_major_locator().set_params(integer=True)
    if len(points) > MAX_STEMS:
        ax.plot(points, mass, drawstyle="steps-mid", **style)
        return
    low, high = (-np.inf, np.inf) if coverage is None else (float(end) for end in d.interval(coverage))
    inside = (points >= low) & (points <= high)
    colour, label = style.get("color", COLOURS[0]), style.get("label")
    label = label if coverage is None else f"{label}, {coverage:.0%}"
    for chosen, alpha, name in ((inside, 1.0, label), (~inside, 0.35, None)):
        ax.vlines(points[chosen], 0.0, mass[chosen], color=colour, alpha=alpha, lw=1.5)
        ax.plot(points[chosen], mass[chosen], "o", ms=4, color=colour, alpha=alpha, label=name)


def draw_histogram(d: Any, ax: Any, data: Any) -> None:
    """Draw data behind a distribution: a histogram, or the relative frequency of each whole number."""
    rows = np.asarray(data, dtype=float).reshape(-1)
    rows = rows[~np.isnan(rows)]
    if d.discrete:
        values, counts = np.unique(rows, return_counts=True)
        ax.bar(values, counts / len(rows), width=0.8, color="0.85", label="data")
    else:
        ax.hist(rows, bins="fd", density=True, color="0.85", label="data")


def batch_members(x: Any, labels: Sequence[str] | None) -> tuple[list[Any], list[str]]:
    """Return the members of a batch and their labels, 1, 2, … when not given."""
    members = [x[i] for i in np.ndindex(x.batch_shape)]
    if len(members) > len(COLOURS):
        raise ValueError(f"x must be at most {len(COLOURS)} distributions, got {len(members)}")
    names = [legend_label(name) for name in (range(1, len(members) + 1) if labels is None else labels)]
    if len(names) != len(members):
        raise ValueError(f"labels must have {len(members)} entries, got {len(names)}")
    return members, names


def draw_univariate_batch(members: Sequence[Any], ax: Any, labels: Sequence[str], xlabel: str) -> Any:
    """Draw a curve, or stems, for each of several distributions of numbers."""
    points = np.unique(np.concatenate([curve_points(d) for d in members]))
    for d, label, colour in zip(members, labels, COLOURS, strict=False):
        (draw_stems if d.discrete else draw_curve)(d, ax, points, color=colour, label=label)
    return finish(
        ax, xlabel=xlabel or "x", ylabel="probability" if members[0].discrete else "density", ylim=(0, None)
    )


def _quantiles(d: Any, levels: Any) -> np.ndarray:
    return to_numpy(d.icdf(_array_of(np.asarray(levels), d)))


def _array_of(points: np.ndarray, d: Any) -> Array:
    """Return points as an array of the distribution's library."""
    from tractable.arrays.batched import as_reals

    return as_reals("points", points.tolist(), d.mean)
