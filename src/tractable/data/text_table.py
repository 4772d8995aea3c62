"""Text files that hold one table, read block by block as Arrow tables: numbers, truth values, dates, text."""

import warnings
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tractable.data.arrow import is_numeric
from tractable.data.columns import check_known
from tractable.data.file_states import FileStates
from tractable.data.names import clean_names
from tractable.data.text import (
    MISSING,
    MISSING_WORDS,
    Dialect,
    NoRowsError,
    TableError,
    holds_numbers,
    numbers_of,
    sniffed,
    text_type,
    trimmed,
    with_points,
)
from tractable.value import value

#: Bytes read at a time, and for a line that is longer.
BLOCK_BYTES = 2**21
LONG_LINE_BYTES = (2**25, 2**28)

#: A quoted field of several lines and of more bytes than this is taken for a mark that is never closed.
LONGEST_FIELD = 2**18


class UnclosedError(TableError):
    """A quotation mark that opens a field and does not close it."""


class LongLineError(TableError):
    """A line that is longer than a block."""


class OddEntryError(TableError):
    """An entry that is not of the type that its column is read as."""


def text_blocks(
    path: Path,
    dialect: Dialect,
    positions: Sequence[int],
    bad: Counter[str] | None = None,
    types: Mapping[int, Any] | None = None,
    *,
    nulls: bool = True,
) -> Generator[Any]:
    """Yield the rows of the columns at some positions as Arrow record batches, named by these positions.

    Lines longer than a block are read in larger blocks, up to `LONG_LINE_BYTES`. Columns have the given Arrow
    `types`, else text; texts that stand for a missing entry are null, unless
    `nulls` is false. Lines that have more or fewer fields than the first are left out and counted as "lines"
    in `bad`; without it they are an error.
    """
    done, skipped = 0, 0 if bad is None else bad["lines"]
    for size in (BLOCK_BYTES, *LONG_LINE_BYTES):
        if bad is not None:
            bad["lines"] = skipped  # a pass that begins again counts them again
        before = done
        try:
            for block in _blocks(path, dialect, positions, bad, types, nulls=nulls, size=size):
                rest = block.slice(min(before, block.num_rows))
                before -= block.num_rows - rest.num_rows
                done += rest.num_rows
                if rest.num_rows:
                    yield rest
        except LongLineError:
            if dialect.quoted and not _has_long_line(path, size):
                raise UnclosedError(f"{path} cannot be read: a quotation mark is never closed") from None
            if size == LONG_LINE_BYTES[-1]:
                raise
        else:
            return


def _blocks(
    path: Path,
    dialect: Dialect,
    positions: Sequence[int],
    bad: Counter[str] | None,
    types: Mapping[int, Any] | None,
    *,
    nulls: bool,
    size: int,
) -> Generator[Any]:
    """Yield the rows of some columns in blocks of `size` bytes of text."""
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
    wanted = {plain[j]: (types or {}).get(j, pa.string()) for j in positions}
    utf8 = dialect.encoding in ("utf-8", "utf-8-sig")
    with (
        _explained(path, dialect, uneven),
        pa.input_stream(str(path), compression="detect") as raw,
        csv.open_csv(
            raw if utf8 else pa.transcoding_input_stream(raw, dialect.encoding, "utf-8"),
            read_options=csv.ReadOptions(
                block_size=size,
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
                # Of text, who reads it decides whether a word is a missing entry.
                null_values=[mark for mark in MISSING if types or mark not in MISSING_WORDS],
                strings_can_be_null=nulls,
                decimal_point=dialect.decimal,
            ),
        ) as reader,
    ):
        for block in reader:
            if dialect.quoted and _is_swollen(block):
                raise UnclosedError(f"{path} cannot be read: a quotation mark is never closed")
            yield block


def _has_long_line(path: Path, size: int) -> bool:
    """Whether a line of a file, up to the next line break in quotes or not, is longer than a block."""
    import pyarrow as pa

    length = 0
    with pa.input_stream(str(path), compression="detect") as stream:
        while part := stream.read(BLOCK_BYTES):
            first, last = part.find(b"\n"), part.rfind(b"\n")
            if length + (len(part) if first < 0 else first) >= size or _longest_line(part) >= size:
                return True
            length = length + len(part) if last < 0 else len(part) - last - 1
    return False


def _longest_line(text: bytes) -> int:
    return max(map(len, text.split(b"\n")))


