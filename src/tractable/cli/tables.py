"""Tables of the commands: files of one kind as sources or frames, missing entries, and files of results."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np

from tractable.cli.streams import STREAM, binary_stream, input_path
from tractable.data import arrow
from tractable.data.columns import Roles, check_known
from tractable.data.copies import ExactTypes, holds_codes
from tractable.data.file_states import FileStates
from tractable.data.output import is_stream, replacing
from tractable.data.source import (
    MAX_BATCH_ROWS,
    Batch,
    ColumnSource,
    ForwardingSource,
    Source,
    batch_rows,
    row_slices,
)
from tractable.data.table_files import Files
from tractable.data.text import trimmed
from tractable.data.text_table import TextTable, open_text
from tractable.value import replace, set_fields, value

#: Endings of files that can be written.
ENDINGS = {".parquet": ".parquet", ".pq": ".parquet", ".csv": ".csv"}


@value
class TableFiles:
    """Files that hold one table, with the Arrow types of its columns."""

    name: str
    paths: tuple[Path, ...]
    types: dict[str, Any]  # empty for NumPy files, whose columns are numbered
    text: TextTable | None = None  # how text files are read
    files: Files | None = None  # the paths with the columns that folders name
    states: FileStates = field(init=False)  # the files as they were when they were opened

    def __post_init__(self) -> None:
        set_fields(self, states=FileStates.of(self.paths))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The names of the columns of numbers."""
        return frozenset(name for name, kind in self.types.items() if arrow.is_numeric(kind))

    @property
    def n_bytes(self) -> int:
        """The size of all files."""
        return sum(path.stat().st_size for path in self.paths)

    def check(self, names: Sequence[str], option: str) -> None:
        """Refuse a column that does not exist; the error suggests the nearest name."""
        if self.types:
            check_known(names, list(self.types), option, self.name)

    @property
    def notes(self) -> tuple[str, ...]:
        """How the text of the files was interpreted."""
        if self.text is None:
            return ()
        unread = ", ".join(self.files.partitions) if self.files is not None else ""
        return (*self.text.notes, *([f"Columns that folders name are not read: {unread}."] if unread else []))

    def source(self, roles: Roles) -> Source:
        """Return columns of numbers as a source: of text files, or of others by `tractable.scan`."""
        if self.text is None:
            from tractable.data import scan

            return scan(
                self.files or list(self.paths), list(roles.features) or None, roles.target, roles.weight
            )
        import pyarrow as pa

        arrow.check_types(pa.schema(list(self.types.items())), roles, self.name)
        return _TextSource(table=self, roles=roles)

    def blocks(self, columns: Sequence[str]) -> Iterator[Any]:
        """Iterate over some columns as Arrow tables of a few megabytes; empty texts are missing."""
        return (block for block, _ in self.blocks_and_copies(columns, ()))

    def blocks_and_copies(self, columns: Sequence[str], copied: Sequence[str]) -> Iterator[tuple[Any, Any]]:
        """Iterate over some columns, and others as the files hold them: text as written, types unchanged."""
        if self.text is not None:
            return self.text.blocks(columns, copied, self.states)
        return self._parquet(columns, copied)

    def exact_types(self, copied: Sequence[str]) -> ExactTypes | None:
        """Return the types that hold columns of text files exactly, by a pass; None for other files."""
        if self.text is None:
            return None
        found = ExactTypes()
        for _, copies in self.blocks_and_copies((), copied):
            found.add(copies)
        return found

    def _parquet(self, columns: Sequence[str], copied: Sequence[str]) -> Iterator[tuple[Any, Any]]:
        wanted = tuple(dict.fromkeys([*columns, *copied]))
        read = {name: _as_read(self.types[name]) for name in columns}
        kept = {name: self.types[name] for name in copied}
        for path in self.paths:
            for rows in self.states.unchanged(path, _parquet_rows(path, wanted)):
                block = rows if self.files is None else self.files.with_partitions(rows, path, wanted)
                yield _cast(block, read), _cast(block, kept)


