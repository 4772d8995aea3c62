"""How good predictions are: cross-validation curves, calibration, and where errors come from."""

from typing import Any

import numpy as np

from tractable.distributions import LikelihoodComparison
from tractable.engines import EvidenceDecomposition
from tractable.metrics import BiasVariance, CalibrationCurve, ClassCalibration, ConfusionMatrix
from tractable.plotting.plot import picture
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []


@picture.register
def _calibration(x: CalibrationCurve, ax: Any, *, label: str = "observed", colour: str = COLOURS[0]) -> Any:
    """Draw the share of targets below each quantile, in a band of two standard errors about the level."""
    ends = np.concatenate([[0.0], x.levels, [1.0]])
    errors = np.concatenate([[0.0], 2.0 * x.standard_errors, [0.0]])
    ax.fill_between(ends, ends - errors, ends + errors, color="0.85", lw=0, label="± 2 s.e., if right")
    ax.plot([0, 1], [0, 1], color="0.6", lw=0.8)
    ax.plot(x.levels, x.observed, "o-", ms=4, color=colour, label=label)
    ax.set(
        xlabel="probability promised",
        ylabel="share of targets below",
        xlim=(0, 1),
        ylim=(0, 1),
        aspect="equal",
    )
    quiet(ax)
    legend(ax)
    return ax


@picture.register
def _bias_variance(x: BiasVariance, ax: Any) -> Any:
    """Draw the parts of the error on top of each other: along the line for one column, else on average."""
    parts = x.pointwise if x.points.shape[1] == 1 else x.average
    heights = {
        "noise": parts.noise.value,
        "squared bias": np.maximum(parts.bias2.value, 0.0),
        "variance": parts.variance.value,
    }
    colours = ("0.8", COLOURS[1], COLOURS[0])
    if x.points.shape[1] == 1:
        order = np.argsort(x.points[:, 0])
        where = x.points[order, 0]
        stacked = [height[order] for height in heights.values()]
        ax.stackplot(where, *stacked, labels=list(heights), colors=colours, lw=0)
        ax.plot(where, parts.error.value[order], color=COLOURS[7], lw=1.0, label="measured error")
        ax.set(xlabel="x", ylabel="expected squared error", xlim=(where[0], where[-1]))
    else:
        bottom = 0.0
        for (name, height), colour in zip(heights.items(), colours, strict=True):
            ax.bar(["parts"], [height], bottom=[bottom], color=colour, label=name)
            bottom += float(height)
        error = parts.error
        ax.errorbar(
            ["measured"],
            [error.value],
            yerr=[2.0 * error.standard_error],
            fmt="o",
            color=COLOURS[7],
            capsize=3,
        )
        ax.set(ylabel="expected squared error", ylim=(0, 1.4 * max(bottom, float(error.value))))
    quiet(ax)
    legend(ax)
    return ax


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
def _class_calibration(
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


@picture.register
def _evidence(x: EvidenceDecomposition, ax: Any) -> Any:
    """Draw the bound up to the evidence with the divergence between, and the bound from Q and the entropy."""
    low = min(x.bound, x.expected_complete)
    room = 0.25 * (max(x.evidence, x.bound) - low) or 1.0
    floor = low - room  # nats have no zero to start from
    for place, start, end, told, colour, label in (
        (0, floor, x.bound, x.bound, COLOURS[0], "bound L(q)"),
        (0, x.bound, x.evidence, x.divergence, COLOURS[1], "KL(q ‖ posterior)"),
        (1, floor, x.expected_complete, x.expected_complete, COLOURS[4], "Q, expected complete"),
        (1, x.expected_complete, x.bound, x.entropy, COLOURS[2], "entropy of q"),
    ):
        ax.bar(place, end - start, 0.6, bottom=start, color=colour, label=f"{label} = {told:.4g}")
    ax.axhline(x.evidence, color="0.3", lw=1.0, ls="--", label=f"log evidence = {x.evidence:.4g}")
    ax.set_xticks([0, 1], ["evidence", "bound"])
    ax.set(xlabel="what it is made of", ylabel="nats", xlim=(-0.5, 1.5), ylim=(floor, x.evidence + room))
    quiet(ax)
    legend(ax, beside=True)
    return ax


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
