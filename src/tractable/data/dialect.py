"""Text files with fields: how a file is written."""

import codecs
import csv
import io
from contextlib import suppress
from pathlib import Path
from typing import Any

from tractable.data.table_error import TableError
from tractable.value import value

__all__ = ["Dialect", "NoRowsError", "sniffed"]

#: How much of a file is looked at before it is read.
HEAD_BYTES = 2**20

DELIMITERS = ",;\t|"

#: How other kinds of files begin, and what they are.
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
    """A file that has a line of names, or nothing at all."""


@value
class Dialect:
    """How a text file is written."""

    names: tuple[str, ...]
    header: bool
    delimiter: str
    encoding: str
    decimal: str
    quoted: bool = True
    notes: tuple[str, ...] = ()


def sniffed(path: Path, encoding: str | None = None, *, quoted: bool = True) -> Dialect:
    """Find out how a file is written by how it begins; not `quoted`, quotation marks are letters."""
    head, whole = _head(path)
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
    names = tuple(first) if header else tuple("" for _ in first)
    notes = [] if header else ["The first line holds numbers only, so the columns have no names."]
    if encoding not in ("utf-8", "utf-8-sig"):
        notes.append(f"The file is not UTF-8; it was read as {encoding}.")
    if not quoted:
        notes.append("A quotation mark is never closed; quotation marks were taken as letters.")
    decimal = "," if delimiter != "," and _comma_decimals(rows[header:]) else "."
    if decimal == ",":
        notes.append("Numbers in the file have a comma before their fractions.")
    return Dialect(
        names=names,
        header=header,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        quoted=quoted,
        notes=tuple(notes),
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


def _head(path: Path) -> tuple[bytes, bool]:
    """Return the first bytes of a file, unpacked, and whether they are all."""
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
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return _eight_bits(head)
    return "utf-8"


def _unmarked(head: bytes) -> str | None:
    """Return which UTF-16 it is that does not say so: in most languages every other byte is zero."""
    zeros = [part.count(0) / max(len(part), 1) for part in (head[::2], head[1::2])]
    if min(zeros) > 0.01 or max(zeros) < 0.7:
        return None
    return "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"


def _eight_bits(head: bytes) -> str:
    try:
        head.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def _lines(text: str, *, whole: bool) -> list[str]:
    """Return the lines that are complete, without blank ones."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = io.StringIO(text).readlines()
    if not whole and len(lines) > 1:
        lines = lines[:-1]
    return [line for line in lines if line.strip()]


def _delimiter(lines: list[str], quoted: bool) -> str:
    """Return the sign that cuts the most lines into as many fields as the first has, and into several."""

    def agreement(sign: str) -> tuple[float, int]:
        widths = [len(row) for row in _fields(lines[:100], sign, quoted) if row]
        first = widths[0] if widths else 1
        return (sum(w == first for w in widths) / len(widths) if first > 1 else 0.0, first)

    return max(DELIMITERS, key=agreement)


def _fields(lines: list[str], delimiter: str, quoted: bool) -> list[list[str]]:
    """Cut lines into fields, as far as that goes."""
    rows = []
    quoting: Any = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    with suppress(csv.Error):  # a field of more letters than a page
        for row in csv.reader(lines, delimiter=delimiter, quoting=quoting):
            rows.append(row)  # noqa: PERF402  (those before the mistake are kept)
    return rows


def _is_unclosed(lines: list[str], delimiter: str) -> bool:
    """Tell whether a quotation mark opens a field and none closes it."""
    try:
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
    """Tell whether numbers are written with a comma: some fields are numbers only if it is a point."""
    fields = [field.strip() for row in rows for field in row]
    commas = sum(field.count(",") == 1 and _is_number(field.replace(",", ".")) for field in fields)
    points = sum("." in field and _is_number(field) for field in fields)
    return commas > points
