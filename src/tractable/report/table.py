"""A table of a report: its columns with their kinds and counts, and the rows in memory."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tractable.data.columns import no_column
from tractable.data.names import number_of
from tractable.data.text import (
    TableError,
    date_format,
    dates_of,
    holds_numbers,
    is_text,
    numbers_of,
    trimmed,
    units_of,
)
from tractable.value import value

#: The kinds of columns.
KINDS = ("number", "category", "boolean", "date", "text", "constant", "empty", "identifier")

#: Whole numbers with at most so many values, each of them frequent, are categories.
FEW_CODES = 10

#: Texts with more values than this are not categories.
MAX_CATEGORIES = 100

#: Invisible characters and those that change the direction of text or end a line.
INVISIBLE = (0x61C, 0x200B, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF)

#: The translation of characters that no page can show.
CONTROLS = dict.fromkeys([*range(9), 11, 12, *range(14, 32), *range(127, 160), *INVISIBLE], "\ufffd")

#: Pairs of truth values.
TRUTH = ({"true", "false"}, {"yes", "no"}, {"t", "f"}, {"y", "n"}, {"0", "1"}, {"on", "off"})

#: Names of columns that identify rows.
KEY = re.compile(r"(^|[_\W])(id|key|index|uuid|guid|row|rowid|nr|no)$|^unnamed: 0$", re.IGNORECASE)

#: Names of columns of numbers that are times.
TIMES = re.compile(r"^(year|yr|date|time|day|month|week|quarter|t|period|decade)s?$", re.IGNORECASE)

#: In free text a word for a missing entry that is rarer than this is an entry.
RARE_WORDS = 0.01

#: Different values are counted up to this number.
MAX_DISTINCT = 10_000


@value
class Column:
    """One column: its name, its kind, and counts over all rows.

    Parameters
    ----------
    name : str
        Unique and not blank, otherwise as in the file; it must be escaped in HTML.
    kind : str
        One of `KINDS`.
    n_missing : int
        Of all rows of the table.
    n_distinct : int
        Number of different values, counted up to a limit.
    note : str
        How the column was interpreted; may be empty.
    low, high : float, optional
        The smallest and the largest number.
    low_row, high_row : int
        The first rows of the whole table that hold them, from 0.
    counts : tuple of (str, int)
        Categories and truth values with their counts, the most frequent first.
    levels : tuple of str
        The categories in their order, if they have one: whole numbers, and ordered types of frames.

    Examples
    --------
    >>> Column(name="age", kind="number", n_missing=3, n_distinct=61, low=18.0, high=90.0).is_number
    True
    """

    name: str
    kind: str
    n_missing: int
    n_distinct: int
    note: str = ""
    low: float | None = None
    high: float | None = None
    low_row: int = 0
    high_row: int = 0
    counts: tuple[tuple[str, int], ...] = ()
    levels: tuple[str, ...] = ()

    @property
    def is_number(self) -> bool:
        return self.kind == "number"

    @property
    def is_year(self) -> bool:
        """Whether its numbers are years, which are written without commas."""
        bounds = (self.low or 0.0) >= 1000.0 and (self.high or 0.0) < 3000.0
        return bounds and TIMES.match(self.name.split(" ")[-1].strip("()")) is not None

    @property
    def is_category(self) -> bool:
        """Whether it holds categories or truth values."""
        return self.kind in ("category", "boolean")


@value
class Table:
    """The columns of a table and its rows in memory.

    Parameters
    ----------
    columns : tuple of Column
        Their names and kinds.
    frame : pandas frame
        All rows, or a uniform sample of them in the order of the file, with the columns' names. Numbers are
        floats (NaN where one is missing), dates are dates, all others text (None where it is missing).
    n_rows : int
        Number of rows of the whole table.
    path : str
        The path of its file, or another name.
    notes : tuple of str
        How the table was read, for the report.
    source : str
        The Python expression that reads this table.
    n_unseen : int
        Number of columns of the file that were not read.
    positions : array of int, optional
        The positions of the rows in the whole table, from 0; None if all rows are in memory.

    Examples
    --------
    >>> from tractable.report import table_of
    >>> import tractable
    >>> table = table_of(tractable.datasets.load("penguins").frame)
    >>> table.n_rows, list(table.numbers().columns)
    (344, ['bill_length_mm', 'bill_depth_mm', 'flipper_length_mm', 'body_mass_g'])
    >>> list(table.categories().columns)
    ['species', 'island', 'sex', 'year']
    """

    columns: tuple[Column, ...]
    frame: Any
    n_rows: int
    path: str = "the table"
    notes: tuple[str, ...] = ()
    source: str = "table_of(frame)"
    n_unseen: int = 0
    positions: np.ndarray | None = None

    def numbers(self, leave: Any = ()) -> Any:
        """Return the columns of numbers, as floats, without those in `leave` (a name, or several)."""
        return self.frame[self.names("number", leave=leave)]

    def categories(self, leave: Any = ()) -> Any:
        """Return the columns of categories and of truth values, as text."""
        return self.frame[self.names("category", "boolean", leave=leave)]

    def names(self, *kinds: str, leave: Any = ()) -> list[str]:
        """Return the names of the columns of some kinds, or of all columns when no kind is given."""
        left = {leave} if isinstance(leave, str) else set(leave or ())
        return [c.name for c in self.columns if (not kinds or c.kind in kinds) and c.name not in left]

    def column(self, name: str, argument: str = "target") -> Column:
        """Return a column by name; the error for an unknown name suggests the nearest one."""
        if name not in self._by_name:
            raise unknown_column(name, self.names(), self.path, argument)
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    def row_number(self, i: Any) -> int:
        """Return the number of a row of the frame in the whole table, counted from 1."""
        return 1 + int(i if self.positions is None else self.positions[i])

    def category_types(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the pandas types of columns of categories, with all categories of the whole table."""
        from pandas import CategoricalDtype

        found = {}
        for name in names:
            column = self.column(name)
            if column.is_category:
                levels = column.levels or sorted(level for level, _ in column.counts)
                found[name] = CategoricalDtype(levels, ordered=bool(column.levels))
        return found

    @property
    def is_sample(self) -> bool:
        """Whether the rows in memory are a sample."""
        return len(self.frame) < self.n_rows

    @property
    def code(self) -> str:
        """The lines that read this table, with which the code of every section begins."""
        readers = [name for name in ("read_table", "table_of", "with_dates") if f"{name}(" in self.source]
        return (
            f"import tractable\nfrom tractable.report import {', '.join(readers)}\n\ntable = {self.source}\n"
        )


