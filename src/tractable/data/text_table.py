"""Text files that hold one table: columns by name, of types judged by how the first file begins."""

import warnings
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

from tractable.data.columns import check_known
from tractable.data.dialect import Dialect, NoRowsError, sniffed
from tractable.data.entries import numbers_of, trimmed
from tractable.data.names import clean_names
from tractable.data.table_error import TableError
from tractable.data.text_blocks import OddEntryError, text_blocks
from tractable.data.text_types import holds_numbers, text_type
from tractable.value import value

__all__ = ["TextTable", "open_text"]


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