@value
class _TextSource(ColumnSource):
    """The rows of text files, as numbers."""

    table: TableFiles
    roles: Roles

    def batches(self) -> Iterator[Batch]:
        for block in self.table.blocks(self.roles.columns):
            for rows in row_slices(block.num_rows, block.num_columns):
                some = block.slice(rows.start, rows.stop - rows.start)
                yield arrow.batch_of(some, self.roles, float, self.table.name)


def open_table(data: str) -> TableFiles:
    """Return the table of a path, a pattern or a folder of Parquet, CSV or NumPy files, by its first rows."""
    files = None if data == STREAM else known_files(data)
    paths = (Path(input_path(data)),) if files is None else files.paths
    data = "standard input" if files is None else data
    kinds = {_file_kind(path) for path in paths}
    if len(kinds) > 1:
        raise ValueError(f"{data} has files of several kinds: {', '.join(sorted(kinds))}")
    if kinds == {".npy"}:
        return TableFiles(name=data, paths=paths, types={}, files=files)
    if kinds == {".csv"}:
        text = open_text(paths, data)
        return TableFiles(name=data, paths=paths, types=text.types, text=text, files=files)
    with _parquet_batches(paths[0]) as blocks:
        first = next(iter(blocks), None)
    if first is None or not first.num_rows:
        raise ValueError(f"{data} has no rows")
    doubled = sorted(name for name, count in Counter(first.schema.names).items() if count > 1)
    if doubled:
        raise ValueError(f"{data} has several columns named {', '.join(map(repr, doubled))}")
    schema = first.schema if files is None else files.schema(first.schema)
    types = {field.name: field.type for field in schema}
    return TableFiles(name=data, paths=paths, types=types, files=files)


def table_paths(data: str) -> tuple[Path, ...]:
    """Return the files of a table, ``-`` for standard input, which is not read yet."""
    return (Path(STREAM),) if data == STREAM else known_files(data).paths


def known_files(data: str) -> Files:
    """Return the files of a path, a pattern or a folder, in the words of the command if there are none."""
    from tractable.data.table_files import table_files

    try:
        return table_files(data)
    except ValueError as error:
        raise ValueError(f"{str(error).removeprefix('path: ')}{bundled_hint(data)}") from None


def _file_kind(path: Path) -> str:
    """Return ``.parquet``, ``.npy``, or ``.csv`` for text whatever its ending is."""
    ending = path.suffix.lower()
    if ending in {".parquet", ".pq"}:
        return ".parquet"
    with path.open("rb") as file:
        head = file.read(6)
    if head.startswith(b"PAR1"):
        return ".parquet"
    return ".npy" if ending == ".npy" or head == b"\x93NUMPY" else ".csv"


def _parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[Any]:
    with _parquet_batches(path, columns) as found:
        for rows in found:
            arrow.check_entries(rows)
            yield rows


@contextmanager
def _parquet_batches(path: Path, columns: Sequence[str] | None = None) -> Iterator[Iterator[Any]]:
    """Open a Parquet file as batches of a few megabytes, with some of its columns or all."""
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            width = len(columns or file.schema.names)
            own = None if not columns else [name for name in columns if name in file.schema_arrow.names]
            yield file.iter_batches(batch_size=batch_rows(width), columns=own)
    except arrow.read_errors() as error:
        if isinstance(error, OSError) and error.strerror:
            raise
        message = str(error)
        raise ValueError(message if str(path) in message else f"{path} cannot be read: {message}") from error


def _cast(block: Any, kinds: dict[str, Any]) -> Any:
    """Return some columns of a block in the given types."""
    import pyarrow as pa

    arrays = [block.column(name).cast(kind) for name, kind in kinds.items()]
    return pa.table(arrays, schema=pa.schema(list(kinds.items())))


