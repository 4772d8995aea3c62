"""Pictures of the models section: comparison, predictions, calibration, confusion, importances."""

from typing import Any

import numpy as np

from tractable.metrics import CalibrationCurve, class_calibration, confusion_matrix
from tractable.plotting import plot
from tractable.plotting.style import COLOURS, legend
from tractable.report.candidates import LogTransformed, point_prediction
from tractable.report.held_out import HeldOut, Importance, ModelRows
from tractable.report.page import Picture, canvas, picture_of, shortened

__all__ = ["class_pictures", "comparison", "importance_picture", "number_pictures"]

#: Rows whose intervals are drawn, and columns whose importances are.
MAX_INTERVALS, MAX_COLUMNS = 200, 12

#: Probabilities at which quantiles are compared with the targets.
LEVELS = np.arange(1, 10) / 10.0


def comparison(ranked: list[tuple[HeldOut, float, float]]) -> Picture:
    """Draw the difference of each model from the best, with two standard errors."""
    positions = np.arange(len(ranked))[::-1]
    less = np.array([row[1] for row in ranked])
    errors = np.array([row[2] for row in ranked])
    with canvas(height=0.9 + 0.35 * len(ranked)) as (figure, ax):
        ax.axvline(0.0, color="0.7", lw=0.8, zorder=0)
        ax.errorbar(less, positions, xerr=2.0 * errors, fmt="o", color=COLOURS[0], capsize=3)
        ax.set_yticks(positions, [row[0].name for row in ranked])
        long = any(len(row[0].name) > 24 for row in ranked)  # which leaves little room for the axis
        between = "\n" if long else " "
        ax.set(xlabel=f"log score a row, less than the best{between}(± 2 standard errors)")
        ax.margins(y=0.12)
        return picture_of(
            figure,
            alt=f"{ranked[0][0].name} is best, then {', '.join(row[0].name for row in ranked[1:])}",
            caption="Farther right is better. A bar that reaches zero: the difference may be chance.",
        )


def importance_picture(importance: list[Importance], target: str) -> Picture:
    """Draw the permutation importances of columns, with two standard errors."""
    shown = importance[:MAX_COLUMNS]
    positions = np.arange(len(shown))[::-1]
    with canvas(height=1.0 + 0.28 * len(shown)) as (figure, ax):
        ax.barh(positions, [one.loss for one in shown], color=COLOURS[4], height=0.6)
        errors = [2.0 * one.standard_error for one in shown]
        style = {"fmt": "none", "color": "0.2", "capsize": 2, "lw": 1}
        ax.errorbar([one.loss for one in shown], positions, xerr=errors, **style)
        ax.set_yticks(positions, [shortened(one.column, 28) for one in shown])
        ax.axvline(0.0, color="0.5", lw=0.8)
        ax.set(xlabel="log score lost without it (± 2 standard errors)")
        return picture_of(
            figure,
            alt=f"What matters for {target}: {', '.join(one.column for one in shown[:4])}",
            caption="How much worse the best model predicts when the entries of a column are permuted.",
        )


def number_pictures(
    best: HeldOut, rows: ModelRows, target: str, rng: np.random.Generator
) -> tuple[Picture, ...]:
    """Draw observed against predicted targets with intervals, and the calibration of quantiles."""
    mean = best.gathered(lambda d, _: point_prediction(d))
    ends = best.gathered(lambda d, _: np.stack(d.interval(0.9), axis=-1))
    pit = best.gathered(lambda d, at: d.cdf(rows.y[at]))
    n = len(rows.y)
    shown = np.sort(rng.permutation(n)[:MAX_INTERVALS])
    with canvas(height=4.0) as (figure, ax):
        ax.vlines(mean[shown], *ends[shown].T, color=COLOURS[4], lw=1, alpha=0.5, label="90% interval")
        ax.scatter(mean[shown], rows.y[shown], s=12, color=COLOURS[0], lw=0, label="rows", zorder=3)
        across = [float(mean[shown].min()), float(mean[shown].max())]
        ax.plot(across, across, color="0.4", lw=1, label="predicted")
        ax.set(xlabel=f"{target}, predicted", ylabel=target)
        if isinstance(best.parts[0][2], LogTransformed):
            ax.set(xscale="log", yscale="log")
        legend(ax)
        predicted = picture_of(
            figure,
            alt=f"{target} against its prediction, with intervals of 90%",
            caption=f"{best.name}, for rows it was not fitted to: nine in ten points should be on bars.",
        )
    observed = (pit[:, None] <= LEVELS).mean(axis=0)
    curve = CalibrationCurve(
        levels=LEVELS, observed=observed, standard_errors=np.sqrt(LEVELS * (1.0 - LEVELS) / n)
    )
    return predicted, _calibration(
        curve, "Points in the band: the fraction of targets below a quantile is its probability."
    )


def class_pictures(best: HeldOut, rows: ModelRows) -> tuple[Picture, ...]:
    """Draw the confusion matrix and the calibration of class probabilities."""
    assert rows.classes is not None
    proba = best.gathered(lambda d, _: d.probabilities)
    names = np.array([shortened(name, 16) for name in rows.classes])
    if len(set(names.tolist())) < len(names):
        names = np.array([f"{k + 1}: {name}" for k, name in enumerate(names)])
    order = np.argsort(names, kind="stable")  # scores need classes in order
    truth, said = names[rows.y], names[proba.argmax(axis=1)]
    matrix = confusion_matrix(truth, said, classes=names)
    with canvas(height=4.0) as (figure, ax):
        plot(matrix, ax=ax)
        confusions = picture_of(
            figure,
            alt=f"Confusion matrix; {matrix.accuracy:.1%} of the rows are right",
            caption=f"{best.name}, for rows it was not fitted to, relative to each class.",
        )
    rare, top = _rare_class(proba, rows.y)
    curve = class_calibration(
        truth,
        proba[:, order],
        classes=names[order],
        label=None if rare is None else names[rare],
        n_bins=10 if top == 1.0 else round(5 / top),
    )
    caption = "Points on the line: predicted probabilities equal observed frequencies."
    if top < 1.0:
        caption += f" Nearly all rows are below {top:g}, so that corner is shown."
    return confusions, _calibration(curve, caption, top)


def _rare_class(proba: np.ndarray, y: np.ndarray) -> tuple[int | None, float]:
    """Return the rarer of two classes, and a bound on its probability for 99 % of the rows."""
    if proba.shape[1] != 2:
        return None, 1.0
    rare = int(np.bincount(y, minlength=2).argmin())
    reach = float(np.quantile(proba[:, rare], 0.99))
    return rare, next((top for top in (0.02, 0.05, 0.1, 0.2, 0.5) if reach < top), 1.0)


def _calibration(curve: Any, caption: str, top: float = 1.0) -> Picture:
    with canvas(width=4.4, height=4.2) as (figure, ax):
        if top < 1.0:
            plot(curve, ax=ax, bars=False)
            shown = curve.predicted < top
            high = (curve.predicted + 2.0 * curve.standard_errors)[shown]
            ax.set(
                xlim=(0.0, top),
                ylim=(0.0, min(1.0, 1.1 * max(top, high.max(), curve.observed[shown].max()))),
                aspect="auto",
            )
        else:
            plot(curve, ax=ax)
        ax.legend(frameon=False, fontsize="small", loc="upper left")
        return picture_of(figure, alt="Observed frequencies against predicted probabilities", caption=caption)
