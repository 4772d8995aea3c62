"""Reading of tables: from CSV and Parquet files of any size, and from frames."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator, either_seed_name
from tractable.data.arrow import check_entries, read_errors
from tractable.data.names import clean_names, nearest_file, number_of
from tractable.data.text import Dialect, TableError, is_text, sniffed
from tractable.data.text_table import UnclosedError, text_blocks
from tractable.report.mutual_information import informative_columns
from tractable.report.rows import listed
from tractable.report.table import ColumnCounts, Table, classified_column, unknown_column
from tractable.value import replace, value

#: Rows in memory and columns, at most.
MAX_ROWS, MAX_COLUMNS = 20_000, 100

#: Rows and blocks at the beginning of a table by which columns are chosen if there are too many.
HEAD_ROWS, HEAD_BLOCKS = 2_000, 20

#: Entries of a Parquet file that are read at a time.
BLOCK_ENTRIES = 2**20

#: The kinds that a user may give to a column.
DECLARED = ("number", "category", "date", "text", "identifier")

#: Called with a text and the fraction that is done (0 to 1, None if unknown).
Progress = Callable[[str, float | None], None]


@either_seed_name
def read_table(
    path: Any,
    *,
    max_rows: int | None = MAX_ROWS,
    max_columns: int = MAX_COLUMNS,
    target: str | None = None,
    kinds: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
    random_state: Any = 0,
    progress: Progress | None = None,
) -> Table:
    """Read a CSV or Parquet file of any size: all rows are counted, a sample is held in memory.

    The delimiter of text files (comma, semicolon, tab, bar), their encoding and their decimal sign are
    detected; compressed files (.gz, .bz2, .zst) are decompressed. Memory does not grow with the file.

    Parameters
    ----------
    path : str or path
        The file.
    max_rows : int, optional
        Rows in memory, a uniform random sample if there are more; None for all.
    max_columns : int
        Columns that are read: those that depend on the target, and the first ones.
    target : str, optional
        A column that is always read; it must exist.
    kinds : dict from column to kind, optional
        Kinds of columns that are not to be inferred: "number", "category", "date", "text" or "identifier".
    ignore : sequence of str
        Columns that are not read.
    random_state : None, int or Generator
        Where the randomness of the sample comes from.
    progress : callable, optional
        Called with a text and the fraction that is done (0 to 1, or None).

    Returns
    -------
    Table

    Raises
    ------
    TableError
        With a one-sentence message if there is no file, or no table in it.

    Examples
    --------
    >>> from importlib.resources import files
    >>> table = read_table(files("tractable.datasets") / "tables" / "penguins.csv")
    >>> table.n_rows, [column.kind for column in table.columns[:3]], table.column("sex").n_missing
    (344, ['category', 'category', 'number'], 11)
    """
    file = _checked(path)
    kinds, wanted = (
        _checked_kinds(kinds),
        Wanted(target=target, max_columns=max_columns, ignore=tuple(ignore)),
    )
    options: Any = {
        "max_rows": max_rows,
        "rng": as_generator(random_state),
        "path": str(path),
        "kinds": kinds,
    }
    given: dict[str, tuple[Any, Any]] = {
        "max_rows": (max_rows, MAX_ROWS),
        "max_columns": (max_columns, MAX_COLUMNS),
        "target": (target, None),
        "kinds": (kinds, {}),
        "ignore": (list(ignore), []),
    }
    arguments = "".join(f", {name}={value!r}" for name, (value, usual) in given.items() if value != usual)
    options["source"] = f"read_table({str(path)!r}{arguments})"
    if not _is_parquet(file):
        return _of_text(file, wanted, progress, options)
    names, n_rows = _parquet_names(file)
    every = list(range(len(names)))
    chosen, notes = _chosen_columns(names, wanted, str(path), lambda: _parquet_blocks(file, every))
    blocks = _with_progress(_parquet_blocks(file, chosen), progress, file.name, n_rows)
    levels = _parquet_levels(file)
    return collect_table(blocks, names, chosen, notes=tuple(notes), levels=levels, **options)


@value
class Wanted:
    """Which columns of a table are read."""

    target: str | None = None
    max_columns: int = MAX_COLUMNS
    ignore: tuple[str, ...] = ()


def _checked_kinds(kinds: Mapping[str, str] | None) -> dict[str, str]:
    for name, kind in (kinds or {}).items():
        if kind not in DECLARED:
            raise TableError(f"kind: of {name!r} must be one of {', '.join(DECLARED)}, got {kind!r}")
    return dict(kinds or {})


@either_seed_name
def table_of(
    frame: Any,
    *,
    max_rows: int | None = MAX_ROWS,
    max_columns: int = MAX_COLUMNS,
    target: str | None = None,
    kinds: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
    random_state: Any = 0,
    name: str = "the table",
    source: str = "table_of(frame)",
) -> Table:
    """Return a frame (pandas, polars, Arrow) as a table.

    Parameters
    ----------
    frame : pandas or polars frame, or Arrow table
        The rows.
    max_rows, max_columns, target, kinds, ignore, random_state
        As in `read_table`.
    name : str
        What the report calls the table.
    source : str
        The Python expression that makes this table.

    Examples
    --------
    >>> import pandas as pd
    >>> table = table_of(pd.DataFrame({"size": [1.5, None, 2.5], "colour": ["red", "red", "blue"]}))
    >>> [(column.name, column.kind, column.n_missing) for column in table.columns]
    [('size', 'number', 1), ('colour', 'category', 0)]
    """
    if not (hasattr(frame, "iloc") or hasattr(frame, "to_arrow") or hasattr(frame, "column_names")):
        raise TableError(f"data must be a path or a frame, got {type(frame).__name__}")
    block, names, levels = arrow_of(frame)
    if not names:
        raise TableError(f"{name} has no columns")
    wanted = Wanted(target=target, max_columns=max_columns, ignore=tuple(ignore))
    chosen, notes = _chosen_columns(names, wanted, name, lambda: iter([block]))
    return collect_table(
        [block.select(chosen)],
        names,
        chosen,
        levels=levels,
        kinds=_checked_kinds(kinds),
        max_rows=max_rows,
        rng=as_generator(random_state),
        path=name,
        notes=tuple(notes),
        source=source,
    )


def _of_text(file: Path, wanted: Wanted, progress: Progress | None, options: Any) -> Table:
    """Read a text file, again with another encoding or without quotes if its first part was misleading."""
    encoding, quoted = None, True
    while True:
        dialect = sniffed(file, encoding, quoted=quoted)
        try:
            return _of_csv(file, dialect, wanted, progress, options)
        except UnicodeError:
            encoding = "latin-1"  # which decodes every byte
        except UnclosedError:
            quoted = False


def _of_csv(file: Path, dialect: Dialect, wanted: Wanted, progress: Progress | None, options: Any) -> Table:
    every = list(range(len(dialect.names)))
    chosen, notes = _chosen_columns(
        dialect.names,
        wanted,
        options["path"],
        lambda: text_blocks(file, dialect, every, Counter()),
        decimal=dialect.decimal,
    )
    bad: Counter[str] = Counter()
    blocks = _with_progress(text_blocks(file, dialect, chosen, bad), progress, file.name, None)
    try:
        table = collect_table(
            blocks,
            dialect.names,
            chosen,
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
    return table


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


def _with_progress(
    blocks: Iterator[Any], progress: Progress | None, name: str, n_rows: int | None
) -> Iterator[Any]:
    seen = 0
    for block in blocks:
        seen += block.num_rows
        if progress is not None:
            progress(f"reading {name}: {seen:,} rows", min(1.0, seen / n_rows) if n_rows else None)
        yield block


def _chosen_columns(
    names: Sequence[Any],
    wanted: Wanted,
    path: str,
    blocks: Callable[[], Iterator[Any]],
    *,
    decimal: str = ".",
) -> tuple[list[int], list[str]]:
    """Return the positions of the columns to read, by their names in the file, and a note on the others.

    `blocks` returns blocks of rows with all columns; it is called if there are too many and a target.
    """
    clean, target, max_columns = clean_names(names)[0], wanted.target, wanted.max_columns
    if target is not None and target not in clean:
        raise unknown_column(target, clean, path)
    for name in wanted.ignore:
        if name not in clean:
            raise unknown_column(name, clean, path, "ignore")
        if name == target:
            raise TableError(f"ignore: {name!r} is the target")
    every = [j for j, name in enumerate(clean) if name not in wanted.ignore]
    if not every:
        raise TableError("ignore: no column of the table is left")
    left = [f"Not looked at, as asked: {listed(wanted.ignore)}."] if wanted.ignore else []
    if len(every) <= max_columns:
        return every, left
    informative: list[str] = []
    if target is not None:
        informative = _informative(names, target, blocks, decimal)[: max_columns - 1]
    first = [clean.index(name) for name in ([] if target is None else [target, *informative])]
    chosen = sorted(list(dict.fromkeys([*(j for j in first if j in every), *every]))[:max_columns])
    later = [name for name in informative if clean.index(name) >= max_columns]
    which = [f"those most informative about {target} ({listed(later)})"] if later else []
    if target is not None and clean.index(target) >= max_columns:
        which.append("the target")
    words = listed(["the first ones", *which])
    few = f"The table has {len(names):,} columns; {len(chosen)} of them are looked at: {words}."
    return chosen, [*left, few]


def _informative(
    names: Sequence[Any], target: str, blocks: Callable[[], Iterator[Any]], decimal: str
) -> list[str]:
    """Return the columns that depend on the target in the first rows; none if these cannot be read."""
    import pyarrow as pa

    head, n = [], 0
    try:
        for block in blocks():
            head.append(block.slice(0, HEAD_ROWS - n))
            n += head[-1].num_rows
            if n >= HEAD_ROWS or len(head) == HEAD_BLOCKS:
                break
        rng = np.random.default_rng(0)
        options: Any = {"max_rows": HEAD_ROWS, "rng": rng, "decimal": decimal, "path": "", "source": ""}
        table = collect_table(head, names, range(len(names)), **options)
    except (pa.ArrowException, OSError, TableError):
        return []  # reading the whole file raises the error
    return informative_columns(table, target)


def _parquet_names(path: Path) -> tuple[list[str], int]:
    """Return the names of a file's columns, and the number of its rows."""
    from pyarrow import parquet

    with _explained(path), parquet.ParquetFile(path) as file:
        return list(file.schema_arrow.names), file.metadata.num_rows


