"""Classifiers: decision regions over two columns, class probabilities along one, or coefficients."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from tractable.base import check_fitted
from tractable.classification import BayesClassifier, LinearDiscriminantFunction
from tractable.gaussian_process import GaussianProcessClassifier
from tractable.neighbors import KNeighborsClassifier
from tractable.plotting.columns import (
    ColumnAxis,
    column_axes,
    jittered,
    named_columns,
    positions_of,
    rows_from_positions,
)
from tractable.plotting.pictures.regression import draw_coefficients
from tractable.plotting.plot import picture, with_options
from tractable.plotting.rows import (
    column_names,
    draw_rows,
    opacity,
    refuse_given_distances,
    rows_argument,
    sample_note,
    sampled_rows,
    with_column_names,
)
from tractable.plotting.style import COLOURS, MAX_INSIDE, finish, legend_label, title

#: Probabilities whose contours are drawn, and cells along each side of the image of the regions.
LEVELS, N_CELLS = (0.75, 0.9, 0.99), 200

#: The marker of each class, and the line styles of the first eight classes, of the next eight, ….
MARKERS, DASHES = "os^DvPX*", ("-", "--", ":", "-.")

#: The depth below zero of the ticks of rows along one column, for any number of classes.
RUG = 0.24

#: Marks of more rows than this have no white edges.
MAX_EDGED = 1_000

#: From positions of the drawn columns to the class probabilities and the scores whose largest decides.
Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@picture.register
def _classifier(
    x: ClassifierMixin,
    ax: Any,
    *,
    data: Any = None,
    X: Any = None,
    y: Any = None,
    coverage: float = 0.9,
    dims: Any = None,
    limits: Any = None,
    levels: Any = None,
    n_cells: int = N_CELLS,
) -> Any:
    """Draw the decisions along one column or over two, with rows `data` of classes `y`.

    Further columns are held at their medians. Categories are at their codes and counts at whole numbers;
    rows with missing entries are not drawn. Without rows, a linear classifier that has no distribution of
    the rows is drawn by its coefficients. The votes of neighbours have no contours.
    """
    check_fitted(x)
    rows, neighbours = rows_argument(data, X), isinstance(x, KNeighborsClassifier)
    if isinstance(x, KNeighborsClassifier) and x.outputs_2d_:
        raise ValueError("x has several labels a row: fit a classifier to one of them to draw it")
    if rows is None and neighbours:
        refuse_given_distances(x)
        rows, y = with_column_names(x, np.asarray(x.index_.points)), x.classes_[x.codes_]
    if rows is None and limits is None and isinstance(x, GaussianProcessClassifier):
        rows, y = with_column_names(x, np.asarray(x.X_train_)), x.classes_[x._codes_]
    linear = hasattr(x, "coef_") and not hasattr(x, "distribution_")
    if rows is None and limits is None and linear:
        several = len(np.atleast_2d(x.coef_)) > 1
        return draw_coefficients(x, ax, coverage, [*map(str, x.classes_)] if several else None)
    if levels is None and (neighbours or len(x.classes_) > MAX_INSIDE):
        levels = ()
    names, options = column_names(x), {"dims": dims, "limits": limits, "levels": levels, "n_cells": n_cells}
    return _draw(names, x.classes_, rows, y, x, ax, **options)


@picture.register
def _bayes_classifier(
    x: BayesClassifier, ax: Any, *, data: Any = None, X: Any = None, y: Any = None, **options: Any
) -> Any:
    """Draw the decisions of the Bayes classifier of known densities, with rows `data` of classes `y`."""
    shape = x.class_distributions.event_shape
    names = [f"x{j}" for j in range(shape[0])] if shape else ["x"]
    names, rows = list(x.distribution.names or names), rows_argument(data, X)
    return with_options(partial(_draw, names, np.asarray(x.classes), rows, y), x, ax, options)


@picture.register
def _linear_discriminant_function(
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
    """Draw the decision regions over two columns, and the hyperplane between every pair of classes.

    Over one column: the decisions along it.
    """
    labels, names = np.asarray(x.classes), [f"x{j}" for j in range(x.coef.shape[1])]
    _draw(names, labels, rows_argument(data, X), y, x, ax, dims=dims, limits=limits, n_cells=n_cells)
    if len(names) != 2 or len(named_columns(names, dims)) != 2:
        return ax
    box = ax.viewLim.get_points().copy()
    length = 2.0 * float(np.linalg.norm(box[1] - box[0]))
    for j in range(len(labels)):
        for k in range(j):
            between = x.pairwise_boundary(labels[j], labels[k])
            middle = between.project_to_boundary(box.mean(axis=0))
            along = np.array([-between.normal[1], between.normal[0]])
            ends = middle + length * np.array([[-1.0], [1.0]]) * along
            ax.plot(*ends.T, color="0.35", lw=0.7, ls="dotted", scalex=False, scaley=False)
    ax.set(xlim=box[:, 0], ylim=box[:, 1])
    return ax


def _draw(
    names: list[str],
    labels: np.ndarray,
    data: Any,
    y: Any,
    x: Any,
    ax: Any,
    *,
    dims: Any = None,
    limits: Any = None,
    levels: Any = None,
    n_cells: int = N_CELLS,
) -> Any:
    axes = column_axes(x, names, len(names))
    columns = named_columns(names, dims)
    rows = None if data is None else positions_of(axes, getattr(x, "feature_names_in_", None), data)
    codes = _class_codes(labels, rows, y)
    if rows is not None:
        complete = np.isfinite(rows).all(axis=1)
        rows, codes = rows[complete], None if codes is None else codes[complete]
    typical = _typical_rows(x, axes, rows, needed=limits is None or len(names) > len(columns))
    shown = [axes[j] for j in columns]
    around = None if typical is None else typical[:, columns]
    low, high = _limits(shown, around, limits, given=rows is not None)

    def evaluate(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        full = positions if typical is None else np.tile(_centre(axes, typical), (len(positions), 1))
        full[:, columns] = positions
        return _decisions(x, axes, full, len(labels))

    over = None if rows is None else rows[:, columns]
    if len(columns) == 1:
        _draw_along_one(x, ax, evaluate, shown[0], labels, over, codes, low[0], high[0])
    else:
        levels = LEVELS if levels is None else levels
        _draw_over_two(x, ax, evaluate, shown, labels, over, codes, low, high, levels, n_cells)
    others = [name for j, name in enumerate(names) if j not in columns]
    if others:
        which = others[0] if len(others) == 1 else f"the {len(others)} other columns"
        title(ax, f"{which} in the middle")
    return ax


def _draw_over_two(
    x: Any,
    ax: Any,
    evaluate: Evaluate,
    axes: list[ColumnAxis],
    labels: np.ndarray,
    rows: np.ndarray | None,
    codes: np.ndarray | None,
    low: np.ndarray,
    high: np.ndarray,
    levels: Any,
    n_cells: int,
) -> None:
    """Draw the decision regions over two columns, with rows."""
    sides = [axes[j].grid(low[j], high[j], n_cells) for j in (0, 1)]
    grid = np.stack(np.meshgrid(*sides), axis=-1)
    probabilities, scores = (part.reshape(*grid.shape[:2], -1) for part in evaluate(grid.reshape(-1, 2)))
    _draw_regions(ax, sides, probabilities)
    smooth = hasattr(x, "predict_proba") and not any(axis.discrete for axis in axes)
    _draw_boundaries(ax, sides, scores, levels if smooth else ())
    _draw_class_rows(ax, None if rows is None else jittered(axes, rows), codes, labels)
    ax.set(xlabel=axes[0].name, ylabel=axes[1].name, xlim=sides[0][[0, -1]], ylim=sides[1][[0, -1]])
    for axis, drawn in zip(axes, (ax.xaxis, ax.yaxis), strict=True):
        axis.label_ticks(drawn)


def _draw_along_one(
    x: Any,
    ax: Any,
    evaluate: Evaluate,
    axis: ColumnAxis,
    labels: np.ndarray,
    rows: Any,
    codes: np.ndarray | None,
    low: float,
    high: float,
) -> None:
    """Draw the probability of each class along one column, as bars over categories."""
    points = np.arange(low, high + 0.5) if axis.discrete else np.linspace(low, high, 400)
    probabilities, _ = evaluate(points[:, None])
    width = 0.8 / len(labels)
    for code, name in enumerate(labels):
        style: dict[str, Any] = {"color": class_colour(code), "label": legend_label(name)}
        if axis.categories is not None:
            ax.bar(points + width * (code - 0.5 * (len(labels) - 1)), probabilities[:, code], width, **style)
        else:
            style |= {"ls": class_dashes(code), "marker": "o" if axis.discrete else None, "ms": 4}
            ax.plot(points, probabilities[:, code], **style)
    if codes is not None:
        _draw_class_ticks(ax, jittered([axis], rows)[:, 0], codes, len(labels))
    if not axis.discrete:
        for boundary in points[1:][np.diff(np.argmax(probabilities, axis=1)) != 0]:
            ax.axvline(boundary, color="black", lw=0.8)
    margin = 0.5 if axis.discrete else 0.0
    ax.set_yticks(np.linspace(0.0, 1.0, 6))  # below zero are rows
    ax.set(xlabel=axis.name, ylabel="p(class | x)" if hasattr(x, "predict_proba") else "decision")
    ax.set(xlim=(points[0] - margin, points[-1] + margin))
    axis.label_ticks(ax.xaxis)
    finish(ax, head="" if codes is None else sample_note(len(codes)))


def _typical_rows(x: Any, axes: list[ColumnAxis], rows: Any, *, needed: bool) -> np.ndarray | None:
    """Return the rows, or samples of the distribution of the classes."""
    if rows is not None or not needed:
        return rows
    if all(axis.categories is not None for axis in axes):
        return np.zeros((1, len(axes)))
    known = getattr(x, "distribution_", getattr(x, "distribution", None))
    if known is None:
        raise ValueError("data must be given, the rows to draw over; or limits")
    return np.reshape(np.asarray(known.sample(4000, rng=0), dtype=float), (-1, len(axes)))


def _centre(axes: list[ColumnAxis], rows: np.ndarray) -> np.ndarray:
    """Return the positions of columns that are not drawn: medians, and the most frequent categories."""
    centre = np.median(rows, axis=0)
    for j, axis in enumerate(axes):
        if axis.categories is not None:
            centre[j] = np.argmax(np.bincount(rows[:, j].astype(int), minlength=len(axis.categories)))
    return centre


def _decisions(
    x: Any, axes: list[ColumnAxis], positions: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the class probabilities at each position, and the scores whose largest decides."""
    rows = rows_from_positions(axes, getattr(x, "feature_names_in_", None), positions)
    if hasattr(x, "predict_proba"):
        scalar = isinstance(x, BayesClassifier) and not x.class_distributions.event_shape
        p = np.asarray(x.predict_proba(rows[:, 0] if scalar else rows))
        return p, p
    score = x.scores if isinstance(x, LinearDiscriminantFunction) else x.decision_function
    scores = np.asarray(score(rows))
    scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    return np.eye(k)[np.argmax(scores, axis=1)], scores


