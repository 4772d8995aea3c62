"""Expected shares or counts of categories as bars, with the intervals that they lie in."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.plotting.points import some_rows
from tractable.plotting.style import COLOURS, legend, quiet

__all__ = ["draw_bars"]


def draw_bars(
    ax: Any,
    mean: Any,
    interval: tuple[Any, Any],
    *,
    coverage: float,
    names: Sequence[str] | None,
    label: str,
    data: np.ndarray | None = None,
) -> Any:
    """Draw a bar for each category; `data` (n, K) are what was observed."""
    mean, low, high = (np.asarray(part, dtype=float) for part in (mean, *interval))
    if names is not None and len(names) != len(mean):
        raise ValueError(f"names must have {len(mean)} entries, got {len(names)}")
    places = np.arange(len(mean))
    ax.bar(places, mean, color=COLOURS[0], alpha=0.35, label="mean")
    if data is not None:
        ax.plot(*np.broadcast_arrays(places + 0.2, data[some_rows(data)]), "_", ms=9, color="0.4")
        ax.plot([], [], "_", ms=9, color="0.4", label="data")
    reach = np.maximum(np.stack([mean - low, high - mean]), 0.0)  # a mean may lie outside its interval
    ax.errorbar(places, mean, reach, fmt="none", ecolor=COLOURS[0], capsize=3, label=f"{coverage:.0%}")
    if names is not None or len(mean) <= 20:
        ax.set_xticks(places, [str(k) for k in places] if names is None else [str(name) for name in names])
    ax.set(xlabel="category", ylabel=label, ylim=(0, None))
    quiet(ax)
    legend(ax)
    return ax