@contextmanager
def _explained(path: Path, dialect: Dialect, uneven: list[str]) -> Iterator[None]:
    """Raise errors of Arrow's reader as errors of the table."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        words = (str(error).strip().splitlines() or [""])[0]
        if "UTF8" in words and dialect.encoding != "latin-1":
            raise UnicodeError(f"{path} is not UTF-8, though it begins so; save it as UTF-8") from None
        if not uneven and "straddling" in words:
            most = LONG_LINE_BYTES[-1] // 2**20
            raise LongLineError(f"{path} cannot be read as CSV: a line is longer than {most} MB") from None
        kind = OddEntryError if "conversion error" in words and not uneven else TableError
        raise kind(f"{path} cannot be read as CSV: {(uneven or [words])[0][:200]}") from None


def _is_swollen(block: Any) -> bool:
    """Whether a field is so long, and of so many lines, that it must contain other rows."""
    from pyarrow import compute as pc
    from pyarrow import types

    for column in block.columns:
        if types.is_string(column.type):
            long = column.filter(pc.greater(pc.binary_length(column), LONGEST_FIELD))
            if pc.any(pc.match_substring(long, "\n")).as_py():
                return True
    return False


@value
class TextTable:
    """The rows of text files as numbers, truth values, dates and text."""

    name: str  # in error messages
    dialects: dict[Path, Dialect]  # of each file that has rows
    types: dict[str, Any]  # the Arrow type of each column
    notes: tuple[str, ...] = ()  # remarks on the format, in sentences

    def blocks(
        self, columns: Sequence[str], copied: Sequence[str] = (), states: FileStates | None = None
    ) -> Iterator[tuple[Any, Any]]:
        """Yield some columns, and others as they are written, as Arrow tables of a few megabytes, in order.

        Every number is a float, so that whole numbers may be followed by fractions. A few entries that are no
        numbers are taken as missing, with a warning; many are an error. The columns to copy are text, letter
        by letter; only the comma of decimal numbers is a point. Files must be as they were in `states`.
        """
        names = {path: clean_names(dialect.names)[0] for path, dialect in self.dialects.items()}
        positions = {path: {name: j for j, name in enumerate(own)} for path, own in names.items()}
        for path, known in positions.items():
            check_known([*columns, *copied], list(known), "columns", str(path))
        odd = OddEntries(self.name)
        for path, known in positions.items():
            read, kept = ({known[name]: name for name in names} for names in (columns, copied))
            tables = _Pass(path, self.dialects[path], read, kept, self.types, odd).tables()
            yield from tables if states is None else states.unchanged(path, tables)


class OddEntries:
    """Counts entries of numeric columns that are no numbers; the first causes a warning, many an error."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.valid: Counter[str] = Counter()
        self.odd: Counter[str] = Counter()

    def add(self, column: str, valid: int, odd: Any = ()) -> None:
        """Count the entries of a block that are not missing, and those that are no numbers."""
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


class _Pass:
    """One pass over one file: by Arrow's parser up to an entry of another type, entry by entry from there."""

    def __init__(
        self,
        path: Path,
        dialect: Dialect,
        columns: dict[int, str],
        copied: dict[int, str],
        types: dict[str, Any],
        odd: OddEntries,
    ) -> None:
        self.path, self.dialect, self.columns, self.copied, self.odd = path, dialect, columns, copied, odd
        self.kinds = {name: _as_read(types[name]) for name in columns.values()}
        decimals = dialect.decimal == ","
        self.commas = {n for n in copied.values() if decimals and is_numeric(types[n])}

    def tables(self) -> Generator[tuple[Any, Any]]:
        done, kept = 0, list({**self.columns, **self.copied})
        fast = {j: self.kinds[name] for j, name in self.columns.items() if j not in self.copied}
        nulls = not self.copied
        try:
            for block in text_blocks(self.path, self.dialect, kept, types=fast or None, nulls=nulls):
                done += block.num_rows
                yield self._tables(block)
        except OddEntryError:
            pass
        else:
            return
        for block in text_blocks(self.path, self.dialect, kept, nulls=nulls):
            rest = block.slice(min(done, block.num_rows))
            done -= block.num_rows - rest.num_rows
            if rest.num_rows:
                yield self._tables(rest)

    def _tables(self, block: Any) -> tuple[Any, Any]:
        import pyarrow as pa

        arrays = [self._column(name, block.column(str(j))) for j, name in self.columns.items()]
        texts = {name: block.column(str(j)) for j, name in self.copied.items()}
        copies = {name: with_points(text) if name in self.commas else text for name, text in texts.items()}
        return pa.table(arrays, schema=pa.schema(list(self.kinds.items()))), pa.table(copies)

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
        """Return text as the type of its column."""
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
    """Return text files as one table, with dialects by each file and types by the first block of all."""
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


def _as_read(kind: Any) -> Any:
    """Return the type that a column is read as: numbers are floats; dates Arrow cannot read stay text."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind):
        return pa.float64()
    return pa.string() if types.is_timestamp(kind) else kind
