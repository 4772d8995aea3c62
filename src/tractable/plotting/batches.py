"""Batches: each member in its colour, as a curve of numbers or the region of a pair."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.plotting.columns import as_number, chosen_columns, named_columns, shown_data
from tractable.plotting.curves import curve_points, draw_curve, draw_histogram, draw_stems
from tractable.plotting.members import as_members, draw_members
from tractable.plotting.style import COLOURS, legend, quiet, title, which_columns

__all__ = ["draw_batch", "draw_numbers"]


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
