"""The categories of a column of a mixture: bars, of which each component has a part."""

from typing import Any

import numpy as np

from tractable.plotting.column_axes import ColumnAxis
from tractable.plotting.style import COLOURS, legend, quiet

__all__ = ["component_colour", "draw_categories"]

#: More components than this are told apart by no colour.
MOST_NAMED = 7


def component_colour(k: int) -> str:
    """Return the colour of a component, in every picture of a mixture; the first of all is for the whole."""
    return COLOURS[1 + k % MOST_NAMED]


def draw_categories(mixture: Any, ax: Any, axis: ColumnAxis, column: int, codes: np.ndarray | None) -> Any:
    """Draw π_k p_k(category) on top of each other, so that their tops are p(category); `codes` are rows."""
    places = np.arange(len(axis.categories or ()))
    part = mixture.components.parts[column]
    heights = np.asarray(mixture.weights) * np.asarray(part.prob(places[:, None].astype(float)))
    bottom = np.zeros(len(places))
    for k, height in enumerate(heights.T):
        told = f"component {k}" if heights.shape[1] <= MOST_NAMED else None
        ax.bar(places, height, 0.7, bottom=bottom, color=component_colour(k), alpha=0.8, label=told)
        bottom = bottom + height
    if codes is not None:
        seen = np.bincount(codes[np.isfinite(codes)].astype(int), minlength=len(places))
        width = min(24.0, 180.0 / len(places))
        style = {"ls": "none", "marker": "_", "ms": width, "mew": 2.0, "color": "0.1"}
        ax.plot(places, seen / seen.sum(), label="data", **style)
    ax.set(xlabel=axis.name, ylabel="probability")
    axis.mark(ax.xaxis)
    quiet(ax)
    legend(ax)
    return ax
