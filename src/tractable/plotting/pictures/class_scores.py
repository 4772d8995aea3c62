"""How good a classifier is: which classes it confuses, and whether its probabilities mean what they say."""

from typing import Any

import numpy as np

from tractable.metrics import ClassCalibration, ConfusionMatrix
from tractable.plotting.plot import draw
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []


@draw.register
def _confusion(x: ConfusionMatrix, ax: Any, *, normalize: bool = True) -> Any:
    """Draw how often each class was taken for each: by share of the class, or by count."""
    shares = np.nan_to_num(x.normalized())
    shown = shares if normalize else x.counts
    ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, aspect="equal")
    k = len(x.classes)
    for row in range(k):
        for column in range(k):
            told = f"{shown[row, column]:.0%}" if normalize else f"{shown[row, column]:g}"
            ink = "white" if shares[row, column] > 0.6 else "black"
            ax.text(column, row, told, ha="center", va="center", color=ink, fontsize=9 if k < 8 else 6)
    labels = [str(label) for label in x.classes]
    ax.set_xticks(range(k), labels, rotation=0 if max(map(len, labels)) * k < 40 else 45)
    ax.set_yticks(range(k), labels)
    ax.set(xlabel="taken for", ylabel="class", title=f"{x.accuracy:.1%} right")
    ax.update_datalim([(-0.5, -0.5), (k - 0.5, k - 0.5)])
    return ax


@draw.register
def _calibration(
    x: ClassCalibration, ax: Any, *, label: str = "observed", colour: str = COLOURS[0], bars: bool = True
) -> Any:
    """Draw how often a promise came true, with two standard errors of right ones about the diagonal."""
    if bars:  # how many rows made each promise
        ax.bar(x.predicted, 0.15 * x.weight / x.weight.max(), width=0.02, color="0.85", lw=0, label="rows")
    ax.plot([0, 1], [0, 1], color="0.6", lw=0.8)
    low, high = (np.clip(x.predicted + s * 2.0 * x.standard_errors, 0.0, 1.0) for s in (-1.0, 1.0))
    ax.vlines(x.predicted, low, high, color="0.6", lw=1.5, label="± 2 s.e., if right")
    ax.plot(x.predicted, x.observed, "o-", ms=4, color=colour, label=label)
    ax.set(
        xlabel=f"probability promised of {x.event}",
        ylabel="how often it was true",
        xlim=(0, 1),
        ylim=(0, 1),
        aspect="equal",
    )
    quiet(ax)
    legend(ax)
    return ax
