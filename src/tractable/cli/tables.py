"""The table that a command is given: files of one kind, walked as numbers or as frames."""

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np

from tractable.data import arrow
from tractable.data.atomic import replacing
from tractable.data.columns import Roles, check_known
from tractable.data.source import Batch, ForwardingSource, Source, batch_rows, row_slices
from tractable.data.text_table import TextTable, open_text
from tractable.value import replace, value

__all__ = [
    "MissingEntries",
    "Table",
    "WatchedFrames",
    "WatchedRows",
    "as_whole",
    "bundled_hint",
    "check_not_stdin",
    "check_output",
    "kind_of",
    "missing_entries",
    "missing_target",
    "open_table",
    "opened",
    "write_tables",
]

ENDINGS = {".parquet": ".parquet", ".pq": ".parquet", ".csv": ".csv"}


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


def kind_of(path: Path) -> str:
    """Return the kind of a file: ``.parquet``, ``.npy``, or ``.csv`` for text whatever its ending is.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".txt") as file:
    ...     kind_of(Path(file.name))
    '.csv'
    """
    ending = path.suffix.lower()
    if ending in {".parquet", ".pq"}:
        return ".parquet"
    with path.open("rb") as file:
        head = file.read(6)
    if head.startswith(b"PAR1"):
        return ".parquet"
    return ".npy" if ending == ".npy" or head == b"\x93NUMPY" else ".csv"


@contextmanager
def opened(path: Path, columns: Sequence[str] | None = None) -> Iterator[Iterator[Any]]:
    """Open a Parquet file: some of its columns, or all, as batches of a few megabytes."""
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            width = len(columns or file.schema.names)
            yield file.iter_batches(batch_size=batch_rows(width), columns=list(columns) if columns else None)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.strerror:
            raise
        said = str(error)
        raise ValueError(said if str(path) in said else f"{path} cannot be read: {said}") from error


class WatchedRows(ForwardingSource):
    """A source whose rows are counted; rows that a model cannot take are left out, or are an error.

    Parameters
    ----------
    source : Source
    holes : bool
        Whether the model takes rows with missing features.
    drop : bool
        Whether rows that it cannot take are left out.
    label : str
        What to call the model in the error.
    whole : bool
        Whether the targets are labels that are whole numbers.
    tell : callable, optional
        Called with the number of rows that have passed.
    """

    def __init__(
        self,
        source: Source,
        *,
        holes: bool,
        drop: bool,
        label: str,
        whole: bool = False,
        tell: Callable[[int], None] | None = None,
    ) -> None:
        self.source, self.holes, self.drop, self.label = source, holes, drop, label
        self.whole, self.tell = whole, tell
        self.counted = self.dropped = 0

    @property
    def n_rows(self) -> int | None:
        return None if self.drop else self.source.n_rows

    def batches(self) -> Iterator[Batch]:
        counted = dropped = 0
        for batch in self.source.batches():
            kept = self._kept(batch)
            counted += kept.n_rows
            dropped += batch.n_rows - kept.n_rows
            # A later pass may stop half-way.
            self.counted, self.dropped = max(self.counted, counted), max(self.dropped, dropped)
            if self.tell is not None:
                self.tell(counted)
            yield kept if kept.y is None or not self.whole else replace(kept, y=as_whole(kept.y))
        if dropped and not counted:
            raise ValueError("there are no rows without missing entries")

    def _kept(self, batch: Batch) -> Batch:
        bad = self._without_target(batch)
        if not self.holes:
            bad |= np.isnan(batch.X).any(axis=1)
        if not bad.any():
            return batch
        if not self.drop:
            raise self._missing(batch)
        y, weights = (None if part is None else part[~bad] for part in (batch.y, batch.weights))
        return Batch(X=batch.X[~bad], y=y, weights=weights)

    def _without_target(self, batch: Batch) -> np.ndarray:
        bad = np.zeros(batch.n_rows, dtype=bool)
        if batch.y is None:
            return bad
        if batch.y.dtype.kind == "O":
            return np.array([label is None or label in _blanks() for label in batch.y], dtype=bool)
        return bad | np.isnan(batch.y) if batch.y.dtype.kind == "f" else bad

    def _missing(self, batch: Batch) -> "MissingEntries":
        if self._without_target(batch).any():
            return missing_target()
        column = int(np.flatnonzero(np.isnan(batch.X).any(axis=0))[0])
        return missing_entries(
            self.label, column if self.feature_names is None else self.feature_names[column]
        )


@cache
def _blanks() -> frozenset[str]:
    """Return how CSV files spell what is missing."""
    from pyarrow import csv

    return frozenset(csv.ConvertOptions().null_values)


def as_whole(labels: np.ndarray) -> np.ndarray:
    """Return labels as whole numbers where they are.

    Examples
    --------
    >>> as_whole(np.array([1.0, 3.0])).tolist(), as_whole(np.array([0.5])).tolist()
    ([1, 3], [0.5])
    """
    whole = labels.astype(np.int64)
    return whole if np.array_equal(whole, labels) else labels


class MissingEntries(ValueError):  # noqa: N818
    """Rows have holes that a model does not take."""


def missing_entries(label: str, column: Any) -> MissingEntries:
    """Return what to raise where a feature has holes that a model does not take."""
    said = f"{column!r} has missing entries, which {label} does not take; --drop-missing leaves such rows out"
    return MissingEntries(f"{said}, and `tractable models` says which models take them")


def missing_target() -> MissingEntries:
    """Return what to raise where the target has holes."""
    return MissingEntries("--target has missing entries; --drop-missing leaves such rows out")


class WatchedFrames:
    """A table whose rows are counted as they pass; every walk over it starts anew.

    Parameters
    ----------
    table : Table
    roles : Roles
    holes : bool
        Whether the model takes rows with missing features.
    drop : bool
        Whether rows that it cannot take are left out; they are an error otherwise.
    label : str
        What to call the model in the error.
    whole : bool
        Whether the targets are labels that are whole numbers.
    """

    def __init__(
        self, table: Table, roles: Roles, *, holes: bool, drop: bool, label: str, whole: bool = False
    ) -> None:
        self.table, self.roles, self.drop, self.label, self.whole = table, roles, drop, label, whole
        self.needed = list(roles.targets if holes else (*roles.targets, *roles.features))
        self.counted = self.dropped = 0

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        counted = dropped = 0
        for block in self.table.blocks(self.roles.columns):
            frame = block.to_pandas()
            kept = self.kept(frame)
            counted += len(kept)
            dropped += len(frame) - len(kept)
            # A later pass may stop half-way.
            self.counted, self.dropped = max(self.counted, counted), max(self.dropped, dropped)
            if len(kept):
                yield self.parts(kept)
        if not counted:
            raise ValueError("there are no rows without missing entries")

    def kept(self, frame: Any) -> Any:
        """Return the rows that the model takes."""
        holes = frame[self.needed].isna()
        bad = holes.any(axis=1)
        if bad.any() and not self.drop:
            column = holes.columns[holes.any()][0]
            raise missing_target() if column == self.roles.target else missing_entries(self.label, column)
        return frame[~bad]

    def parts(self, frame: Any) -> tuple[Any, Any, Any]:
        """Return the features, the targets and the weights of some rows; None where there are none."""
        target, weight = self.roles.target, self.roles.weight
        y = None if target is None else frame[target].to_numpy()
        y = as_whole(y) if y is not None and self.whole else y
        return frame[list(self.roles.features)], y, None if weight is None else frame[weight].to_numpy()


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
