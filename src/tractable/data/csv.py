"""CSV files of any size: numbers for a fold, or tables of numbers, text and dates, through Arrow's reader."""

import warnings
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tractable.data import arrow
from tractable.data.columns import Roles, check_known
from tractable.data.file_source import FileSource
from tractable.data.names import clean_names
from tractable.data.source import Batch, row_slices
from tractable.data.text import (
    MISSING,
    Dialect,
    NoRowsError,
    TableError,
    holds_numbers,
    numbers_of,
    sniffed,
    text_type,
    trimmed,
)
from tractable.value import value

__all__ = ["CsvSource", "OddEntryError", "TextTable", "UnclosedError", "open_text", "text_blocks"]

#: Bytes parsed at a time.
SCAN_BYTES = 2**21


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
            read_options=csv.ReadOptions(block_size=SCAN_BYTES),
            parse_options=csv.ParseOptions(delimiter="\t" if ".tsv" in path.name.lower() else ","),
            convert_options=csv.ConvertOptions(
                include_columns=list(kinds or ()), column_types=kinds, strings_can_be_null=True
            ),
        ) as reader:
            yield reader
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as CSV: {error}") from error


#: How much is read at a time.
BLOCK_BYTES = 2**21

#: A quoted field of more bytes than this is taken for a mark that is never closed.
LONGEST_FIELD = 2**18


class UnclosedError(TableError):
    """A quotation mark that opens a field and does not close it."""


class OddEntryError(TableError):
    """An entry that is not of the type that its column is read as."""


def text_blocks(
    path: Path,
    dialect: Dialect,
    kept: Sequence[int],
    bad: Counter[str] | None = None,
    types: Mapping[int, Any] | None = None,
) -> Generator[Any]:
    """Walk the rows of some columns as Arrow record batches; what stands for nothing is missing.

    Parameters
    ----------
    path : path
    dialect : Dialect
    kept : list of int
        The positions of the columns, whose names in the batches are these numbers.
    bad : Counter, optional
        Lines that have more or fewer fields than the first are left out and counted here as "lines"; an error
        when not given.
    types : dict of Arrow types, optional
        What columns are read as; text when not given.
    """
    import pyarrow as pa
    from pyarrow import csv

    uneven: list[str] = []

    def skip(line: Any) -> str:
        if bad is None:
            uneven.append(f"a line has {line.actual_columns} fields, the first {line.expected_columns}")
            return "error"
        bad["lines"] += 1
        return "skip"

    plain = [str(j) for j in range(len(dialect.names))]  # names may be doubled, positions are not
    wanted = {plain[j]: (types or {}).get(j, pa.string()) for j in kept}
    utf8 = dialect.encoding in ("utf-8", "utf-8-sig")
    with (
        _explained(path, dialect, uneven),
        pa.input_stream(str(path), compression="detect") as raw,
        csv.open_csv(
            raw if utf8 else pa.transcoding_input_stream(raw, dialect.encoding, "utf-8"),
            read_options=csv.ReadOptions(
                block_size=BLOCK_BYTES * (1 if dialect.quoted else 16),
                column_names=plain,
                skip_rows_after_names=int(dialect.header),
            ),
            parse_options=csv.ParseOptions(
                delimiter=dialect.delimiter,
                quote_char='"' if dialect.quoted else False,
                newlines_in_values=dialect.quoted,
                invalid_row_handler=skip,
            ),
            convert_options=csv.ConvertOptions(
                include_columns=list(wanted),
                column_types=wanted,
                null_values=list(MISSING),
                strings_can_be_null=True,
                decimal_point=dialect.decimal,
            ),
        ) as reader,
    ):
        for block in reader:
            if dialect.quoted and _is_swollen(block):
                raise UnclosedError(f"{path} cannot be read: a quotation mark is never closed")
            yield block


@contextmanager
def _explained(path: Path, dialect: Dialect, uneven: list[str]) -> Iterator[None]:
    """Say what an error of the reader's means."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        words = (str(error).strip().splitlines() or [""])[0]
        if "UTF8" in words and dialect.encoding != "latin-1":
            raise UnicodeError(f"{path} is not UTF-8, though it begins so; save it as UTF-8") from None
        if uneven:
            raise TableError(f"{path} cannot be read as CSV: {uneven[0]}") from None
        if "straddling" in words and dialect.quoted:
            raise UnclosedError(f"{path} cannot be read: a quotation mark is never closed") from None
        if "conversion error" in words:
            raise OddEntryError(f"{path} cannot be read as CSV: {words[:200]}") from None
        raise TableError(f"{path} cannot be read as CSV: {words[:200]}") from None


def _is_swollen(block: Any) -> bool:
    """Tell whether a field is so long that it has swallowed lines."""
    from pyarrow import compute as pc
    from pyarrow import types

    texts = [column for column in block.columns if types.is_string(column.type)]
    longest = [pc.max(pc.binary_length(column)).as_py() for column in texts]
    return max((n for n in longest if n is not None), default=0) > LONGEST_FIELD


@value
class TextTable:
    """Rows of text files, walked as numbers, truth values, dates and words.

    Parameters
    ----------
    name : str
        What errors call it.
    dialects : dict
        How each file is written; files without rows are not among them.
    types : dict
        What each column holds, as an Arrow type.
    notes : tuple of str
        What a reader should know of how the files are written.
    """

    name: str
    dialects: dict[Path, Dialect]
    types: dict[str, Any]
    notes: tuple[str, ...] = ()

    def blocks(self, columns: Sequence[str]) -> Iterator[Any]:
        """Walk some columns as Arrow tables of a few megabytes, in order.

        Every number is a float, so that whole numbers may be followed by fractions. A few entries that are no
        numbers are taken as missing, with a warning; many are an error, as the report has it.
        """
        places = {path: _places(dialect) for path, dialect in self.dialects.items()}
        for path, known in places.items():
            check_known(columns, list(known), "columns", str(path))
        odd = OddEntries(self.name)
        for path, known in places.items():
            walk = _Walk(path, self.dialects[path], {known[name]: name for name in columns}, self.types, odd)
            yield from walk.tables()


class OddEntries:
    """Entries of columns of numbers that are none: warned of at once, and counted."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.valid: Counter[str] = Counter()
        self.odd: Counter[str] = Counter()

    def add(self, column: str, valid: int, odd: Any = ()) -> None:
        """Count a block's entries that are there, and those that are no numbers."""
        first = not self.odd[column]
        self.valid[column] += valid
        self.odd[column] += len(odd)
        if not len(odd):
            return
        shown = repr(str(odd[0])[:40])
        if not holds_numbers(self.valid[column] - self.odd[column], self.valid[column]):
            raise TableError(
                f"{self.name}: {column!r} holds numbers at first and other things later, such as {shown}"
            )
        if first:
            warnings.warn(
                f"{column!r} has entries that are no numbers, such as {shown}: missing", stacklevel=2
            )


