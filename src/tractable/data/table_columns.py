"""The columns of a table: their kinds and categories, frames as numbers and numbers as frames again."""

import datetime as dt
import numbers
import re
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from tractable.data.arrays import object_numbers
from tractable.data.blocks import BLOCK_BYTES
from tractable.data.columns import check_known
from tractable.data.frames import is_frame
from tractable.value import replace, value

#: The kinds of columns.
KINDS = ("normal", "categorical", "poisson", "bernoulli")

#: A column of more different values than this identifies rows and has no categories.
MOST_CATEGORIES = 65_536

#: How categories are declared that the rows of a fit may lack.
DECLARE = (
    "categories that rows may lack are known from the column's type (pandas' CategoricalDtype, polars' Enum, "
    'Arrow\'s dictionary), and unseen="missing" takes others as missing'
)

#: Types of dates, times and durations.
DATES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)


@value
class TableColumns:
    """The names, kinds and categories of the columns of a table.

    Rows become numbers: values of normal and count columns as they are, categories as codes 0, 1, …, missing
    entries as NaN.

    Parameters
    ----------
    names : tuple of str, or None
        Names of the columns; None for those of an array.
    kinds : tuple of {"normal", "categorical", "poisson", "bernoulli"}
        Kind of each column.
    categories : tuple
        For each column a tuple of values, of which position k is category k; None where a column has none, or
        where its values are the codes 0, 1, … themselves.
    library : {"pandas", "polars", "pyarrow"}, optional
        The library of the frame that the columns were learned from.
    types : tuple of str, optional
        That library's names of the column types.

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

    def __post_init__(self) -> None:
        if not {len(self.kinds)} == {
            len(part) for part in (self.kinds, self.categories, self.names or self.kinds)
        }:
            raise ValueError("names, kinds and categories must be of the same columns")
        if not all(isinstance(entry, Hashable) for table in self.categories for entry in table or ()):
            raise ValueError("categories must be single values: texts, numbers, dates")

    def where(self, *kinds: str) -> np.ndarray:
        """Return the positions of the columns of some kinds."""
        return np.array([j for j, kind in enumerate(self.kinds) if kind in kinds], dtype=np.int64)

    def position(self, column: Any) -> int:
        """Return the position of a column given by name or position."""
        if self.names is not None and column in self.names:
            return self.names.index(column)
        if isinstance(column, (int, np.integer)) and -len(self.kinds) <= column < len(self.kinds):
            return int(column) % len(self.kinds)
        check_known([column], self.names or range(len(self.kinds)), "dims", "the table")
        raise AssertionError  # unreachable: the check has raised

    def label(self, position: int) -> Any:
        """Return the name of a column, or its position where columns have no names."""
        return position if self.names is None else self.names[position]

    def code(self, position: int, values: Any, unseen: str = "error") -> np.ndarray:
        """Return values of one column as numbers, NaN where one is missing.

        Parameters
        ----------
        position : int
            The position of the column.
        values : array
            Its values, of the type that the table had.
        unseen : {"error", "missing", "extra"}
            What a new category becomes: an error, missing with a warning, or the code after the last.
        """
        table, name = self.categories[position], self.label(position)
        if table is None:
            return _numbers(values, name)
        return _looked_up(np.asarray(values, dtype=object), table, name, unseen)

    def values(self, position: int, codes: np.ndarray) -> np.ndarray:
        """Return the values that numbers of one column stand for."""
        kind, table = self.kinds[position], self.categories[position]
        if np.isnan(codes).any():
            raise ValueError("codes must not be missing")
        if table is not None:
            mixed = len({type(v) for v in table}) > 1 or isinstance(table[0], str)
            return np.asarray(table, dtype=object if mixed else None)[codes.astype(np.int64)]
        if kind == "bernoulli":
            return codes > 0.5
        return codes if kind == "normal" else codes.astype(np.int64)

    def given(self, dims: Any, values: Any = None) -> dict[int, np.ndarray]:
        """Return the values of some columns as numbers, by position."""
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

    def with_categories_of(self, other: "TableColumns") -> "TableColumns":
        """Return the columns with the categories of both; new ones come after those known here."""
        tables = []
        for j, (a, b) in enumerate(zip(self.categories, other.categories, strict=True)):
            if (a is None) != (b is None):
                raise ValueError(
                    f"the column {self.label(j)!r} holds codes in one statistic, values in the other"
                )
            tables.append(None if a is None or b is None else _extended(a, b))
        return self if tuple(tables) == self.categories else replace(self, categories=tuple(tables))

    def check_entries(
        self, where: np.ndarray, x: np.ndarray, kinds: Sequence[Any] | None = None, argument: str = "X"
    ) -> np.ndarray:
        """Refuse discrete columns x (n, len(where)) with entries that their kinds exclude.

        Return the largest entry of each column, NaN where all are missing.

        Parameters
        ----------
        where : array of int
            Positions of the columns.
        x : array (n, len(where))
            Their entries; NaN is missing.
        kinds : sequence, optional
            Their kinds; those of the table when not given.
        argument : str
            The name of x in error messages.
        """
        kinds = [self.kinds[j] for j in where] if kinds is None else kinds
        low, high, whole = ranges(x, fractions=all(kind == "multinomial" for kind in kinds))
        if np.isinf(high).any() or np.isinf(low).any():
            raise ValueError(f"{argument} contains infinity")
        self.check_ranges(where, low, high, whole, kinds, argument)
        return high

    def check_ranges(
        self,
        where: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        whole: np.ndarray,
        kinds: Sequence[Any] | None = None,
        argument: str = "X",
    ) -> None:
        """Refuse discrete columns with entries that their kinds exclude, from the range of the entries.

        Parameters
        ----------
        where, kinds, argument
            As in `check_entries`.
        low, high : arrays (len(where),)
            The smallest and the largest entry of each column.
        whole : array (len(where),) of bool
            Whether all entries are whole numbers.
        """
        kinds = [self.kinds[j] for j in where] if kinds is None else kinds
        if whole.all() and (low >= 0).all() and "bernoulli" not in kinds:
            return
        whole = whole | np.array([kind == "multinomial" for kind in kinds], dtype=bool)
        binary = np.array([kind == "bernoulli" for kind in kinds], dtype=bool)
        odd = np.flatnonzero((low < 0) | ~whole | (binary & (high > 1)))
        for i in odd[np.argsort(low[odd], kind="stable")]:  # negative entries are named first
            name, kind = self.label(int(where[i])), kinds[i]
            if low[i] < 0:
                raise ValueError(
                    f"Negative values in data: {argument} has {low[i]:g} in the column {name!r}, "
                    f"which is {kind}"
                )
            if not whole[i]:
                raise ValueError(
                    f"{argument} must have whole numbers in the column {name!r}, which is {kind}"
                )
            raise ValueError(
                f"{argument} must have zeros and ones in the column {name!r}, which is bernoulli; "
                f"got {high[i]:g}"
            )

    def values_of_categories(self, where: np.ndarray, sizes: np.ndarray) -> dict[Any, tuple[Any, ...]]:
        """Return the values of the categories of some columns, by column: those of codes are the codes."""
        tables = [
            (j, self.categories[j], size) for j, size in zip(where.tolist(), sizes.tolist(), strict=True)
        ]
        return {self.label(j): tuple(range(size)) if table is None else table for j, table, size in tables}

    def known_codes(
        self,
        where: np.ndarray,
        x: np.ndarray,
        sizes: np.ndarray,
        unseen: str,
        *,
        argument: str = "X",
        hint: str = "",
    ) -> np.ndarray:
        """Return columns of category codes with every code below the column's size.

        Parameters
        ----------
        where, x, argument
            As in `check_entries`.
        sizes : array (len(where),) of int
            Number of categories of each column.
        unseen : {"error", "missing", "extra"}
            What other codes become: an error, missing with a warning, or the code after the last.
        hint : str
            Advice that is added to the error message.
        """
        high = self.check_entries(where, x, argument=argument)
        odd = np.flatnonzero(high >= sizes)
        for i in odd:
            label = self.label(int(where[i]))
            if unseen == "error":
                raise ValueError(
                    f"{argument}: the column {label!r} has no category {high[i]:g}; it has the codes 0 to "
                    f"{sizes[i] - 1}; {hint}{DECLARE}"
                )
            if unseen == "missing":
                warn_unseen(label, int(high[i]))
        if not len(odd):
            return x
        return np.where(x >= sizes, sizes.astype(np.float64) if unseen == "extra" else np.nan, x)


def ranges(x: np.ndarray, *, fractions: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the least and largest observed entry of each column, NaN of none, and if all are whole.

    Where `fractions` are allowed whether entries are whole is not looked at, and said of none.
    """
    d = x.shape[1]
    step = max(1, BLOCK_BYTES // (8 * max(d, 1)))  # rows that are read from the cache the second time
    blocks = [x] if 0 < len(x) <= step else [x[start : start + step] for start in range(0, len(x), step)]
    found = [(b.min(axis=0), b.max(axis=0), not fractions and bool(np.any(b != np.floor(b)))) for b in blocks]
    whole = np.full(d, not fractions)
    low, high = np.full(d, np.nan), np.full(d, np.nan)
    if len(found) == 1:
        low, high = found[0][:2]
    elif found:
        low, high = np.min([part[0] for part in found], axis=0), np.max([part[1] for part in found], axis=0)
    if np.any(np.isnan(low)):
        low, high = (end.reduce(x, axis=0, initial=np.nan) for end in (np.fmin, np.fmax))
    if any(part[2] for part in found):
        whole = np.all((x == np.floor(x)) | np.isnan(x), axis=0)
    return low, high, whole


def binarized(x: np.ndarray, threshold: float | None) -> np.ndarray:
    """Return ones where entries are above a threshold, else zeros, NaN where they are missing."""
    return x if threshold is None else np.where(np.isnan(x), np.nan, x > threshold)


def columns_of(names: Any, width: int, kinds: Any, default: str = "normal") -> TableColumns:
    """Return the columns of rows of numbers: as declared, or else all of one kind; categories are 0, 1, …."""
    names = None if names is None else tuple(names)
    if kinds is None:
        return TableColumns(names=names, kinds=(default,) * width, categories=(None,) * width)
    declared = _kinds_of(kinds, names, width)
    return TableColumns(names=names, kinds=tuple(k or default for k in declared), categories=(None,) * width)


def declared_of(
    declared: Any, names: Sequence[Hashable] | None, width: int, argument: str = "kinds"
) -> list[Any]:
    """Return what is declared of each column, by name, by position or in order; None where nothing is."""
    found: list[Any] = [None] * width
    if declared is None:
        return found
    if isinstance(declared, str) or not isinstance(declared, (Mapping, Sequence)):
        raise ValueError(
            f"{argument} must be a mapping from columns to kinds, or one kind a column, got {declared!r}"
        )
    if not isinstance(declared, Mapping):
        if len(declared) != width:
            raise ValueError(f"{argument} must have one entry a column, {width}, got {len(declared)}")
        declared = dict(enumerate(declared))
    for column, kind in declared.items():
        if names is not None and column in names:
            j = names.index(column)
        elif isinstance(column, int) and 0 <= column < width:
            j = column
        else:
            check_known([column], names or range(width), argument, "the table")
        if found[j] is not None:
            raise ValueError(f"{argument} names the column {column!r} twice, by name and by position")
        found[j] = kind
    return found


def declared_categorical(declared: Any, names: Sequence[Hashable]) -> frozenset[Any]:
    """Return the names of the columns that are declared as categorical; `learn_columns` checks the rest.

    Examples
    --------
    >>> declared_categorical({"zip": "categorical", 1: "poisson"}, ["zip", "visits"])
    frozenset({'zip'})
    """
    if isinstance(declared, str):
        return frozenset(names if declared == "categorical" else ())
    if isinstance(declared, Mapping):
        kinds = [declared.get(name, declared.get(j)) for j, name in enumerate(names)]
    else:
        kinds = list(declared) if isinstance(declared, Sequence) else []
    return frozenset(name for name, kind in zip(names, kinds, strict=False) if kind == "categorical")


def _kinds_of(kinds: Any, names: Sequence[Hashable] | None, width: int) -> list[str | None]:
    found: list[str | None] = declared_of(kinds, names, width)
    for column, kind in enumerate(found):
        if kind is not None and kind not in KINDS:
            label = column if names is None else names[column]
            raise ValueError(f"kinds must be of {list(KINDS)}, got {kind!r} for {label!r}")
    return found


def learn_columns(
    frame: Any, kinds: Any, leave: Iterable[Any] = (), *, codes: bool = False, argument: str = "kinds"
) -> TableColumns:
    """Return the columns of a frame, with kinds as declared or by their types.

    Text and categories are categorical, booleans Bernoulli, all other numbers normal; counts have the type of
    numbers and must be declared as "poisson". With `codes`, all are categorical and numbers are codes of
    categories. Columns to `leave` out are targets or weights. Messages call the declaration `argument`.
    """
    pandas, library = as_pandas(frame)
    if not pandas.columns.is_unique:
        raise ValueError(f"X has several columns of one name: {list(pandas.columns)}")
    names = tuple(name for name in pandas.columns if name not in set(leave))
    declared = _kinds_of(None if codes else kinds, names, len(names))
    found = [kind or _kind(pandas[name], argument) for name, kind in zip(names, declared, strict=True)]
    coded = {name for name in names if codes and is_number(pandas[name])}
    found = ["categorical"] * len(names) if codes else found
    tables = tuple(
        _table(pandas[name]) if kind == "categorical" and name not in coded else None
        for name, kind in zip(names, found, strict=True)
    )
    return TableColumns(
        names=names,
        kinds=tuple(found),
        categories=tables,
        library=library,
        types=tuple(type_name(frame, library, name) for name in names),
    )


def column_names(frame: Any, leave: Iterable[Any] = ()) -> tuple[Any, ...]:
    """Return the names of a frame's columns, without those to leave out."""
    return tuple(name for name in as_pandas(frame)[0].columns if name not in set(leave))


def met_categories(frame: Any, columns: TableColumns) -> TableColumns:
    """Return the columns with new categories of a frame after those that are known."""
    pandas, _ = as_pandas(frame)
    tables = list(columns.categories)
    for j, name in enumerate(columns.names or ()):
        table = tables[j]
        if table is not None and name in pandas.columns and pandas[name].notna().any():
            tables[j] = table = _extended(table, _table(pandas[name]))
            if len(table) > MOST_CATEGORIES:
                raise many_categories(name, len(table))
    return replace(columns, categories=tuple(tables))


def coded_frame(frame: Any, columns: TableColumns, unseen: str = "error", *, strict: bool = False) -> Any:
    """Return a frame as a pandas frame of floats, categories by their codes.

    With `strict`, text in columns that are not among these is refused.
    """
    import pandas as pd

    pandas, _ = as_pandas(frame)
    known = columns.names or ()
    odd = [name for name in pandas.columns if name not in known and not is_number(pandas[name])]
    if strict and odd and columns.names is not None:
        raise ValueError(
            f"X: the column {odd[0]!r} was not in fit, or was its target; the model has the columns "
            f"{list(known)[:12]}{' and others' if len(known) > 12 else ''}"
        )
    coded = {
        name: _coded(columns, known.index(name), pandas[name], unseen)
        if name in known
        else pandas[name]  # which scikit-learn refuses by name
        for name in pandas.columns
    }
    return pd.DataFrame(coded, index=pandas.index)


def _coded(columns: TableColumns, j: int, column: Any, unseen: str) -> np.ndarray:
    """Return a column as numbers; each different value is looked up once."""
    import pandas as pd

    if columns.categories[j] is None:
        if is_number(column):
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return columns.code(j, column.astype(object).to_numpy(), unseen)
    try:
        positions, values = pd.factorize(column)
    except TypeError:  # values that have no hash
        return columns.code(j, column.astype(object).to_numpy(), unseen)
    codes = columns.code(j, np.asarray(values, dtype=object), unseen)
    return np.append(codes, np.nan)[positions]  # a missing entry has the position -1


def as_pandas(frame: Any) -> tuple[Any, str]:
    """Return a frame as one of pandas, and the library it was of."""
    if hasattr(frame, "iloc"):
        return frame, "pandas"
    assert is_frame(frame)
    library = type(frame).__module__.split(".")[0]
    try:
        return frame.to_pandas(), library
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        if library != "pyarrow":
            raise
        return frame.replace_schema_metadata(None).to_pandas(), library  # what pandas wrote is damaged


def type_name(frame: Any, library: str, name: Any) -> str:
    """Return a library's name of the type of a column; of categories also whether they are ordered."""
    if library == "pyarrow":
        return str(frame.schema.field(name).type)
    if library == "polars":
        return str(frame.schema[name]).split("(")[0]
    dtype = frame[name].dtype
    return "category, ordered" if str(dtype) == "category" and dtype.ordered else str(dtype)


def many_categories(name: Any, number: float) -> ValueError:
    """Return the error of a column with too many categories."""
    return ValueError(
        f"X: the column {name!r} has {number:g} categories, more than {MOST_CATEGORIES}: leave it out if it "
        "names the rows, or group its values"
    )


def _numbers(values: Any, name: Any) -> np.ndarray:
    import pandas as pd

    values = np.asarray(values)
    if values.dtype == object:
        values = np.where(pd.isna(values), np.nan, values)
    try:
        return object_numbers(values) if values.dtype == object else values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X: the column {name!r} must be numbers: {error}") from None


def _looked_up(values: np.ndarray, table: tuple[Any, ...], name: Any, unseen: str) -> np.ndarray:
    import pandas as pd

    code = {category: float(k) for k, category in enumerate(table)}
    missing = np.asarray(pd.isna(values))
    try:
        flat = [
            np.nan if gone else code.get(v) for v, gone in zip(values.ravel(), missing.ravel(), strict=True)
        ]
    except TypeError as error:
        raise ValueError(f"X: the column {name!r} holds values that are no categories: {error}") from None
    if None in flat:
        unknown = values.ravel()[flat.index(None)]
        if unseen == "error":
            known = f"{list(table)[:12]}" + (f" and {len(table) - 12} more" if len(table) > 12 else "")
            raise ValueError(f"X: the column {name!r} has no category {unknown!r}; it has {known}; {DECLARE}")
        if all(found is None or np.isnan(found) for found in flat):
            _check_type(unknown, table, name)
        if unseen == "missing":
            warn_unseen(name, unknown)
        other = float(len(table)) if unseen == "extra" else np.nan
        flat = [other if found is None else found for found in flat]
    return np.asarray(flat, dtype=np.float64).reshape(values.shape)


def _check_type(value: Any, table: tuple[Any, ...], name: Any) -> None:
    """Refuse a column without a known category whose values are of another type than its categories."""
    number = isinstance(value, numbers.Number) and not isinstance(value, bool)
    of_numbers = any(isinstance(category, numbers.Number) for category in table)
    of_text = any(isinstance(category, str) for category in table)
    if isinstance(value, str) == of_numbers or number == of_text:
        raise ValueError(
            f"X: the column {name!r} holds {type(value).__name__} such as {value!r}, and its categories are "
            f"{type(table[0]).__name__} such as {table[0]!r}"
        )


def warn_unseen(name: Any, unknown: Any) -> None:
    warnings.warn(
        f"X: the column {name!r} has categories that it did not have when the model was fitted, such as "
        f"{unknown!r}: they are taken as missing",
        UserWarning,
        stacklevel=3,
    )


def _extended(table: tuple[Any, ...], more: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return categories with new ones after those that are known."""
    known = set(table)
    return (*table, *(v for v in more if v not in known))


def is_number(column: Any) -> bool:
    """Whether a column of a pandas frame holds numbers or truth values."""
    return getattr(column.dtype, "kind", "O") in "fiub"


def _kind(column: Any, argument: str) -> str:
    kind = getattr(column.dtype, "kind", "O")
    if hasattr(column.dtype, "categories"):
        return "categorical"
    if kind in "bfiu":
        return "bernoulli" if kind == "b" else "normal"
    seen = _different(column) if kind == "O" else []
    if kind in "mM" or any(isinstance(v, DATES) for v in seen) or str(column.dtype).startswith("period["):
        raise ValueError(
            f"X: the column {column.name!r} holds dates or times: give a number instead (days since some "
            f'day, the hour), or say in {argument} that each is a "categorical" value of its own'
        )
    if seen and _holds(seen, (bool, np.bool_)):
        return "bernoulli"
    if seen and _holds(seen, (numbers.Real, Decimal)):
        return "normal"
    if kind in "OUST" and _holds(seen, (str, bytes, numbers.Real, Decimal)):
        return "categorical"
    odd = next(
        (type(v).__name__ for v in seen if not isinstance(v, (str, bytes, numbers.Real))), column.dtype
    )
    raise ValueError(f"X: the column {column.name!r} holds {odd}, neither numbers nor text nor categories")


def _different(column: Any) -> list[Any]:
    """Return the distinct values of a column without missing ones; all values where they are not hashable."""
    try:
        return list(column.dropna().unique())
    except TypeError:
        return list(column.dropna())


def _holds(values: list[Any], types: tuple[type, ...]) -> bool:
    return all(isinstance(v, types) for v in values)


def _table(column: Any) -> tuple[Any, ...]:
    """Return the categories of a column: those of its type, or those that occur, sorted."""
    if hasattr(column.dtype, "categories"):
        found = list(column.dtype.categories)
    else:
        try:
            found = _sorted(column.dropna().unique().tolist())
        except TypeError as error:  # values that have no hash
            raise ValueError(f"X: the column {column.name!r} holds no categories: {error}") from None
    if not found:
        raise ValueError(f"X has no observed value in the column {column.name!r}")
    if len(found) > MOST_CATEGORIES:
        raise many_categories(column.name, len(found))
    return tuple(v.item() if isinstance(v, np.generic) else v for v in found)


def _sorted(values: list[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:  # values of several types
        return sorted(values, key=lambda v: (type(v).__name__, str(v)))


def table_of(columns: TableColumns, codes: np.ndarray) -> Any:
    """Return rows of numbers as a frame like the one that was read; of an array, the rows themselves."""
    if columns.library is None:
        return codes
    names = columns.names or range(codes.shape[1])
    types = columns.types or ("",) * codes.shape[1]
    made = {
        name: _MAKERS[columns.library](columns.values(j, codes[:, j]), columns.categories[j], types[j])
        for j, name in enumerate(names)
    }
    if columns.library == "polars":
        import polars as pl

        return pl.DataFrame(made)
    if columns.library == "pyarrow":
        import pyarrow as pa

        return pa.table(made)
    import pandas as pd

    return pd.DataFrame(made)


def filled(table: Any, columns: TableColumns, x: np.ndarray, codes: np.ndarray) -> Any:
    """Return a table with its missing entries, NaN in x, replaced by the values of codes."""
    if columns.library is None or isinstance(table, (np.ndarray, list, tuple)):
        return codes
    library = type(table).__module__.split(".")[0]
    fill = {"polars": _fill_polars, "pyarrow": _fill_arrow}.get(library, _fill_pandas)
    frame = table.copy() if hasattr(table, "iloc") else table
    for j, name in enumerate(columns.names or ()):
        missing = np.isnan(x[:, j])
        if missing.any():
            frame = fill(frame, name, missing, columns.values(j, codes[missing, j]))
    return frame


def _pandas_column(values: np.ndarray, categories: Any, type_name: str) -> Any:
    import pandas as pd

    if type_name.startswith("category"):
        return pd.Categorical(values, categories=list(categories), ordered=type_name.endswith("ordered"))
    column = pd.Series(values)
    try:
        return column.astype(_same_type(type_name, values) or column.dtype)
    except (TypeError, ValueError):  # a type that is not known by its name
        return column


def _polars_column(values: np.ndarray, categories: Any, type_name: str) -> Any:
    import polars as pl

    if type_name == "Enum":
        return pl.Series(values.tolist(), dtype=pl.Enum(list(categories)))
    kind = getattr(pl, _same_type(type_name, values) or "", None)
    return pl.Series(values.tolist(), dtype=kind, strict=False)


def _arrow_column(values: np.ndarray, categories: Any, type_name: str) -> Any:
    import pyarrow as pa

    entries = values.tolist()
    if type_name.startswith("dictionary"):
        value, index = (_of_name(re.search(rf"{part}=(\w+)", type_name)) for part in ("values", "indices"))
        kind = pa.dictionary(
            index or pa.int32(), value or pa.array(categories).type, ordered="ordered=1" in type_name
        )
        place = {category: k for k, category in enumerate(categories)}
        codes = pa.array([place[v] for v in entries], kind.index_type)
        return pa.DictionaryArray.from_arrays(
            codes, pa.array(categories, kind.value_type), ordered=kind.ordered
        )
    try:
        return pa.array(entries, pa.type_for_alias(_same_type(type_name, values) or ""))
    except (ValueError, pa.ArrowException):  # a type that is not known by its name, or does not hold them
        return pa.array(entries)


def _of_name(found: re.Match[str] | None) -> Any:
    """Return the Arrow type of a name; None where there is no such name."""
    import pyarrow as pa

    try:
        return None if found is None else pa.type_for_alias(found.group(1))
    except ValueError:
        return None


_MAKERS = {"pandas": _pandas_column, "polars": _polars_column, "pyarrow": _arrow_column}


def _same_type(type_name: str, values: np.ndarray) -> str | None:
    """Return the type of a column, or None if it holds whole or exact numbers and these are neither."""
    whole = re.match(r"u?int", type_name, re.IGNORECASE) is not None
    exact = type_name == "object" or "decimal" in type_name.lower()
    return None if values.dtype.kind == "f" and (whole or exact) else type_name


def _fill_pandas(frame: Any, name: Any, missing: np.ndarray, values: np.ndarray) -> Any:
    column = frame[name]
    kind = getattr(column.dtype, "kind", "O")
    if kind in "iu" and values.dtype.kind == "f":
        column = column.astype("Float64")  # a nullable integer: means are no integers
    elif values.dtype.kind == "f" and kind == "O":
        column = column.astype(object).where(column.notna(), np.nan).astype(np.float64)
    column = column.copy()
    column[missing] = values.astype(np.int64) if values.dtype.kind == "b" and kind in "fiu" else values
    frame[name] = column
    return frame


def _fill_polars(frame: Any, name: Any, missing: np.ndarray, values: np.ndarray) -> Any:
    import polars as pl

    dtype = frame.schema[name]
    if values.dtype.kind == "f" and (dtype.is_integer() or dtype.is_decimal()):
        dtype = pl.Float64
    entries = _entries(frame[name].to_list(), missing, values)
    if dtype.is_numeric():
        entries = [float(v) for v in entries] if dtype.is_float() else [int(v) for v in entries]
    return frame.with_columns(
        pl.Series(name, entries, dtype=None if dtype == pl.Null else dtype, strict=False)
    )


def _fill_arrow(table: Any, name: Any, missing: np.ndarray, values: np.ndarray) -> Any:
    import pyarrow as pa

    kind = table.schema.field(name).type
    if values.dtype.kind == "f" and not pa.types.is_floating(kind):
        kind = pa.float64()
    entries = _entries(table.column(name).to_pylist(), missing, values)
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        number = float if pa.types.is_floating(kind) else int
        entries = [number(v) for v in entries]
    column = pa.array(entries, None if pa.types.is_null(kind) else kind)
    return table.set_column(table.schema.get_field_index(name), name, column)


def _entries(entries: list[Any], missing: np.ndarray, values: np.ndarray) -> list[Any]:
    for i, v in zip(np.flatnonzero(missing), values.tolist(), strict=True):
        entries[i] = v
    return entries