def _as_read(kind: Any) -> Any:
    """Return the type that a column is read as: float64 for numbers that are not integers."""
    from pyarrow import float64, types

    if types.is_dictionary(kind):
        return kind.value_type
    if types.is_boolean(kind) or not arrow.is_numeric(kind) or types.is_integer(kind):
        return kind
    return float64()


def held_frame(data: str, note: Callable[[Iterable[str]], None]) -> Any:
    """Return a whole table as a pandas frame; `note` is called with how its text was interpreted.

    Whole numbers with missing entries are of the nullable type Int64.
    """
    import pyarrow as pa

    table = open_table(data)
    note(table.notes)
    if not table.types:
        raise ValueError(f"{data} has no names of columns")
    return _frame(pa.concat_tables(table.blocks(list(table.types))), table.types)


def held_copies(table: TableFiles) -> tuple[Any, Any]:
    """Return a whole table as a pandas frame, and as an Arrow table with the columns as the files hold them.

    In the frame, whole numbers have all their digits, and numbers that are names (01067) are text.
    """
    import pyarrow as pa

    names = list(table.types)
    blocks, copies = map(pa.concat_tables, zip(*table.blocks_and_copies(names, names), strict=True))
    if table.text is None:
        return _frame(blocks, table.types), copies
    exact = ExactTypes()
    exact.add(copies)
    types = {**table.types}
    for j, name in enumerate(names):
        if name in table.numbers:
            texts, kind = trimmed(copies.column(name)), exact.types[name]
            if holds_codes(texts):
                blocks = blocks.set_column(j, name, texts)
            elif pa.types.is_integer(kind):
                blocks, types[name] = blocks.set_column(j, name, texts.cast(kind)), kind
    return _frame(blocks, types), copies


def _frame(table: Any, types: dict[str, Any]) -> Any:
    """Return an Arrow table as a pandas frame; whole numbers with missing entries are nullable integers."""
    import pandas as pd
    import pyarrow as pa

    frame = table.to_pandas()
    for name, kind in types.items():
        column = table.column(name)
        if pa.types.is_integer(kind) and frame[name].dtype.kind == "f":
            dtype = pd.UInt64Dtype() if str(kind) == "uint64" else pd.Int64Dtype()
            if not pa.types.is_integer(column.type):
                column = column.cast(kind)
            frame[name] = pd.Series(dtype.__from_arrow__(column.cast(str(dtype).lower())), frame.index)
    return frame


def bundled_hint(data: str) -> str:
    """Return how to write the bundled table of this name; an empty text if there is none."""
    from tractable.datasets import names

    name = Path(data).name.split(".")[0]
    if name not in names():
        return ""
    return f"; {name} is a bundled table, which `tractable datasets {name} -o {name}.csv` writes"


class MissingEntries(ValueError):  # noqa: N818
    """Rows have missing entries that a model does not take."""

    @classmethod
    def of_target(cls) -> "MissingEntries":
        return cls("--target has missing entries; --drop-missing leaves such rows out")

    @classmethod
    def of_feature(cls, column: Any, label: str) -> "MissingEntries":
        return cls(
            f"{column!r} has missing entries, which {label} does not take; --drop-missing leaves such rows "
            "out, and `tractable models` says which models take them"
        )


