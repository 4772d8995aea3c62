"""What the columns of a table hold, and how their values become numbers and values again."""

import warnings
from collections.abc import Hashable, Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np

from tractable.data.columns import check_known
from tractable.value import value

__all__ = [
    "KINDS",
    "MOST_CATEGORIES",
    "TableColumns",
    "columns_of",
    "kinds_of",
    "many_categories",
    "told_of",
    "warn_unseen",
]

#: What a column may be.
KINDS = ("normal", "categorical", "poisson", "bernoulli")

#: More categories than this are no categories, but names or numbers.
MOST_CATEGORIES = 65_536

#: How to name categories that rows to learn from may lack.
DECLARE = (
    "categories that rows may lack are known from the column's type (pandas' CategoricalDtype, polars' Enum, "
    'Arrow\'s dictionary), and unseen="missing" takes others as missing'
)


@value
class TableColumns:
    """The columns of a table: what each is called, its kind, and the categories it has.

    Parameters
    ----------
    names : tuple of str, or None
    kinds : tuple of {"normal", "categorical", "poisson", "bernoulli"}
    categories : tuple
        For each column a tuple of values, of which position k is category k; None where a column has none, or
        where its values are the numbers 0, 1, … themselves.
    library : {"pandas", "polars", "pyarrow"}, optional
        Whose frame the table was.
    types : tuple of str, optional
        What that library calls the type of each column.

    Examples
    --------
    >>> kinds, pets = ("normal", "categorical"), ("cat", "dog")
    >>> columns = TableColumns(names=("age", "pet"), kinds=kinds, categories=(None, pets))
    >>> columns.code(1, ["dog", None, "cat"]).tolist(), columns.values(1, np.array([0.0, 1.0])).tolist()
    ([1.0, nan, 0.0], ['cat', 'dog'])
    """

    names: tuple[Any, ...] | None
    kinds: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]
    library: str | None = None
    types: tuple[str, ...] | None = None

    def position(self, column: Any) -> int:
        """Return where a column stands, by its name or its position."""
        if self.names is not None and column in self.names:
            return self.names.index(column)
        if isinstance(column, (int, np.integer)) and -len(self.kinds) <= column < len(self.kinds):
            return int(column) % len(self.kinds)
        check_known([column], self.names or range(len(self.kinds)), "dims", "the table")
        raise AssertionError  # unreachable: the check has raised

    def label(self, position: int) -> Any:
        """Return what users call a column: its name, or its position."""
        return position if self.names is None else self.names[position]

    def code(self, position: int, values: Any, unseen: str = "error") -> np.ndarray:
        """Return values of one column as numbers, NaN where one is missing.

        A category that is `unseen` is an "error", is taken as "missing" with a warning, or is given the code
        after the last ("extra").
        """
        table, name = self.categories[position], self.label(position)
        if table is None:
            return _numbers(values, name)
        return _looked_up(np.asarray(values, dtype=object), table, name, unseen)

    def values(self, position: int, codes: np.ndarray) -> np.ndarray:
        """Return numbers of one column as the values they stand for."""
        kind, table = self.kinds[position], self.categories[position]
        if np.isnan(codes).any():
            raise ValueError("codes must not be missing")
        if table is not None:
            return np.asarray(table, dtype=_dtype(table))[codes.astype(np.int64)]
        if kind == "bernoulli":
            return codes > 0.5
        return codes if kind == "normal" else codes.astype(np.int64)

    def given(self, dims: Any, values: Any = None) -> dict[int, np.ndarray]:
        """Return what is known of some columns as numbers, by position."""
        if isinstance(dims, Mapping):
            if values is not None:
                raise ValueError("values must not be given twice: dims is a mapping that has them")
            known = list(dims.items())
        else:
            dims = [dims] if isinstance(dims, (str, int)) else list(dims)
            values = np.asarray(values, dtype=object)
            if values.ndim < 1 or values.shape[-1] != len(dims):
                raise ValueError(f"values must have {len(dims)} entries on the last axis, got {values.shape}")
            known = [(column, values[..., i]) for i, column in enumerate(dims)]
        found: dict[int, np.ndarray] = {}
        for column, v in known:
            j = self.position(column)
            if j in found:
                raise ValueError(f"dims gives the column {self.label(j)!r} twice")
            found[j] = self.code(j, v)
        return found


def columns_of(names: Any, width: int, kinds: Any, default: str = "normal") -> TableColumns:
    """Return the columns of rows of numbers: as told, or else all of one kind; categories are 0, 1, …."""
    names = None if names is None else tuple(names)
    told = kinds_of(kinds, names, width)
    return TableColumns(names=names, kinds=tuple(k or default for k in told), categories=(None,) * width)


