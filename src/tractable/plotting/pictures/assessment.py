"""Assessments: calibration, bias and variance, confusion, estimators, evidence, compared models."""

from typing import Any

import numpy as np

from tractable.distributions import Bootstrap, EstimatorReport, LikelihoodComparison
from tractable.engines import EvidenceDecomposition
from tractable.metrics import (
    BiasVariance,
    CalibrationCurve,
    ClassCalibration,
    ConfusionMatrix,
    ModelComparison,
    ParameterChoice,
    ScoreCurve,
    ThresholdCurve,
)
from tractable.plotting.plot import picture
from tractable.plotting.style import COLOURS, finish, legend_label

#: Cells of more classes than this have no numbers but a colour scale.
MAX_NUMBERED = 12

#: Of more classes than this only some are named.
MAX_NAMED = 30


@picture.register
def _calibration(x: CalibrationCurve, ax: Any, *, label: str = "observed", colour: str = COLOURS[0]) -> Any:
    """Draw the fraction of targets below each quantile, with two standard errors about the level."""
    ends = np.concatenate([[0.0], x.levels, [1.0]])
    errors = np.concatenate([[0.0], 2.0 * x.standard_errors, [0.0]])
    ax.fill_between(ends, ends - errors, ends + errors, color="0.85", lw=0, label="± 2 s.e., if right")
    ax.plot([0, 1], [0, 1], color="0.6", lw=0.8)
    ax.plot(x.levels, x.observed, "o-", ms=4, color=colour, label=label)
    ax.set(xlabel="predicted probability", ylabel="fraction of targets below")
    return finish(ax, xlim=(0, 1), ylim=(0, 1), aspect="equal")


@picture.register
def _bias_variance(x: BiasVariance, ax: Any) -> Any:
    """Draw noise, squared bias and variance stacked: along one column, else their averages."""
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
        style = {"fmt": "o", "color": COLOURS[7], "capsize": 3}
        ax.errorbar(["measured"], [error.value], yerr=[2.0 * error.standard_error], **style)
        ax.set(ylabel="expected squared error", ylim=(0, 1.4 * max(bottom, float(error.value))))
    return finish(ax)


@picture.register
def _confusion(x: ConfusionMatrix, ax: Any, *, normalize: bool = True) -> Any:
    """Draw how often each class was predicted as each, relative to the class or as counts.

    Rejected rows have a column of their own.
    """
    left = np.asarray(x.rejected)[:, None]
    counts = np.hstack([x.counts, left]) if np.any(left) else x.counts
    with np.errstate(invalid="ignore"):
        rates = np.nan_to_num(counts / counts.sum(axis=1, keepdims=True))
    image = ax.imshow(rates, cmap="Blues", vmin=0.0, vmax=1.0, aspect="equal")
    for (row, column), rate in np.ndenumerate(rates) if len(rates) <= MAX_NUMBERED else ():
        text = f"{rate:.0%}" if normalize else f"{counts[row, column]:g}"
        colour, size = "white" if rate > 0.6 else "black", 9 if len(rates) < 8 else 6
        ax.text(column, row, text, ha="center", va="center", color=colour, fontsize=size)
    labels = [str(label) for label in x.classes]
    across = [*labels, "undecided"][: counts.shape[1]]
    if len(rates) > MAX_NUMBERED:
        ax.figure.colorbar(image, ax=ax, label="share of the class")
    _name(ax.xaxis, across, rotation=0 if max(map(len, across)) * len(across) < 40 else 90)
    _name(ax.yaxis, labels)
    ax.set(xlabel="predicted class", ylabel="class", title=f"{x.accuracy:.1%} right")
    ax.update_datalim([(-0.5, -0.5), (len(across) - 0.5, len(labels) - 0.5)])
    return ax


