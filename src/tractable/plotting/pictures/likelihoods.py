"""How well several distributions explain the same rows."""

from typing import Any

import numpy as np

from tractable.distributions import LikelihoodComparison
from tractable.plotting.plot import picture
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []


@picture.register
def _comparison(x: LikelihoodComparison, ax: Any) -> Any:
    """Draw how far each log-likelihood is below the best, with two standard errors, the best on top."""
    order = [x.names.index(name) for name in x.ranking]
    possible = [i for i in order if np.isfinite(x.differences[i])]
    heights = {i: len(order) - 1 - rank for rank, i in enumerate(order)}
    errors = np.nan_to_num(2.0 * x.difference_errors[possible])
    places = [heights[i] for i in possible]
    ax.errorbar(
        x.differences[possible], places, xerr=errors, fmt="o", color=COLOURS[0], capsize=3, label="± 2 s.e."
    )
    ax.axvline(0.0, color="0.7", lw=0.8, zorder=0)
    names = [x.names[i] + ("" if i in possible else " (impossible)") for i in order]
    ax.set_yticks([heights[i] for i in order], names)
    ax.set(xlabel="log-likelihood less than the best", ylabel="distribution", ylim=(-0.5, len(order) - 0.5))
    quiet(ax)
    legend(ax)
    return ax
