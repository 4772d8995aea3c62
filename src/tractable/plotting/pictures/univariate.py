"""Distributions of numbers: a density as a curve, probabilities as stems, with an interval."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.distributions import Univariate
from tractable.plotting.curves import curve_points, draw_band, draw_curve, draw_histogram, draw_stems
from tractable.plotting.plot import draw
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []


@draw.register
def _univariate(
    x: Univariate,
    ax: Any,
    *,
    data: Any = None,
    label: str = "x",
    labels: Sequence[str] | None = None,
    coverage: float = 0.9,
) -> Any:
    """Draw one distribution with its interval, or a curve for each of a batch, called by `labels`."""
    if data is not None:
        draw_histogram(x, ax, data)
    if x.batch_shape:
        _several(x, ax, labels)
    else:
        points = curve_points(x)
        told = "probability" if x.discrete else "density"
        if x.discrete:
            draw_stems(x, ax, points, color=COLOURS[0], label=told, coverage=coverage)
        else:
            draw_band(x, ax, points, coverage)
            draw_curve(x, ax, points, color=COLOURS[0], label=told)
    return _finished(x, ax, label)


def _several(x: Univariate, ax: Any, labels: Sequence[str] | None) -> None:
    members = [x[i] for i in np.ndindex(x.batch_shape)]
    if len(members) > len(COLOURS):
        raise ValueError(f"x must be at most {len(COLOURS)} distributions, got {len(members)}")
    names = [str(i + 1) for i in range(len(members))] if labels is None else list(labels)
    if len(names) != len(members):
        raise ValueError(f"labels must have {len(members)} entries, got {len(names)}")
    points = np.unique(np.concatenate([curve_points(d) for d in members]))
    for d, name, colour in zip(members, names, COLOURS, strict=False):
        (draw_stems if x.discrete else draw_curve)(d, ax, points, color=colour, label=name)


def _finished(x: Univariate, ax: Any, label: str) -> Any:
    ax.set(xlabel=label or "x", ylabel="probability" if x.discrete else "density")
    ax.set_ylim(bottom=0)
    quiet(ax)
    legend(ax)
    return ax