def _parquet_blocks(path: Path, columns_read: list[int]) -> Iterator[Any]:
    """Iterate over blocks of the columns at positions `columns_read`."""
    import pyarrow as pa
    from pyarrow import parquet

    with _explained(path), parquet.ParquetFile(path) as file:
        names = [file.schema_arrow.names[j] for j in columns_read]
        rows = max(1, BLOCK_ENTRIES // max(1, len(names)))
        for batch in file.iter_batches(batch_size=rows, columns=names):
            check_entries(batch)
            arrays = [batch.column(name) for name in names]
            yield pa.RecordBatch.from_arrays([_plain(a) for a in arrays], [str(j) for j in columns_read])


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Raise errors of reading a Parquet file as errors of the table."""
    try:
        yield
    except TableError:
        raise
    except read_errors() as error:
        reason = str(error).strip().split("\n")[0][:200]
        raise TableError(f"{path} cannot be read as Parquet: {reason}") from None


def _parquet_levels(path: Path) -> dict[int, tuple[str, ...]]:
    """Return the categories, in their order, of the columns of a file whose type has one."""
    import pyarrow as pa
    from pyarrow import parquet

    with _explained(path), parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
        ordered = [f.name for f in schema if pa.types.is_dictionary(f.type) and f.type.ordered]
        head = next(file.iter_batches(batch_size=1, columns=ordered), None) if ordered else None
        return {} if head is None else {schema.names.index(n): _levels(head.column(n)) for n in ordered}


def _levels(entries: Any) -> tuple[str, ...]:
    return tuple(_text(level) for level in entries.dictionary.to_pylist())


def arrow_of(frame: Any) -> tuple[Any, list[Any], dict[int, tuple[str, ...]]]:
    """Return a frame (pandas, polars, Arrow) as one Arrow record batch, the names of its columns, and levels.

    Levels are the categories, in their order, of the columns whose type has one.
    """
    import pyarrow as pa

    if hasattr(frame, "to_frame") and not hasattr(frame, "columns"):
        frame = frame.to_frame()  # a series
    if hasattr(frame, "iloc"):
        names = list(frame.columns)
        arrays = [_of_series(frame.iloc[:, j]) for j in range(frame.shape[1])]
        ordered = (j for j, kind in enumerate(frame.dtypes) if getattr(kind, "ordered", False))
        levels = {j: tuple(map(_text, frame.iloc[:, j].cat.categories)) for j in ordered}
    else:
        table = frame if isinstance(frame, pa.Table) else frame.to_arrow()
        names, arrays = list(table.column_names), [_combined(column) for column in table.columns]
        kinds = [entries.type for entries in arrays]
        ordered = (j for j, kind in enumerate(kinds) if pa.types.is_dictionary(kind) and kind.ordered)
        levels = {j: _levels(arrays[j]) for j in ordered}
    arrays = [_plain(a) for a in arrays]
    return pa.RecordBatch.from_arrays(arrays, [str(j) for j in range(len(arrays))]), names, levels


def _plain(entries: Any) -> Any:
    """Return entries as numbers (null for NaN), truth values, dates or text.

    Integers stay integers, because keys of rows may have more digits than floats.
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    kind = entries.type
    if pa.types.is_dictionary(kind):
        return _plain(entries.dictionary_decode())
    unchanged = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_date, pa.types.is_timestamp)
    if any(fits(kind) for fits in unchanged):
        return entries
    if is_text(kind) or pa.types.is_null(kind):
        return pc.cast(entries, pa.large_string())
    numbers = _numbers(entries)
    if numbers is not None:
        return pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)
    return pa.array([None if v is None else _text(v) for v in entries.to_pylist()], pa.large_string())


