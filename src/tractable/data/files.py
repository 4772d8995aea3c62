"""Tables in files that need not fit in memory: Parquet, CSV and NumPy matrices, opened with `scan`."""

import re
import warnings
from abc import abstractmethod
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import field
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from tractable.arrays.weights import check_weights
from tractable.data import arrow
from tractable.data.arrays import as_floats
from tractable.data.columns import Roles, assign_roles, check_numeric
from tractable.data.copies import ExactTypes
from tractable.data.file_states import FileStates
from tractable.data.output import mark_as_read
from tractable.data.source import Batch, ColumnSource, batch_rows, row_slices
from tractable.data.table_files import Files, ending_of, table_files
from tractable.value import set_fields, value

if TYPE_CHECKING:
    from tractable.data.device_stream import DeviceStream

T = TypeVar("T")

#: Bytes of text parsed at a time.
CSV_BYTES = 2**21

#: Names of a first column that has none, as it is written and as pandas reads it.
UNNAMED = re.compile(r"|Unnamed: 0(\.\d+)*")

#: Bytes read at a time from each Parquet column. Without it Arrow holds a row group's compressed columns.
BUFFER_BYTES = 2**16


@overload
def scan(
    path: Any, features: Any = None, target: Any = None, weight: Any = None, *, device: None = None
) -> "FileSource": ...
@overload
def scan(
    path: Any, features: Any = None, target: Any = None, weight: Any = None, *, device: str
) -> "DeviceStream": ...
def scan(
    path: Any, features: Any = None, target: Any = None, weight: Any = None, *, device: str | None = None
) -> Any:
    """Open a table in files that need not fit in memory; `fit` takes the result in place of X.

    The columns of every file are checked at once. Rows are read in each pass, a few megabytes at a time.

    Parameters
    ----------
    path : path, pattern, folder, or list of paths; with `device`, also rows in memory
        Parquet (``.parquet``, ``.pq``), CSV with a line of names (``.csv``, ``.tsv``, either with ``.gz``) or
        NumPy matrices (``.npy``); one kind at a time. Patterns and folders are read in the order of names.
        Folders ``name=value`` below the one that is given are columns of the files in them. In the folder of
        a Delta or Iceberg table, the files that its log names are read, and no others.
    features : list of names, optional
        Columns of X, in this order; all that are left when not given, but an index of the rows that pandas
        wrote beside them (a warning says which). Numbers, truth values and decimals
        become floats, nulls NaN. Text is for models of tables, such as :class:`tractable.NaiveBayes`; others
        refuse it before any row is read. Columns of ``.npy`` files go by their number.
    target : name or list of names, optional
        A single target may also hold whole numbers or text, as classes do.
    weight : name, optional
        Weights of the rows: finite, not negative.
    device : str, optional
        A device of torch, such as "cuda": blocks of rows are copied there while others are computed with.
        Models are learned on it, and are those of the host, as the rows are. `path` may then also be an
        array, a frame or a source, whose rows are streamed; `target` and `weight` its columns or arrays.

    Returns
    -------
    Source

    Examples
    --------
    >>> import tempfile, numpy as np, tractable
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "rows.npy", np.arange(12.0).reshape(4, 3))
    >>> source = tractable.scan(folder / "rows.npy", target=2)
    >>> source.n_rows, source.n_features
    (4, 2)
    >>> next(source.batches()).y.tolist()
    [2.0, 5.0, 8.0, 11.0]
    """
    if device is not None:
        from tractable.data.device_stream import streamed_to

        return streamed_to(device, path, features, target, weight)
    files = table_files(path)
    kinds = {_kind(file) for file in files.paths}
    if len(kinds) > 1:
        raise ValueError(
            f"path: files of several kinds: {files.paths[0]} and others; scan one kind at a time"
        )
    return kinds.pop().open(files, features, target, weight)


