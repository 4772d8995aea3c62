"""Pictures of principal axes: how much each holds, and the rows in the plane of the first two."""

from typing import Any

import numpy as np

from tractable.plotting.labels import legend_name
from tractable.plotting.style import COLOURS
from tractable.report.cluster_pictures import MARKS, MOST_LINES, MOST_POINTS
from tractable.report.principal import PrincipalAxes
from tractable.report.section import Picture, canvas, picture_of

__all__ = ["map_picture", "scree_picture"]

#: Directions in the scree plot, columns with an arrow, and values with a colour of their own.
MOST_BARS, MOST_ARROWS, MOST_VALUES = 20, 6, 7


def scree_picture(shares: np.ndarray, chance: float) -> Picture:
    """Draw the share of the variance along each direction, and what chance alone would show."""
    shown = shares[:MOST_BARS]
    places = np.arange(1, len(shown) + 1)
    with canvas() as (figure, ax):
        ax.bar(places, shown, color=COLOURS[0], width=0.7, label="each")
        ax.plot(places, np.cumsum(shown), ".-", color=COLOURS[1], label="so far")
        if chance < 1.0:
            ax.axhline(chance, color="0.4", lw=1, ls="--", label="most by chance")
        ax.set(xlabel="direction", ylabel="share of the variance", ylim=(0, 1.02))
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(frameon=False, fontsize="small")
        return picture_of(
            figure,
            alt=f"The first direction holds {shares[0]:.0%} of the variance, the second {shares[1]:.0%}",
            caption="Directions above the dashed line hold more than columns without any relation would."
            if chance < 1.0
            else "Of so few rows chance alone may give one direction nearly all.",
        )


def map_picture(
    scores: np.ndarray, axes: PrincipalAxes, names: list[str], colours: Any, by: str, rng: np.random.Generator
) -> Picture:
    """Draw the rows along the first two directions, and where each of the main columns points."""
    shown = np.arange(len(scores))
    if len(shown) > MOST_POINTS:
        shown = np.sort(rng.choice(shown, MOST_POINTS, replace=False))
    with canvas(height=4.4) as (figure, ax):
        _points(figure, ax, scores[shown], None if colours is None else colours.iloc[shown], by)
        _arrows(ax, scores, axes.directions[:, :2] * np.sqrt(axes.variances[:2]), names)
        ax.set(
            xlabel=f"first direction ({axes.shares[0]:.0%})",
            ylabel=f"second direction ({axes.shares[1]:.0%})",
        )
        return picture_of(
            figure,
            alt=f"Rows in the plane of the first two directions{', coloured by ' + by if by else ''}",
            caption="Rows near each other are alike in these two directions; an arrow points to where a "
            "column is large, and is as long as the map knows of it.",
            pixels=len(shown) > MOST_LINES,
        )


def _points(figure: Any, ax: Any, xy: np.ndarray, colours: Any, by: str) -> None:
    style: dict[str, Any] = {"s": 14, "lw": 0, "alpha": 0.7}
    if colours is None:
        ax.scatter(*xy.T, color=COLOURS[0], **style)
    elif colours.dtype.kind == "f":
        known = colours.notna().to_numpy()
        ax.scatter(*xy[~known].T, color="0.8", **style)
        drawn = ax.scatter(*xy[known].T, c=colours[known], cmap="viridis", **style)
        figure.colorbar(drawn, ax=ax, label=by, shrink=0.8)
    else:
        values = list(colours.value_counts().index[:MOST_VALUES])
        if by == "cluster":
            values = sorted(values)
        rest = ~colours.isin(values).to_numpy()
        if rest.any():
            ax.scatter(*xy[rest].T, color="0.75", label="other", **style)
        for j, level in enumerate(values):
            mine = (colours == level).to_numpy()
            ax.scatter(
                *xy[mine].T, color=COLOURS[j], marker=MARKS[j], label=legend_name(str(level)[:30]), **style
            )
        ax.legend(frameon=False, title=by[:40], fontsize="small", markerscale=1.3)


def _arrows(ax: Any, scores: np.ndarray, loadings: np.ndarray, names: list[str]) -> None:
    """Draw arrows of the columns that the map knows most of; an arrow of length one reaches the edge."""
    lengths = np.sqrt((loadings**2).sum(axis=1))
    reach = 0.95 * float(np.abs(scores).max())
    longest = np.argsort(-lengths, kind="stable")[:MOST_ARROWS]
    tips = {int(i): reach * loadings[i] for i in longest if lengths[i] >= 0.1}
    for tip in tips.values():
        style = {"arrowstyle": "->", "color": "0.25", "lw": 1.0}
        ax.annotate("", xy=tip, xytext=(0, 0), arrowprops=style)
    if tips:
        ax.update_datalim(list(tips.values()))  # arrows may reach farther than a few rows
    ax.margins(0.2)
    shown = [name if len(name) <= 20 else f"{name[:19]}…" for name in names]
    widths = np.array([0.02 * len(name) * 2.0 * reach for name in shown])
    for i, place in _apart(tips, widths, 0.06 * 2.0 * reach).items():
        below = "bottom" if place[1] >= 0 else "top"
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5}
        ax.text(*place, shown[i], ha="center", va=below, fontsize=8, color="0.1", bbox=box)


def _apart(tips: dict[int, np.ndarray], widths: np.ndarray, height: float) -> dict[int, np.ndarray]:
    """Return places for names beside the tips, moved away from the middle until none covers another."""
    placed: dict[int, np.ndarray] = {}
    for i, tip in sorted(tips.items(), key=lambda item: abs(item[1][1])):
        place = np.array(tip)
        step = height if place[1] >= 0 else -height
        while any(
            abs(place[0] - other[0]) < 0.5 * (widths[i] + widths[j]) and abs(place[1] - other[1]) < height
            for j, other in placed.items()
        ):
            place[1] += step
        placed[i] = place
    return placed
