"""Tables with words, in the three libraries that have them: names, rows, categories."""

from typing import Any

import numpy as np

__all__ = ["column_names", "one_table", "some_columns", "some_rows", "with_all_categories"]


def column_names(table: Any) -> list[Any]:
    """Return the names of a table's columns."""
    return list(table.column_names if hasattr(table, "column_names") else table.columns)


def some_columns(table: Any, names: list[Any]) -> Any:
    """Return the columns of these names."""
    return table.select(names) if hasattr(table, "column_names") else table[names]


def some_rows(table: Any, rows: np.ndarray) -> Any:
    """Return the rows at these places, of a table or an array."""
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    return table.take(rows) if hasattr(table, "column_names") else table[rows]


def one_table(parts: list[Any], order: np.ndarray) -> Any:
    """Return the rows of tables of one kind, in an order."""
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts).iloc[order].reset_index(drop=True)
    if hasattr(parts[0], "column_names"):
        import pyarrow as pa

        return pa.concat_tables(parts).unify_dictionaries().take(order)
    import polars as pl

    return pl.concat(parts)[order]


def with_all_categories(table: Any) -> Any:
    """Return the table with columns of words whose type knows all of them, so that each class's rows do."""
    if hasattr(table, "iloc"):
        words = [c for c in table.columns if table[c].dtype.kind == "O" and _words(table[c].dropna())]
        return table.astype(dict.fromkeys(words, "category"))
    if hasattr(table, "column_names"):
        return _arrow(table)
    import polars as pl

    words = [name for name, kind in table.schema.items() if kind == pl.String]
    known = {name: pl.Enum(sorted(table[name].drop_nulls().unique().to_list())) for name in words}
    return table.with_columns(*(pl.col(name).cast(kind) for name, kind in known.items()))


def _words(column: Any) -> bool:
    return all(isinstance(value, str) for value in column.unique())


def _arrow(table: Any) -> Any:
    import pyarrow as pa

    for j, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            table = table.set_column(j, field.name, table.column(j).dictionary_encode())
    return table