def _limits(axes: list[ColumnAxis], rows: Any, limits: Any, *, given: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the picture: `limits`, the range of the given rows, or 99 % of samples."""
    if limits is not None:
        box = np.atleast_2d(np.asarray(limits, dtype=float))
        if box.shape != (len(axes), 2) or not np.all(box[:, 0] < box[:, 1]):
            raise ValueError(f"limits must be (low, high) of each column, got {limits!r}")
        low, high = box[:, 0], box[:, 1]
    elif given:
        low, high = rows.min(axis=0), rows.max(axis=0)
    else:
        low, high = np.quantile(rows, [0.005, 0.995], axis=0)
    low, high = (np.array([a.nearest(e) for a, e in zip(axes, ends, strict=True)]) for ends in (low, high))
    for j, axis in enumerate(axes):
        if axis.categories is not None and limits is None:
            low[j], high[j] = 0.0, len(axis.categories) - 1.0
    return low, high


def class_colour(code: int) -> str:
    """Return the colour of a class."""
    return COLOURS[code % len(COLOURS)]


def class_marker(code: int) -> str:
    """Return the marker of a class; classes of the same colour have different markers."""
    return MARKERS[(code + code // len(COLOURS)) % len(MARKERS)]


def class_dashes(code: int) -> str:
    """Return the line style of a class; classes of the same colour have different line styles."""
    return DASHES[code // len(COLOURS) % len(DASHES)]


def _draw_regions(ax: Any, sides: Sequence[np.ndarray], probabilities: np.ndarray) -> None:
    """Shade the points of a grid by their most probable class, paler where it is less probable."""
    from matplotlib.colors import to_rgb

    across, up = sides
    winner = np.argmax(probabilities, axis=-1)
    shades = np.asarray([to_rgb(class_colour(code)) for code in range(probabilities.shape[-1])])
    largest = np.take_along_axis(probabilities, winner[..., None], axis=-1)
    image = np.concatenate([shades[winner], 0.08 + 0.32 * largest**2], axis=-1)
    extent = (across[0], across[-1], up[0], up[-1])
    ax.imshow(image, extent=extent, origin="lower", aspect="auto", interpolation="nearest")


def _draw_boundaries(
    ax: Any, sides: Sequence[np.ndarray], scores: np.ndarray, levels: Sequence[float]
) -> None:
    """Draw where the best two classes are tied, and where the best has each of the probabilities `levels`."""
    k = scores.shape[-1]
    for code in range(1 if k == 2 else k):
        lead = scores[..., code] - np.max(np.delete(scores, code, axis=-1), axis=-1)
        if lead.min() < 0.0 < lead.max():
            ax.contour(*sides, lead, [0.0], colors="black", linewidths=1.2)
    best = scores.max(axis=-1)
    shown = [level for level in sorted(levels) if best.min() < level < best.max()]
    if shown:
        lines = ax.contour(*sides, best, shown, colors="0.35", linewidths=0.6, linestyles="dashed")
        ax.clabel(lines, fmt=lambda level: f"{level:.0%}", fontsize=7)


def _draw_class_rows(ax: Any, rows: np.ndarray | None, codes: np.ndarray | None, labels: np.ndarray) -> None:
    """Draw rows of two columns in the colour and marker of their classes, if these are known.

    The legend names the classes in any case.
    """
    if rows is not None and codes is None:
        draw_rows(ax, rows, s=12, color="0.3")
    own_rows, drawn, note = np.empty((0, 2)), np.array([], dtype=int), ""
    if rows is not None and codes is not None:
        drawn, note = sampled_rows(rows), sample_note(len(rows))
    edge = 0.5 if len(drawn) < MAX_EDGED else 0.0
    for code, name in enumerate(labels):
        if rows is not None and codes is not None:
            own_rows = rows[drawn[codes[drawn] == code]]
        style = {"color": class_colour(code), "marker": class_marker(code), "label": legend_label(name)}
        ax.scatter(*own_rows.T, s=18, ec="white", lw=edge, alpha=opacity(len(drawn)), **style)
    finish(ax, boxed=True, head=note)


def _draw_class_ticks(ax: Any, along: np.ndarray, codes: np.ndarray, n_classes: int) -> None:
    """Draw rows of one column as ticks below zero, a line for each class."""
    drawn, step = sampled_rows(along), min(0.03, RUG / n_classes)
    for code in range(n_classes):
        own = along[drawn[codes[drawn] == code]]
        ax.plot(own, np.full(len(own), -0.03 - step * code), "|", color=class_colour(code), ms=200.0 * step)


def _class_codes(labels: np.ndarray, rows: Any, y: Any) -> np.ndarray | None:
    """Return the positions of the labels y among the classes, one for each row."""
    if y is None:
        return None
    codes = {label: code for code, label in enumerate(labels.tolist())}
    given = np.asarray(y).tolist()
    if rows is None or len(given) != len(rows):
        raise ValueError("y must have one label for each row of data")
    unknown = [label for label in given if label not in codes]
    if unknown:
        raise ValueError(f"y has the label {unknown[0]!r}, which is not among {labels.tolist()}")
    return np.array([codes[label] for label in given])
