"""Files of either kind as blocks of Arrow's: CSV however it is written, and Parquet."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tractable.data.source import batch_rows

__all__ = ["ending", "is_plain", "opened"]

#: Bytes of a CSV file that are parsed at a time.
BLOCK_BYTES = 2**21


def ending(path: Path) -> str:
    """Return the kind of a file: ``.csv``, ``.parquet`` or ``.npy``.

    Examples
    --------
    >>> ending(Path("rows.TSV.gz"))
    '.csv'
    """
    found = Path(path.name.lower().removesuffix(".gz")).suffix
    if found not in {".parquet", ".pq", ".csv", ".tsv", ".npy"}:
        raise ValueError(f"{path} is of no known kind: .csv, .tsv (either with .gz), .parquet and .npy are")
    return {".pq": ".parquet", ".tsv": ".csv"}.get(found, found)


def is_plain(path: Path, dialect: Any) -> bool:
    """Say whether a CSV file is written as `tractable.scan` expects."""
    usual = "\t" if ".tsv" in path.name.lower() else ","
    return (
        dialect.delimiter == usual and dialect.decimal == "." and dialect.encoding in {"utf-8", "utf-8-sig"}
    )


@contextmanager
def opened(path: Path, dialect: Any = None, kinds: dict[str, Any] | None = None) -> Iterator[Iterator[Any]]:
    """Open a file; a CSV file has a dialect.

    Parameters
    ----------
    path : path
    dialect : Dialect, optional
        How a CSV file is written.
    kinds : dict of Arrow types, optional
        The columns to read, and what to read them as; all of them, as they look, when not given.
    """
    try:
        with ExitStack() as stack:
            if dialect is None:
                file = stack.enter_context(_parquet(path))
                width = len(kinds or file.schema.names)
                yield file.iter_batches(batch_size=batch_rows(width), columns=list(kinds) if kinds else None)
            else:
                yield iter(stack.enter_context(_csv(_text(path, dialect, stack), dialect, kinds)))
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.strerror:
            raise
        said = str(error)
        raise ValueError(said if str(path) in said else f"{path} cannot be read: {said}") from error


def _parquet(path: Path) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(path, pre_buffer=False)


def _text(path: Path, dialect: Any, stack: ExitStack) -> Any:
    """Return the bytes of a file, unpacked and as UTF-8."""
    import pyarrow as pa

    raw = stack.enter_context(pa.input_stream(str(path), compression="detect"))
    if dialect.encoding in {"utf-8", "utf-8-sig"}:
        return raw
    return stack.enter_context(pa.transcoding_input_stream(raw, dialect.encoding, "utf-8"))


def _csv(text: Any, dialect: Any, kinds: dict[str, Any] | None) -> Any:
    from pyarrow import csv

    return csv.open_csv(
        text,
        read_options=csv.ReadOptions(block_size=BLOCK_BYTES),
        parse_options=csv.ParseOptions(delimiter=dialect.delimiter),
        convert_options=csv.ConvertOptions(
            include_columns=list(kinds or ()),
            column_types=kinds,
            strings_can_be_null=True,
            decimal_point=dialect.decimal,
        ),
    )
