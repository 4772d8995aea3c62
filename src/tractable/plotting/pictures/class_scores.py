"""How good a classifier is: which classes it confuses, and whether its probabilities mean what they say."""

from typing import Any

import numpy as np

from tractable.metrics import ClassCalibration, ConfusionMatrix
from tractable.plotting.plot import picture
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []

#: Numbers in the cells of more classes than this would run into each other: a scale tells what shades mean.
MOST_TOLD = 12

#: Of more classes than this, only some are named.
MOST_NAMED = 30


@picture.register
def _confusion(x: ConfusionMatrix, ax: Any, *, normalize: bool = True) -> Any:
    """Draw how often each class was taken for each: by share of the class, or by count.

    Rows that were left undecided have a column of their own.
    """
    left = np.asarray(x.rejected)[:, None]
    counts = np.hstack([x.counts, left]) if np.any(left) else x.counts
    with np.errstate(invalid="ignore"):
        shares = np.nan_to_num(counts / counts.sum(axis=1, keepdims=True))
    shown = shares if normalize else counts
    shown_shares = ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, aspect="equal")
    for (row, column), share in np.ndenumerate(shares) if len(shares) <= MOST_TOLD else ():
        told = f"{shown[row, column]:.0%}" if normalize else f"{shown[row, column]:g}"
        ink, size = "white" if share > 0.6 else "black", 9 if len(shares) < 8 else 6
        ax.text(column, row, told, ha="center", va="center", color=ink, fontsize=size)
    labels = [str(label) for label in x.classes]
    across = [*labels, "undecided"][: counts.shape[1]]
    if len(shares) > MOST_TOLD:
        ax.figure.colorbar(shown_shares, ax=ax, label="share of the class")
    _name(ax.xaxis, across, rotation=0 if max(map(len, across)) * len(across) < 40 else 90)
    _name(ax.yaxis, labels)
    ax.set(xlabel="taken for", ylabel="class", title=f"{x.accuracy:.1%} right")
    ax.update_datalim([(-0.5, -0.5), (len(across) - 0.5, len(labels) - 0.5)])
    return ax


def _name(axis: Any, names: list[str], rotation: float = 0.0) -> None:
    """Write the names of classes along an axis: of many, small; of very many, only some."""
    step = -(-len(names) // MOST_NAMED)
    size = 10 if len(names) <= MOST_TOLD else 7
    axis.set_ticks(range(0, len(names), step), names[::step], rotation=rotation, fontsize=size)


@picture.register
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
    # Beside the picture: there is no corner of it that curves and bars of rows never reach.
    legend(ax, beside=True)
    return ax
