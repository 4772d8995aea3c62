"""What a classifier says of every point of a line or a plane."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.plotting.labels import legend_name
from tractable.plotting.points import draw_rows, how_many, paleness, some_rows
from tractable.plotting.style import COLOURS, legend, quiet

__all__ = [
    "class_codes",
    "class_colour",
    "class_dashes",
    "class_marker",
    "draw_boundaries",
    "draw_class_rows",
    "draw_class_ticks",
    "draw_region_image",
]

#: A shape for every class, beside its colour.
MARKERS = "os^DvPX*"

#: Lines of the first eight classes, of the next eight, and so on.
DASHES = ("-", "--", ":", "-.")

#: How far below zero the rows of one column reach, however many classes there are.
RUG = 0.24

#: Marks of more rows than this have no edges, which would be all there is to see.
MOST_EDGED = 1_000


def class_colour(code: int) -> str:
    """Return the colour of a class."""
    return COLOURS[code % len(COLOURS)]


def class_marker(code: int) -> str:
    """Return the shape of a class: where colours come round again, shapes have moved on by one."""
    return MARKERS[(code + code // len(COLOURS)) % len(MARKERS)]


def class_dashes(code: int) -> str:
    """Return the line of a class: where colours come round again, it has another pattern."""
    return DASHES[code // len(COLOURS) % len(DASHES)]


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
        draw_rows(ax, rows, s=12, color="0.3")
    drawn = np.array([], dtype=int) if rows is None or codes is None else some_rows(rows)
    edge = 0.5 if len(drawn) < MOST_EDGED else 0.0
    for code, name in enumerate(labels):
        own = np.empty((0, 2)) if rows is None or codes is None else rows[drawn[codes[drawn] == code]]
        look = {"color": class_colour(code), "marker": class_marker(code), "alpha": paleness(len(drawn))}
        ax.scatter(*own.T, s=18, ec="white", lw=edge, label=legend_name(name), **look)
    quiet(ax)
    legend(ax, boxed=True, head=how_many(len(rows)) if len(drawn) else "")  # type: ignore[arg-type]


def draw_class_ticks(ax: Any, along: np.ndarray, codes: np.ndarray, n_classes: int) -> None:
    """Draw rows of one column below zero, those of each class in a line of their own."""
    drawn, step = some_rows(along), min(0.03, RUG / n_classes)
    for code in range(n_classes):
        own = along[drawn[codes[drawn] == code]]
        place = np.full(len(own), -0.03 - step * code)
        ax.plot(own, place, "|", color=class_colour(code), ms=200.0 * step)


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
