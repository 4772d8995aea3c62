"""Tables of probabilities: bars of one variable, a map of cells of several."""

from itertools import product
from typing import Any

import numpy as np

from tractable.arrays.namespace import to_numpy
from tractable.distributions import ProbabilityTable
from tractable.plotting.plot import picture
from tractable.plotting.style import COLOURS, finish, title, which_columns

#: Cells of a table with more than this have no numbers, and tables with more rows are drawn in part.
MAX_NUMBERED, MAX_ROWS = 60, 40


@picture.register
def _table(x: ProbabilityTable, ax: Any, *, dims: Any = None, numbers: bool = True) -> Any:
    """Draw bars of one variable, or for several the last across and all combinations of the others down.

    With `dims`, the marginal of some variables; `numbers` are written into cells that are not too many.
    """
    if x.batch_shape and not x.given:
        raise ValueError("x must be one table, not a batch: take one by its index")
    whole = x
    x = x if dims is None else x.marginal(dims)
    axes = (*x.given, *x.axes)
    n_rows = int(np.prod([len(levels) for _, levels in axes[:-1]]))
    if n_rows > MAX_ROWS:
        raise ValueError(
            f"dims must name fewer variables: {n_rows} combinations of levels are too many to draw"
        )
    name, levels = axes[-1]
    cells = to_numpy(x.probabilities).reshape(n_rows, len(levels))
    title(ax, which_columns(x.names, whole.dim))
    if n_rows == 1:
        heights = cells[0].astype(float)
        ax.bar(range(len(levels)), heights, color=COLOURS[0], width=0.7)
        for k, p in enumerate(heights if numbers and len(levels) <= MAX_NUMBERED // 4 else ()):
            ax.text(k, p, _written(cells[0, k]), ha="center", va="bottom", fontsize=9)
        _name(ax.xaxis, levels)
        return finish(ax, xlabel=name, ylabel="probability", ylim=(0.0, 1.12 * heights.max()))
    heights = cells.astype(float)
    image = ax.imshow(heights, cmap="Blues", vmin=0.0, vmax=heights.max(), aspect="auto")
    numbered = numbers and cells.size <= MAX_NUMBERED
    for (i, j), p in np.ndenumerate(heights) if numbered else ():
        colour = "white" if p > 0.6 * heights.max() else "black"
        ax.text(j, i, _written(cells[i, j]), ha="center", va="center", color=colour, fontsize=9)
    if not numbered:
        ax.figure.colorbar(image, ax=ax, label="probability")
    down = [", ".join(map(str, row)) for row in product(*(levels for _, levels in axes[:-1]))]
    _name(ax.xaxis, levels)
    _name(ax.yaxis, down)
    given = {key for key, _ in x.given}
    rows = ", ".join(f"{key} (given)" if key in given else key for key, _ in axes[:-1])
    ax.set(xlabel=name, ylabel=rows)
    ax.update_datalim([(-0.5, -0.5), (len(levels) - 0.5, n_rows - 0.5)])
    return ax


def _written(p: Any) -> str:
    return f"{p:.3g}" if isinstance(p, float) else str(p)


def _name(axis: Any, levels: Any) -> None:
    """Label an axis with levels, with some of them where they are many."""
    step = -(-len(levels) // 30)
    axis.set_ticks(range(0, len(levels), step), [str(level) for level in levels[::step]])