def _numbers(entries: Any) -> Any:
    """Return numbers as floats and durations in seconds; None if entries are neither."""
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
    """Return a column of a pandas frame; values of several types, and intervals, as text."""
    import pyarrow as pa

    if str(series.dtype).startswith("period"):
        series = series.dt.to_timestamp()
    try:
        if str(series.dtype).startswith("interval") or hasattr(series.dtype, "categories"):
            raise TypeError  # noqa: TRY301  (read as text)
        return _combined(pa.array(series, from_pandas=True))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        missing = series.isna()
        texts = [None if null else _text(v) for v, null in zip(series, missing, strict=True)]
        return pa.array(texts, pa.large_string())


def _text(entry: Any) -> str:
    """Return an entry as text that UTF-8 can encode."""
    return str(entry)[:200].encode("utf-8", errors="replace").decode("utf-8")


def _combined(entries: Any) -> Any:
    import pyarrow as pa

    return entries.combine_chunks() if isinstance(entries, pa.ChunkedArray) else entries


class RowSample:
    """A uniform sample of streamed rows, in their order: those with the smallest random keys."""

    def __init__(self, max_rows: int | None, rng: np.random.Generator) -> None:
        self.max_rows, self.rng = sys.maxsize if max_rows is None else max_rows, rng
        self.blocks: list[Any] = []
        self.keys: list[np.ndarray] = []
        self.rows: list[np.ndarray] = []  # positions in the whole table
        self.n_kept = self.n_seen = 0
        self.limit = 1.0  # rows with larger keys are not in the sample

    def add(self, block: Any) -> None:
        keys = self.rng.random(block.num_rows)
        chosen = np.flatnonzero(keys < self.limit)
        before = self.n_seen
        self.n_seen += block.num_rows
        if len(chosen):
            self.blocks.append(block if len(chosen) == block.num_rows else block.take(chosen))
            self.keys.append(keys[chosen])
            self.rows.append(before + chosen)
            self.n_kept += len(chosen)
        if self.n_kept > 2 * self.max_rows:
            self._thin()

    def table(self) -> Any:
        """Return the sample as an Arrow table."""
        import pyarrow as pa

        if self.n_kept > self.max_rows:
            self._thin()
        return pa.Table.from_batches(self.blocks)

    @property
    def positions(self) -> np.ndarray | None:
        """The positions of the rows in the whole table; None if all are kept."""
        return np.concatenate(self.rows) if self.n_kept < self.n_seen else None

    def _thin(self) -> None:
        import pyarrow as pa

        keys = np.concatenate(self.keys)
        self.limit = float(np.partition(keys, self.max_rows - 1)[self.max_rows - 1])
        chosen = np.flatnonzero(keys <= self.limit)
        rows = pa.Table.from_batches(self.blocks).take(chosen).combine_chunks()
        self.blocks, self.keys, self.n_kept = rows.to_batches(), [keys[chosen]], len(chosen)
        self.rows = [np.concatenate(self.rows)[chosen]]


