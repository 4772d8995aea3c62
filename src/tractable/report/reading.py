"""Tables from files and from frames."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tractable.arrays.random import as_generator
from tractable.data.csv import UnclosedError, text_blocks
from tractable.data.names import nearest_file, number_of
from tractable.data.text import Dialect, sniffed
from tractable.report.arrow_table import arrow_of, parquet_blocks, parquet_names
from tractable.report.blocks import gathered
from tractable.report.column_choice import chosen_columns
from tractable.report.table import Table, TableError
from tractable.value import replace

__all__ = ["MAX_COLUMNS", "MAX_ROWS", "Progress", "read_table", "table_of"]

#: Rows that are kept in memory, and columns that are looked at.
MAX_ROWS = 20_000
MAX_COLUMNS = 100

#: Told what is going on, and how much of it is done (from 0 to 1, None where that is not known).
Progress = Callable[[str, float | None], None]


def read_table(
    path: Any,
    *,
    max_rows: int = MAX_ROWS,
    max_columns: int = MAX_COLUMNS,
    target: str | None = None,
    random_state: Any = 0,
    progress: Progress | None = None,
) -> Table:
    """Read a CSV or Parquet file of any size: all rows are counted, some are kept.

    Of text files the delimiter (comma, semicolon, tab, bar), the encoding and the sign before fractions are
    found out, and compressed ones (.gz, .bz2, .zst) are unpacked on the way. Memory does not grow with the
    file.

    Parameters
    ----------
    path : str or path
    max_rows : int
        How many rows are kept, chosen at random where there are more.
    max_columns : int
        How many columns are looked at: those that clearly tell of the target, and the first ones.
    target : str, optional
        A column that is looked at wherever it stands; it must exist.
    random_state : None, int or Generator
    progress : callable, optional
        Called with a text, and with how much is done (0 to 1, or None).

    Returns
    -------
    Table

    Raises
    ------
    TableError
        With one sentence, where there is no file, or no table in it.

    Examples
    --------
    >>> from importlib.resources import files
    >>> table = read_table(files("tractable.datasets") / "tables" / "penguins.csv")
    >>> table.n_rows, [column.kind for column in table.columns[:3]], table.column("sex").n_missing
    (344, ['category', 'category', 'number'], 11)
    """
    file = _checked(path)
    options: Any = {"max_rows": max_rows, "rng": as_generator(random_state), "path": str(path)}
    given = {
        "max_rows": (max_rows, MAX_ROWS),
        "max_columns": (max_columns, MAX_COLUMNS),
        "target": (target, None),
    }
    told = "".join(f", {name}={value!r}" for name, (value, usual) in given.items() if value != usual)
    options["source"] = f"read_table({str(path)!r}{told})"
    if not _is_parquet(file):
        return _of_text(file, target, max_columns, progress, options)
    names, n_rows = parquet_names(file)
    every = range(len(names))
    chosen, notes = chosen_columns(
        names, target, max_columns, str(path), lambda: parquet_blocks(file, list(every))
    )
    blocks = _told(parquet_blocks(file, chosen), progress, file.name, n_rows)
    table = gathered(blocks, [names[j] for j in chosen], notes=tuple(notes), **options)
    return replace(table, n_unseen=len(names) - len(chosen))


def table_of(
    frame: Any,
    *,
    max_rows: int = MAX_ROWS,
    max_columns: int = MAX_COLUMNS,
    target: str | None = None,
    random_state: Any = 0,
    name: str = "the table",
    source: str = "table_of(frame)",
) -> Table:
    """Return a frame (pandas, polars, Arrow) as a table: see :func:`read_table`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = table_of(pd.DataFrame({"size": [1.5, None, 2.5], "colour": ["red", "red", "blue"]}))
    >>> [(column.name, column.kind, column.n_missing) for column in table.columns]
    [('size', 'number', 1), ('colour', 'category', 0)]
    """
    if not (hasattr(frame, "iloc") or hasattr(frame, "to_arrow") or hasattr(frame, "column_names")):
        raise TableError(f"data must be a path or a frame, got {type(frame).__name__}")
    block, names = arrow_of(frame)
    if not names:
        raise TableError(f"{name} has no columns")
    chosen, notes = chosen_columns(names, target, max_columns, name, lambda: iter([block]))
    table = gathered(
        [block.select(chosen)],
        [names[j] for j in chosen],
        max_rows=max_rows,
        rng=as_generator(random_state),
        path=name,
        notes=tuple(notes),
        source=source,
    )
    return replace(table, n_unseen=len(names) - len(chosen))


def _of_text(
    file: Path, target: str | None, max_columns: int, progress: Progress | None, options: Any
) -> Table:
    """Read a text file, a second and a third time where its first part told too little of the rest."""
    encoding, quoted = None, True
    while True:
        dialect = sniffed(file, encoding, quoted=quoted)
        try:
            return _of_csv(file, dialect, target, max_columns, progress, options)
        except UnicodeError:
            encoding = "latin-1"  # which has a letter for every byte
        except UnclosedError:
            quoted = False


def _of_csv(
    file: Path,
    dialect: Dialect,
    target: str | None,
    max_columns: int,
    progress: Progress | None,
    options: Any,
) -> Table:
    every = list(range(len(dialect.names)))
    chosen, notes = chosen_columns(
        dialect.names,
        target,
        max_columns,
        options["path"],
        lambda: text_blocks(file, dialect, every, Counter()),
        decimal=dialect.decimal,
    )
    bad: Counter[str] = Counter()
    blocks = _told(text_blocks(file, dialect, chosen, bad), progress, file.name, None)
    try:
        table = gathered(
            blocks,
            [dialect.names[j] for j in chosen],
            decimal=dialect.decimal,
            notes=(*dialect.notes, *notes),
            **options,
        )
    except UnclosedError:
        raise
    except TableError:
        if bad["lines"]:
            raise _uneven(file) from None
        raise
    if bad["lines"] > table.n_rows:
        raise _uneven(file)
    if bad["lines"]:
        skipped = f"{number_of(bad['lines'], 'line')} left out: more or fewer fields than the first has."
        table = replace(table, notes=(*table.notes, skipped))
    return replace(table, n_unseen=len(every) - len(chosen))


def _uneven(file: Path) -> TableError:
    return TableError(f"{file} is not a table: most of its lines have not as many fields as the first")


def _checked(path: Any) -> Path:
    file = Path(str(path)).expanduser()
    if not file.exists():
        near = nearest_file(file)
        raise TableError(f"there is no file {path}" + (f"; did you mean {near}?" if near else ""))
    if file.is_dir():
        raise TableError(f"{path} is a folder, not a file")
    try:
        with file.open("rb") as opened:
            opened.read(1)
    except OSError as error:
        raise TableError(f"{path} cannot be opened: {error.strerror}") from None
    return file


def _is_parquet(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(4) == b"PAR1" or file.suffix.lower() in (".parquet", ".pq")


def _told(blocks: Iterator[Any], progress: Progress | None, name: str, n_rows: int | None) -> Iterator[Any]:
    seen = 0
    for block in blocks:
        seen += block.num_rows
        if progress is not None:
            progress(f"reading {name}: {seen:,} rows", min(1.0, seen / n_rows) if n_rows else None)
        yield block