class _Counted:
    """Rows on their way into a model: counted, and filtered by what the model takes.

    With `allow_missing` it takes rows with missing features; rows that it does not take are left out with
    `drop`, else an error that names the model, `label`. Targets may be integer labels. `progress` is called
    with the number of rows so far.
    """

    def __init__(
        self,
        *,
        allow_missing: bool,
        drop: bool,
        label: str,
        integer_labels: bool = False,
        progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.allow_missing, self.drop, self.label = allow_missing, drop, label
        self.integer_labels, self.progress = integer_labels, progress
        self.counted = self.dropped = 0

    def _pass(self, blocks: Iterable[Any], keep: Callable[[Any], Any]) -> Iterator[Any]:
        """Iterate over what is kept of each block; a pass that is stopped does not lower the counts."""
        counted = dropped = 0
        for block in blocks:
            kept = keep(block)
            counted += _length(kept)
            dropped += _length(block) - _length(kept)
            self.counted, self.dropped = max(self.counted, counted), max(self.dropped, dropped)
            self.progress(counted)
            yield kept
        if dropped and not counted:
            raise ValueError("there are no rows without missing entries")


def _length(rows: Any) -> int:
    return rows.n_rows if isinstance(rows, Batch) else len(rows)


class CountedRows(_Counted, ForwardingSource):
    """A source whose rows are counted and filtered; see `_Counted` for the options."""

    def __init__(self, source: Source, **options: Any) -> None:
        super().__init__(**options)
        self.source = source

    @property
    def n_rows(self) -> int | None:
        return None if self.drop else self.source.n_rows

    def batches(self) -> Iterator[Batch]:
        for kept in self._pass(self.source.batches(), self._keep):
            labelled = kept.y is not None and self.integer_labels
            yield replace(kept, y=_as_integers(kept.y)) if labelled else kept

    def _keep(self, batch: Batch) -> Batch:
        without_target = _missing_targets(batch)
        bad = without_target if self.allow_missing else without_target | np.isnan(batch.X).any(axis=1)
        if not bad.any():
            return batch
        if not self.drop:
            if without_target.any():
                raise MissingEntries.of_target()
            column: Any = int(np.flatnonzero(np.isnan(batch.X).any(axis=0))[0])
            column = column if self.feature_names is None else self.feature_names[column]
            raise MissingEntries.of_feature(column, self.label)
        y, weights = (None if part is None else part[~bad] for part in (batch.y, batch.weights))
        return Batch(X=batch.X[~bad], y=y, weights=weights)


class CountedFrames(_Counted):
    """Batches (X, y, weights) of a table with X as a frame, for models that read columns of words."""

    def __init__(self, table: TableFiles, roles: Roles, **options: Any) -> None:
        super().__init__(**options)
        self.table, self.roles = table, roles
        self.needed = list(roles.targets if self.allow_missing else (*roles.targets, *roles.features))

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        frames = (block.to_pandas() for block in self.table.blocks(self.roles.columns))
        for frame in self._pass(frames, self._keep):
            if len(frame):
                yield self._parts(frame)
        if not self.counted:
            raise ValueError("there are no rows without missing entries")

    def _keep(self, frame: Any) -> Any:
        missing = frame[self.needed].isna()
        bad = missing.any(axis=1)
        if bad.any() and not self.drop:
            column = missing.columns[missing.any()][0]
            target = column == self.roles.target
            raise MissingEntries.of_target() if target else MissingEntries.of_feature(column, self.label)
        return frame[~bad]

    def _parts(self, frame: Any) -> tuple[Any, Any, Any]:
        target, weight = self.roles.target, self.roles.weight
        y = None if target is None else frame[target].to_numpy()
        y = _as_integers(y) if y is not None and self.integer_labels else y
        return frame[list(self.roles.features)], y, None if weight is None else frame[weight].to_numpy()


def _missing_targets(batch: Batch) -> np.ndarray:
    y = batch.y
    if y is not None and y.dtype.kind == "O":
        return np.array([label is None or label in _null_values() for label in y], dtype=bool)
    return np.isnan(y) if y is not None and y.dtype.kind == "f" else np.zeros(batch.n_rows, dtype=bool)


@cache
def _null_values() -> frozenset[str]:
    """Return the spellings of missing entries in CSV files."""
    from pyarrow import csv

    return frozenset(csv.ConvertOptions().null_values)


def _as_integers(labels: np.ndarray) -> np.ndarray:
    """Return labels as integers if all of them are."""
    whole = labels.astype(np.int64)
    return whole if np.array_equal(whole, labels) else labels


def check_output(path: Path, option: str = "--output") -> str:
    """Return the kind of file that a path asks for, ``.parquet`` or ``.csv``, which ``-`` is."""
    kind = ENDINGS.get(path.suffix.lower())
    if str(path) == STREAM or (kind is None and is_stream(path)):
        return ".csv"
    if kind is None:
        raise ValueError(f"{option} must end in .parquet or .csv, or be -; got {path}")
    return kind


def write_tables(tables: Iterable[Any], path: Path) -> int:
    """Write Arrow tables of one schema as one file, whole or not at all; return the number of rows."""
    kind, rows = check_output(path), 0
    parts: Iterator[Any] = iter(tables)
    first = next(parts, None)
    if first is None:
        raise ValueError("there are no rows to write")
    with opened_output(path) as file, _writer(kind, file, first.schema) as writer:
        for table in chain([first], parts):
            writer.write_table(table.cast(first.schema))
            rows += table.num_rows
    return rows


@contextmanager
def opened_output(path: Path) -> Iterator[Any]:
    """Open a file that is written whole or not at all; ``-`` is standard output."""
    if str(path) != STREAM:
        with replacing(path) as file:
            yield file
        return
    file = binary_stream("stdout")
    yield file
    file.flush()


def _writer(kind: str, file: Any, schema: Any) -> AbstractContextManager[Any]:
    if kind == ".csv":
        return CsvWriter(file, schema)
    from pyarrow import parquet

    return parquet.ParquetWriter(file, schema)


def check_csv_types(types: Mapping[str, Any], option: str) -> None:
    """Refuse columns that CSV cannot hold: lists, structs and maps."""
    from pyarrow import types as kinds

    for name, kind in types.items():
        if kinds.is_nested(kind):
            raise ValueError(
                f"{option}: {name!r} holds {kind}, which CSV cannot hold; write .parquet, or leave it out"
            )


class CsvWriter:
    """Writes Arrow tables as CSV; text is in quotes only where a reader needs them.

    A missing entry is nothing, in a file of one column two quotes, because readers skip blank lines.

    Examples
    --------
    >>> import io, pyarrow as pa
    >>> table, file = pa.table({"zip": ["01067", 'a "b" c', "", None], "x": [1, 2, 3, None]}), io.BytesIO()
    >>> with CsvWriter(file, table.schema) as writer:
    ...     writer.write_table(table)
    >>> print(file.getvalue().decode())
    zip,x
    01067,1
    "a ""b"" c",2
    "",3
    ,
    <BLANKLINE>
    """

    def __init__(self, file: Any, schema: Any) -> None:
        import pyarrow as pa

        self.file, self.missing = file, "" if len(schema) > 1 else '""'
        self._write([pa.array([name]) for name in schema.names])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def write_table(self, table: Any) -> None:
        for batch in table.to_batches(max_chunksize=MAX_BATCH_ROWS):
            self._write(batch.columns)

    def _write(self, columns: Iterable[Any]) -> None:
        from pyarrow import compute as pc

        fields = [self._fields(column) for column in columns]
        lines = pc.binary_join_element_wise(
            *fields[:-1], pc.binary_join_element_wise(fields[-1], "\n", ""), ","
        )
        _, ends, letters = lines.buffers()
        offsets = np.frombuffer(ends, np.int32)[lines.offset : lines.offset + len(lines) + 1]
        if len(lines):
            self.file.write(memoryview(letters)[offsets[0] : offsets[-1]])

    def _fields(self, column: Any) -> Any:
        """Return entries as fields of text."""
        import pyarrow as pa
        from pyarrow import compute as pc

        texts = pc.cast(column, pa.string())
        if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            quoted = pc.binary_join_element_wise('"', pc.replace_substring(texts, '"', '""'), '"', "")
            texts = pc.if_else(pc.match_substring_regex(texts, r'["\n\r,]|^$'), quoted, texts)
        return pc.fill_null(texts, self.missing)
