"""Classifiers: decision regions over two columns or discriminants, probabilities along one, coefficients."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from tractable.base import DegenerateCovarianceWarning, check_fitted
from tractable.classification import BayesClassifier, LinearDiscriminant, LinearDiscriminantFunction
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
from tractable.value import value

#: Probabilities whose contours are drawn, and cells along each side of the image of the regions.
LEVELS, N_CELLS = (0.75, 0.9, 0.99), 200

#: The marker of each class, and the line styles of the first eight classes, of the next eight, ….
MARKERS, DASHES = "os^DvPX*", ("-", "--", ":", "-.")

#: The depth below zero of the ticks of rows along one column, for any number of classes.
RUG = 0.24

#: Marks of more rows than this have no white edges.
MAX_EDGED = 1_000

#: Regions over a plane are drawn if they decide this fraction of the rows as the classifier does.
LEAST_AGREEMENT = 0.9

#: Letters of the name of a column in the label of a direction.
MAX_LETTERS = 28

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

    Of more than two columns the axes are the discriminants of the rows, and rows that are misclassified have
    circles; with `dims` they are two columns, and the others are held at their medians. Categories are at
    their codes and counts at whole numbers; rows with missing entries are not drawn. Without rows, a linear
    classifier that has no distribution of the rows is drawn by its coefficients. The votes of neighbours
    have no contours.
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
    levels = LEVELS if levels is None else levels
    if dims is None and len(names) > 2:
        return _draw_plane(x, ax, axes, labels, rows, codes, limits, levels, n_cells)
    typical = _typical_rows(x, axes, rows, needed=limits is None or len(names) > len(columns))
    shown = [axes[j] for j in columns]
    around = None if typical is None else typical[:, columns]
    low, high = _limits(shown, around, limits, given=rows is not None)

    def evaluate(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        full = positions if typical is None else np.tile(_centre(axes, typical), (len(positions), 1))
        full[:, columns] = positions
        return _decisions(x, axes, full, len(labels))

    over = None if rows is None else rows[:, columns]
    others = [name for j, name in enumerate(names) if j not in columns]
    if len(columns) == 1:
        _draw_along_one(x, ax, evaluate, shown[0], labels, over, codes, low[0], high[0])
    else:
        _draw_over_two(x, ax, evaluate, shown, low, high, levels, n_cells)
        wrong = _misclassified(x, axes, rows, codes, labels) if others else None
        _draw_class_rows(ax, None if over is None else jittered(shown, over), codes, labels, wrong)
    if others:
        which = others[0] if len(others) == 1 else f"the {len(others)} other columns"
        title(ax, f"{which} in the middle")
    return ax


def _draw_plane(
    x: Any,
    ax: Any,
    axes: list[ColumnAxis],
    labels: np.ndarray,
    rows: np.ndarray | None,
    codes: np.ndarray | None,
    limits: Any,
    levels: Any,
    n_cells: int,
) -> Any:
    """Draw the rows of more than two columns along their discriminants, those misclassified with circles.

    The regions are the decisions at the mean of the rows given the two coordinates. They are left out where
    they would be misleading: where they decide many of the rows otherwise than the classifier does, which
    sees all directions, and where there are categories, which have no mean.
    """
    typical: Any = _typical_rows(x, axes, rows, needed=True)
    predicted = _predicted(x, axes, typical, labels)
    plane = DiscriminantPlane.of(axes, typical, predicted if codes is None else codes)
    along = plane.coordinates(axes, typical)
    sides = [ColumnAxis(name=label) for label in plane.labels]
    low, high = _limits(sides, along, limits, given=rows is not None)

    def evaluate(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _decisions(x, axes, plane.mean_rows(positions), len(labels))

    if any(axis.categories is not None for axis in axes):
        note = "no regions: categories have no mean"
    elif (agree := float(np.mean(evaluate(along)[1].argmax(axis=1) == predicted))) < LEAST_AGREEMENT:
        note = f"no regions: these two directions alone give the same decision for {agree:.0%} of rows"
    else:
        note = "regions: the other directions at their mean, given these two"
        _draw_over_two(x, ax, evaluate, sides, low, high, levels, n_cells)
    wrong = None if codes is None else predicted != codes
    _draw_class_rows(ax, None if rows is None else along, codes, labels, wrong)
    ends = [side.grid(*edges, 2) for side, edges in zip(sides, zip(low, high, strict=True), strict=True)]
    ax.set(xlabel=plane.labels[0], ylabel=plane.labels[1], xlim=ends[0], ylim=ends[1])
    title(ax, note)
    return ax


@value
class DiscriminantPlane:
    """The two directions that separate classes best, and the mean of the rows at each point of the plane.

    With two classes there is one such direction; the other is the one of the greatest variance among those
    uncorrelated with it. Categories take part by their indicators.
    """

    labels: tuple[str, str]
    center: np.ndarray  # (p,), of the numbers and indicators
    directions: np.ndarray  # (p, 2)
    mean: np.ndarray  # (d,), of the rows
    slopes: np.ndarray  # (2, d), of the regression of the rows on their coordinates

    @classmethod
    def of(cls, axes: Sequence[ColumnAxis], rows: np.ndarray, codes: np.ndarray) -> "DiscriminantPlane":
        """Return the plane of rows with these classes."""
        encoded, names = _indicators(axes, rows)
        center, spread = encoded.mean(axis=0), encoded.std(axis=0)
        varies = spread > 1e-12 * np.abs(encoded).max(axis=0)
        scale = np.where(varies, spread, np.inf)  # a constant column takes no part
        standard = (encoded - center) / scale
        found, kinds = [], []
        if len(np.unique(codes)) > 1 and varies.any():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DegenerateCovarianceWarning)
                model = LinearDiscriminant(shrinkage="auto").fit(standard[:, varies], codes)
            for j, share in enumerate(model.explained_variance_ratio_[:2]):
                direction = np.zeros(len(center))
                direction[varies] = model.scalings_[:, j]
                found.append(direction)
                kinds.append(f"discriminant {j + 1}: {share:.0%} of the separation")
        while len(found) < 2:
            direction, share = _principal_direction(standard, np.array(found))
            rest = " of the rest" if found else ""
            found.append(direction)
            kinds.append(f"principal direction{rest}: {share:.0%} of the variance")
        along = standard @ np.array(found).T
        labels = [f"{kind}\n{_leading(names, standard, z)}" for kind, z in zip(kinds, along.T, strict=True)]
        mean = rows.mean(axis=0)
        slopes = np.linalg.lstsq(along, rows - mean, rcond=None)[0]
        return cls(
            labels=(labels[0], labels[1]),
            center=center,
            directions=np.array(found).T / scale[:, None],
            mean=mean,
            slopes=slopes,
        )

    def coordinates(self, axes: Sequence[ColumnAxis], rows: np.ndarray) -> np.ndarray:
        """Return the coordinates (n, 2) of rows."""
        return (_indicators(axes, rows)[0] - self.center) @ self.directions

    def mean_rows(self, coordinates: np.ndarray) -> np.ndarray:
        """Return the mean of the rows given their coordinates, by linear regression."""
        return self.mean + coordinates @ self.slopes


def _indicators(axes: Sequence[ColumnAxis], rows: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return numbers as they are and an indicator for each category, (n, p), and their names."""
    parts, names = [], []
    for axis, column in zip(axes, rows.T, strict=True):
        if axis.categories is None:
            parts.append(column[:, None])
            names.append(axis.name)
        else:
            parts.append(np.equal(column[:, None], np.arange(len(axis.categories))).astype(float))
            names += [f"{axis.name}={category}" for category in axis.categories]
    return np.concatenate(parts, axis=1), names


