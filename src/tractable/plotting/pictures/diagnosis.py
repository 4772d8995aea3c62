"""The residuals of a fit: a curve among them, and the rows that stick out."""

from typing import Any

import numpy as np

from tractable.linear_model import Diagnosis
from tractable.plotting.plot import picture
from tractable.plotting.points import draw_rows
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []


@picture.register
def _diagnosis(x: Diagnosis, ax: Any) -> Any:
    """Draw studentized residuals against fitted values, larger where Cook's distance is."""
    ordinary = np.ones(len(x.fitted), dtype=bool)
    ordinary[x.outliers] = False
    sizes = 12.0 + 150.0 * np.minimum(x.cooks_distance, 2.0)
    for rows, colour, label in ((ordinary, "0.55", "rows"), (~ordinary, COLOURS[5], "outliers")):
        if rows.any():
            places = np.column_stack([x.fitted, x.studentized])[rows]
            draw_rows(ax, places, s=sizes[rows], color=colour, label=label)
    for row in x.outliers[:8]:
        place = (x.fitted[row], x.studentized[row])
        ax.annotate(str(row), place, xytext=(5, 4), textcoords="offset points", fontsize="small")
    ax.plot(*_running_mean(x.fitted, x.studentized), color=COLOURS[0], label="running mean")
    ax.axhline(0.0, color="0.7", lw=0.8, zorder=0)
    found = ", ".join(x.problems) or "no problem found"
    ax.set(xlabel="fitted value", ylabel="studentized residual", title=found)
    quiet(ax)
    legend(ax)
    return ax


def _running_mean(fitted: np.ndarray, residuals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means over a fifth of the rows, neighbours in their fitted values."""
    order = np.argsort(fitted, kind="stable")
    width = max(len(fitted) // 5, 1)
    window = np.ones(width) / width
    return tuple(np.convolve(part[order], window, mode="valid") for part in (fitted, residuals))  # type: ignore[return-value]
