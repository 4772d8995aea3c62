"""Classifiers: the parts of the plane that go to each class, or how probable classes are along a line."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from tractable.base import check_fitted
from tractable.classification import BayesClassifier, LinearDiscriminantFunction
from tractable.data import is_frame
from tractable.neighbors import KNeighborsClassifier
from tractable.plotting.decision_regions import (
    class_colour,
    draw_boundaries,
    draw_class_rows,
    draw_region_image,
    plane_grid,
)
from tractable.plotting.plot import draw
from tractable.plotting.style import legend, quiet

__all__: list[str] = []

LEVELS = (0.75, 0.9, 0.99)
N_CELLS = 200


@draw.register
def _classifier(
    x: ClassifierMixin,
    ax: Any,
    *,
    data: Any = None,
    y: Any = None,
    limits: Any = None,
    levels: Any = None,
    n_cells: int = N_CELLS,
) -> Any:
    """Draw what a classifier of one or two columns says everywhere, over rows `data` of classes `y`."""
    check_fitted(x)
    if data is None and isinstance(x, KNeighborsClassifier):
        data, y = _like(x, x.index_.points), x.classes_[x.codes_]
    if levels is None:  # votes go in steps, whose edges are no contours
        levels = () if isinstance(x, KNeighborsClassifier) else LEVELS
    names = [str(name) for name in getattr(x, "feature_names_in_", ["x0", "x1"])]
    options = {"limits": limits, "levels": levels, "n_cells": n_cells}
    return _drawn(x, ax, x.n_features_in_, names, x.classes_, data, y, **options)


@draw.register
def _known(
    x: BayesClassifier,
    ax: Any,
    *,
    data: Any = None,
    y: Any = None,
    limits: Any = None,
    levels: Any = LEVELS,
    n_cells: int = N_CELLS,
) -> Any:
    """Draw what the best classifier says everywhere, over rows `data` and their classes `y`."""
    shape = x.class_distributions.event_shape
    names = list(x.distribution.names or (("x0", "x1") if shape else ("x",)))
    options = {"limits": limits, "levels": levels, "n_cells": n_cells}
    return _drawn(x, ax, shape[0] if shape else 1, names, np.asarray(x.classes), data, y, **options)


@draw.register
def _planes(
    x: LinearDiscriminantFunction,
    ax: Any,
    *,
    data: Any = None,
    y: Any = None,
    limits: Any = None,
    n_cells: int = N_CELLS,
) -> Any:
    """Draw the regions of planes over two columns, and the whole boundary of every pair of classes."""
    labels = np.asarray(x.classes)
    _drawn(x, ax, x.coef.shape[1], ["x0", "x1"], labels, data, y, limits=limits, levels=(), n_cells=n_cells)
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
    x: Any, ax: Any, dim: int, names: list[str], labels: np.ndarray, data: Any, y: Any, **options: Any
) -> Any:
    if dim not in (1, 2):
        raise ValueError(f"x must have two columns to be drawn, or one, it has {dim}")
    rows = None if data is None else _rows(x, data, dim)
    codes = _codes(labels, rows, y)
    low, high = _limits(x, rows, options["limits"], dim)
    if dim == 1:
        return _line(x, ax, names[0], labels, rows, codes, low, high)
    sides = plane_grid(low, high, options["n_cells"])
    grid = np.stack(np.meshgrid(*sides), axis=-1)
    shares, scores = _answers(x, grid.reshape(-1, 2), len(labels))
    shares, scores = (part.reshape(*grid.shape[:2], -1) for part in (shares, scores))
    draw_region_image(ax, sides, shares)
    draw_boundaries(ax, sides, scores, options["levels"] if hasattr(x, "predict_proba") else ())
    draw_class_rows(ax, rows, codes, labels)
    ax.set(xlabel=names[0], ylabel=names[1], xlim=sides[0][[0, -1]], ylim=sides[1][[0, -1]])
    return ax


def _line(
    x: Any, ax: Any, name: str, labels: np.ndarray, rows: Any, codes: Any, low: np.ndarray, high: np.ndarray
) -> Any:
    """Draw the probability of each class along a line."""
    points = np.linspace(low[0], high[0], 400)
    shares, _ = _answers(x, points[:, None], len(labels))
    for code, label in enumerate(labels):
        ax.plot(points, shares[:, code], color=class_colour(code), label=str(label))
        if codes is not None:
            own = rows[codes == code, 0]
            ax.plot(own, np.full(len(own), -0.03 - 0.03 * code), "|", color=class_colour(code), ms=6)
    for edge in points[1:][np.diff(np.argmax(shares, axis=1)) != 0]:
        ax.axvline(edge, color="black", lw=0.8)
    said = "p(class | x)" if hasattr(x, "predict_proba") else "decision"
    ax.set(xlabel=name, ylabel=said, xlim=(points[0], points[-1]))
    quiet(ax)
    legend(ax)
    return ax


def _answers(x: Any, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of the classes at each row, and scores whose largest decides."""
    if hasattr(x, "predict_proba"):
        known = isinstance(x, BayesClassifier) and not x.class_distributions.event_shape
        p = np.asarray(x.predict_proba(rows[:, 0] if known else _like(x, rows)))
        return p, p
    asked = x.scores(rows) if isinstance(x, LinearDiscriminantFunction) else None
    scores = np.asarray(x.decision_function(_like(x, rows)) if asked is None else asked)
    scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    return np.eye(k)[np.argmax(scores, axis=1)], scores


def _rows(x: Any, data: Any, dim: int) -> np.ndarray:
    names = getattr(x, "feature_names_in_", None)
    if is_frame(data) and names is not None:
        data = data[list(names)]
    rows = np.asarray(data, dtype=float)
    rows = rows[:, None] if rows.ndim == 1 and dim == 1 else rows
    if rows.ndim != 2 or rows.shape[1] != dim or not len(rows) or not np.isfinite(rows).all():
        raise ValueError(f"data must be finite rows of {dim} columns, got shape {rows.shape}")
    return rows


def _codes(labels: np.ndarray, rows: Any, y: Any) -> np.ndarray | None:
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


def _limits(x: Any, rows: Any, limits: Any, dim: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of what is drawn: as told, about the rows, or about what the classes are like."""
    if limits is not None:
        box = np.atleast_2d(np.asarray(limits, dtype=float))
        if box.shape != (dim, 2) or not np.all(box[:, 0] < box[:, 1]):
            raise ValueError(f"limits must be (low, high) of each column, got {limits!r}")
        return box[:, 0], box[:, 1]
    if rows is not None:
        return rows.min(axis=0), rows.max(axis=0)
    known = getattr(x, "distribution_", getattr(x, "distribution", None))
    if known is None:
        raise ValueError("data must be given, the rows to draw over; or limits")
    draws = np.reshape(np.asarray(known.sample(4000, rng=0), dtype=float), (-1, dim))
    low, high = np.quantile(draws, [0.005, 0.995], axis=0)
    return low, high


def _like(x: Any, rows: np.ndarray) -> Any:
    """Return rows as the model knows them: with its column names, where it has any."""
    names = getattr(x, "feature_names_in_", None)
    if names is None:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=names)