def _principal_direction(standard: np.ndarray, before: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the direction of greatest variance among those uncorrelated with the ones before.

    Also its fraction of the variance of all columns.
    """
    remove = np.eye(standard.shape[1])  # rows times this: what is left of them
    if len(before):
        remove -= before.T @ np.linalg.lstsq(standard @ before.T, standard, rcond=None)[0]
    rest = standard @ remove
    _, variances, axes = np.linalg.svd(rest.T @ rest)
    axis = axes[0] * (-1.0 if axes[0][np.argmax(np.abs(axes[0]))] < 0 else 1.0)
    return remove @ axis, float(variances[0] / (np.sum(standard**2) or 1.0))


def _leading(names: Sequence[str], standard: np.ndarray, along: np.ndarray) -> str:
    """Return the two columns that are most correlated with a direction, with the signs."""
    products = standard.T @ along
    largest = np.argsort(-np.abs(products), kind="stable")[:2]
    signs = ["+" if products[j] >= 0 else "−" for j in largest]
    shown = [names[j] if len(names[j]) <= MAX_LETTERS else f"{names[j][:MAX_LETTERS]}…" for j in largest]
    return ", ".join(f"{sign} {name}" for sign, name in zip(signs, shown, strict=True))


def _predicted(x: Any, axes: list[ColumnAxis], rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the positions among the classes of what the classifier predicts for rows."""
    if not hasattr(x, "predict"):
        return _decisions(x, axes, rows, len(labels))[1].argmax(axis=1)
    said = x.predict(rows_from_positions(axes, getattr(x, "feature_names_in_", None), rows))
    found = _class_codes(labels, rows, said)
    assert found is not None
    return found


def _misclassified(
    x: Any, axes: list[ColumnAxis], rows: np.ndarray | None, codes: np.ndarray | None, labels: np.ndarray
) -> np.ndarray | None:
    """Return which rows the classifier assigns to another class than their own, if that is known."""
    if rows is None or codes is None:
        return None
    return _predicted(x, axes, rows, labels) != codes


def _draw_over_two(
    x: Any,
    ax: Any,
    evaluate: Evaluate,
    axes: list[ColumnAxis],
    low: np.ndarray,
    high: np.ndarray,
    levels: Any,
    n_cells: int,
) -> None:
    """Draw the decision regions over two axes."""
    sides = [axes[j].grid(low[j], high[j], n_cells) for j in (0, 1)]
    grid = np.stack(np.meshgrid(*sides), axis=-1)
    probabilities, scores = (part.reshape(*grid.shape[:2], -1) for part in evaluate(grid.reshape(-1, 2)))
    _draw_regions(ax, sides, probabilities)
    smooth = hasattr(x, "predict_proba") and not any(axis.discrete for axis in axes)
    _draw_boundaries(ax, sides, scores, levels if smooth else ())
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


def _draw_class_rows(
    ax: Any,
    rows: np.ndarray | None,
    codes: np.ndarray | None,
    labels: np.ndarray,
    wrong: np.ndarray | None = None,
) -> None:
    """Draw rows of two columns in the colour and marker of their classes, if these are known.

    The legend names the classes in any case. Rows that are `wrong`, misclassified, have circles.
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
    if rows is not None and wrong is not None:
        said = f"misclassified: {np.sum(wrong):,} of {len(wrong):,}"
        ax.scatter(*rows[drawn[wrong[drawn]]].T, s=70, fc="none", ec="black", lw=0.9, label=said)
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
