"""Pictures of clusters: how their number was chosen, and where they lie."""

from typing import Any

import numpy as np

from tractable.mixture.selection import ComponentChoice
from tractable.plotting import plot
from tractable.plotting.style import COLOURS
from tractable.report.grouping import Grouping
from tractable.report.section import Picture, canvas, picture_of

__all__ = ["MARKS", "curve_picture", "ellipse", "pair_picture", "telling_pair"]

#: Clusters differ by colour and by mark.
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")

#: More points than this are drawn as pixels, and more than that not at all.
MOST_LINES, MOST_POINTS = 1_500, 4_000

#: The squared radius that holds nine tenths of a normal in the plane.
RADIUS2 = -2.0 * np.log(0.1)


def curve_picture(choice: ComponentChoice) -> Picture:
    """Draw ICL of every mixture, and BIC of the shape that was chosen."""
    number, shape = choice.best
    with canvas() as (figure, ax):
        plot(choice, ax=ax)
        row = choice.covariance_types.index(shape)
        ax.plot(
            choice.n_components, choice.scores["bic"][row], "--", lw=1, color="0.5", label=f"BIC, {shape}"
        )
        ax.legend(frameon=False, fontsize="small")
        return picture_of(
            figure,
            alt=f"ICL against the number of components; the lowest is at {number}",
            caption="The lower, the better: ICL asks for a good density and for clusters that are apart.",
        )


def pair_picture(found: Grouping, members: Any, rng: np.random.Generator) -> tuple[Picture, ...]:
    """Draw the rows in the two columns that tell the clusters apart best, with an ellipse for each."""
    numbers, k = found.rows.numbers, len(members.sizes)
    if not numbers:
        return ()
    if len(numbers) == 1:
        return (_line_picture(found, members),)
    names = telling_pair(found.rows.frame[list(numbers)], members.labels)
    x = found.rows.frame[list(names)].to_numpy(dtype=np.float64)
    shown = np.flatnonzero(~np.isnan(x).any(axis=1))
    if len(shown) > MOST_POINTS:
        shown = np.sort(rng.choice(shown, MOST_POINTS, replace=False))
    means, covariances = _plane(found.choice.best_model, names)
    with canvas(height=4.0) as (figure, ax):
        for j in range(k):
            mine = shown[members.labels[shown] == j]
            colour = COLOURS[j % len(COLOURS)]
            ax.scatter(
                *x[mine].T,
                s=12,
                lw=0,
                alpha=0.6,
                color=colour,
                marker=MARKS[j % len(MARKS)],
                label=str(j + 1),
            )
            ring = ellipse(means[members.order[j]], covariances[members.order[j]])
            ax.plot(*ring, color=colour, lw=1.5)
        ax.set(xlabel=names[0], ylabel=names[1])
        if k > 1:
            ax.legend(frameon=False, title="cluster", fontsize="small", markerscale=1.5)
        picture = picture_of(
            figure,
            alt=f"Rows by {names[0]} and {names[1]}, coloured by cluster, with an ellipse for each",
            caption=f"An ellipse holds nine tenths of its cluster. Of all pairs of columns, {names[0]} and "
            f"{names[1]} tell the clusters apart best."
            if k > 1
            else "The ellipse holds nine tenths of the rows, if they are normal.",
            pixels=len(shown) > MOST_LINES,
        )
    return (picture,)


def telling_pair(frame: Any, labels: np.ndarray) -> tuple[str, str]:
    """Return the two columns in which clusters are farthest apart, by Wilks' |W| / |T| of each pair.

    With one cluster only: the two that are most correlated.
    """
    x = frame.to_numpy(dtype=np.float64)
    spread = np.nanstd(x, axis=0)
    x = np.nan_to_num((x - np.nanmean(x, axis=0)) / np.where(spread > 0.0, spread, 1.0))
    total = x.T @ x
    first, second = np.triu_indices(x.shape[1], 1)
    if len(np.unique(labels)) < 2:
        best = int(np.argmax(np.abs(total[first, second])))
    else:
        one_hot = labels[:, None] == np.unique(labels)
        means = one_hot.T @ x / one_hot.sum(axis=0)[:, None]
        between = (means * one_hot.sum(axis=0)[:, None]).T @ means
        within = total - between + 1e-9 * len(x) * np.eye(len(total))
        t, w = (np.linalg.slogdet(_blocks(s, first, second))[1] for s in (total, within))
        best = int(np.argmin(w - t))
    return str(frame.columns[first[best]]), str(frame.columns[second[best]])


def ellipse(mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return the outline of the region that holds nine tenths of a normal in the plane, (2, 100)."""
    angle = np.linspace(0.0, 2.0 * np.pi, 100)
    variances, axes = np.linalg.eigh(covariance)
    circle = np.sqrt(RADIUS2) * np.stack([np.cos(angle), np.sin(angle)])
    return np.asarray(mean)[:, None] + (axes * np.sqrt(np.maximum(variances, 0.0))) @ circle


def _blocks(matrix: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return the two by two blocks of a matrix at pairs of places."""
    return np.stack(
        [np.stack([matrix[i, i], matrix[i, j]], -1), np.stack([matrix[j, i], matrix[j, j]], -1)], -2
    )


def _plane(model: Any, names: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the means and covariances of the components in two columns."""
    parts = model.marginal(list(names)).components
    if not hasattr(parts, "parts"):
        return np.asarray(parts.mean), np.asarray(parts.covariance)
    means = np.stack([part.mean for part in parts.parts], axis=-1)
    variances = np.stack([part.variance for part in parts.parts], axis=-1)
    return means, variances[..., None] * np.eye(2)


def _line_picture(found: Grouping, members: Any) -> Picture:
    name = found.rows.numbers[0]
    x = found.rows.frame[name].to_numpy(dtype=np.float64)
    known = ~np.isnan(x)
    edges = np.histogram_bin_edges(x[known], bins=min(40, max(5, int(np.sqrt(known.sum())))))
    with canvas() as (figure, ax):
        groups = [x[known & (members.labels == k)] for k in range(len(members.sizes))]
        colours = [COLOURS[k % len(COLOURS)] for k in range(len(groups))]
        labels = [f"cluster {k + 1}" for k in range(len(groups))]
        ax.hist(groups, bins=edges, stacked=True, color=colours, label=labels, alpha=0.8)
        ax.set(xlabel=name, ylabel="rows")
        ax.legend(frameon=False, fontsize="small")
        return picture_of(figure, alt=f"Rows by {name}, coloured by cluster")
