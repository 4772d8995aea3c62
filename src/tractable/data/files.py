"""Tables in files, by path, pattern or folder."""

from glob import glob, has_magic
from os import fspath
from pathlib import Path
from typing import Any

from tractable.data.arrow import ParquetSource
from tractable.data.csv import CsvSource
from tractable.data.file_source import FileSource
from tractable.data.names import nearest_file
from tractable.data.npy import NpySource

__all__ = ["expand", "scan"]

KINDS: dict[str, type[FileSource]] = {
    ".parquet": ParquetSource,
    ".pq": ParquetSource,
    ".csv": CsvSource,
    ".csv.gz": CsvSource,
    ".tsv": CsvSource,
    ".tsv.gz": CsvSource,
    ".npy": NpySource,
}


def scan(path: Any, features: Any = None, target: Any = None, weight: Any = None) -> FileSource:
    """Open a table in files that need not fit in memory; `fit` takes the result in place of X.

    The columns of every file are checked at once; rows are read when something walks them, a few megabytes at
    a time, and as often as it takes.

    Parameters
    ----------
    path : path, pattern, folder, or list of paths
        Parquet (``.parquet``, ``.pq``), CSV with a line of names (``.csv``, ``.tsv``, either with ``.gz``) or
        NumPy matrices (``.npy``); one kind at a time. Patterns and folders are read in the order of names.
    features : list of names, optional
        Columns of X, in this order; all that are left when not given. Numbers, truth values and decimals
        become floats, nulls NaN. Text is for models of tables, such as :class:`tractable.NaiveBayes`; others
        refuse it before any row is read. Columns of ``.npy`` files go by their number.
    target : name or list of names, optional
        A single target may also hold whole numbers or text, as classes do.
    weight : name, optional
        Weights of the rows: finite, not negative.

    Returns
    -------
    Source

    Examples
    --------
    >>> import tempfile, numpy as np, tractable
    >>> folder = Path(tempfile.mkdtemp())
    >>> np.save(folder / "rows.npy", np.arange(12.0).reshape(4, 3))
    >>> source = tractable.scan(folder / "rows.npy", target=2)
    >>> source.n_rows, source.n_features
    (4, 2)
    >>> next(source.batches()).y.tolist()
    [2.0, 5.0, 8.0, 11.0]
    """
    paths = expand(path)
    kinds = {_kind(file) for file in paths}
    if len(kinds) > 1:
        raise ValueError(f"path: files of several kinds: {paths[0]} and others; scan one kind at a time")
    return kinds.pop().open(paths, features, target, weight)


def expand(path: Any) -> tuple[Path, ...]:
    """Return the files that a path, a pattern, a folder or a list of these stands for, in order."""
    if isinstance(path, list | tuple):
        if not path:
            raise ValueError("path: the list is empty")
        return tuple(file for one in path for file in expand(one))
    text = str(fspath(path))
    if Path(text).is_file():
        return (Path(text),)
    if Path(text).is_dir():
        found = [
            file for file in Path(text).rglob("*") if _is_table(file.relative_to(text)) and file.is_file()
        ]
    elif has_magic(text):
        found = [Path(file) for file in glob(text, recursive=True) if Path(file).is_file()]  # noqa: PTH207
    else:
        near = nearest_file(Path(text))
        hint = f"; did you mean {near}?" if near else ""
        raise ValueError(f"path: no such file or folder: {text}{hint}")
    if not found:
        raise ValueError(f"path: no files of a known kind ({', '.join(KINDS)}) in {text}")
    return tuple(sorted(found))


def _is_table(path: Path) -> bool:
    """Say whether a file found in a folder is data: not a log, a marker or a hidden file."""
    return _ending(path) is not None and not any(part.startswith((".", "_")) for part in path.parts)


def _kind(path: Path) -> type[FileSource]:
    ending = _ending(path)
    if ending is None:
        raise ValueError(f"path: {path} is of no known kind; known are {', '.join(KINDS)}")
    return KINDS[ending]


def _ending(path: Path) -> str | None:
    return next((ending for ending in KINDS if path.name.lower().endswith(ending)), None)