def unknown_column(name: str, names: Sequence[str], path: str, argument: str = "target") -> TableError:
    """Return the error for an unknown column, which suggests the nearest name."""
    return TableError(no_column(name, names, argument, path))


class ColumnCounts:
    """Counts of one column: rows, missing entries, numbers and their range, different values.

    Columns of text are read as numbers too; entries that are no numbers are counted.
    """

    def __init__(self, *, text: bool) -> None:
        self.text = text  # whether the entries are text, which may be numbers
        self.n_rows = self.n_missing = self.n_numbers = self.n_infinite = 0
        self.n_words = 0  # missing entries that are words
        self.low, self.high = np.inf, -np.inf
        self.low_row = self.high_row = 0  # where these are, in the whole table
        self.whole = self.stepping = True
        self.last: float | None = None
        self.counts: Counter[Any] = Counter()
        self.odd: Counter[str] = Counter()
        self.decimal = "."

    def add(self, entries: Any, decimal: str = ".") -> None:
        """Count one block: an Arrow array of numbers, or of text."""
        numbers = numbers_of(entries, decimal)
        readable = ~np.isnan(numbers)
        if self.text and int(readable.sum()) < len(entries) - entries.null_count:
            marked = trimmed(entries)
            self.n_words += marked.null_count - trimmed(entries, words=True).null_count
            entries = marked
            numbers = numbers_of(entries, decimal)
            readable = ~np.isnan(numbers)
        self._range(numbers)
        self.n_rows += len(entries)
        self.n_missing += entries.null_count
        self.n_numbers += int(readable.sum())
        self.decimal = decimal
        self._values(entries)
        if self.text and len(self.odd) < 20:
            self._odd(entries, readable)

    @property
    def n_valid(self) -> int:
        return self.n_rows - self.n_missing

    @property
    def n_distinct(self) -> int:
        """Number of different values, at most `MAX_DISTINCT` + 1."""
        return len(self.counts)

    @property
    def all_numbers(self) -> bool:
        """Whether every value is a number, as Python reads text too."""
        try:
            return all(np.isfinite(float(value)) for value in self.counts)
        except (TypeError, ValueError):
            return False

    @property
    def units(self) -> set[str]:
        """The units of amounts: currencies, and % of percentages."""
        import pyarrow as pa

        if not self.text or not self.n_numbers or self.all_numbers:
            return set()
        return units_of(pa.array([str(value) for value in self.counts], pa.large_string()), self.decimal)

    @property
    def n_unreadable(self) -> int:
        return self.n_valid - self.n_numbers

    def _range(self, numbers: np.ndarray) -> None:
        finite = numbers[np.isfinite(numbers)]
        self.n_infinite += int(np.isinf(numbers).sum())
        if len(finite):
            low, high = float(finite.min()), float(finite.max())
            if low < self.low:
                self.low, self.low_row = low, self.n_rows + int(np.argmax(numbers == low))
            if high > self.high:
                self.high, self.high_row = high, self.n_rows + int(np.argmax(numbers == high))
            self.whole = self.whole and bool((finite == np.floor(finite)).all())
        if self.stepping and len(numbers):
            before = numbers[:1] - 1 if self.last is None else np.array([self.last])
            with np.errstate(over="ignore", invalid="ignore"):
                self.stepping = bool((np.diff(np.concatenate([before, numbers])) == 1).all())
            self.last = float(numbers[-1])

    def _values(self, entries: Any) -> None:
        from pyarrow import compute as pc

        if len(self.counts) > MAX_DISTINCT:
            return
        for pair in pc.value_counts(entries.drop_null()):
            self.counts[pair["values"].as_py()] += pair["counts"].as_py()
            if len(self.counts) > MAX_DISTINCT:
                return

    def _odd(self, entries: Any, readable: np.ndarray) -> None:
        import pyarrow as pa

        rest = entries.filter(pa.array(~readable)).drop_null()
        self.odd.update(str(entry)[:40] for entry in rest.slice(0, 20).to_pylist())


