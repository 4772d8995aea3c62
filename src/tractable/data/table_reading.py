"""Frames as rows of numbers: what each column is, by what is told or by its type."""

import datetime as dt
import numbers
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np

from tractable.data.frames import is_frame
from tractable.data.table_columns import MOST_CATEGORIES, TableColumns, kinds_of, many_categories
from tractable.value import replace

__all__ = ["as_pandas", "coded_frame", "column_names", "learn_columns", "met_categories", "type_name"]

#: Values that tell when, or how long.
DATES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)


def learn_columns(
    frame: Any, kinds: Any, leave: Iterable[Any] = (), *, codes: bool = False, argument: str = "kinds"
) -> TableColumns:
    """Return what the columns of a frame are: as told, or else by their types.

    Text and categories are categorical, booleans Bernoulli, all other numbers normal. A column of counts does
    not look different from one of years: say that it is "poisson". With `codes`, all are categorical, and
    numbers are codes of categories. Columns to `leave` are targets or weights, and no part of the table. What
    users tell kinds by is called `argument`.
    """
    pandas, library = as_pandas(frame)
    if not pandas.columns.is_unique:
        raise ValueError(f"X has several columns of one name: {list(pandas.columns)}")
    names = tuple(name for name in pandas.columns if name not in set(leave))
    told = kinds_of(None if codes else kinds, names, len(names))
    found = [kind or _kind(pandas[name], argument) for name, kind in zip(names, told, strict=True)]
    numeric = {name for name in names if codes and getattr(pandas[name].dtype, "kind", "O") in "fiub"}
    found = ["categorical"] * len(names) if codes else found
    tables = tuple(
        _table(pandas[name]) if kind == "categorical" and name not in numeric else None
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
    """Return the names of a frame's columns, but for those to leave."""
    return tuple(name for name in as_pandas(frame)[0].columns if name not in set(leave))


def met_categories(frame: Any, columns: TableColumns) -> TableColumns:
    """Return the columns with what a frame has of new categories, after those that are known."""
    pandas, _ = as_pandas(frame)
    tables = list(columns.categories)
    for j, name in enumerate(columns.names or ()):
        table = tables[j]
        if table is not None and name in pandas.columns and pandas[name].notna().any():
            known = set(table)
            tables[j] = (*table, *(v for v in _table(pandas[name]) if v not in known))
            if len(tables[j] or ()) > MOST_CATEGORIES:
                raise many_categories(name, len(tables[j] or ()))
    return replace(columns, categories=tuple(tables))


def coded_frame(frame: Any, columns: TableColumns, unseen: str = "error", *, strict: bool = False) -> Any:
    """Return a frame as a pandas frame of floats, by the categories that its columns have.

    Where it is `strict`, columns of text that are not among them are refused.
    """
    import pandas as pd

    pandas, _ = as_pandas(frame)
    known = columns.names or ()
    odd = [name for name in pandas.columns if name not in known]
    odd = [name for name in odd if getattr(pandas[name].dtype, "kind", "O") not in "fiub"]
    if strict and odd and columns.names is not None:
        raise ValueError(
            f"X: the column {odd[0]!r} was not in fit, or was its target; the model has the columns "
            f"{list(known)[:12]}{' and others' if len(known) > 12 else ''}"
        )
    coded = {
        name: _coded(columns, known.index(name), pandas[name], unseen)
        if name in known
        else pandas[name]  # scikit-learn will say that it does not belong here
        for name in pandas.columns
    }
    return pd.DataFrame(coded, index=pandas.index)


def _coded(columns: TableColumns, j: int, column: Any, unseen: str) -> np.ndarray:
    """Return a column as numbers; values that occur often are looked up once."""
    import pandas as pd

    if columns.categories[j] is None:
        if getattr(column.dtype, "kind", "O") in "fiub":
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return columns.code(j, column.astype(object).to_numpy(), unseen)
    try:
        places, values = pd.factorize(column)
    except TypeError:  # values that have no hash
        return columns.code(j, column.astype(object).to_numpy(), unseen)
    codes = columns.code(j, np.asarray(values, dtype=object), unseen)
    return np.append(codes, np.nan)[places]  # what is missing has the last place


def as_pandas(frame: Any) -> tuple[Any, str]:
    """Return a frame as one of pandas, and whose it was."""
    if hasattr(frame, "iloc"):
        return frame, "pandas"
    assert is_frame(frame)
    return frame.to_pandas(), type(frame).__module__.split(".")[0]


def type_name(frame: Any, library: str, name: Any) -> str:
    """Return what a library calls the type of a column, and of categories whether they are ordered."""
    if library == "pyarrow":
        return str(frame.schema.field(name).type)
    if library == "polars":
        return str(frame.schema[name]).split("(")[0]
    dtype = frame[name].dtype
    return "category, ordered" if str(dtype) == "category" and dtype.ordered else str(dtype)


def _kind(column: Any, argument: str) -> str:
    kind = getattr(column.dtype, "kind", "O")
    if hasattr(column.dtype, "categories"):
        return "categorical"
    if kind in "bfiu":
        return "bernoulli" if kind == "b" else "normal"
    seen = _different(column) if kind == "O" else []
    if kind in "mM" or _holds(seen, DATES, some=True) or _is_period(column.dtype):
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
    """Return the values that occur, each once where that can be told."""
    try:
        return list(column.dropna().unique())
    except TypeError:  # values that have no hash
        return list(column.dropna())


def _holds(values: list[Any], types: tuple[type, ...], *, some: bool = False) -> bool:
    return (any if some else all)(isinstance(v, types) for v in values)


def _is_period(dtype: Any) -> bool:
    return str(dtype).startswith("period[")


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
