"""Draws of a distribution that cannot tell the density of some of its columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.plotting.points import draw_rows, some_rows
from tractable.plotting.style import COLOURS, legend, quiet

__all__ = ["draw_draws"]

N_DRAWS = 1_000


def draw_draws(x: Any, ax: Any, columns: Sequence[int], names: Sequence[str], rows: Any) -> Any:
    """Draw events drawn from a distribution that cannot tell the density of some of its columns."""
    draws = np.asarray(x.sample(N_DRAWS, rng=0), dtype=float)[:, list(columns)]
    if len(columns) == 1:
        ax.hist(draws[:, 0], bins="fd", density=True, color=COLOURS[0], alpha=0.35, label="draws")
        if rows is not None:
            tall = ax.get_xaxis_transform()
            ticks = rows[some_rows(rows)]
            ax.plot(ticks, np.full(len(ticks), 0.015), "|", ms=6, color="0.4", transform=tall, label="data")
        ax.set(xlabel=names[0], ylabel="density")
    else:
        if rows is not None:
            draw_rows(ax, rows)
        ax.scatter(*draws.T, s=4, color=COLOURS[0], alpha=0.5, lw=0, label="draws")
        ax.set(xlabel=names[0], ylabel=names[1])
    quiet(ax)
    legend(ax)
    return ax