@value
class FileSource(ColumnSource):
    """The rows of files of one kind, in the order of their paths, never held at once."""

    files: Files
    roles: Roles  # which columns are features, targets and weights
    dtype: type  # of X
    rows: int | None  # number of rows, where the files say it
    text: tuple[str, ...] = ()  # features that are text, as error messages name them
    states: FileStates = field(init=False)  # the files as they were when they were opened

    def __post_init__(self) -> None:
        mark_as_read(self, self.paths)
        set_fields(self, states=FileStates.of(self.paths))

    @classmethod
    @abstractmethod
    def open(cls, files: Files, features: Any, target: Any, weight: Any) -> "FileSource":
        """Check every file's columns, and read none of the rows."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files, in order."""
        return self.files.paths

    def tables_of(self, path: Path) -> Iterator[Any]:
        """Start a pass over the columns of one file as Arrow tables, a few megabytes at a time."""
        raise ValueError(f"{type(self).__name__} holds numbers alone")

    def tables(self) -> Iterator[Any]:
        """Start a pass over the columns of all files as Arrow tables, text among them."""
        for path in self.paths:
            yield from self.states.unchanged(path, self._whole_tables(path))

    def _whole_tables(self, path: Path) -> Iterator[Any]:
        """Yield the tables of one file with the columns of its partition."""
        for table in self.tables_of(path):
            yield self.files.with_partitions(table, path, self.roles.columns)

    def batches_of(self, path: Path) -> Generator[Batch]:
        """Start a pass over the rows of one file."""
        for table in self._whole_tables(path):
            yield arrow.batch_of(table, self.roles, self.dtype, str(path))

    def batches(self) -> Iterator[Batch]:
        self.check_numbers()
        return prefetched(
            batch for path in self.paths for batch in self.states.unchanged(path, self.batches_of(path))
        )

    @property
    def n_rows(self) -> int | None:
        return self.rows

    def copies(self, columns: Sequence[Any]) -> Iterator[Any]:
        """Yield some columns as Arrow tables of the entries that the files hold, in types that hold them."""
        for path in self.paths:
            for rows in self.states.unchanged(path, self._copies_of(path, columns)):
                yield self.files.with_partitions(rows, path, columns).select([str(name) for name in columns])

    @abstractmethod
    def _copies_of(self, path: Path, columns: Sequence[Any]) -> Iterator[Any]:
        """Yield some columns of one file, without those of its partition, as `copies` does."""

    def check_numbers(self) -> None:
        """Refuse features that are text, which only models of tables take."""
        check_numeric(self.text, str(self.paths[0]))

    def assign(self, y: Any = None, weights: Any = None) -> "FileSource":
        found = self.with_roles(y, weights)
        found.check_numbers()
        return found

    def with_roles(self, y: Any = None, weights: Any = None) -> "FileSource":
        """Return these files with other columns as target and weights; features may be text."""
        for name, given in (("y", y), ("weights", weights)):
            if hasattr(given, "__array__"):
                raise ValueError(f"{name}: an array cannot stand beside files; name one of their columns")
        if y is None and weights is None:
            return self
        target = self.roles.target if y is None else y
        weight = self.roles.weight if weights is None else weights
        taken = Roles(
            features=(), target=tuple(target) if isinstance(target, list) else target, weight=weight
        )
        features = [name for name in self.roles.features if name not in taken.columns]
        return self.open(self.files, features, target, weight)


