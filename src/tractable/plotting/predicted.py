"""Regressions on several columns: what was predicted beside what was observed."""

from typing import Any

import numpy as np

from tractable.plotting.points import draw_rows
from tractable.plotting.style import COLOURS, legend, quiet

__all__ = ["draw_predicted", "knows_noise"]

#: Intervals of more rows than this are a solid block.
MOST_BARS = 300


def draw_predicted(x: Any, ax: Any, rows: Any, y: Any, coverage: float, called: str) -> Any:
    """Draw observed targets against predicted ones with intervals; without targets, rows as predicted."""
    centre = np.asarray(x.predict(rows), dtype=float)
    if centre.ndim > 1 and centre.shape[1] > 1:
        raise ValueError(f"x must have one target to be drawn, got {centre.shape[1]}")
    centre = centre.reshape(-1)
    seen = None if y is None else np.reshape(np.asarray(y, dtype=float), -1)
    if seen is not None and len(seen) != len(centre):
        raise ValueError("y must have one target for each row of data")
    order = np.argsort(centre, kind="stable")
    across = centre[order] if seen is not None else np.arange(1, len(order) + 1)
    if knows_noise(x):
        low, high = np.reshape(x.predict_interval(rows, coverage), (-1, 2))[order].T
        style: dict[str, Any] = {"color": COLOURS[0], "label": f"{coverage:.0%}, new targets"}
        if len(order) > MOST_BARS:
            ax.fill_between(across, low, high, alpha=0.2, lw=0, **style)
        else:
            ax.vlines(across, low, high, alpha=0.35, lw=1.2, **style)
    ax.plot(across, centre[order], color=COLOURS[0], lw=1.0, label="prediction")
    if seen is not None:
        draw_rows(ax, np.column_stack([across, seen[order]]), s=12, color="0.3", zorder=3)
    ax.set(xlabel=f"predicted {called}" if seen is not None else "rows, in order of prediction")
    ax.set(ylabel=called)
    quiet(ax)
    legend(ax)
    return ax


def knows_noise(x: Any) -> bool:
    """Whether there are intervals to draw: of a fit without errors, or of too few rows, there are none."""
    noise = np.asarray(getattr(x, "noise_variance_", 1.0), dtype=float)
    return hasattr(x, "predict_interval") and bool(np.all(noise > 0.0))
