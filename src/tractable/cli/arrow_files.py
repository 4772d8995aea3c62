"""Files by what they hold, and the rows of Parquet files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tractable.data.source import batch_rows

__all__ = ["kind_of", "opened"]


def kind_of(path: Path) -> str:
    """Return the kind of a file: ``.parquet``, ``.npy``, or ``.csv`` for text whatever its ending is.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".txt") as file:
    ...     kind_of(Path(file.name))
    '.csv'
    """
    ending = path.suffix.lower()
    if ending in {".parquet", ".pq"}:
        return ".parquet"
    with path.open("rb") as file:
        head = file.read(6)
    if head.startswith(b"PAR1"):
        return ".parquet"
    return ".npy" if ending == ".npy" or head == b"\x93NUMPY" else ".csv"


@contextmanager
def opened(path: Path, columns: Sequence[str] | None = None) -> Iterator[Iterator[Any]]:
    """Open a Parquet file: some of its columns, or all, as batches of a few megabytes."""
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            width = len(columns or file.schema.names)
            yield file.iter_batches(batch_size=batch_rows(width), columns=list(columns) if columns else None)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.strerror:
            raise
        said = str(error)
        raise ValueError(said if str(path) in said else f"{path} cannot be read: {said}") from error
