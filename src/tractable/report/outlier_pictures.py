"""Pictures of strange rows: how strange all are, and where the strangest lie."""

from typing import Any

import numpy as np

from tractable.plotting.style import COLOURS
from tractable.report.cluster_pictures import MOST_LINES, MOST_POINTS
from tractable.report.section import Picture, canvas, picture_of
from tractable.report.strangeness import Strangeness

__all__ = ["pair_of_outliers", "strangeness_picture"]


def strangeness_picture(strange: Strangeness, limit: float) -> Picture:
    """Draw how far rows are below the usual log density, beside draws from the model."""
    below = strange.below[~np.isnan(strange.below)]
    edge = float(np.quantile(strange.usual, 1.0 - limit))
    low = min(below.min(), strange.usual.min())
    high = max(
        edge * 1.1, float(np.quantile(below, 0.999)), low + 1e-3
    )  # all may be as strange as each other
    edges = np.linspace(low, high, 41)
    with canvas() as (figure, ax):
        ax.hist(np.minimum(below, high), bins=edges, density=True, color=COLOURS[4], alpha=0.6, label="rows")
        ax.hist(
            strange.usual, bins=edges, density=True, histtype="step", color="0.3", lw=1.2, label="expected"
        )
        ax.axvline(edge, color=COLOURS[5], lw=1.2, ls="--", label="strange from here")
        ax.set(xlabel="log density below usual", ylabel="share of rows", yticks=[])
        ax.legend(frameon=False, fontsize="small")
        return picture_of(
            figure,
            alt="A histogram of how far rows are below the usual log density",
            caption="Rows to the right of the dashed line are stranger than the model leads to expect; rows "
            "beyond the edge are counted in the last bar.",
        )


def pair_of_outliers(
    frame: Any, numbers: tuple[str, ...], flagged: np.ndarray, told: list[Any], rng: np.random.Generator
) -> tuple[Picture, ...]:
    """Draw the rows in the two columns that are blamed most, with the strange ones circled and numbered."""
    pair = _blamed_pair(frame, numbers, told)
    if pair is None:
        return ()
    x = frame[list(pair)].to_numpy(dtype=np.float64)
    shown = np.flatnonzero(~np.isnan(x).any(axis=1))
    if len(shown) > MOST_POINTS:
        shown = np.sort(rng.choice(shown, MOST_POINTS, replace=False))
    with canvas(height=4.0) as (figure, ax):
        ax.scatter(*x[shown].T, s=10, lw=0, color="0.6", alpha=0.6)
        ax.scatter(*x[flagged].T, s=60, facecolors="none", edgecolors=COLOURS[5], linewidths=1.4)
        for i, _ in told:
            if np.isfinite(x[i]).all():
                ax.annotate(
                    str(int(frame.index[i]) + 1), x[i], xytext=(6, 4), textcoords="offset points", fontsize=8
                )
        ax.set(xlabel=pair[0], ylabel=pair[1])
        picture = picture_of(
            figure,
            alt=f"Rows by {pair[0]} and {pair[1]}, the strange ones circled",
            caption="Strange rows, circled, in the two columns that make most of them so. A row may be "
            "strange for another column.",
            pixels=len(shown) > MOST_LINES,
        )
    return (picture,)


def _blamed_pair(frame: Any, numbers: tuple[str, ...], told: list[Any]) -> tuple[str, str] | None:
    """Return the column that is blamed most and the next one, or that which is most like it."""
    counts = dict.fromkeys(numbers, 0)
    for _, why in told:
        for blame in why:
            if blame.column in counts:
                counts[blame.column] += 1
    order = sorted(numbers, key=lambda name: -counts[name])
    if len(order) < 2 or counts[order[0]] == 0:
        return None
    if counts[order[1]]:
        return order[0], order[1]
    alike = frame[list(numbers)].corr()[order[0]].drop(order[0]).abs().fillna(0.0)
    return order[0], str(alike.idxmax())
