"""Predictions for a table of any size, streamed into a file."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from os import fspath
from pathlib import Path
from typing import Any

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.namespace import is_collection, is_foreign_array, namespace_of
from tractable.data.columns import check_known
from tractable.data.dispatch import as_source, distributed
from tractable.data.files import FileSource
from tractable.data.output import check_outputs, check_writable, replacing
from tractable.data.source import MAX_BATCH_ROWS, Batch, Source
from tractable.data.table_columns import as_pandas
from tractable.value import value

#: Names of columns in the file, by method; others have the name of the method.
NAMES = {"predict": "prediction", "predict_proba": "probability", "score_samples": "score"}


def predict_to(
    estimator: Any,
    source: Any,
    path: Any,
    *,
    method: str = "predict",
    interval: float | None = None,
    columns: Sequence[str] | None = None,
) -> Path:
    """Write a fitted model's predictions for every row of a source to a Parquet file.

    Rows keep their order and are never held at once. The file appears whole, when the last row is done, or
    not at all. Those of a collection of Dask become a folder of files, one a partition, which the workers
    write; it must be on a disk that all of them share.

    Parameters
    ----------
    estimator : fitted estimator
        One that was fitted on named columns picks them from the source by name.
    source : source, frame, array, batches or collection of Dask
        What :func:`tractable.scan` returns, for instance.
    path : path
        Ends in ``.parquet``; a file that is there is replaced. A folder of a collection may have any name,
        and must not be there.
    method : str
        ``"predict"`` (column ``prediction``), ``"predict_dist"`` (``mean`` and ``stddev``),
        ``"predict_proba"`` (``probability_<class>``), ``"score_samples"`` (``score``), or any other method
        with one row of output for each row. Several targets are numbered, ``prediction_0``.
    interval : float, optional
        Also write the columns ``low`` and ``high`` of ``predict_interval`` with this coverage.
    columns : list of names, optional
        Columns of the source to copy; the target of scanned files may be one.

    Returns
    -------
    Path
        Of the file, or the folder.

    Examples
    --------
    >>> import tempfile, numpy as np, tractable
    >>> import pyarrow.parquet as pq
    >>> class Total:
    ...     def predict(self, X):
    ...         return X.sum(axis=1)
    >>> rows = np.arange(6.0).reshape(3, 2)
    >>> path = tractable.predict_to(Total(), rows, Path(tempfile.mkdtemp()) / "totals.parquet")
    >>> pq.read_table(path)["prediction"].to_pylist()
    [1.0, 5.0, 9.0]
    """
    if is_collection(source):
        _check_estimator(estimator, method, interval)
        folder = Path(fspath(path))
        if not folder.parent.is_dir():
            raise ValueError(f"path: no such folder: {folder.parent}")
        given = {"method": method, "interval": interval, "columns": columns}
        return distributed().predict_to_folder(estimator, source, folder, **given)
    target = _target(path)
    source = source if isinstance(source, FileSource) else as_source(source)
    _check_estimator(estimator, method, interval)
    check_outputs([("path", target)], getattr(source, "paths", ()))
    rows = _rows(estimator, source, columns)

    def predictions() -> Iterator[dict[str, np.ndarray]]:
        for X, given in rows():
            if len(X):
                yield predicted_columns(estimator, X, method, interval, given)

    with replacing(target) as file:
        _write(predictions(), file)
    return target


def _target(path: Any) -> Path:
    target = Path(fspath(path))
    if target.suffix.lower() not in (".parquet", ".pq"):
        raise ValueError(f"path must end in .parquet; got {target}")
    check_writable(target, "path")
    return target


def _check_estimator(estimator: Any, method: str, interval: float | None) -> None:
    for name in (method, *([] if interval is None else ["predict_interval"])):
        if not hasattr(estimator, name):
            known = ("predict", "predict_proba", "score_samples", "transform")
            offers = ", ".join(repr(other) for other in known if hasattr(estimator, other))
            hint = f"; it has {offers}" if offers else ""
            raise ValueError(f"method: {type(estimator).__name__} has no {name}{hint}")
    if interval is not None and not 0 < interval < 1:
        raise ValueError(f"interval is a coverage between 0 and 1; got {interval!r}")


def _rows(
    estimator: Any, source: Source, columns: Sequence[str] | None
) -> Callable[[], Iterator[tuple[Any, dict[str, Any]]]]:
    """Return a function that yields rows as the model takes them, and the columns to copy."""
    wanted = getattr(estimator, "feature_names_in_", None)
    columns = [columns] if isinstance(columns, str) else list(columns or ())
    targets = source.roles.targets if isinstance(source, FileSource) else ()
    check_known(columns, (*(source.feature_names or ()), *targets), "columns", "the source")
    if isinstance(source, FileSource) and source.text and wanted is not None:
        check_known(wanted, source.feature_names or (), "source", "the source")
        return lambda: _beside(
            (as_pandas(t.select(list(wanted)))[0] for t in source.tables()), source, columns
        )
    features = FittedColumns.of(estimator, source)
    if isinstance(source, FileSource):
        source.check_numbers()
    if columns and not hasattr(source, "copies"):
        return lambda: ((features(batch.X), _of_batch(batch, source, columns)) for batch in source.batches())
    return lambda: _beside((features(batch.X) for batch in source.batches()), source, columns)


def _beside(
    features: Iterator[Any], source: Any, columns: Sequence[str]
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield blocks of features with the columns to copy, which a pass of their own reads in their types."""
    import pyarrow as pa

    copies = iter(source.copies(columns)) if columns else iter(())
    held: list[Any] = []
    for X in features:
        while columns and sum(map(len, held)) < len(X):
            rows = next(copies, None)
            if rows is None:
                raise ValueError("source has fewer rows in a second pass than in the first")
            held.append(pa.table(rows.columns, names=rows.schema.names))
        some = pa.concat_tables(held) if held else None
        held = [] if some is None else [some.slice(len(X))]
        kept = () if some is None else some.slice(0, len(X)).columns
        yield X, dict(zip(columns, kept, strict=True))


