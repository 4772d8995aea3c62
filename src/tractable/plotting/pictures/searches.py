"""Searches: for a bandwidth, and for neighbours."""

from typing import Any

import numpy as np

from tractable.plotting.plot import picture
from tractable.plotting.style import COLOURS, legend, quiet
from tractable.smoothing import BandwidthSearch
from tractable.spatial import SearchReport

__all__: list[str] = []


@picture.register
def _bandwidths(x: BandwidthSearch, ax: Any) -> Any:
    """Draw the criterion at every candidate, by the width along the first column, and what was chosen."""
    widths, chosen = x.candidates[:, 0], float(x.bandwidth[0])
    shown = np.isfinite(x.criteria)
    order = np.argsort(widths[shown])
    ax.plot(widths[shown][order], x.criteria[shown][order], ".-", color=COLOURS[0], label="candidates")
    told = f"bandwidth {chosen:.3g}" + ("" if x.settled else " (a rule's: none was best)")
    if np.isfinite(x.criterion):
        ax.plot(chosen, x.criterion, "o", ms=8, mfc="none", color=COLOURS[5], label=told)
    else:
        ax.axvline(chosen, color=COLOURS[5], lw=1.0, label=told)
    columns = len(x.bandwidth)
    label = "bandwidth" if columns == 1 else f"bandwidth of the first of {columns} columns"
    ax.set(xscale="log", xlabel=label, ylabel="criterion, lower is better")
    quiet(ax)
    legend(ax)
    return ax


@picture.register
def _cost(x: SearchReport, ax: Any) -> Any:
    """Draw in how many searches how many points were measured."""
    ax.hist(x.measured, bins="auto", color=COLOURS[0], alpha=0.6, lw=0, label="searches")
    middle = float(np.mean(x.measured))
    ax.axvline(middle, color=COLOURS[5], lw=1.2, label=f"mean {middle:.4g}")
    ax.set(xlabel="points measured for a row", ylabel="rows searched for")
    quiet(ax)
    legend(ax)
    return ax
