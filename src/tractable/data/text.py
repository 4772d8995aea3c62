"""Text files: encoding, delimiter and header, and the types of their entries."""

import codecs
import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from tractable.value import value


class TableError(ValueError):
    """An error in a table, in one sentence."""


#: Texts that stand for a missing entry.
MISSING = (
    "", "NA", "N/A", "n/a", "na", "NaN", "nan", "NAN", "-nan", "NULL", "null", "Null", "None", "none", "nil",
    "#N/A", "#NA", "<NA>", "?", "-", "--", ".", "missing", "Missing",
)  # fmt: skip

#: Those of them that are words, which a free text may consist of: a film is called "Missing".
MISSING_WORDS = ("missing", "Missing", "None", "none")

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(inf|Inf|INF|infinity|Infinity)$"

#: Currencies, before or after a number.
CURRENCY = r"(?:US\$|[$€£¥₹]|USD|EUR|GBP|CHF|JPY)"


def trimmed(texts: Any, *, words: bool = False) -> Any:
    """Return text without blanks around it, null where it stands for a missing entry.

    With `words`, `MISSING_WORDS` are entries.
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    texts = pc.utf8_trim_whitespace(texts)
    marks = [mark for mark in MISSING if not (words and mark in MISSING_WORDS)]
    nothing = pc.is_in(texts, value_set=pa.array(marks, texts.type))
    return pc.if_else(nothing, pa.scalar(None, texts.type), texts)


def numbers_of(entries: Any, decimal: str = ".") -> np.ndarray:
    """Return entries as floats, NaN where one is missing or is no number.

    Amounts and percentages are the number that is written: "$1,234.50" is 1234.5, "($12)" is -12, "12 %" is
    12; see `units_of`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> numbers_of(pa.array(["$1,234.50", "($12)", "12 %", "1,23", "about 5"]))
    array([1234.5,  -12. ,   12. ,    nan,    nan])
    >>> numbers_of(pa.array(["1.234,50 €", "7"]), decimal=",")
    array([1234.5,    7. ])
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    if pa.types.is_temporal(entries.type):
        return np.full(len(entries), np.nan)
    if not is_text(entries.type):
        return _floats(entries)
    points = pc.replace_substring(entries, ",", ".") if decimal == "," else entries
    try:
        return _floats(points)
    except pa.ArrowInvalid:  # not all of them are numbers
        readable = pc.match_substring_regex(points, NUMBER)
        numbers = pc.if_else(readable, points, _plain_amounts(entries, decimal))
        return _floats(pc.replace_substring_regex(numbers, r"^\+", ""))


def with_points(texts: Any) -> Any:
    """Return texts with a point in place of the comma of plain numbers; all else stays as it is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> with_points(pa.array(["1,50", " 7", "1.234,50 €", "a, b"])).to_pylist()
    ['1.50', ' 7', '1.234,50 €', 'a, b']
    """
    from pyarrow import compute as pc

    plain = pc.match_substring_regex(texts, r"^\s*[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?\s*$")
    return pc.if_else(plain, pc.replace_substring(texts, ",", "."), texts)


def units_of(texts: Any, decimal: str = ".") -> set[str]:
    """Return the units in which amounts are written: currencies, and % for percentages.

    Examples
    --------
    >>> import pyarrow as pa
    >>> sorted(units_of(pa.array(["$1,234.50", "12 %", "5", "about 7 €"])))
    ['$', '%']
    """
    from pyarrow import compute as pc

    amounts = texts.filter(pc.fill_null(pc.match_substring_regex(texts, _amount(decimal)), False))
    if not len(amounts):
        return set()
    rest = pc.replace_substring_regex(amounts, r"[0-9.,'’\s()+-]", "")
    return {unit for unit in pc.unique(rest).to_pylist() if unit}


def _amount(decimal: str) -> str:
    """Return the expression of an amount: a currency or %, and groups of thousands."""
    point, group = (r"\.", r"[,'’ \x{a0}\x{202f}]") if decimal == "." else (",", r"[.'’ \x{a0}\x{202f}]")
    digits = rf"(?:[1-9]\d{{0,2}}(?:{group}\d{{3}})+|\d+)(?:{point}\d*)?"
    before, after = rf"(?:{CURRENCY}\s*)?", rf"(?:\s*(?:{CURRENCY}|%))?"
    return rf"^\s*(?:[+-]?{before}[+-]?{digits}{after}|\({before}{digits}{after}\))\s*$"