@value
class ParquetSource(FileSource):
    """The rows of Parquet files, however large their row groups."""

    @classmethod
    def open(cls, files: Files, features: Any, target: Any, weight: Any) -> "ParquetSource":
        schemas, rows, paths = {}, 0, files.paths
        for path in paths:
            with _open_parquet(path) as file:
                schemas[path] = files.schema(file.schema_arrow)
                rows += file.metadata.num_rows
        index = {path: arrow.saved_index(schema) for path, schema in schemas.items()}
        roles = _roles(schemas, features, target, weight, index)
        _check_rows(rows, paths)
        dtype = arrow.common_dtype(schemas.values(), roles)
        return cls(files=files, roles=roles, dtype=dtype, rows=rows, text=_text(schemas[paths[0]], roles))

    def tables_of(self, path: Path) -> Iterator[Any]:
        return self._parts(path, self.roles.columns)

    def _copies_of(self, path: Path, columns: Sequence[Any]) -> Iterator[Any]:
        return self._parts(path, columns)

    def _parts(self, path: Path, columns: Sequence[Any]) -> Iterator[Any]:
        done = 0
        with _open_parquet(path) as file:
            parts = self._pass(file, columns)
            while True:
                try:
                    part = next(parts, None)
                    if part is not None:
                        arrow.check_entries(part)
                except arrow.read_errors() as error:
                    group = self._bad_row_group(file, columns, done)
                    total = file.metadata.num_row_groups
                    raise ValueError(
                        f"{path}: row group {group} of {total} cannot be read: {error}"
                    ) from error
                if part is None:
                    return
                done += part.num_rows
                yield part

    def _pass(self, file: Any, columns: Sequence[Any], row_groups: list[int] | None = None) -> Any:
        own = set(file.schema_arrow.names)
        rows = batch_rows(len(columns))
        columns = [name for name in columns if name in own]
        return file.iter_batches(batch_size=rows, row_groups=row_groups, columns=columns)

    def _bad_row_group(self, file: Any, columns: Sequence[Any], done: int) -> int:
        """Return the first row group that cannot be read, among those with rows after the first `done`."""
        metadata = file.metadata
        ends = list(accumulate(metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)))
        suspects = [group for group, end in enumerate(ends) if end > done]
        return next((group for group in suspects if not self._reads(file, columns, group)), suspects[0])

    def _reads(self, file: Any, columns: Sequence[Any], group: int) -> bool:
        try:
            for _ in self._pass(file, columns, [group]):
                pass
        except arrow.read_errors():
            return False
        return True


@value
class CsvSource(FileSource):
    """The rows of comma-separated files (tab-separated ones by their ending); the first line holds the names.

    The first block of a file determines the types of its columns. All numbers are read as floats, so that
    whole numbers may be followed by fractions. Empty texts, NA and null are missing.
    """

    @classmethod
    def open(cls, files: Files, features: Any, target: Any, weight: Any) -> "CsvSource":
        paths = files.paths
        heads = {path: _csv_head(path) for path in paths}
        schemas = {path: files.schema(schema) for path, (schema, _) in heads.items()}
        index = {path: _unnamed_index(block) for path, (_, block) in heads.items()}
        roles = _roles(schemas, features, target, weight, index)
        _check_rows(sum(block is not None for _, block in heads.values()), paths)
        return cls(files=files, roles=roles, dtype=float, rows=None, text=_text(schemas[paths[0]], roles))

    def tables_of(self, path: Path) -> Iterator[Any]:
        kinds = _csv_types(_csv_head(path)[0], self.roles)
        with _open_csv(path, kinds) as reader:
            for part in reader:
                for rows in row_slices(part.num_rows, len(kinds)):
                    yield part.slice(rows.start, rows.stop - rows.start)

    def copies(self, columns: Sequence[Any]) -> Iterator[Any]:
        exact = ExactTypes()
        for path in self.paths:
            for texts in self.states.unchanged(path, self._copies_of(path, columns)):
                exact.add(texts)
        for path in self.paths:
            for texts in self.states.unchanged(path, self._copies_of(path, columns)):
                yield self.files.with_partitions(exact.cast(texts), path, columns).select(list(columns))

    def _copies_of(self, path: Path, columns: Sequence[Any]) -> Iterator[Any]:
        import pyarrow as pa

        own = [name for name in columns if name in _csv_head(path)[0].names]
        with _open_csv(path, dict.fromkeys(own, pa.string())) as reader:
            yield from reader