class _Walk:
    """One pass over one file: fast while every entry is what its column holds, with care from there on."""

    def __init__(
        self, path: Path, dialect: Dialect, columns: dict[int, str], types: dict[str, Any], odd: OddEntries
    ) -> None:
        self.path, self.dialect, self.columns, self.odd = path, dialect, columns, odd
        self.kinds = {name: _as_read(types[name]) for name in columns.values()}

    def tables(self) -> Generator[Any]:
        done, kept = 0, list(self.columns)
        fast = {j: self.kinds[name] for j, name in self.columns.items()}
        try:
            for block in text_blocks(self.path, self.dialect, kept, types=fast):
                done += block.num_rows
                yield self._table(block)
        except OddEntryError:
            pass
        else:
            return
        for block in text_blocks(self.path, self.dialect, kept):
            rest = block.slice(min(done, block.num_rows))
            done -= block.num_rows - rest.num_rows
            if rest.num_rows:
                yield self._table(rest)

    def _table(self, block: Any) -> Any:
        import pyarrow as pa

        parts = zip(self.columns.values(), block.columns, strict=True)
        arrays = [self._column(name, entries) for name, entries in parts]
        return pa.table(arrays, schema=pa.schema(list(self.kinds.items())))

    def _column(self, name: str, entries: Any) -> Any:
        import pyarrow as pa
        from pyarrow import types

        kind = self.kinds[name]
        if entries.type != kind:
            entries = self._read(name, trimmed(entries), kind)
        elif types.is_string(kind):
            entries = trimmed(entries)
        elif types.is_floating(kind):
            self.odd.add(name, len(entries) - entries.null_count)
        return entries if isinstance(entries, pa.Array) else entries.combine_chunks()

    def _read(self, name: str, texts: Any, kind: Any) -> Any:
        """Return text as what its column holds."""
        import numpy as np
        import pyarrow as pa
        from pyarrow import types

        if types.is_floating(kind):
            numbers = numbers_of(texts, self.dialect.decimal)
            odd = texts.filter(pa.array(np.isnan(numbers))).drop_null()
            self.odd.add(name, len(texts) - texts.null_count, odd)
            return pa.array(numbers, from_pandas=True)
        try:
            return texts.cast(kind)
        except pa.ArrowInvalid as error:
            what = "truth values" if types.is_boolean(kind) else "dates"
            said = str(error).splitlines()[0]
            raise TableError(
                f"{self.path}: {name!r} holds {what} at first and other things later: {said}"
            ) from None


def open_text(paths: Sequence[Path], name: str) -> TextTable:
    """Find out how text files are written, and what their columns hold by how the first begins."""
    found: dict[Path, Dialect] = {}
    empty: NoRowsError | None = None
    for path in paths:
        try:
            found[path] = sniffed(path)
        except NoRowsError as error:
            empty = error
    if not found:
        raise empty or NoRowsError(f"{name} has no rows")
    path, dialect = next(iter(found.items()))
    doubled = sorted(n for n, count in Counter(filter(None, dialect.names)).items() if count > 1)
    if doubled:
        raise TableError(f"{name} has several columns named {', '.join(map(repr, doubled))}")
    first = next(text_blocks(path, dialect, range(len(dialect.names))), None)
    if first is None or not first.num_rows:
        raise NoRowsError(f"{name} has no rows")
    names, changed = clean_names(dialect.names)
    types = {n: text_type(texts, dialect.decimal) for n, texts in zip(names, first.columns, strict=True)}
    return TextTable(name=name, dialects=found, types=types, notes=(*dialect.notes, *changed))


def _places(dialect: Dialect) -> dict[str, int]:
    return {name: j for j, name in enumerate(clean_names(dialect.names)[0])}


def _as_read(kind: Any) -> Any:
    """Return the type that a column is walked as: dates stay as they are written, unless Arrow reads them."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind):
        return pa.float64()
    return pa.string() if types.is_timestamp(kind) else kind
