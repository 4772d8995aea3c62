"""Clusters of one column: where the rows of each are, its middle, and the edges between."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.plotting.style import COLOURS, legend, quiet

__all__ = ["draw_cluster_line"]


def draw_cluster_line(
    ax: Any,
    name: str,
    middles: np.ndarray,
    edges: Sequence[float],
    rows: np.ndarray | None,
    labels: np.ndarray | None,
    called: str,
) -> Any:
    """Draw a histogram of each cluster's rows, a mark at each middle and a line at each edge."""
    if rows is not None and labels is not None:
        bins = np.histogram_bin_edges(rows, bins="fd")
        bins = bins if len(bins) > 6 else np.histogram_bin_edges(rows, bins=10)
        parts = [rows[labels == k] for k in range(len(middles))]
        colours = [COLOURS[k % len(COLOURS)] for k in range(len(middles))]
        ax.hist(parts, bins=bins, stacked=True, color=colours, alpha=0.45, lw=0)
        if np.any(labels < 0):
            orphans = rows[labels < 0]
            ax.plot(orphans, np.zeros(len(orphans)), "|", ms=9, color="0.5", label="orphans")
    for edge in edges:
        ax.axvline(edge, color="0.5", lw=0.8, ls="--")
    style = {"marker": "X", "ms": 10, "mfc": "black", "mec": "white", "ls": "none"}
    ax.plot(middles, np.full(len(middles), 0.03), transform=ax.get_xaxis_transform(), label=called, **style)
    if rows is None:
        spread = np.ptp(middles) or np.max(np.abs(middles)) or 1.0
        ax.set(xlim=(middles.min() - 0.3 * spread, middles.max() + 0.3 * spread), yticks=[], ylim=(0, 1))
    ax.set(xlabel=name, ylabel="rows")
    quiet(ax)
    legend(ax, boxed=True)
    return ax
