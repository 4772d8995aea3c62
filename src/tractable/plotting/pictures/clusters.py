"""Clusterings: how compact and how separate clusters are, and how their number was chosen."""

from typing import Any

import numpy as np

from tractable.metrics import ClusterReport
from tractable.mixture.selection import NumberOfClusters
from tractable.plotting.plot import picture
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []

NAMES = {
    "calinski_harabasz": "Calinski-Harabasz index",
    "silhouette": "mean silhouette",
    "davies_bouldin": "Davies-Bouldin index",
    "gap": "gap",
    "elbow": "scatter within clusters",
}


@picture.register
def _report(x: ClusterReport, ax: Any) -> Any:
    """Draw for each cluster how far its rows reach, beside half the way to the nearest other centre."""
    places = np.arange(len(x.labels))[::-1]
    ax.barh(places, x.radius, height=0.55, color=COLOURS[4], alpha=0.45, label="farthest row")
    ax.barh(places, x.spread, height=0.55, color=COLOURS[0], label="root mean square")
    apart = np.isfinite(x.separation)
    ax.plot(
        0.5 * x.separation[apart],
        places[apart],
        "|",
        ms=18,
        mew=2.5,
        color=COLOURS[5],
        label="half way to the nearest other centre",
    )
    names = [f"{label}  ({size:.6g})" for label, size in zip(x.labels, x.sizes, strict=True)]
    ax.set_yticks(places, names)
    ax.set(xlabel="distance from the centre", ylabel="cluster (size)", xlim=(0, None))
    ax.set_ylim(-0.6, len(places) + 0.9)  # room for the legend above the bars
    quiet(ax)
    ax.legend(frameon=False, loc="upper right", ncols=2, fontsize="small")
    return ax


@picture.register
def _number(x: NumberOfClusters, ax: Any, *, criterion: str | None = None) -> Any:
    """Draw the score of every number of clusters, and the one that was chosen."""
    name = x.criterion if criterion is None else criterion
    if name not in x.scores:
        raise ValueError(f"criterion must be of {', '.join(x.scores)}, got {criterion!r}")
    elbow = name == "elbow"
    heights = x.inertias if elbow else x.scores[name]
    errors = x.gap_errors if name == "gap" else None
    ax.errorbar(x.n_clusters, heights, yerr=errors, fmt=".-", color=COLOURS[0], capsize=3)
    if elbow:
        ax.plot(x.n_clusters[[0, -1]], heights[[0, -1]], color="0.6", lw=0.8, ls="--", label="chord")
    best = x.choices[name]
    at = x.n_clusters == best
    ax.plot(best, heights[at][0], "o", ms=10, mfc="none", mew=1.5, color=COLOURS[5], label=f"K = {best}")
    ax.set(xlabel="number of clusters", ylabel=NAMES[name] + (" (± 1 s.e.)" if name == "gap" else ""))
    ax.xaxis.get_major_locator().set_params(integer=True)
    quiet(ax)
    legend(ax)
    return ax