def _plain_amounts(texts: Any, decimal: str) -> Any:
    """Return amounts as plain numbers, null where a text is none; those in brackets are negative."""
    import pyarrow as pa
    from pyarrow import compute as pc

    amounts = pc.if_else(
        pc.match_substring_regex(texts, _amount(decimal)), texts, pa.scalar(None, texts.type)
    )
    if amounts.null_count == len(amounts):
        return amounts
    plain = pc.replace_substring_regex(amounts, rf"[^0-9{decimal}(+-]", "")
    return pc.replace_substring(pc.replace_substring(plain, decimal, "."), "(", "-")


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text, of any width."""
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _floats(entries: Any) -> np.ndarray:
    import pyarrow as pa
    from pyarrow import compute as pc

    numbers = pc.cast(entries, pa.float64(), safe=False)
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)


#: Bytes of a file that determine its dialect.
HEAD_BYTES = 2**20

DELIMITERS = ",;\t|"

#: First bytes of other kinds of files.
OTHERS = (
    (b"PK\x03\x04", "a spreadsheet or a ZIP archive; save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old spreadsheet; save the sheet as CSV"),
    (b"\x1f\x8b", "compressed; give it a name that ends in .gz"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3", "a database"),
    (b"\x89HDF", "an HDF5 file"),
    (b"ARROW1", "an Arrow file; save it as Parquet"),
)


class NoRowsError(TableError):
    """A file without rows."""


@value
class Dialect:
    """The format of a text file: names of columns, delimiter, encoding, decimal sign, quotation."""

    names: tuple[str, ...]
    header: bool
    delimiter: str
    encoding: str
    decimal: str
    quoted: bool = True

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on what is unusual, in sentences."""
        remarks = (
            (not self.header, "The first line holds numbers only, so the columns have no names."),
            (
                self.encoding not in ("utf-8", "utf-8-sig"),
                f"The file is not UTF-8; it was read as {self.encoding}.",
            ),
            (not self.quoted, "A quotation mark is never closed; quotation marks were taken as letters."),
            (self.decimal == ",", "Numbers in the file have a comma before their fractions."),
        )
        return tuple(text for holds, text in remarks if holds)


def sniffed(path: Path, encoding: str | None = None, *, quoted: bool = True) -> Dialect:
    """Return the dialect of a file by its first megabyte; not `quoted`, quotation marks are letters."""
    head, whole = _first_bytes(path)
    _refuse_bytes(head, path)
    encoding = encoding or _encoding(head, path)
    text = head.decode(encoding, errors="replace")
    _refuse_markup(text, path)
    lines = _lines(text, whole=whole)
    delimiter = _delimiter(lines, quoted)
    if quoted and whole and _is_unclosed(lines, delimiter):
        return sniffed(path, encoding, quoted=False)
    rows = _fields(lines[:200], delimiter, quoted)
    if whole and len(rows) == 1:
        raise NoRowsError(f"{path} has no rows")
    first = [field.strip() for field in rows[0]] if rows else []
    header = not (len(rows) > 1 and all(_is_number(field) for field in first))
    names = tuple(first) if header else ("",) * len(first)
    decimal = "," if delimiter != "," and _comma_decimals(rows[header:]) else "."
    return Dialect(
        names=names, header=header, delimiter=delimiter, encoding=encoding, decimal=decimal, quoted=quoted
    )


def _refuse_bytes(head: bytes, path: Path) -> None:
    for magic, what in OTHERS:
        if head.startswith(magic):
            raise TableError(f"{path} is not a table but {what}")
    if not head.strip():
        raise NoRowsError(f"{path} is empty")


def _refuse_markup(text: str, path: Path) -> None:
    start = text.lstrip("\ufeff \r\n\t")[:5].lower()
    if start.startswith(("{", "[")):
        raise TableError(f"{path} is not a table but JSON, as it seems; save it as CSV or Parquet")
    if start in ("<html", "<!doc", "<?xml"):
        raise TableError(f"{path} is not a table but a web page or XML; save it as CSV or Parquet")


def _first_bytes(path: Path) -> tuple[bytes, bool]:
    """Return the first bytes of a file, decompressed, and whether these are all."""
    import pyarrow as pa

    try:
        with pa.input_stream(str(path), compression="detect") as stream:
            head = stream.read(HEAD_BYTES + 1)
    except OSError as error:
        raise TableError(f"{path} cannot be read: {str(error).strip().splitlines()[0][:200]}") from None
    return head[:HEAD_BYTES], len(head) <= HEAD_BYTES


def _encoding(head: bytes, path: Path) -> str:
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF32_LE, "utf-32"),  # which begins as UTF-16 does
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if head.startswith(mark):
            return name
    if b"\x00" in head:
        wide = _unmarked(head)
        if wide is not None:
            return wide
        raise TableError(f"{path} is not a table: it holds bytes that are no text")
    for name in ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            codecs.getincrementaldecoder(name)().decode(head)
            return name
    return "latin-1"


def _unmarked(head: bytes) -> str | None:
    """Return the byte order of UTF-16 without a mark: in most languages every other byte is zero."""
    zeros = [part.count(0) / max(len(part), 1) for part in (head[::2], head[1::2])]
    if min(zeros) > 0.01 or max(zeros) < 0.7:
        return None
    return "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"