def _of_batch(batch: Batch, source: Source, columns: Sequence[str]) -> dict[str, Any]:
    names = source.feature_names or ()
    return {name: batch.X[:, names.index(name)] for name in columns}


@value
class FittedColumns:
    """A function from rows of a source to the columns that a model was fitted on, by name if it has names."""

    names: tuple[str, ...] | None = None  # of the columns of the model
    picked: tuple[int, ...] | None = None  # where they are in the source; None where they are all, in order

    @classmethod
    def of(cls, estimator: Any, source: Source, argument: str = "source") -> "FittedColumns":
        """Return the columns of a source that a model was fitted on; refuse a source that has not all."""
        names, wanted = source.feature_names, getattr(estimator, "feature_names_in_", None)
        if names is None or wanted is None:
            width = getattr(estimator, "n_features_in_", source.n_features)
            if width != source.n_features:
                raise ValueError(
                    f"{argument} has {source.n_features} features, the model was fitted on {width} features"
                )
            return cls()
        check_known(wanted, names, argument, "the source")
        picked = tuple(names.index(name) for name in wanted)
        return cls(names=tuple(wanted), picked=None if picked == tuple(range(len(names))) else picked)

    def __call__(self, X: np.ndarray) -> Any:
        if self.names is None:
            return X
        if is_foreign_array(X):  # which has no names
            return (
                X
                if self.picked is None
                else namespace_of(X).take(X, beside(np.array(self.picked), X), axis=1)
            )
        from pandas import DataFrame

        X = X if self.picked is None else X[:, list(self.picked)]
        return DataFrame(X, columns=list(self.names), copy=False)


def predicted_columns(
    estimator: Any, X: Any, method: str, interval: float | None, given: dict[str, Any]
) -> dict[str, Any]:
    """Return the columns to write for some rows: those given, the predictions, and the ends of intervals."""
    return _joined(given, _predictions(estimator, X, method), _ends(estimator, X, interval))


def _predictions(estimator: Any, X: Any, method: str) -> dict[str, np.ndarray]:
    found = getattr(estimator, method)(X)
    if method == "predict_dist":
        return {**named_columns("mean", found.mean, len(X)), **named_columns("stddev", found.stddev, len(X))}
    return answer_columns(estimator, method, found, len(X))


def answer_columns(estimator: Any, method: str, found: Any, n_rows: int) -> dict[str, np.ndarray]:
    """Return what a method found, one entry or one line a row, as columns with names."""
    classes = getattr(estimator, "classes_", None) if method == "predict_proba" else None
    return named_columns(NAMES.get(method, method), found, n_rows, classes)


def _ends(estimator: Any, X: Any, interval: float | None) -> dict[str, np.ndarray]:
    if interval is None:
        return {}
    ends = np.asarray(estimator.predict_interval(X, coverage=interval))
    return {**named_columns("low", ends[..., 0], len(X)), **named_columns("high", ends[..., 1], len(X))}


def named_columns(name: str, found: Any, n_rows: int, labels: Any = None) -> dict[str, np.ndarray]:
    """Return what a method found, one entry or one line a row, as columns ``name`` or ``name_label``."""
    found = np.asarray(found)
    if found.ndim not in (1, 2) or len(found) != n_rows:
        raise ValueError(f"method: expected one result for each of {n_rows} rows, got shape {found.shape}")
    if found.ndim == 1:
        return {name: found}
    labels = range(found.shape[1]) if labels is None else labels
    return {f"{name}_{label}": column for label, column in zip(labels, found.T, strict=True)}


def _joined(*parts: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    names = [name for part in parts for name in part]
    doubled = {name for name in names if names.count(name) > 1}
    if doubled:
        raise ValueError(f"columns: {', '.join(sorted(doubled))} would be written twice")
    return {name: column for part in parts for name, column in part.items()}


def _write(predictions: Iterable[dict[str, np.ndarray]], file: Any) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    tables = _row_groups(pa.table(part) for part in predictions)
    first = next(tables, None)
    if first is None:
        raise ValueError("source has no rows")
    with parquet.ParquetWriter(file, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _row_groups(tables: Iterable[Any]) -> Iterator[Any]:
    """Join small batches, so that the file has no tiny row groups."""
    import pyarrow as pa

    held: list[Any] = []
    for table in tables:
        held.append(table)
        if sum(part.num_rows for part in held) >= MAX_BATCH_ROWS:
            yield pa.concat_tables(held)
            held = []
    if held:
        yield pa.concat_tables(held)
