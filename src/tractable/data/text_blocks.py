"""Text files with fields: their rows, block by block, as text or as numbers."""

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tractable.data.dialect import Dialect
from tractable.data.entries import MISSING
from tractable.data.table_error import TableError

__all__ = ["OddEntryError", "UnclosedError", "text_blocks"]

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