def collect_table(
    blocks: Iterable[Any],
    names: Sequence[Any],
    chosen: Sequence[int],
    *,
    max_rows: int | None,
    rng: np.random.Generator,
    kinds: Mapping[str, str] | None = None,
    levels: Mapping[int, tuple[str, ...]] | None = None,
    decimal: str = ".",
    path: str,
    notes: tuple[str, ...] = (),
    source: str,
) -> Table:
    """Return the table of blocks (Arrow record batches of one schema) of the chosen columns of a file.

    `kinds` are those that the user gave to columns, `levels` the order of categories by position in the file.
    """
    import pandas as pd

    kept = RowSample(max_rows, rng)
    counts_of_columns: list[ColumnCounts] = []
    for block in blocks:
        if not counts_of_columns:
            counts_of_columns = [ColumnCounts(text=is_text(field.type)) for field in block.schema]
        for counted, entries in zip(counts_of_columns, block.columns, strict=True):
            counted.add(entries, decimal)
        kept.add(block)
    if kept.n_seen == 0:
        raise TableError(f"{path} has no rows")
    clean, changed = clean_names([names[j] for j in chosen])
    kinds, levels = kinds or {}, levels or {}
    for name in kinds:
        if name not in clean:
            raise unknown_column(name, clean, path, "kind")
    rows, columns, series = kept.table(), [], {}
    for j, (name, counted) in enumerate(zip(clean, counts_of_columns, strict=True)):
        entries, order = rows.column(j).combine_chunks(), levels.get(chosen[j], ())
        column, values = classified_column(
            name, counted, entries, decimal, declared=kinds.get(name), levels=order
        )
        columns.append(column)
        series[name] = values
    return Table(
        columns=tuple(columns),
        frame=pd.DataFrame(series),
        n_rows=kept.n_seen,
        path=path,
        notes=(*notes, *changed, *_sample_note(kept)),
        source=source,
        n_unseen=len(names) - len(chosen),
        positions=kept.positions,
    )


def _sample_note(sample: RowSample) -> list[str]:
    if sample.n_kept == sample.n_seen:
        return []
    counted = f"The table has {sample.n_seen:,} rows. Missing entries, ranges and categories are counted over"
    return [f"{counted} all of them; all else is worked out from {sample.n_kept:,} rows, chosen at random."]
