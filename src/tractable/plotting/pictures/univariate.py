"""Distributions of numbers: a density as a curve, probabilities as stems, with an interval."""

from collections.abc import Sequence
from typing import Any

from tractable.distributions import Categorical, Univariate
from tractable.plotting.batches import draw_numbers
from tractable.plotting.curves import curve_points, draw_band, draw_curve, draw_histogram, draw_stems
from tractable.plotting.members import as_members
from tractable.plotting.plot import picture
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []


@picture.register
def _univariate(
    x: Univariate,
    ax: Any,
    *,
    data: Any = None,
    label: str = "x",
    labels: Sequence[str] | None = None,
    coverage: float = 0.9,
) -> Any:
    """Draw one distribution with its interval, or a curve for each of a batch, called by `labels`.

    Categories have no order, and so no interval.
    """
    if data is not None:
        draw_histogram(x, ax, data)
    if x.batch_shape:
        members, names = as_members(x, labels)
        return draw_numbers(members, ax, names, label)
    points = curve_points(x)
    unordered = isinstance(getattr(x, "components", x), Categorical)
    told = "probability" if x.discrete else "density"
    if x.discrete:
        draw_stems(x, ax, points, color=COLOURS[0], label=told, coverage=None if unordered else coverage)
    else:
        draw_band(x, ax, points, coverage)
        draw_curve(x, ax, points, color=COLOURS[0], label=told)
    ax.set(xlabel=label or "x", ylabel="probability" if x.discrete else "density")
    ax.set_ylim(bottom=0)
    quiet(ax)
    legend(ax)
    return ax
