"""The columns that a picture is drawn over, and axes of numbers, counts and categories."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.covariance import resolve_dims
from tractable.data import as_source, is_frame
from tractable.plotting.rows import column_names, columns_by_name
from tractable.value import value

#: Probability of the interval of one column, and of the regions of two, when not given.
INTERVAL, REGIONS = 0.9, (0.5, 0.9, 0.99)

#: Likelihoods of whole numbers.
DISCRETE = ("categorical", "bernoulli", "poisson", "multinomial")

#: Tick labels of more letters than this in all are rotated.
MAX_LETTERS = 50


def check_single(x: Any) -> None:
    """Refuse a batch."""
    if x.batch_shape:
        raise ValueError(f"x must be one distribution, got a batch of shape {x.batch_shape}")


def check_show(show: str, known: Sequence[str]) -> None:
    """Refuse a value of `show` that a picture does not know."""
    if show not in known:
        raise ValueError(f"show must be one of {', '.join(known)}, got {show!r}")


def chosen_columns(x: Any, dims: Any, most: int = 2) -> list[int]:
    """Return the positions of the one or two columns of a distribution to draw, the first when not given."""
    dim = x.event_shape[0]
    return _resolved(dims, range(min(dim, most)), dim, getattr(x, "names", None))


def model_columns(x: Any, dims: Any) -> list[int]:
    """Return the positions of the one or two columns of a fitted model to draw, the first when not given."""
    return named_columns(column_names(x), dims)


def named_columns(names: Sequence[str], dims: Any) -> list[int]:
    """Return the positions of one or two columns among those of some names, the first when not given."""
    return _resolved(dims, range(min(2, len(names))), len(names), tuple(names))


def two_columns(x: Any, dims: Any) -> list[int]:
    """Return the positions of the two columns of a fitted model to draw, the first when not given."""
    names = column_names(x)
    columns = list(resolve_dims(range(2) if dims is None else dims, len(names), tuple(names)))
    if len(columns) != 2:
        raise ValueError(f"dims must name two columns, got {dims!r}")
    return columns


def _resolved(dims: Any, default: range, dim: int, names: Any) -> list[int]:
    columns = list(resolve_dims(default if dims is None else dims, dim, names))
    if not 1 <= len(columns) <= 2:
        raise ValueError(f"dims must name one or two columns, got {dims!r}")
    return columns


def column_labels(x: Any, columns: list[int]) -> list[str]:
    """Return the names of some columns of a distribution."""
    names = getattr(x, "names", None)
    return [names[j] if names else f"x{j}" for j in columns]


def data_columns(x: Any, data: Any, columns: list[int]) -> np.ndarray | None:
    """Return some columns of the rows to draw: by name if the distribution and the rows have names."""
    if data is None:
        return None
    names = getattr(x, "names", None)
    if names and is_frame(data):
        return as_source(columns_by_name(data, [names[j] for j in columns], "data")).collect().X
    rows = np.asarray(data, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != x.event_shape[0]:
        raise ValueError(f"data must be rows of {x.event_shape[0]} columns, got shape {rows.shape}")
    return rows[:, columns]


def resolve_coverages(
    coverage: Any, coverages: Any, usual: Sequence[float] = REGIONS
) -> tuple[float, list[float]]:
    """Return the probability of the interval of one column, and those of the regions of two.

    Both follow from `coverage` or `coverages`, whichever is given; else 0.9 and `usual`.
    """
    if coverage is not None and coverages is not None:
        raise ValueError("coverage and coverages are the same: give one of them")
    if coverage is None and coverages is None:
        return INTERVAL, [*usual]
    name, given = ("coverage", coverage) if coverages is None else ("coverages", coverages)
    found = check_coverages(given, name)
    return found[-1], found


def check_coverages(coverages: Any, name: str = "coverages") -> list[float]:
    """Return probabilities between 0 and 1, in order."""
    found = sorted(np.atleast_1d(np.asarray(coverages, dtype=float)).tolist())
    if not found or not all(0.0 < coverage < 1.0 for coverage in found):
        raise ValueError(f"{name} must be probabilities between 0 and 1, got {coverages!r}")
    return found


@value
class ColumnAxis:
    """The axis of a column: numbers on a line, counts at whole numbers, categories at their codes."""

    name: str
    categories: tuple[Any, ...] | None = None  # the category at each of the positions 0, 1, …
    whole: bool = False  # whether the values are whole numbers from 0
    labels: tuple[str, ...] | None = None  # tick labels of the categories, where these are not their text

    @property
    def discrete(self) -> bool:
        """Whether only whole numbers are positions."""
        return self.whole or self.categories is not None

    def nearest(self, x: np.ndarray) -> np.ndarray:
        """Return the nearest positions of the axis."""
        if not self.discrete:
            return x
        last = np.inf if self.categories is None else len(self.categories) - 1.0
        return np.clip(np.rint(x), 0.0, last)

    def codes(self, column: Any) -> np.ndarray:
        """Return the positions of entries; NaN for missing entries and unknown categories."""
        if self.categories is None:
            return np.asarray(column, dtype=float)
        codes = {label: code for code, label in enumerate(self.categories)}
        return np.array([codes.get(label, np.nan) for label in np.asarray(column, dtype=object)], dtype=float)

    def grid(self, low: float, high: float, n: int) -> np.ndarray:
        """Return n points from low to high with a margin: half a step on a discrete axis, else 8 %."""
        margin = 0.08 * (high - low if high > low else max(abs(high), 1.0))
        margin = 0.5 if self.discrete else margin
        return np.linspace(low - margin, high + margin, n)

    def label_ticks(self, axis: Any) -> None:
        """Label the ticks of a matplotlib axis with the categories."""
        if self.categories is not None:
            labels = [str(label) for label in self.labels or self.categories]
            axis.set_ticks(range(len(labels)), labels)
            if axis.axis_name == "x" and sum(map(len, labels)) > MAX_LETTERS:
                axis.set_tick_params(rotation=45)


def column_axes(x: Any, names: Sequence[str], dim: int) -> list[ColumnAxis]:
    """Return the axes of the columns of a classifier, from its fitted layout or class distributions."""
    layout = getattr(x, "_layout_", None)
    if layout is not None:
        kinds = zip(names, layout.columns.categories, layout.likelihoods, strict=True)
        return [ColumnAxis(name=n, categories=c, whole=kind in DISCRETE) for n, c, kind in kinds]
    classes = getattr(x, "class_distributions_", getattr(x, "class_distributions", None))
    parts = classes if isinstance(classes, tuple) else (classes,)
    whole = all(bool(getattr(part, "discrete", False)) for part in parts)
    return [ColumnAxis(name=name, whole=whole) for name in list(names)[:dim]]


def positions_of(axes: Sequence[ColumnAxis], names: Any, data: Any) -> np.ndarray:
    """Return the positions of rows on the axes, (n, d); NaN where an entry is missing."""
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


def rows_from_positions(axes: Sequence[ColumnAxis], names: Any, positions: np.ndarray) -> Any:
    """Return the rows at positions (n, d) as a classifier takes them: categories and columns by name."""
    columns = [axis.nearest(positions[:, j]) for j, axis in enumerate(axes)]
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


def jittered(axes: Sequence[ColumnAxis], rows: np.ndarray) -> np.ndarray:
    """Return rows with uniform noise of ±0.3 added to columns of categories, to separate marks."""
    noise = np.random.default_rng(0).uniform(-0.3, 0.3, rows.shape)
    return rows + noise * [axis.categories is not None for axis in axes]
