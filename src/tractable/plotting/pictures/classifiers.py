"""Classifiers: the parts of the plane that go to each class, or how probable classes are along a line."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from tractable.base import check_fitted
from tractable.classification import BayesClassifier, LinearDiscriminantFunction
from tractable.covariance import resolve_dims
from tractable.neighbors import KNeighborsClassifier
from tractable.plotting.columns import ColumnAxis, apart, as_places, axes_of, rows_at
from tractable.plotting.pictures.regression import draw_coefficients
from tractable.plotting.plot import picture
from tractable.plotting.rows import (
    column_names,
    draw_rows,
    given_rows,
    how_many,
    paleness,
    rows_like,
    some_rows,
)
from tractable.plotting.style import COLOURS, MOST_INSIDE, legend, legend_name, quiet, title

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


LEVELS = (0.75, 0.9, 0.99)
N_CELLS = 200

#: Shares of the classes at places of the columns that are drawn, and scores whose largest decides.
Ask = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@picture.register
def _classifier(
    x: ClassifierMixin,
    ax: Any,
    *,
    data: Any = None,
    X: Any = None,
    y: Any = None,
    dims: Any = None,
    limits: Any = None,
    levels: Any = None,
    n_cells: int = N_CELLS,
    coverage: float = 0.9,
) -> Any:
    """Draw what a classifier says along one column or over two, over rows `data` of classes `y`.

    Of more columns, the others are held in the middle of the rows. Categories are at their codes and counts
    at whole numbers; rows with holes are not drawn. Without rows, a linear classifier that knows nothing of
    where they lie is drawn by its coefficients.
    """
    check_fitted(x)
    names, data = column_names(x), given_rows(data, X)
    if data is None and isinstance(x, KNeighborsClassifier):
        data, y = rows_like(x, np.asarray(x.index_.points)), x.classes_[x.codes_]
    if data is None and limits is None and not hasattr(x, "distribution_") and hasattr(x, "coef_"):
        several = len(np.atleast_2d(x.coef_)) > 1
        return draw_coefficients(x, ax, coverage, [*map(str, x.classes_)] if several else None)
    if levels is None:  # votes go in steps, whose edges are no contours; of many classes they are a thicket
        few = len(x.classes_) <= MOST_INSIDE
        levels = LEVELS if few and not isinstance(x, KNeighborsClassifier) else ()
    options = {"dims": dims, "limits": limits, "levels": levels, "n_cells": n_cells}
    return _drawn(x, ax, names, x.classes_, data, y, **options)


@picture.register
def _known(
    x: BayesClassifier,
    ax: Any,
    *,
    data: Any = None,
    X: Any = None,
    y: Any = None,
    dims: Any = None,
    limits: Any = None,
    levels: Any = LEVELS,
    n_cells: int = N_CELLS,
) -> Any:
    """Draw what the best classifier says everywhere, over rows `data` and their classes `y`."""
    shape = x.class_distributions.event_shape
    names = [f"x{j}" for j in range(shape[0])] if shape else ["x"]
    options = {"dims": dims, "limits": limits, "levels": levels, "n_cells": n_cells}
    names, rows = list(x.distribution.names or names), given_rows(data, X)
    return _drawn(x, ax, names, np.asarray(x.classes), rows, y, **options)


@picture.register
def _planes(
    x: LinearDiscriminantFunction,
    ax: Any,
    *,
    data: Any = None,
    X: Any = None,
    y: Any = None,
    dims: Any = None,
    limits: Any = None,
    n_cells: int = N_CELLS,
) -> Any:
    """Draw the regions of planes over two columns, and the whole boundary of every pair of classes.

    Over one column: what is decided along it.
    """
    labels, names = np.asarray(x.classes), [f"x{j}" for j in range(x.coef.shape[1])]
    options = {"dims": dims, "limits": limits, "levels": (), "n_cells": n_cells}
    _drawn(x, ax, names, labels, given_rows(data, X), y, **options)
    if len(names) != 2 or len(_columns(names, dims)) != 2:
        return ax
    box = ax.viewLim.get_points().copy()
    reach = 2.0 * float(np.linalg.norm(box[1] - box[0]))
    for j in range(len(labels)):
        for k in range(j):
            between = x.pairwise_boundary(labels[j], labels[k])
            middle = between.project_to_boundary(box.mean(axis=0))
            along = np.array([-between.normal[1], between.normal[0]])
            ends = middle + reach * np.array([[-1.0], [1.0]]) * along
            ax.plot(*ends.T, color="0.35", lw=0.7, ls="dotted", scalex=False, scaley=False)
    ax.set(xlim=box[:, 0], ylim=box[:, 1])
    return ax


def _drawn(
    x: Any,
    ax: Any,
    names: list[str],
    labels: np.ndarray,
    data: Any,
    y: Any,
    *,
    dims: Any,
    limits: Any,
    levels: Any,
    n_cells: int,
) -> Any:
    axes = axes_of(x, names, len(names))
    columns = _columns(names, dims)
    rows = None if data is None else as_places(axes, getattr(x, "feature_names_in_", None), data)
    codes = class_codes(labels, rows, y)
    if rows is not None:
        complete = np.isfinite(rows).all(axis=1)
        rows, codes = rows[complete], None if codes is None else codes[complete]
    seen = _seen(x, axes, rows, needed=limits is None or len(names) > len(columns))
    shown = [axes[j] for j in columns]
    low, high = _limits(shown, None if seen is None else seen[:, columns], limits, given=rows is not None)

    def ask(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        full = places if seen is None else np.tile(_middle(axes, seen), (len(places), 1))
        full[:, columns] = places
        return _answers(x, axes, full, len(labels))

    over = None if rows is None else rows[:, columns]
    if len(columns) == 1:
        _line(x, ax, ask, shown[0], labels, over, codes, low, high)
    else:
        _plane(x, ax, ask, shown, labels, over, codes, low, high, levels, n_cells)
    left = len(names) - len(columns)
    if left:
        others = [name for j, name in enumerate(names) if j not in columns]
        told = f"{others[0]} in the middle" if left == 1 else f"the {left} other columns in the middle"
        title(ax, told)
    return ax


def _plane(
    x: Any,
    ax: Any,
    ask: Ask,
    axes: list[ColumnAxis],
    labels: np.ndarray,
    rows: Any,
    codes: Any,
    low: np.ndarray,
    high: np.ndarray,
    levels: Any,
    n_cells: int,
) -> None:
    """Draw the regions of the plane that go to each class, over rows."""
    sides = [axes[j].side(low[j], high[j], n_cells) for j in (0, 1)]
    grid = np.stack(np.meshgrid(*sides), axis=-1)
    shares, scores = (part.reshape(*grid.shape[:2], -1) for part in ask(grid.reshape(-1, 2)))
    draw_region_image(ax, sides, shares)
    # Between steps there is nothing, and so no contour.
    smooth = hasattr(x, "predict_proba") and not any(axis.steps for axis in axes)
    draw_boundaries(ax, sides, scores, levels if smooth else ())
    draw_class_rows(ax, None if rows is None else apart(axes, rows), codes, labels)
    ax.set(xlabel=axes[0].name, ylabel=axes[1].name, xlim=sides[0][[0, -1]], ylim=sides[1][[0, -1]])
    for axis, drawn in zip(axes, (ax.xaxis, ax.yaxis), strict=True):
        axis.mark(drawn)


def _columns(names: list[str], dims: Any) -> list[int]:
    """Return the one or two columns to draw over: the first when not told."""
    wanted = range(min(2, len(names))) if dims is None else dims
    columns = list(resolve_dims(wanted, len(names), tuple(names)))
    if not 1 <= len(columns) <= 2:
        raise ValueError(f"dims must name one or two columns, got {dims!r}")
    return columns


def _seen(x: Any, axes: list[ColumnAxis], rows: Any, *, needed: bool) -> np.ndarray | None:
    """Return places like those that were seen: the rows, or draws of what the classes are like."""
    if rows is not None or not needed:
        return rows
    if all(axis.categories is not None for axis in axes):
        return np.zeros((1, len(axes)))
    known = getattr(x, "distribution_", getattr(x, "distribution", None))
    if known is None:
        raise ValueError("data must be given, the rows to draw over; or limits")
    return np.reshape(np.asarray(known.sample(4000, rng=0), dtype=float), (-1, len(axes)))


def _middle(axes: list[ColumnAxis], seen: np.ndarray) -> np.ndarray:
    """Return where the columns are held that are not drawn: medians, of categories the most common."""
    middle = np.median(seen, axis=0)
    for j, axis in enumerate(axes):
        if axis.categories is not None:
            middle[j] = np.argmax(np.bincount(seen[:, j].astype(int), minlength=len(axis.categories)))
    return middle


def _line(
    x: Any,
    ax: Any,
    ask: Ask,
    axis: ColumnAxis,
    labels: np.ndarray,
    rows: Any,
    codes: Any,
    low: Any,
    high: Any,
) -> Any:
    """Draw the probability of each class along a line; at categories, in bars."""
    points = np.arange(low[0], high[0] + 0.5) if axis.steps else np.linspace(low[0], high[0], 400)
    shares, _ = ask(points[:, None])
    wide = 0.8 / len(labels)
    for code, name in enumerate(labels):
        style: dict[str, Any] = {"color": class_colour(code), "label": legend_name(name)}
        if axis.categories is not None:
            ax.bar(points + wide * (code - 0.5 * (len(labels) - 1)), shares[:, code], wide, **style)
        else:
            style |= {"ls": class_dashes(code), "marker": "o" if axis.steps else None, "ms": 4}
            ax.plot(points, shares[:, code], **style)
    if codes is not None:
        draw_class_ticks(ax, apart([axis], rows)[:, 0], codes, len(labels))
    if not axis.steps:
        for edge in points[1:][np.diff(np.argmax(shares, axis=1)) != 0]:
            ax.axvline(edge, color="black", lw=0.8)
    said = "p(class | x)" if hasattr(x, "predict_proba") else "decision"
    room = 0.5 if axis.steps else 0.0
    ax.set_yticks(np.linspace(0.0, 1.0, 6))  # below are rows, and no probabilities
    ax.set(xlabel=axis.name, ylabel=said, xlim=(points[0] - room, points[-1] + room))
    axis.mark(ax.xaxis)
    quiet(ax)
    legend(ax, head="" if codes is None else how_many(len(codes)))
    return ax


def _answers(x: Any, axes: list[ColumnAxis], places: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of the classes at each place, and scores whose largest decides."""
    rows = rows_at(axes, getattr(x, "feature_names_in_", None), places)
    if hasattr(x, "predict_proba"):
        known = isinstance(x, BayesClassifier) and not x.class_distributions.event_shape
        p = np.asarray(x.predict_proba(rows[:, 0] if known else rows))
        return p, p
    asked = x.scores if isinstance(x, LinearDiscriminantFunction) else x.decision_function
    scores = np.asarray(asked(rows))
    scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    return np.eye(k)[np.argmax(scores, axis=1)], scores


def _limits(axes: list[ColumnAxis], seen: Any, limits: Any, *, given: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of what is drawn: as told, about the rows, or about what the classes are like."""
    if limits is not None:
        box = np.atleast_2d(np.asarray(limits, dtype=float))
        if box.shape != (len(axes), 2) or not np.all(box[:, 0] < box[:, 1]):
            raise ValueError(f"limits must be (low, high) of each column, got {limits!r}")
        low, high = box[:, 0], box[:, 1]
    elif given:
        low, high = seen.min(axis=0), seen.max(axis=0)
    else:
        low, high = np.quantile(seen, [0.005, 0.995], axis=0)
    low, high = (np.array([a.snapped(e) for a, e in zip(axes, ends, strict=True)]) for ends in (low, high))
    for j, axis in enumerate(axes):
        if axis.categories is not None and limits is None:  # all of them, met or not
            low[j], high[j] = 0.0, len(axis.categories) - 1.0
    return low, high


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
