"""Neighbours: how good each number of them is."""

from typing import Any

from tractable.neighbors import NeighborCurve
from tractable.plotting.plot import picture
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []


@picture.register
def _curve(x: NeighborCurve, ax: Any, *, label: str = "leave-one-out", colour: str = COLOURS[0]) -> Any:
    """Draw the score of every number of neighbours, with one standard error, and the best."""
    low, high = x.scores - x.standard_errors, x.scores + x.standard_errors
    ax.fill_between(x.n_neighbors, low, high, color=colour, alpha=0.15, lw=0, label="± 1 s.e.")
    ax.plot(x.n_neighbors, x.scores, color=colour, marker=".", label=label)
    told = f"K = {x.best_n_neighbors}"
    ax.plot(x.best_n_neighbors, x.best_score, "o", ms=8, mfc="none", color=COLOURS[5], label=told)
    ax.set(xlabel="number of neighbours", ylabel=f"{x.score}, left out")
    ax.xaxis.get_major_locator().set_params(integer=True)
    quiet(ax)
    legend(ax)
    return ax
