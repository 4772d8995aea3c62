"""Several distributions of vectors in one picture: the region of each, in its colour."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.plotting.labels import legend_name
from tractable.plotting.points import draw_rows
from tractable.plotting.style import COLOURS, legend, quiet

__all__ = ["as_members", "draw_members"]

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