@value
class NpySource(FileSource):
    """The rows of `.npy` matrices; columns go by their number."""

    @classmethod
    def open(cls, files: Files, features: Any, target: Any, weight: Any) -> "NpySource":
        paths = files.paths
        arrays = [_open_npy(path) for path in paths]
        widths = {array.shape[1] for array in arrays}
        if len(widths) > 1:
            raise ValueError(f"path: the files differ in width: {sorted(widths)} columns")
        columns = [*range(widths.pop()), *files.partitions]
        roles = assign_roles(columns, features, target, weight, where=str(paths[0]))
        check_numeric(
            (n for n in roles.columns if n in files.partitions and not files.is_number(n)), str(paths[0])
        )
        rows = sum(len(array) for array in arrays)
        _check_rows(rows, paths)
        small = all(array.dtype == np.float32 for array in arrays)
        return cls(files=files, roles=roles, dtype=np.float32 if small else np.float64, rows=rows)

    def batches_of(self, path: Path) -> Generator[Batch]:
        for rows in row_slices(*_open_npy(path).shape):
            # A map of its own for every batch: pages that stay mapped count as this process's memory.
            yield self._batch(np.array(_open_npy(path)[rows]), path)

    def _copies_of(self, path: Path, columns: Sequence[Any]) -> Iterator[Any]:
        import pyarrow as pa

        own = [name for name in columns if name not in self.files.partitions]
        for rows in row_slices(*_open_npy(path).shape):
            part = np.array(_open_npy(path)[rows])
            yield pa.table({str(name): np.ascontiguousarray(part[:, name]) for name in own})

    def _batch(self, part: np.ndarray, path: Path) -> Batch:
        roles, y, weights = self.roles, None, None
        names = [*range(part.shape[1]), *self.files.partitions]
        if len(names) > part.shape[1] and any(name in self.files.partitions for name in roles.columns):
            beside = self.files.numbers(path)
            part = np.column_stack([part, np.broadcast_to(beside, (len(part), len(beside)))])
        everything = roles.features == tuple(range(part.shape[1]))
        X = part if everything else part[:, [names.index(name) for name in roles.features]]
        if roles.target is not None:
            targets = [names.index(name) for name in roles.targets]
            y = part[:, targets if isinstance(roles.target, tuple) else targets[0]]
        if roles.weight is not None:
            where = f"weights, column {roles.weight} of {path}"
            weights = check_weights(part[:, names.index(roles.weight)], len(part), name=where)
        return Batch(X=as_floats(X).astype(self.dtype, copy=False), y=y, weights=weights)


KINDS: dict[str, type[FileSource]] = {
    ".parquet": ParquetSource,
    ".pq": ParquetSource,
    ".csv": CsvSource,
    ".csv.gz": CsvSource,
    ".tsv": CsvSource,
    ".tsv.gz": CsvSource,
    ".npy": NpySource,
}


def check_readable(paths: Sequence[Any], error: Exception) -> None:
    """Name the first Parquet file of several that cannot be opened, where reading them led to an error."""
    for path in paths:
        for file in table_files(path).paths:
            try:
                _open_parquet(file).close()
            except ValueError as found:
                raise found from error


def prefetched(items: Generator[T, Any, Any]) -> Iterator[T]:
    """Yield the items of a generator, which is one item ahead on a thread of its own.

    An error appears where its item would have; leaving early, or dropping the iterator, ends the thread and
    closes the generator.

    Examples
    --------
    >>> list(prefetched(n * n for n in range(4)))
    [0, 1, 4, 9]
    """
    end: Any = object()
    with closing(items), ThreadPoolExecutor(1, thread_name_prefix="tractable-read-ahead") as reader:
        ahead = reader.submit(next, items, end)
        while (item := ahead.result()) is not end:
            ahead = reader.submit(next, items, end)
            yield item
            del item  # two batches are alive, not three


