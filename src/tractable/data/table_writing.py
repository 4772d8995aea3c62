"""Rows of numbers as frames like those that were read, and frames with their holes filled."""

import re
from typing import Any

import numpy as np

from tractable.data.table_columns import TableColumns

__all__ = ["filled", "table_of"]


def table_of(columns: TableColumns, codes: np.ndarray) -> Any:
    """Return rows of numbers as a table like the one that was read: a frame, or as they are."""
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
    """Return a table with values in its holes, and all else as it was."""
    if columns.library is None or isinstance(table, (np.ndarray, list, tuple)):
        return codes
    library = type(table).__module__.split(".")[0]
    fill = {"polars": _fill_polars, "pyarrow": _fill_arrow}.get(library, _fill_pandas)
    frame = table.copy() if hasattr(table, "iloc") else table
    for j, name in enumerate(columns.names or ()):
        holes = np.isnan(x[:, j])
        if holes.any():
            frame = fill(frame, name, holes, columns.values(j, codes[holes, j]))
    return frame


def _pandas_column(values: np.ndarray, categories: Any, type_name: str) -> Any:
    import pandas as pd

    if type_name.startswith("category"):
        return pd.Categorical(values, categories=list(categories), ordered=type_name.endswith("ordered"))
    column = pd.Series(values)
    try:
        return column.astype(_kept(type_name, values) or column.dtype)
    except (TypeError, ValueError):  # a type that is not known by its name
        return column


def _polars_column(values: np.ndarray, categories: Any, type_name: str) -> Any:
    import polars as pl

    if type_name == "Enum":
        return pl.Series(values.tolist(), dtype=pl.Enum(list(categories)))
    kind = getattr(pl, _kept(type_name, values) or "", None)
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
        return pa.array(entries, pa.type_for_alias(_kept(type_name, values) or ""))
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


def _kept(type_name: str, values: np.ndarray) -> str | None:
    """Return the type a column had, unless it was of whole numbers and these are not."""
    whole = re.match(r"u?int", type_name, re.IGNORECASE) is not None
    exact = type_name == "object" or "decimal" in type_name.lower()
    return None if values.dtype.kind == "f" and (whole or exact) else type_name


def _fill_pandas(frame: Any, name: Any, holes: np.ndarray, values: np.ndarray) -> Any:
    column = frame[name]
    kind = getattr(column.dtype, "kind", "O")
    if kind in "iu" and values.dtype.kind == "f":
        column = column.astype("Float64")  # a nullable integer: means are no integers
    elif values.dtype.kind == "f" and kind == "O":
        column = column.astype(object).where(column.notna(), np.nan).astype(np.float64)
    column = column.copy()
    column[holes] = values.astype(np.int64) if values.dtype.kind == "b" and kind in "fiu" else values
    frame[name] = column
    return frame


def _fill_polars(frame: Any, name: Any, holes: np.ndarray, values: np.ndarray) -> Any:
    import polars as pl

    dtype = frame.schema[name]
    if values.dtype.kind == "f" and (dtype.is_integer() or dtype.is_decimal()):
        dtype = pl.Float64
    entries = _entries(frame[name].to_list(), holes, values)
    if dtype.is_numeric():
        entries = [float(v) for v in entries] if dtype.is_float() else [int(v) for v in entries]
    return frame.with_columns(
        pl.Series(name, entries, dtype=None if dtype == pl.Null else dtype, strict=False)
    )


def _fill_arrow(table: Any, name: Any, holes: np.ndarray, values: np.ndarray) -> Any:
    import pyarrow as pa

    kind = table.schema.field(name).type
    if values.dtype.kind == "f" and not pa.types.is_floating(kind):
        kind = pa.float64()
    entries = _entries(table.column(name).to_pylist(), holes, values)
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        number = float if pa.types.is_floating(kind) else int
        entries = [number(v) for v in entries]
    column = pa.array(entries, None if pa.types.is_null(kind) else kind)
    return table.set_column(table.schema.get_field_index(name), name, column)


def _entries(entries: list[Any], holes: np.ndarray, values: np.ndarray) -> list[Any]:
    for i, v in zip(np.flatnonzero(holes), values.tolist(), strict=True):
        entries[i] = v
    return entries
