"""The table that a command is given: files of one kind, walked as numbers or as frames."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from tractable.cli.arrow_files import kind_of, opened
from tractable.data import arrow
from tractable.data.columns import Roles, check_known
from tractable.data.csv import TextTable, open_text
from tractable.data.source import Batch, Source, row_slices
from tractable.value import value

__all__ = ["Table", "bundled_hint", "check_not_stdin", "open_table"]


@value
class Table:
    """Files that hold one table: what its columns are called, and of which Arrow type they are."""

    name: str
    paths: tuple[Path, ...]
    types: dict[str, Any]  # empty for NumPy's matrices, whose columns go by number
    text: TextTable | None = None  # of text files: how they are read

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The columns that hold numbers."""
        return frozenset(name for name, kind in self.types.items() if arrow.is_numeric(kind))

    @property
    def n_bytes(self) -> int:
        """How large the files are together."""
        return sum(path.stat().st_size for path in self.paths)

    def check(self, names: Sequence[str], option: str) -> None:
        """Refuse a column that is not there, with the nearest that is."""
        if self.types:
            check_known(names, list(self.types), option, self.name)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of how the files are written."""
        return () if self.text is None else self.text.notes

    def source(self, roles: Roles) -> Source:
        """Return columns of numbers to stream: text by the report's reader, all else by `tractable.scan`."""
        if self.text is None:
            from tractable.data import scan

            return scan(list(self.paths), list(roles.features) or None, roles.target, roles.weight)
        import pyarrow as pa

        arrow.check_types(pa.schema(list(self.types.items())), roles, self.name)
        return TableSource(table=self, roles=roles)

    def blocks(self, columns: Sequence[str]) -> Iterator[Any]:
        """Walk some columns as Arrow tables of a few megabytes, in order; empty texts are missing."""
        return self._parquet(columns) if self.text is None else self.text.blocks(columns)

    def _parquet(self, columns: Sequence[str]) -> Iterator[Any]:
        import pyarrow as pa

        kinds = {name: _as_read(self.types[name]) for name in columns}
        schema = pa.schema(list(kinds.items()))
        for path in self.paths:
            with opened(path, columns) as found:
                for block in found:
                    yield pa.table([block.column(name).cast(kinds[name]) for name in columns], schema=schema)


@value
class TableSource(Source):
    """The rows of text files, as numbers."""

    table: Table
    roles: Roles

    @property
    def n_rows(self) -> None:
        return None

    @property
    def n_features(self) -> int:
        return len(self.roles.features)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self.roles.feature_names

    def batches(self) -> Iterator[Batch]:
        for block in self.table.blocks(self.roles.columns):
            for rows in row_slices(block.num_rows, block.num_columns):
                some = block.slice(rows.start, rows.stop - rows.start)
                yield arrow.batch_of(some, self.roles, float, self.table.name)


def open_table(data: str) -> Table:
    """Look at the first rows of a table.

    Parameters
    ----------
    data : str
        A path, a pattern or a folder of Parquet, CSV or NumPy files.
    """
    from tractable.data.files import expand

    check_not_stdin(data)
    try:
        paths = expand(data)
    except ValueError as error:
        raise ValueError(f"{str(error).removeprefix('path: ')}{bundled_hint(data)}") from None
    kinds = {kind_of(path) for path in paths}
    if len(kinds) > 1:
        raise ValueError(f"{data} has files of several kinds: {', '.join(sorted(kinds))}")
    if kinds == {".npy"}:
        return Table(name=data, paths=paths, types={})
    if kinds == {".csv"}:
        text = open_text(paths, data)
        return Table(name=data, paths=paths, types=text.types, text=text)
    with opened(paths[0]) as blocks:
        first = next(iter(blocks), None)
    if first is None or not first.num_rows:
        raise ValueError(f"{data} has no rows")
    doubled = sorted(name for name, count in Counter(first.schema.names).items() if count > 1)
    if doubled:
        raise ValueError(f"{data} has several columns named {', '.join(map(repr, doubled))}")
    types = {field.name: field.type for field in first.schema}
    return Table(name=data, paths=paths, types=types)


def check_not_stdin(data: str) -> None:
    """Refuse standard input, with what to do instead: tables are walked more than once."""
    if data == "-":
        raise ValueError("DATA is a file: standard input can be read once only; save it to a file first")


def bundled_hint(data: str) -> str:
    """Return how to write the bundled table that somebody took for a file; nothing where there is none."""
    from tractable.datasets import names

    name = Path(data).name.split(".")[0]
    if name not in names():
        return ""
    return f"; {name} is a bundled table, which `tractable datasets {name} -o {name}.csv` writes"


def _as_read(kind: Any) -> Any:
    """Return the type that a column is read as: numbers are floats, but for whole ones that stay whole."""
    from pyarrow import float64, types

    if types.is_dictionary(kind):
        return kind.value_type
    if types.is_boolean(kind) or not arrow.is_numeric(kind) or types.is_integer(kind):
        return kind
    return float64()