def _kind(path: Path) -> type[FileSource]:
    ending = ending_of(path)
    if ending is None:
        raise ValueError(f"path: {path} is of no known kind; known are {', '.join(KINDS)}")
    return KINDS[ending]


def _check_rows(rows: int, paths: tuple[Path, ...]) -> None:
    if not rows:
        raise ValueError(f"path: no rows in {', '.join(map(str, paths))}")


def _text(schema: Any, roles: Roles) -> tuple[str, ...]:
    return tuple(f"{name!r} ({kind})" for name, kind in arrow.text_features(schema, roles).items())


def _open_parquet(path: Path) -> Any:
    from pyarrow import parquet

    try:
        # Read-ahead by Arrow would hold whole row groups; `prefetched` reads ahead.
        return parquet.ParquetFile(
            path, pre_buffer=False, buffer_size=BUFFER_BYTES, page_checksum_verification=True
        )
    except arrow.read_errors() as error:
        raise ValueError(f"{path} cannot be read as Parquet: {error}") from error


@contextmanager
def _open_csv(path: Path, kinds: dict[str, Any] | None = None) -> Iterator[Any]:
    from pyarrow import csv

    try:
        with csv.open_csv(
            path,
            read_options=csv.ReadOptions(block_size=CSV_BYTES),
            parse_options=csv.ParseOptions(delimiter="\t" if ".tsv" in path.name.lower() else ","),
            convert_options=csv.ConvertOptions(
                include_columns=list(kinds or ()), column_types=kinds, strings_can_be_null=True
            ),
        ) as reader:
            yield reader
    except arrow.read_errors() as error:
        raise ValueError(f"{path} cannot be read as CSV: {error}") from error


def _csv_head(path: Path) -> tuple[Any, Any]:
    """Return the columns of a file by its first block, and this block; None where there are no rows."""
    with _open_csv(path) as reader:
        return reader.schema, next(iter(reader), None)


def _unnamed_index(block: Any) -> tuple[str, ...]:
    """Return the first column of a CSV file where it is a row index by its first block, else nothing.

    Programs that write the index of a table (pandas, R) give its column no name, which pandas reads as
    "Unnamed: 0". Its entries are whole numbers or text, and no two are equal.
    """
    from pyarrow import types

    if block is None or block.num_columns < 2 or not UNNAMED.fullmatch(block.schema.names[0]):
        return ()
    column = block.column(0)
    may_count = types.is_integer(column.type) or not arrow.is_numeric(column.type)
    is_index = may_count and not column.null_count and len(column.unique()) == len(column)
    return (block.schema.names[0],) if is_index else ()


def _roles(
    schemas: dict[Path, Any], features: Any, target: Any, weight: Any, index: dict[Path, tuple[str, ...]]
) -> Roles:
    """Return the roles of columns; a row index is no feature unless it is named, and a warning says so."""
    names = tuple(dict.fromkeys(name for found in index.values() for name in found))
    roles = arrow.common_roles(schemas, features, target, weight, names)
    left = [name for name in names if name not in roles.columns]
    if features is None and left:
        where = next(path for path, found in index.items() if left[0] in found)
        warnings.warn(
            f"{where}: {', '.join(map(repr, left))} is taken for a row index, and is no feature; "
            "name it in features= if it is one",
            UserWarning,
            stacklevel=4,
        )
    return roles


def _csv_types(schema: Any, roles: Roles) -> dict[str, Any]:
    """Return the types that columns are read as: all numbers are floats."""
    import pyarrow as pa
    from pyarrow import types

    def read_as(kind: Any) -> Any:
        return pa.float64() if arrow.is_numeric(kind) and not types.is_boolean(kind) else kind

    return {name: read_as(schema.field(name).type) for name in roles.columns if name in schema.names}


def _open_npy(path: Path) -> np.ndarray:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{path} cannot be read as an .npy array: {error}") from error
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "fiub":
        found = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else "an archive"
        raise ValueError(f"{path} must hold a matrix of numbers; it holds {found}")
    return array
