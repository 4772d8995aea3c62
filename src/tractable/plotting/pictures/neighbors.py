"""Neighbours: the parts of the plane that go to each class, and how good each number of neighbours is."""

from typing import Any

import numpy as np

from tractable.base import check_fitted
from tractable.neighbors import KNeighborsClassifier, NeighborCurve
from tractable.plotting.plot import draw
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []


@draw.register
def _classes(x: KNeighborsClassifier, ax: Any, *, n_cells: int = 200) -> Any:
    """Draw the rows of a model of two columns over what it predicts, pale where neighbours disagree."""
    check_fitted(x)
    if x.n_features_in_ != 2:
        raise ValueError(f"x must have two columns to be drawn, it has {x.n_features_in_}")
    points, codes = x.index_.points, x.codes_
    low, high = points.min(axis=0), points.max(axis=0)
    room = 0.08 * np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
    sides = [np.linspace(low[j] - room[j], high[j] + room[j], n_cells) for j in (0, 1)]
    _regions(ax, x, sides)
    for code, label in enumerate(x.classes_):
        own = points[codes == code]
        ax.scatter(*own.T, s=14, color=_colour(code), ec="white", lw=0.4, label=str(label))
    names = getattr(x, "feature_names_in_", ["x0", "x1"])
    ax.set(xlabel=str(names[0]), ylabel=str(names[1]))
    quiet(ax)
    ax.legend(loc="best", framealpha=0.9)  # in a box: its marks are no rows
    return ax


@draw.register
def _curve(x: NeighborCurve, ax: Any, *, label: str = "leave-one-out", colour: str = COLOURS[0]) -> Any:
    """Draw the score of every number of neighbours, with one standard error, and the best."""
    low, high = x.scores - x.standard_errors, x.scores + x.standard_errors
    ax.fill_between(x.n_neighbors, low, high, color=colour, alpha=0.15, lw=0, label="± 1 s.e.")
    ax.plot(x.n_neighbors, x.scores, color=colour, marker=".", label=label)
    told = f"K = {x.best_n_neighbors}"
    ax.plot(x.best_n_neighbors, x.best_score, "o", ms=8, mfc="none", color=COLOURS[5], label=told)
    ax.set(xlabel="number of neighbours", ylabel=f"{x.score}, left out")
    quiet(ax)
    legend(ax)
    return ax


def _regions(ax: Any, x: KNeighborsClassifier, sides: list[np.ndarray]) -> None:
    from matplotlib.colors import to_rgb

    rows = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    shares = x.predict_proba(_like(x, rows))
    winner = np.argmax(shares, axis=1)
    image = np.ones((len(rows), 4))
    image[:, :3] = np.asarray([to_rgb(_colour(code)) for code in range(len(x.classes_))])[winner]
    image[:, 3] = 0.3 * shares[np.arange(len(rows)), winner] ** 2
    across, up = sides
    ax.imshow(
        image.reshape(len(up), len(across), 4),
        extent=(across[0], across[-1], up[0], up[-1]),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
    )


def _colour(code: int) -> str:
    return COLOURS[code % len(COLOURS)]


def _like(x: Any, rows: np.ndarray) -> Any:
    """Return rows as the model knows them: with its column names, where it has any."""
    names = getattr(x, "feature_names_in_", None)
    if names is None:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=names)
