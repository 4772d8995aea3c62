"""The table that a command is given: files of one kind, walked as numbers or as frames."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tractable.data.columns import check_known
from tractable.data.source import batch_rows
from tractable.value import value

__all__ = ["Table", "bundled_hint", "open_table"]

#: Bytes of a CSV file that are parsed at a time.
BLOCK_BYTES = 2**21


@value
class Table:
    """Files that hold one table: what its columns are called, and of which Arrow type they are."""

    name: str
    paths: tuple[Path, ...]
    types: dict[str, Any]  # empty for NumPy's matrices, whose columns go by number

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns that hold numbers."""
        from tractable.data.arrow import is_numeric

        return tuple(name for name, kind in self.types.items() if is_numeric(kind))

    def check(self, names: Sequence[str], option: str) -> None:
        """Refuse a column that is not there, with the nearest that is."""
        if self.types:
            check_known(names, list(self.types), option, self.name)

    def frames(self, columns: Sequence[str]) -> Iterator[Any]:
        """Walk some columns as pandas frames of a few megabytes, in order."""
        for part in self.record_batches(columns):
            yield part.to_pandas()

    def record_batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Walk some columns as Arrow's tables; numbers are floats, and empty texts are missing."""
        import pyarrow as pa

        fixed = _ending(self.paths[0]) == ".parquet"  # elsewhere types are judged by the first block
        kinds = {name: _as_read(self.types[name], whole=fixed) for name in columns}
        schema = pa.schema(list(kinds.items()))
        for path in self.paths:
            with _opened(path, kinds) as blocks:
                for block in blocks:
                    yield pa.table([block.column(name).cast(kinds[name]) for name in columns], schema=schema)


def open_table(data: str) -> Table:
    """Look at the first rows of every file.

    Parameters
    ----------
    data : str
        A path, a pattern or a folder of Parquet, CSV or NumPy files.
    """
    from tractable.data.files import expand

    try:
        paths = expand(data)
    except ValueError as error:
        raise ValueError(f"{str(error).removeprefix('path: ')}{bundled_hint(data)}") from None
    kinds = {_ending(path) for path in paths}
    if len(kinds) > 1:
        raise ValueError(f"{data} has files of several kinds: {', '.join(sorted(kinds))}")
    if kinds == {".npy"}:
        return Table(name=data, paths=paths, types={})
    with _opened(paths[0]) as blocks:
        first = next(iter(blocks), None)
        if first is None or not first.num_rows:
            raise ValueError(f"{data} has no rows")
        types = _types(first.schema)
    _check_names(first.schema.names, paths[0])
    return Table(name=data, paths=paths, types=types)


def _types(schema: Any) -> dict[str, Any]:
    from pyarrow import types

    try:
        found = {field.name: field.type for field in schema}
    except UnicodeDecodeError:
        found = {}
    if not found or any(types.is_binary(kind) for kind in found.values()):
        raise ValueError("it holds text that is not UTF-8; save it as UTF-8 first")
    return found


def bundled_hint(data: str) -> str:
    """Return how to write the bundled table that somebody took for a file; nothing where there is none."""
    from tractable.datasets import names

    name = Path(data).name.split(".")[0]
    if name not in names():
        return ""
    return f"; {name} is a bundled table, which `tractable datasets {name} -o {name}.csv` writes"


def _check_names(names: Sequence[str], path: Path) -> None:
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        raise ValueError(f"{path}: one column named {names[0]!r}; are its columns separated by commas?")
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise ValueError(f"{path} has several columns named {', '.join(map(repr, doubled))}")


def _as_read(kind: Any, *, whole: bool) -> Any:
    """Return the type that a column is read as: a number may turn out to be a fraction further down."""
    import pyarrow as pa

    from tractable.data.arrow import is_numeric

    if pa.types.is_dictionary(kind):
        return kind.value_type
    if whole and pa.types.is_integer(kind):
        return kind
    return kind if pa.types.is_boolean(kind) or not is_numeric(kind) else pa.float64()


def _ending(path: Path) -> str:
    text = path.name.lower().removesuffix(".gz")
    known = {".pq": ".parquet", ".tsv": ".csv"}
    ending = Path(text).suffix
    if ending not in {".parquet", ".pq", ".csv", ".tsv", ".npy"}:
        raise ValueError(f"{path} is of no known kind: .csv, .tsv (either with .gz), .parquet and .npy are")
    return known.get(ending, ending)


@contextmanager
def _opened(path: Path, kinds: dict[str, Any] | None = None) -> Iterator[Iterator[Any]]:
    """Open a file of either kind as blocks of Arrow's."""
    try:
        if _ending(path) == ".parquet":
            with _parquet(path) as file:
                yield file.iter_batches(
                    batch_size=batch_rows(len(kinds or file.schema.names)),
                    columns=list(kinds) if kinds else None,
                )
        else:
            with _csv(path, kinds) as file:
                yield iter(file)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.strerror:
            raise
        said = str(error)
        raise ValueError(said if str(path) in said else f"{path} cannot be read: {said}") from error


def _parquet(path: Path) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(path, pre_buffer=False)


def _csv(path: Path, kinds: dict[str, Any] | None) -> Any:
    from pyarrow import csv

    return csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=BLOCK_BYTES),
        parse_options=csv.ParseOptions(delimiter="\t" if ".tsv" in path.name.lower() else ","),
        convert_options=csv.ConvertOptions(
            include_columns=list(kinds or ()), column_types=kinds, strings_can_be_null=True
        ),
    )
