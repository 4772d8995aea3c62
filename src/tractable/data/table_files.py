"""The files that a path, a pattern or a folder stands for, and the columns that folders name."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from glob import glob, has_magic
from os import PathLike, fspath
from os.path import commonpath
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from tractable.data.copies import holds_codes
from tractable.data.names import nearest_file
from tractable.data.table_logs import LOGS, removed_by_log
from tractable.data.text import is_castable
from tractable.value import value

#: Endings of the files of tables.
ENDINGS = (".parquet", ".pq", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".npy")

#: The name of a folder of rows without a value, as Hive and its successors write it.
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@value
class Files:
    r"""The files of one table in order, with the columns that are constant in each file.

    In the files of the folder ``year=2024``, the column "year" is 2024 in all rows. A column
    that a file holds itself is read from the file.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for year in ("2023", "2024"):
    ...     (folder / f"year={year}").mkdir()
    ...     _ = (folder / f"year={year}" / "rows.csv").write_text("km\n1.5\n")
    >>> table_files(folder).partitions["year"].to_pylist()
    [2023, 2024]
    """

    paths: tuple[Path, ...]
    partitions: dict[str, Any]  # of each column, an Arrow array with the value of each file

    @cached_property
    def position(self) -> dict[Path, int]:
        """Where each file is among all."""
        return {path: i for i, path in enumerate(self.paths)}

    def names_beside(self, names: Sequence[str]) -> list[str]:
        """Return the columns of partitions that are not among the names of a file's own columns."""
        return [name for name in self.partitions if name not in names]

    def schema(self, schema: Any) -> Any:
        """Return the Arrow schema of a file with the columns of partitions."""
        import pyarrow as pa

        for name in self.names_beside(schema.names):
            schema = schema.append(pa.field(name, self.partitions[name].type))
        return schema

    def with_partitions(self, rows: Any, path: Path, columns: Sequence[str]) -> Any:
        """Return rows of a file, an Arrow table or batch, with some columns of its partition."""
        import pyarrow as pa

        for name in columns:
            if name in self.partitions and name not in rows.schema.names:
                of_file = pa.repeat(self.partitions[name][self.position[path]], rows.num_rows)
                rows = rows.append_column(name, of_file)
        return rows

    def is_number(self, name: str) -> bool:
        """Whether the values of a column of partitions are numbers."""
        from pyarrow import types

        return not types.is_string(self.partitions[name].type)

    def numbers(self, path: Path) -> np.ndarray:
        """Return the values of a file in the columns of partitions as float64."""
        values = [
            column[self.position[path]].as_py() if self.is_number(name) else None
            for name, column in self.partitions.items()
        ]
        return np.array([np.nan if entry is None else entry for entry in values], dtype=np.float64)


def table_files(path: Any) -> Files:
    """Return the files of a path, a pattern, a folder or a list of these, in order, as one table.

    In the folder of a Delta or Iceberg table, only files of the last version count: the log of the table says
    which files it has removed. Without a log, folders below the one that is given, or below the first folder
    of a pattern that has a wildcard, may name columns.
    """
    if isinstance(path, Files):
        return path
    several = isinstance(path, list | tuple)
    each = list(path) if several else [path]
    for one in each:
        if not isinstance(one, str | PathLike):
            raise ValueError(f"path: {one!r} is a {type(one).__name__}; give a path, or a list of paths")
    if not several:
        found = _table_of_log(path)
        if found is not None:
            return found
    if not each:
        raise ValueError("path: the list is empty")
    matching = [_matching(one) for one in each]
    paths = tuple(file for files, _ in matching for file in files)
    dead = removed_by_log(paths)
    if dead is not None:
        file, folder = dead
        raise ValueError(
            f"path: {file} is no part of the table in {folder}, by its log; scan the folder {folder} itself"
        )
    return Files(paths=paths, partitions=_partitions(paths, Path(commonpath([base for _, base in matching]))))


def _table_of_log(path: Any) -> Files | None:
    """Return the files of a folder that holds a table with a log, None if it holds none."""
    for log in LOGS:
        if log.is_in(Path(path)):
            paths, partitions = log.files(Path(path))
            if not paths:
                raise ValueError(f"path: no rows in {path}: its log names no file")
            missing = [file for file in paths if not file.is_file()]
            if missing:
                raise ValueError(f"path: {missing[0]} is part of the table in {path}, but does not exist")
            return Files(paths=paths, partitions=partitions)
    return None


def _matching(path: Any) -> tuple[tuple[Path, ...], Path]:
    """Return the files of a path, a pattern or a folder, and the folder below which folders name columns."""
    text = str(fspath(path))
    if Path(text).is_file():
        return (Path(text),), Path(text).parent.absolute()
    if Path(text).is_dir():
        base = Path(text)
        inside = [file for file in base.rglob("*") if ending_of(file) is not None and file.is_file()]
        hidden = (".", "_")  # logs and markers beside the data
        found = [
            file for file in inside if not any(p.startswith(hidden) for p in file.relative_to(text).parts)
        ]
    elif has_magic(text):
        found = [Path(file) for file in glob(text, recursive=True) if Path(file).is_file()]  # noqa: PTH207
        parts = Path(text).parts
        base = Path(*parts[: next(i for i, part in enumerate(parts) if has_magic(part))])
    else:
        near = nearest_file(Path(text))
        hint = f"; did you mean {near}?" if near else ""
        raise ValueError(f"path: no such file or folder: {text}{hint}")
    if not found:
        raise ValueError(f"path: no files of a known kind ({', '.join(ENDINGS)}) in {text}")
    return tuple(sorted(found)), base.absolute()


def ending_of(path: Path) -> str | None:
    """Return the ending of a file by which its kind is known, None for other files."""
    return next((ending for ending in ENDINGS if path.name.lower().endswith(ending)), None)


def _partitions(paths: Sequence[Path], base: Path) -> dict[str, Any]:
    """Return the columns that folders ``name=value`` below `base` make."""
    values = [_named_by_folders(path, base) for path in paths]
    for path, found in zip(paths, values, strict=True):
        if found.keys() != values[0].keys():
            raise ValueError(
                f"path: the folders of {paths[0]} name the columns {list(values[0])}, and the folders of "
                f"{path} name {list(found)}; scan files whose folders name the same columns"
            )
    return {name: _typed([found[name] for found in values]) for name in values[0]}


def _named_by_folders(path: Path, base: Path) -> dict[str, str | None]:
    folders = path.absolute().parent.relative_to(base).parts
    pairs = [re.fullmatch(r"([^=]+)=(.*)", folder) for folder in folders]
    texts: dict[str, str] = {}
    for pair in pairs:
        if pair is not None:
            name = unquote(pair[1])
            if name in texts:
                raise ValueError(f"path: the folders of {path} name the column {name!r} twice; rename one")
            texts[name] = unquote(pair[2])
    return {name: None if text == NO_VALUE else text for name, text in texts.items()}


def _typed(texts: Iterable[str | None]) -> Any:
    """Return the values of files as an Arrow array: whole numbers, numbers or text, as all of them are.

    Whole numbers with more digits than int64 has are text: as floats, two of them may be one.
    """
    import pyarrow as pa

    column = pa.array(texts, pa.string())
    kinds = ["int64"] if holds_codes(column) else ["int64", "double"]
    return column.cast(next((kind for kind in kinds if is_castable(column, kind)), "string"))
