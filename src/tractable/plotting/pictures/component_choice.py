"""How the number of components of a mixture was chosen."""

from typing import Any

import numpy as np

from tractable.mixture.selection import ComponentChoice
from tractable.plotting.plot import picture
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []


@picture.register
def _choice(x: ComponentChoice, ax: Any, *, criterion: str | None = None) -> Any:
    """Draw the criterion of every mixture, one line a covariance type, and the one that was chosen."""
    name = x.criterion if criterion is None else criterion
    if name not in x.scores:
        raise ValueError(f"criterion must be of {', '.join(x.scores)}, got {criterion!r}")
    table = x.scores[name]
    for n, kind in enumerate(x.covariance_types):
        ax.plot(x.n_components, table[n], ".-", color=COLOURS[n % len(COLOURS)], label=kind)
    bad = x.collapsed
    if bad.any():
        numbers = np.broadcast_to(x.n_components, bad.shape)
        ax.plot(numbers[bad], table[bad], "x", ms=8, mew=1.5, color="0.4", label="collapsed: left out")
    i, j = x.place(name)
    label = f"{x.n_components[j]} components, {x.covariance_types[i]}"
    ax.plot(x.n_components[j], table[i, j], "o", ms=10, mfc="none", mew=1.5, color="0.2", label=label)
    ax.set(xlabel="number of components", ylabel=f"{name.upper()}, lower is better")
    ax.xaxis.get_major_locator().set_params(integer=True)
    quiet(ax)
    legend(ax)
    return ax