def classified_column(
    name: str,
    counted: ColumnCounts,
    entries: Any,
    decimal: str = ".",
    *,
    declared: str | None = None,
    levels: Sequence[str] = (),
) -> tuple[Column, Any]:
    """Return a column with its kind, and its entries as a pandas series of the type of that kind.

    `entries` is an Arrow array of the rows in memory: numbers, truth values, dates or text; `declared` is the
    kind that the user gave it, `levels` the order of its categories, if its type has one.
    """
    import pandas as pd
    from pyarrow import types

    texts = trimmed(entries) if is_text(entries.type) else entries
    if types.is_temporal(entries.type) and not types.is_duration(entries.type):
        dates = pd.to_datetime(pd.Series(entries.to_pandas()), errors="coerce", utc=True)
        if declared in (None, "date"):
            return _date(name, counted, dates.dt.tz_localize(None))
    kind, note = _kind(name, counted, texts)
    if declared is not None and kind not in ("constant", "empty"):
        kind, note = declared, "kind given by the user"
        _check_declared(name, kind, counted)
    if kind == "number":
        numbers = numbers_of(texts, decimal)
        return _column(name, kind, counted, note, extra=_lost(counted)), pd.Series(
            np.where(np.isfinite(numbers), numbers, np.nan)
        )
    if kind in ("text", "category", "identifier", "date") and declared in (None, "date") and not levels:
        form = date_format(texts)
        if form is not None:
            return _date(name, counted, dates_of(texts, form))
        if declared == "date":
            raise TableError(f"kind: the column {name!r} holds no dates")
    words = 0
    if kind in ("text", "identifier") and 0 < counted.n_words < RARE_WORDS * counted.n_rows:
        words, texts = counted.n_words, trimmed(entries, words=True)
    coded = counted.all_numbers  # "14.0" is 14
    shown = [None if v is None else entry_text(v, number=coded) for v in texts.to_pylist()]
    return _column(name, kind, counted, note, -words, levels), pd.Series(shown, dtype=object)


def _check_declared(name: str, kind: str, counted: ColumnCounts) -> None:
    """Refuse a kind that the entries of a column cannot have."""
    if kind == "number" and not counted.n_numbers:
        raise TableError(f"kind: the column {name!r} holds no numbers")
    if kind == "category" and counted.n_distinct > MAX_CATEGORIES:
        raise TableError(
            f"kind: the column {name!r} has too many values for categories, more than {MAX_CATEGORIES}"
        )


