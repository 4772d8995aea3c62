"""The climb of EM: what it maximises, at every step."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.plotting.style import COLOURS, legend, quiet

__all__ = ["SHOWN", "draw_climb"]

SHOWN = ("density", "climb")


def draw_climb(ax: Any, bounds: Sequence[float], converged: bool, *, label: str = "") -> Any:
    """Draw the objective at each step; the last is marked, and said to be no end where EM was stopped."""
    heights = np.asarray(bounds, dtype=float)
    steps = np.arange(1, len(heights) + 1)
    ax.plot(steps, heights, ".-", ms=4, color=COLOURS[0], label=label or None)
    told = f"settled after {len(steps)}" if converged else f"not settled after {len(steps)}"
    ax.plot(steps[-1], heights[-1], "o", ms=8, mfc="none", color=COLOURS[5], label=told)
    ax.set(xlabel="step of EM", ylabel="objective a row")
    ax.xaxis.get_major_locator().set_params(integer=True)
    quiet(ax)
    legend(ax)
    return ax