def kinds_of(kinds: Any, names: Sequence[Hashable] | None, width: int) -> list[str | None]:
    """Return the kind that is told of each column, None where nothing is."""
    told: list[str | None] = told_of(kinds, names, width)
    for column, kind in enumerate(told):
        if kind is not None and kind not in KINDS:
            label = column if names is None else names[column]
            raise ValueError(f"kinds must be of {list(KINDS)}, got {kind!r} for {label!r}")
    return told


def told_of(kinds: Any, names: Sequence[Hashable] | None, width: int, argument: str = "kinds") -> list[Any]:
    """Return what is told of each column, by name, by position or in order; None where nothing is."""
    told: list[Any] = [None] * width
    if kinds is None:
        return told
    if isinstance(kinds, str) or not isinstance(kinds, (Mapping, Sequence)):
        raise ValueError(
            f"{argument} must be a mapping from columns to kinds, or one kind a column, got {kinds!r}"
        )
    if not isinstance(kinds, Mapping):
        if len(kinds) != width:
            raise ValueError(f"{argument} must have one entry a column, {width}, got {len(kinds)}")
        kinds = dict(enumerate(kinds))
    for column, kind in kinds.items():
        if names is not None and column in names:
            j = names.index(column)
        elif isinstance(column, int) and 0 <= column < width:
            j = column
        else:
            check_known([column], names or range(width), argument, "the table")
        if told[j] is not None:
            raise ValueError(f"{argument} names the column {column!r} twice, by name and by position")
        told[j] = kind
    return told


def _numbers(values: Any, name: Any) -> np.ndarray:
    import pandas as pd

    values = np.asarray(values)
    if values.dtype == object:
        values = np.where(pd.isna(values), np.nan, values)
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X: the column {name!r} must be numbers: {error}") from None


def _looked_up(values: np.ndarray, table: tuple[Any, ...], name: Any, unseen: str) -> np.ndarray:
    import pandas as pd

    place = {category: float(k) for k, category in enumerate(table)}
    missing = np.asarray(pd.isna(values))
    try:
        flat = [
            np.nan if gone else place.get(v) for v, gone in zip(values.ravel(), missing.ravel(), strict=True)
        ]
    except TypeError as error:
        raise ValueError(f"X: the column {name!r} holds values that are no categories: {error}") from None
    if None in flat:
        unknown = values.ravel()[flat.index(None)]
        if unseen == "error":
            known = f"{list(table)[:12]}" + (f" and {len(table) - 12} more" if len(table) > 12 else "")
            raise ValueError(f"X: the column {name!r} has no category {unknown!r}; it has {known}; {DECLARE}")
        if all(code is None or code != code for code in flat):  # noqa: PLR0124
            _check_type(values.ravel()[flat.index(None)], table, name)
        if unseen == "extra":
            return np.asarray([float(len(table)) if c is None else c for c in flat]).reshape(values.shape)
        warn_unseen(name, unknown)
        flat = [np.nan if code is None else code for code in flat]
    return np.asarray(flat, dtype=np.float64).reshape(values.shape)


def _check_type(value: Any, table: tuple[Any, ...], name: Any) -> None:
    """Refuse a column of which nothing is known, where its values are of another type than its categories."""
    number = isinstance(value, Number) and not isinstance(value, bool)
    numbers = any(isinstance(category, Number) for category in table)
    if isinstance(value, str) == numbers or number == any(isinstance(category, str) for category in table):
        raise ValueError(
            f"X: the column {name!r} holds {type(value).__name__} such as {value!r}, and its categories are "
            f"{type(table[0]).__name__} such as {table[0]!r}"
        )


def warn_unseen(name: Any, unknown: Any) -> None:
    """Say that a category was taken as missing."""
    warnings.warn(
        f"X: the column {name!r} has categories that it did not have when the model was fitted, such as "
        f"{unknown!r}: they are taken as missing",
        UserWarning,
        stacklevel=2,
    )


def many_categories(name: Any, number: float) -> ValueError:
    """Return what to raise where a column has too many categories."""
    return ValueError(
        f"X: the column {name!r} has {number:g} categories, more than {MOST_CATEGORIES}: leave it out if it "
        "names the rows, or group its values"
    )


def _dtype(table: tuple[Any, ...]) -> Any:
    alike = {type(v) for v in table}
    return object if len(alike) > 1 or str in alike else None
