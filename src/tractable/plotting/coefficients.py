"""The coefficients of linear models, with the intervals that they lie in."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.plotting.labels import legend_name
from tractable.plotting.rows import column_names
from tractable.plotting.style import COLOURS, legend, quiet, title

__all__ = ["draw_coefficients"]

#: Columns beyond this many are left out, those with the smallest coefficients.
MOST_COLUMNS = 25


def draw_coefficients(
    x: Any, ax: Any, coverage: float, labels: Sequence[str] | None = None, names: Sequence[str] | None = None
) -> Any:
    """Draw the coefficients of each target, class or plane side by side, the first column on top.

    Columns are called by `names`, or as the model knows them.
    """
    coef = np.atleast_2d(np.asarray(x.coef_, dtype=float))
    names, (m, d) = names or column_names(x), coef.shape
    keep = np.sort(np.argsort(-np.abs(coef).max(axis=0), kind="stable")[:MOST_COLUMNS])
    reach = _reach(x, coef, coverage)
    places, step = np.arange(len(keep))[::-1].astype(float), 0.7 / m
    for k in range(m):
        at, colour = places + step * (0.5 * (m - 1) - k), COLOURS[k % len(COLOURS)]
        told = None if labels is None else legend_name(labels[k])
        if reach is not None:
            part = np.abs(reach[k][:, keep])
            ax.errorbar(coef[k, keep], at, xerr=part, fmt="none", ecolor=colour, capsize=2, alpha=0.6)
        ax.plot(coef[k, keep], at, "o", ms=5, color=colour, label=told)
    if reach is not None:
        ax.plot([], [], color="0.4", label=f"{coverage:.0%}")
    ax.axvline(0.0, color="0.7", lw=0.8, zorder=0)
    ax.set_yticks(places, [names[j] for j in keep])
    ax.set(xlabel="coefficient", ylabel="column", ylim=(-0.6, len(keep) - 0.4))
    title(ax, f"the {len(keep)} largest of {d} coefficients" if d > len(keep) else "")
    quiet(ax)
    legend(ax)
    return ax


def _reach(x: Any, coef: np.ndarray, coverage: float) -> np.ndarray | None:
    """Return how far intervals reach to either side, (m, 2, d), where the model knows."""
    if hasattr(x, "coef_interval"):
        try:
            found = np.asarray(x.coef_interval(coverage), dtype=float)
        except (ValueError, AttributeError):  # a penalty leaves estimates without errors
            return None
        ends = np.reshape(found, (*coef.shape, 2))
    elif hasattr(x, "posterior_") and coef.shape[0] == 1:
        belief, ends = x.posterior_, np.empty((*coef.shape, 2))
        first = belief.event_shape[0] - coef.shape[1]  # the intercept is before them
        for j in range(coef.shape[1]):
            ends[0, j] = belief.marginal([first + j]).as_univariate().interval(coverage)
    else:
        return None
    if not np.isfinite(ends).all():
        return None
    return np.moveaxis(ends - coef[..., None], -1, 1)
