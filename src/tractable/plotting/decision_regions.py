"""What a classifier says of every point of a line or a plane."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.plotting.labels import legend_name
from tractable.plotting.style import COLOURS, quiet

__all__ = ["class_codes", "class_colour", "draw_boundaries", "draw_class_rows", "draw_region_image"]

#: A shape for every class, beside its colour.
MARKERS = "os^DvPX*"


def class_colour(code: int) -> str:
    """Return the colour of a class."""
    return COLOURS[code % len(COLOURS)]


def draw_region_image(ax: Any, sides: Sequence[np.ndarray], shares: np.ndarray) -> None:
    """Shade the points of a grid by their most probable class, paler where it is less probable."""
    from matplotlib.colors import to_rgb

    across, up = sides
    winner = np.argmax(shares, axis=-1)
    shades = np.asarray([to_rgb(class_colour(code)) for code in range(shares.shape[-1])])
    sure = np.take_along_axis(shares, winner[..., None], axis=-1)
    image = np.concatenate([shades[winner], 0.08 + 0.32 * sure**2], axis=-1)
    ax.imshow(
        image,
        extent=(across[0], across[-1], up[0], up[-1]),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
    )


def draw_boundaries(
    ax: Any, sides: Sequence[np.ndarray], scores: np.ndarray, levels: Sequence[float] = ()
) -> None:
    """Draw where the best two classes are tied, and where the best has each of the probabilities `levels`."""
    k = scores.shape[-1]
    for code in range(1 if k == 2 else k):
        others = np.max(np.delete(scores, code, axis=-1), axis=-1)
        lead = scores[..., code] - others
        if lead.min() < 0.0 < lead.max():
            ax.contour(*sides, lead, [0.0], colors="black", linewidths=1.2)
    best = scores.max(axis=-1)
    shown = [level for level in sorted(levels) if best.min() < level < best.max()]
    if shown:
        lines = ax.contour(*sides, best, shown, colors="0.35", linewidths=0.6, linestyles="dashed")
        ax.clabel(lines, fmt=lambda level: f"{level:.0%}", fontsize=7)


def draw_class_rows(ax: Any, rows: np.ndarray | None, codes: np.ndarray | None, labels: np.ndarray) -> None:
    """Draw rows of two columns, in the colour and the shape of their classes where these are known.

    The legend names the classes, rows or not.
    """
    if rows is not None and codes is None:
        ax.scatter(*rows.T, s=12, color="0.3", lw=0, label="data")
    for code, name in enumerate(labels):
        own = np.empty((0, 2)) if rows is None or codes is None else rows[codes == code]
        marker = MARKERS[code % len(MARKERS)]
        ax.scatter(
            *own.T, s=18, color=class_colour(code), marker=marker, ec="white", lw=0.5, label=legend_name(name)
        )
    quiet(ax)
    ax.legend(loc="best", framealpha=0.9, fontsize="small")  # in a box: its marks are no rows


def class_codes(labels: np.ndarray, rows: Any, y: Any) -> np.ndarray | None:
    """Return the positions of the labels y among the classes, one for each row."""
    if y is None:
        return None
    places = {label: code for code, label in enumerate(labels.tolist())}
    given = np.asarray(y).tolist()
    if rows is None or len(given) != len(rows):
        raise ValueError("y must have one label for each row of data")
    unknown = [label for label in given if label not in places]
    if unknown:
        raise ValueError(f"y has the label {unknown[0]!r}, which is not among {labels.tolist()}")
    return np.array([places[label] for label in given])
