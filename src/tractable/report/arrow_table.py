"""Typed columns, of Parquet files and of frames, as blocks of the few types that a report knows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tractable.data.text import is_text
from tractable.report.table import TableError

__all__ = ["arrow_of", "parquet_blocks", "parquet_names", "plain"]

#: Entries that are read at a time.
BLOCK_ENTRIES = 2**20


def parquet_names(path: Path) -> tuple[list[str], int]:
    """Return the names of a file's columns, and the number of its rows."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            return list(file.schema_arrow.names), file.metadata.num_rows
    except (OSError, pa.ArrowException) as error:
        raise TableError(f"{path} cannot be read as Parquet: {_first_line(error)}") from None


def parquet_blocks(path: Path, kept: list[int]) -> Iterator[Any]:
    """Walk the rows of the columns at positions `kept`."""
    import pyarrow as pa
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        names = [file.schema_arrow.names[j] for j in kept]
        rows = max(1, BLOCK_ENTRIES // max(1, len(names)))
        for batch in file.iter_batches(batch_size=rows, columns=names):
            arrays = [batch.column(name) for name in names]
            yield pa.RecordBatch.from_arrays([plain(a) for a in arrays], [str(j) for j in kept])


def arrow_of(frame: Any) -> tuple[Any, list[Any]]:
    """Return a frame (pandas, polars, Arrow) as one Arrow record batch, and the names of its columns."""
    import pyarrow as pa

    if hasattr(frame, "to_frame") and not hasattr(frame, "columns"):
        frame = frame.to_frame()  # one column by itself
    if hasattr(frame, "iloc"):
        names = list(frame.columns)
        arrays = [_of_series(frame.iloc[:, j]) for j in range(frame.shape[1])]
    else:
        table = frame if isinstance(frame, pa.Table) else frame.to_arrow()
        names, arrays = list(table.column_names), [_one(table.column(j)) for j in range(table.num_columns)]
    arrays = [plain(a) for a in arrays]
    return pa.RecordBatch.from_arrays(arrays, [str(j) for j in range(len(arrays))]), names


def plain(entries: Any) -> Any:
    """Return entries as numbers (missing where they are NaN), truth values, dates or text.

    Whole numbers stay whole: keys of rows have more digits than floats.
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    kind = entries.type
    if pa.types.is_dictionary(kind):
        return plain(entries.dictionary_decode())
    as_they_are = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_date, pa.types.is_timestamp)
    if any(fits(kind) for fits in as_they_are):
        return entries
    if is_text(kind) or pa.types.is_null(kind):
        return pc.cast(entries, pa.large_string())
    numbers = _numbers(entries)
    if numbers is not None:
        return pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)
    return pa.array([None if v is None else _text(v) for v in entries.to_pylist()], pa.large_string())


def _numbers(entries: Any) -> Any:
    """Return numbers as floats and durations in seconds; None where entries are neither."""
    import pyarrow as pa
    from pyarrow import compute as pc

    kind = entries.type
    if pa.types.is_duration(kind):
        thousandths = pc.cast(pc.cast(entries, pa.duration("ms"), safe=False), pa.int64())
        return pc.divide(pc.cast(thousandths, pa.float64()), 1000.0)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return pc.cast(entries, pa.float64(), safe=False)
    return None


def _of_series(series: Any) -> Any:
    """Return a column of a pandas frame; values of several types, and intervals, are taken as text."""
    import pyarrow as pa

    if str(series.dtype).startswith("period"):
        series = series.dt.to_timestamp()
    try:
        if str(series.dtype).startswith("interval") or hasattr(series.dtype, "categories"):
            raise TypeError  # noqa: TRY301  (as text, whatever the categories are)
        return _one(pa.array(series, from_pandas=True))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        missing = series.isna()
        texts = [None if gone else _text(v) for v, gone in zip(series, missing, strict=True)]
        return pa.array(texts, pa.large_string())


def _text(entry: Any) -> str:
    """Return an entry as text that can be written: half of a letter cannot."""
    return str(entry)[:200].encode("utf-8", errors="replace").decode("utf-8")


def _one(entries: Any) -> Any:
    import pyarrow as pa

    return entries.combine_chunks() if isinstance(entries, pa.ChunkedArray) else entries


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:200]