def _lines(text: str, *, whole: bool) -> list[str]:
    """Return the complete lines that are not blank."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = io.StringIO(text).readlines()
    if not whole and len(lines) > 1:
        lines = lines[:-1]
    return [line for line in lines if line.strip()]


def _delimiter(lines: list[str], quoted: bool) -> str:
    """Return the sign that splits the most lines into as many fields as the first, and into several."""

    def agreement(sign: str) -> tuple[float, int]:
        widths = [len(row) for row in _fields(lines[:100], sign, quoted) if row]
        first = widths[0] if widths else 1
        return (sum(w == first for w in widths) / len(widths) if first > 1 else 0.0, first)

    return max(DELIMITERS, key=agreement)


def _fields(lines: list[str], delimiter: str, quoted: bool) -> list[list[str]]:
    """Split lines into fields, up to the first line that cannot be split."""
    rows = []
    quoting: Any = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    with suppress(csv.Error), _long_fields():  # a line that no reader can split
        for row in csv.reader(lines, delimiter=delimiter, quoting=quoting):
            rows.append(row)  # noqa: PERF402  (those before the mistake are kept)
    return rows


@contextmanager
def _long_fields() -> Iterator[None]:
    """Let fields be as long as the part of a file that determines its dialect."""
    before = csv.field_size_limit(HEAD_BYTES + 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _is_unclosed(lines: list[str], delimiter: str) -> bool:
    """Whether a quotation mark opens a field and none closes it."""
    try:
        with _long_fields():
            for _ in csv.reader(lines, delimiter=delimiter, strict=True):
                pass
    except csv.Error as error:
        return "unexpected end of data" in str(error)
    return False


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _comma_decimals(rows: list[list[str]]) -> bool:
    """Whether numbers have decimal commas: more fields are numbers with a comma than with a point."""
    fields = [field.strip() for row in rows for field in row]
    plain = [re.sub(rf"{CURRENCY}|[%\s]", "", field) for field in fields]
    commas = sum(
        field.count(",") == 1 and _is_number(re.sub(r"\.(?=\d{3})", "", field).replace(",", "."))
        for field in plain
    )
    points = sum("." in field and _is_number(field.replace(",", "")) for field in plain)
    return commas > points


#: The fraction of entries that must be numbers, or dates, for the column to have that type.
MOST = 0.95

#: Of fewer entries than this, all must be.
FEW = 20

#: Texts that other programs write for truth values.
TRUTH = ("true", "false", "True", "False", "TRUE", "FALSE")

#: Formats of dates.
DATES = ("ISO8601", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y", "%d %b %Y", "%b %d, %Y")


def holds_numbers(n_numbers: int, n_valid: int) -> bool:
    """Return whether a column of text holds numbers: nearly all of its entries, of few entries all.

    Examples
    --------
    >>> holds_numbers(99, 100), holds_numbers(9, 10), holds_numbers(90, 100)
    (True, False, False)
    """
    return n_numbers >= (n_valid if n_valid < FEW else MOST * n_valid)


def text_type(texts: Any, decimal: str = ".") -> Any:
    """Return the Arrow type of entries written as text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> [str(text_type(pa.array(texts))) for texts in (["1", "?", " 2"], ["1.5", "2"], ["red", "1"])]
    ['int64', 'double', 'string']
    >>> [str(text_type(pa.array(texts))) for texts in (["true"], ["2020-01-31"], ["31.1.2020"], [""])]
    ['bool', 'date32[day]', 'timestamp[s]', 'null']
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    texts = trimmed(texts).drop_null()
    if not len(texts):
        return pa.null()
    if pc.all(pc.is_in(texts, value_set=pa.array(TRUTH))).as_py():
        return pa.bool_()
    numbers = numbers_of(texts, decimal)
    read = numbers[~np.isnan(numbers)]
    if holds_numbers(len(read), len(texts)) and len(units_of(texts, decimal)) < 2:
        whole = len(read) == len(texts) and bool((np.abs(read) < 2**53).all() and (read % 1 == 0).all())
        return pa.int64() if whole else pa.float64()
    for kind in (pa.date32(), pa.timestamp("s")):
        if is_castable(texts, kind):
            return kind
    return pa.string() if date_format(texts) is None else pa.timestamp("s")


def date_format(texts: Any) -> str | None:
    """Return the format in which nearly all texts are dates, or None if there is none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> date_format(pa.array(["31/1/2020", "1/2/2020"])), date_format(pa.array(["red", "blue"]))
    ('%d/%m/%Y', None)
    """
    if not is_text(texts.type):
        return None
    texts = texts.drop_null()
    first = str(texts[0]) if len(texts) else ""
    if not re.search(r"\d[-/. ,]|[-/. ]\d", first) or len(first) < 6:
        return None
    return next((form for form in DATES if dates_of(texts, form).notna().mean() >= MOST), None)


def dates_of(texts: Any, form: str) -> Any:
    """Return texts as a pandas series of dates, in UTC, missing where an entry has another format."""
    import pandas as pd

    series = pd.Series(texts.to_pylist(), dtype=object)
    return pd.to_datetime(series, format=form, errors="coerce", utc=True).dt.tz_localize(None)


def is_castable(texts: Any, kind: Any) -> bool:
    """Whether every text can be read as an Arrow type."""
    import pyarrow as pa

    try:
        texts.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True