def _name(axis: Any, names: list[str], rotation: float = 0.0) -> None:
    """Label an axis with the names of classes, of more than `MAX_NAMED` with some of them."""
    step = -(-len(names) // MAX_NAMED)
    size = 10 if len(names) <= MAX_NUMBERED else 7
    axis.set_ticks(range(0, len(names), step), names[::step], rotation=rotation, fontsize=size)


@picture.register
def _class_calibration(
    x: ClassCalibration, ax: Any, *, label: str = "observed", colour: str = COLOURS[0], bars: bool = True
) -> Any:
    """Draw the observed against the predicted probability, with two standard errors about the diagonal."""
    if bars:  # the number of rows in each bin
        ax.bar(x.predicted, 0.15 * x.weight / x.weight.max(), width=0.02, color="0.85", lw=0, label="rows")
    ax.plot([0, 1], [0, 1], color="0.6", lw=0.8)
    low, high = (np.clip(x.predicted + s * 2.0 * x.standard_errors, 0.0, 1.0) for s in (-1.0, 1.0))
    ax.vlines(x.predicted, low, high, color="0.6", lw=1.5, label="± 2 s.e., if right")
    ax.plot(x.predicted, x.observed, "o-", ms=4, color=colour, label=label)
    ax.set(xlabel=f"predicted probability of {x.event}", ylabel="observed frequency")
    return finish(ax, xlim=(0, 1), ylim=(0, 1), aspect="equal", beside=True)


@picture.register
def _evidence(x: EvidenceDecomposition, ax: Any) -> Any:
    """Draw log evidence = bound + KL(q ‖ posterior), and bound = Q + entropy of q."""
    low = min(x.bound, x.expected_complete)
    room = 0.25 * (max(x.evidence, x.bound) - low) or 1.0
    floor = low - room  # nats have no zero to start from
    for column, start, end, size, colour, label in (
        (0, floor, x.bound, x.bound, COLOURS[0], "bound L(q)"),
        (0, x.bound, x.evidence, x.divergence, COLOURS[1], "KL(q ‖ posterior)"),
        (1, floor, x.expected_complete, x.expected_complete, COLOURS[4], "Q, expected complete"),
        (1, x.expected_complete, x.bound, x.entropy, COLOURS[2], "entropy of q"),
    ):
        ax.bar(column, end - start, 0.6, bottom=start, color=colour, label=f"{label} = {size:.4g}")
    ax.axhline(x.evidence, color="0.3", lw=1.0, ls="--", label=f"log evidence = {x.evidence:.4g}")
    ax.set_xticks([0, 1], ["evidence", "bound"])
    ax.set(xlabel="decomposition", ylabel="nats", xlim=(-0.5, 1.5), ylim=(floor, x.evidence + room))
    return finish(ax, beside=True)


@picture.register
def _comparison(x: LikelihoodComparison, ax: Any) -> Any:
    """Draw the difference of each log-likelihood from the best, with two standard errors, the best on top."""
    return _ranked(x, ax, xlabel="log-likelihood below the best", ylabel="distribution")


@picture.register
def _models(x: ModelComparison, ax: Any) -> Any:
    """Draw the difference of each mean log score from the best, with two standard errors, the best on top."""
    return _ranked(x, ax, xlabel="log predictive density of a row, below the best", ylabel="model")


def _ranked(x: Any, ax: Any, **labels: str) -> Any:
    order = [x.names.index(name) for name in x.ranking]
    possible = [i for i in order if np.isfinite(x.differences[i])]
    heights = {i: len(order) - 1 - rank for rank, i in enumerate(order)}
    errors = np.nan_to_num(2.0 * x.difference_errors[possible])
    style = {"fmt": "o", "color": COLOURS[0], "capsize": 3, "label": "± 2 s.e."}
    ax.errorbar(x.differences[possible], [heights[i] for i in possible], xerr=errors, **style)
    ax.axvline(0.0, color="0.7", lw=0.8, zorder=0)
    names = [x.names[i] + ("" if i in possible else " (impossible)") for i in order]
    ax.set_yticks([heights[i] for i in order], names)
    ax.set(ylim=(-0.5, len(order) - 0.5), **labels)
    return finish(ax)


@picture.register
def _score_curve(x: ScoreCurve, ax: Any) -> Any:
    """Draw the scores of training rows and of rows left out, with two standard errors over the folds."""
    numbers = x.values.dtype.kind in "iuf"
    where = x.values.astype(float) if numbers else np.arange(len(x.values))
    for name, scores, colour in (
        ("training rows", x.train, COLOURS[1]),
        ("rows left out", x.test, COLOURS[0]),
    ):
        mean, error = scores.mean(axis=1), 2.0 * scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
        ax.fill_between(where, mean - error, mean + error, color=colour, alpha=0.2, lw=0)
        ax.plot(where, mean, "o-", ms=4, color=colour, label=f"{name}, ± 2 s.e.")
    if not numbers:
        ax.set_xticks(where, [str(v) for v in x.values])
    elif np.all(where > 0) and where.max() > 50.0 * where.min():
        ax.set_xscale("log")
    return finish(ax, xlabel=x.label, ylabel="score of a row")


@picture.register
def _parameters(x: ParameterChoice, ax: Any) -> Any:
    """Draw the score of every candidate, with two standard errors of those over folds; the best is marked."""
    names = ["\n".join(f"{k.split('__')[-1]}={v}" for k, v in one.items()) for one in x.candidates]
    errors = None if np.isnan(x.standard_errors).all() else 2.0 * x.standard_errors
    where, best = np.arange(len(names)), int(np.nanargmax(x.scores))
    ax.errorbar(where, x.scores, yerr=errors, fmt="o", color=COLOURS[0], capsize=3)
    ax.plot([best], [x.scores[best]], "o", ms=11, mfc="none", mec=COLOURS[5], label="best")
    ax.set_xticks(where, names, rotation=90 if len(names) > 6 else 0, fontsize="small")
    label = "held-out log density of a row" if x.by == "cv" else "log evidence"
    return finish(ax, xlabel="candidate", ylabel=label)


@picture.register
def _estimators(x: EstimatorReport, ax: Any, *, show: str = "mse") -> Any:
    """Draw an error of each estimator over the size of the sample, with the bound; of one size, its values.

    `show` is "mse", "variance" or "bias".
    """
    if show not in ("mse", "variance", "bias"):
        raise ValueError(f"show must be 'mse', 'variance' or 'bias', got {show!r}")
    if len(x.sizes) == 1:
        low, high = np.quantile(x.estimates, [0.001, 0.999])
        edges = np.linspace(low, high, 41) if high > low else 40
        for i, name in enumerate(x.names):
            style = {"histtype": "step", "lw": 1.6, "density": True, "color": COLOURS[i % len(COLOURS)]}
            ax.hist(x.estimates[i, 0], edges, label=legend_label(name), **style)
        ax.axvline(x.truth, color="0.3", lw=1.0, ls="--", label="truth")
        return finish(ax, xlabel=f"estimate from n = {x.sizes[0]}", ylabel="density")
    found = getattr(x, show)
    for i, name in enumerate(x.names):
        colour = COLOURS[i % len(COLOURS)]
        style = {"fmt": "o-", "ms": 4, "lw": 1.2, "capsize": 2, "color": colour}
        ax.errorbar(
            x.sizes, found.value[i], yerr=2.0 * found.standard_error[i], label=legend_label(name), **style
        )
        if show != "bias" and np.isfinite(x.bounds[i]).all():
            label = "Cramér-Rao bound" if i == 0 else None
            ax.plot(x.sizes, x.bounds[i], color=colour if i else "0.3", lw=1.0, ls="--", label=label)
    if show == "bias":
        ax.axhline(0.0, color="0.6", lw=0.8)
        ax.set_xscale("log")
    else:
        ax.set(xscale="log", yscale="log")
    names = {"mse": "mean squared error", "variance": "variance", "bias": "bias"}
    return finish(ax, xlabel="size of the sample", ylabel=names[show])


@picture.register
def _bootstrap(x: Bootstrap, ax: Any, *, coverage: float = 0.9, label: str = "statistic") -> Any:
    """Draw the resamples of a statistic that is a number, its value and its interval."""
    if x.value.ndim:
        raise ValueError(f"x must be of a statistic that is one number, got shape {x.value.shape}")
    low, high = x.interval(coverage)
    ax.hist(x.draws, 40, color="0.8", density=True, label="resamples")
    ax.axvspan(low, high, color=COLOURS[0], alpha=0.15, lw=0, label=f"{coverage:.0%}")
    ax.axvline(float(x.value), color=COLOURS[0], lw=1.5, label="value")
    return finish(ax, xlabel=label, ylabel="density")


@picture.register
def _threshold_curve(x: ThresholdCurve, ax: Any, *, label: str = "model", colour: str = COLOURS[0]) -> Any:
    """Draw the curve with its band, beside that of scores that tell nothing."""
    roc = x.kind == "roc"
    ax.fill_between(x.grid, x.low, x.high, color=colour, alpha=0.2, lw=0, label=f"{x.coverage:.0%} band")
    ax.plot(x.x, x.y, color=colour, drawstyle="default" if roc else "steps-pre", label=legend_label(label))
    chance = ([0, 1], [0, 1]) if roc else ([0, 1], [x.base_rate] * 2)
    ax.plot(*chance, color="0.6", lw=0.8, ls="--", label="no information")
    names = ("false positive rate", "true positive rate") if roc else ("recall", "precision")
    area = "area" if roc else "average precision"
    ax.set_title(f"{area} {x.area:.3f} ± {x.area_error:.3f}", fontsize="medium")
    return finish(ax, xlabel=names[0], ylabel=names[1], xlim=(0, 1), ylim=(0, 1.02))