def _kind(name: str, counted: ColumnCounts, texts: Any) -> tuple[str, str]:
    """Return the kind of a column of numbers or text, and a note."""
    if counted.n_valid == 0:
        return "empty", "no entry"
    if counted.n_distinct == 1:
        return "constant", f"always {entry_text(next(iter(counted.counts)))}"
    if {
        entry_text(v, number=counted.n_distinct <= 2 and counted.all_numbers).casefold()
        for v in counted.counts
    } in TRUTH:
        return "boolean", ""
    n_numbers, n_valid = counted.n_numbers, counted.n_valid
    if holds_numbers(n_numbers, n_valid) if counted.text else n_numbers >= n_valid:
        units = counted.units
        if len(units) < 2:
            return _kind_of_numbers(name, counted, "".join(f"in {unit}" for unit in units))
        kind, _ = _kind_of_texts(counted, texts)
        return kind, f"amounts in several units ({', '.join(sorted(units))}): not taken as numbers"
    return _kind_of_texts(counted, texts)


def _kind_of_numbers(name: str, counted: ColumnCounts, unit: str = "") -> tuple[str, str]:
    n, different = counted.n_numbers, counted.n_distinct
    if counted.whole and counted.stepping and n >= 5 and not TIMES.match(name):
        return "identifier", f"the numbers {counted.low:.0f} to {counted.high:.0f} in order"
    every = different >= min(n, MAX_DISTINCT)
    if counted.whole and every and KEY.search(name):
        return "identifier", f"whole numbers, {_different(counted)}, named like a key"
    if counted.whole and different <= FEW_CODES and n >= 5 * different and not unit and not _lost(counted):
        return "category", "whole numbers of few values: taken as categories"
    lost = []
    if counted.n_unreadable:
        odd = ", ".join(repr(entry) for entry in list(counted.odd)[:3])
        lost.append(f"{number_of(counted.n_unreadable, 'entry', 'entries')} not a number ({odd})")
    if counted.n_infinite:
        lost.append(f"{number_of(counted.n_infinite, 'infinite entry', 'infinite entries')}")
    note = f"{' and '.join(lost)} taken as missing" if lost else ""
    return "number", "; ".join(filter(None, (unit, note)))


def _different(counted: ColumnCounts) -> str:
    """Return how many of the values are different; beyond a limit they are not counted."""
    return "all different" if counted.n_distinct <= MAX_DISTINCT else f"more than {MAX_DISTINCT:,} different"


def _kind_of_texts(counted: ColumnCounts, texts: Any) -> tuple[str, str]:
    n, different = counted.n_valid, counted.n_distinct
    if different <= MAX_CATEGORIES and (different <= n / 2 or different < n <= 20):
        return "category", ""
    lengths = [len(str(text)) for text in texts.slice(0, 200).drop_null().to_pylist()]
    if n == different <= MAX_DISTINCT and np.mean(lengths or [0]) <= 40:
        return "identifier", "texts, all different"
    return "text", "texts with too many values for categories"


def _date(name: str, counted: ColumnCounts, dates: Any) -> tuple[Column, Any]:
    if counted.n_valid == 0:
        return _column(name, "empty", counted, "no entry"), dates
    note = f"{dates.min():%Y-%m-%d} to {dates.max():%Y-%m-%d}"
    kind = "constant" if counted.n_distinct == 1 else "date"
    return _column(name, kind, counted, note), dates


def _column(
    name: str, kind: str, counted: ColumnCounts, note: str, extra: int = 0, levels: Sequence[str] = ()
) -> Column:
    number = kind == "number"
    coded = counted.all_numbers
    merged: Counter[str] = Counter()  # "14" and "14.0" are one category
    for entry, n in counted.counts.items() if kind in ("category", "boolean") else ():
        merged[entry_text(entry, number=coded)] += n
    if kind == "category" and coded:
        levels = sorted(merged, key=float)
    return Column(
        name=name,
        kind=kind,
        n_missing=counted.n_missing + extra,
        n_distinct=counted.n_distinct,
        note=note,
        low=counted.low if number else None,
        high=counted.high if number else None,
        low_row=counted.low_row,
        high_row=counted.high_row,
        counts=tuple(merged.most_common()),
        levels=tuple(levels) if kind == "category" else (),
    )


def _lost(counted: ColumnCounts) -> int:
    """Return the number of entries of a column of numbers that are not finite numbers."""
    return counted.n_unreadable + counted.n_infinite


def entry_text(entry: Any, *, number: bool = False) -> str:
    """Return an entry as text: integers without a point, at most 200 printable characters."""
    if number and isinstance(entry, str):
        entry = float(entry)
    if isinstance(entry, float) and entry.is_integer() and abs(entry) < 1e15:
        return str(int(entry))
    return str(entry)[:200].translate(CONTROLS)
