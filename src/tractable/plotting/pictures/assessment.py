"""How good predictions are: cross-validation curves, calibration, and where errors come from."""

from typing import Any

import numpy as np

from tractable.linear_model import CVCurve
from tractable.metrics import BiasVariance, CalibrationCurve
from tractable.plotting.plot import picture
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []

NAMES = {"loo": "leave-one-out", "gcv": "generalised cross-validation"}


@picture.register
def _cv_curve(x: CVCurve, ax: Any, *, label: str = "", colour: str = COLOURS[0]) -> Any:
    """Draw the score of every penalty, with one standard error where it is known, and the best."""
    shown = np.isfinite(x.scores)
    order = np.flatnonzero(shown)[np.argsort(x.alphas[shown])]
    alphas, scores = x.alphas[order], x.scores[order]
    if x.standard_errors is not None:
        errors = x.standard_errors[order]
        ax.fill_between(
            alphas, scores - errors, scores + errors, color=colour, alpha=0.15, lw=0, label="± 1 s.e."
        )
    ax.plot(alphas, scores, color=colour, marker=".", label=label or NAMES.get(x.method, x.method))
    ax.plot(
        x.best_alpha,
        x.best_score,
        "o",
        ms=8,
        mfc="none",
        color=COLOURS[5],
        label=f"alpha = {x.best_alpha:.3g}",
    )
    positive = alphas[alphas > 0]
    if len(positive) > 1 and positive[-1] > 50 * positive[0]:
        # Zero has no place on a scale of logarithms; this one begins as a straight one.
        ax.set_xscale("symlog", linthresh=positive[0]) if len(positive) < len(alphas) else ax.set_xscale(
            "log"
        )
    ax.set(xlabel="alpha", ylabel="mean squared error, left out")
    quiet(ax)
    legend(ax)
    return ax


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
