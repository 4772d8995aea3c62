"""Axes of columns: numbers lie on a line, counts at whole numbers, categories at their codes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.data import is_frame
from tractable.plotting.given import columns_by_name
from tractable.value import value

__all__ = ["ColumnAxis", "apart", "as_places", "axes_of", "rows_at"]

#: Likelihoods whose events are whole numbers.
WHOLE = ("categorical", "bernoulli", "poisson", "multinomial")

#: More letters than this below an axis are written aslant.
MOST_LETTERS = 50


@value
class ColumnAxis:
    """What the places of an axis are.

    Parameters
    ----------
    name : str
    categories : tuple, optional
        Of which position c is at place c.
    whole : bool
        Whether there is nothing between the whole numbers, nor below zero.
    words : tuple of str, optional
        What the categories are called, where that is not their text.
    """

    name: str
    categories: tuple[Any, ...] | None = None
    whole: bool = False
    words: tuple[str, ...] | None = None

    @property
    def steps(self) -> bool:
        """Whether only whole numbers are places."""
        return self.whole or self.categories is not None

    def snapped(self, x: np.ndarray) -> np.ndarray:
        """Return the nearest place of the axis."""
        if not self.steps:
            return x
        most = np.inf if self.categories is None else len(self.categories) - 1.0
        return np.clip(np.rint(x), 0.0, most)

    def codes(self, column: Any) -> np.ndarray:
        """Return where entries are; NaN of what is missing or no category."""
        if self.categories is None:
            return np.asarray(column, dtype=float)
        places = {label: code for code, label in enumerate(self.categories)}
        return np.array(
            [places.get(label, np.nan) for label in np.asarray(column, dtype=object)], dtype=float
        )

    def side(self, low: float, high: float, n: int) -> np.ndarray:
        """Return n points from low to high, with some room: half a step, where there are steps."""
        room = 0.08 * (high - low if high > low else max(abs(high), 1.0))
        room = 0.5 if self.steps else room
        return np.linspace(low - room, high + room, n)

    def mark(self, axis: Any) -> None:
        """Write what the places of a matplotlib axis are."""
        if self.categories is not None:
            told = [str(label) for label in self.words or self.categories]
            axis.set_ticks(range(len(told)), told)
            if axis.axis_name == "x" and sum(map(len, told)) > MOST_LETTERS:
                axis.set_tick_params(rotation=45)


def apart(axes: Sequence[ColumnAxis], rows: np.ndarray) -> np.ndarray:
    """Return rows, those of one category side by side and not in one place."""
    aside = np.random.default_rng(0).uniform(-0.3, 0.3, rows.shape)
    return rows + aside * [axis.categories is not None for axis in axes]


def axes_of(x: Any, names: Sequence[str], dim: int) -> list[ColumnAxis]:
    """Return the axes of the columns of a classifier, as it was taught what they are."""
    layout = getattr(x, "_layout_", None)
    if layout is not None:
        kinds = zip(names, layout.columns.categories, layout.likelihoods, strict=True)
        return [ColumnAxis(name=n, categories=c, whole=told in WHOLE) for n, c, told in kinds]
    classes = getattr(x, "class_distributions_", getattr(x, "class_distributions", None))
    parts = classes if isinstance(classes, tuple) else (classes,)
    whole = all(bool(getattr(part, "discrete", False)) for part in parts)
    return [ColumnAxis(name=name, whole=whole) for name in list(names)[:dim]]


def as_places(axes: Sequence[ColumnAxis], names: Any, data: Any) -> np.ndarray:
    """Return where rows of data are, (n, d); NaN where something is missing."""
    if is_frame(data):
        data = columns_by_name(data, list(names), "data") if names is not None else data
        columns = [data[name] for name in data.columns]
    else:
        given = np.asarray(data)
        given = given[:, None] if given.ndim == 1 and len(axes) == 1 else given
        columns = list(given.T) if given.ndim == 2 else []
    if len(columns) != len(axes):
        raise ValueError(f"data must be finite rows of {len(axes)} columns, got shape {np.shape(data)}")
    rows = np.column_stack([axis.codes(column) for axis, column in zip(axes, columns, strict=True)])
    if not np.any(np.isfinite(rows).all(axis=1)) or np.isinf(rows).any():
        raise ValueError(f"data must be finite rows of {len(axes)} columns, some of them complete")
    return rows


def rows_at(axes: Sequence[ColumnAxis], names: Any, places: np.ndarray) -> Any:
    """Return what is at places (n, d), as the classifier knows it: categories and columns by name."""
    columns = [axis.snapped(places[:, j]) for j, axis in enumerate(axes)]
    labelled = any(axis.categories is not None for axis in axes)
    if names is None and not labelled:
        return np.column_stack(columns)
    import pandas as pd

    made = [
        column if axis.categories is None else pd.Series([axis.categories[int(c)] for c in column])
        for axis, column in zip(axes, columns, strict=True)
    ]
    if names is not None:
        return pd.DataFrame(dict(zip(names, made, strict=True)))
    return np.column_stack([np.asarray(column, dtype=object) for column in made])
