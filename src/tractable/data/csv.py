"""CSV files of any size, streamed through Arrow's reader."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tractable.data import arrow
from tractable.data.columns import Roles
from tractable.data.file_source import FileSource
from tractable.data.source import Batch, row_slices
from tractable.value import value

__all__ = ["CsvSource"]

#: Bytes parsed at a time.
BLOCK_BYTES = 2**21


@value
class CsvSource(FileSource):
    """The rows of comma-separated files (tab-separated ones by their ending); the first line holds the names.

    What a column holds is judged by the file's first block. From there on every number is read as a float, so
    whole numbers may be followed by fractions. Empty texts are missing, as NA and null are.
    """

    @classmethod
    def open(cls, paths: tuple[Path, ...], features: Any, target: Any, weight: Any) -> "CsvSource":
        heads = {path: _head(path) for path in paths}
        schemas = {path: schema for path, (schema, _) in heads.items()}
        roles = arrow.common_roles(schemas, features, target, weight)
        if not any(has_rows for _, has_rows in heads.values()):
            raise ValueError(f"path: no rows in {', '.join(map(str, paths))}")
        text = arrow.text_features(schemas[paths[0]], roles)
        names = tuple(f"{name!r} ({kind})" for name, kind in text.items())
        return cls(paths=paths, roles=roles, dtype=float, rows=None, text=names)

    def tables(self) -> Iterator[Any]:
        for path in self.paths:
            kinds = _kinds(_head(path)[0], self.roles)
            for part in _blocks(path, kinds):
                for rows in row_slices(part.num_rows, len(kinds)):
                    yield part.slice(rows.start, rows.stop - rows.start)

    def read(self, path: Path) -> Generator[Batch]:
        kinds = _kinds(_head(path)[0], self.roles)
        for part in _blocks(path, kinds):
            for rows in row_slices(part.num_rows, len(kinds)):
                some = part.slice(rows.start, rows.stop - rows.start)
                yield arrow.batch_of(some, self.roles, self.dtype, str(path))


def _kinds(schema: Any, roles: Roles) -> dict[str, Any]:
    """Read truth values and text as they are, and all numbers as floats."""
    import pyarrow as pa
    from pyarrow import types

    found = {name: schema.field(name).type for name in roles.columns}
    whole = {name: not types.is_boolean(kind) and arrow.is_numeric(kind) for name, kind in found.items()}
    return {name: pa.float64() if whole[name] else kind for name, kind in found.items()}


def _head(path: Path) -> tuple[Any, bool]:
    """Judge a file by its first block: the columns, and whether there are rows."""
    with _opened(path) as reader:
        return reader.schema, next(iter(reader), None) is not None


def _blocks(path: Path, kinds: dict[str, Any]) -> Generator[Any]:
    with _opened(path, kinds) as reader:
        yield from reader


@contextmanager
def _opened(path: Path, kinds: dict[str, Any] | None = None) -> Iterator[Any]:
    from pyarrow import csv

    try:
        with csv.open_csv(
            path,
            read_options=csv.ReadOptions(block_size=BLOCK_BYTES),
            parse_options=csv.ParseOptions(delimiter="\t" if ".tsv" in path.name.lower() else ","),
            convert_options=csv.ConvertOptions(
                include_columns=list(kinds or ()), column_types=kinds, strings_can_be_null=True
            ),
        ) as reader:
            yield reader
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as CSV: {error}") from error
