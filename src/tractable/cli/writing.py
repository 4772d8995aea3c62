"""Tables of answers, written row group by row group: Parquet or CSV, whole or not at all."""

import io
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import chain
from pathlib import Path
from typing import Any, Self

from tractable.data.output import replacing

__all__ = ["check_output", "write_tables"]

ENDINGS = {".parquet": ".parquet", ".pq": ".parquet", ".csv": ".csv"}


def check_output(path: Path, option: str = "--output") -> str:
    """Return the kind of file that a path asks for, ``.parquet`` or ``.csv``."""
    kind = ENDINGS.get(path.suffix.lower())
    if kind is None:
        raise ValueError(f"{option} must end in .parquet or .csv; got {path}")
    if not path.parent.is_dir():
        raise ValueError(f"{option}: no such folder: {path.parent}")
    if path.is_dir():
        raise ValueError(f"{option}: {path} is a folder")
    return kind


def write_tables(tables: Iterable[Any], path: Path) -> int:
    """Write Arrow tables of one schema, one after the other; return the number of rows."""
    kind, rows = check_output(path), 0
    parts: Iterator[Any] = iter(tables)
    first = next(parts, None)
    if first is None:
        raise ValueError("there are no rows to predict")
    with replacing(path) as file, _writer(kind, file, first.schema) as writer:
        for table in chain([first], parts):
            writer.write_table(table.cast(first.schema))
            rows += table.num_rows
    return rows


def _writer(kind: str, file: Any, schema: Any) -> AbstractContextManager[Any]:
    if kind == ".csv":
        from pyarrow import csv

        return csv.CSVWriter(file, schema) if len(schema) > 1 else _OneColumn(file, schema)
    from pyarrow import parquet

    return parquet.ParquetWriter(file, schema)


class _OneColumn:
    """CSV of one column: a missing entry is written as two quotes, for readers skip lines that are blank."""

    def __init__(self, file: Any, schema: Any) -> None:
        from pyarrow import csv

        self.file = file
        csv.write_csv(schema.empty_table(), file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def write_table(self, table: Any) -> None:
        from pyarrow import csv, types

        column = table.column(0)
        texts = types.is_string(column.type) or types.is_large_string(column.type)
        table = table.set_column(0, table.schema[0], column.fill_null("")) if texts else table
        lines = io.BytesIO()
        csv.write_csv(table, lines, csv.WriteOptions(include_header=False))
        found = lines.getvalue()  # texts are in quotes, and may have blank lines of their own
        if not texts:
            found = b"".join(b'""\n' if line == b"\n" else line for line in found.splitlines(keepends=True))
        self.file.write(found)
