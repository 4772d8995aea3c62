"""Rows and their classes: checked, coded, and parted by class."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from tractable.base import Rows, check_class_rows, check_labels, check_weights, classes_of
from tractable.base.validation import check_names
from tractable.data import Batch, ForwardingSource, Source, is_frame
from tractable.engines import fold
from tractable.statistics.by_class import label_codes, union_of_labels
from tractable.value import value

__all__ = [
    "LabelledRows",
    "OfClass",
    "RowsOfClass",
    "column_names",
    "joined",
    "labelled_rows",
    "one_table",
    "plain_labels",
    "rows_of_block",
    "rows_of_classes",
    "some_columns",
    "some_rows",
    "with_all_categories",
]


@value
class LabelledRows:
    """Rows of known classes, held in memory or in a source that can be walked again.

    Parameters
    ----------
    rows : Rows
        In memory their targets are codes, places in `classes`; in a source they are labels.
    classes : array (K,)
    """

    rows: Rows
    classes: np.ndarray

    def fold(self, of: Callable[..., Any], **options: Any) -> Any:
        """Return the sum of ``of(X, codes, weights=w)`` over blocks of rows."""
        rows = self.rows
        if isinstance(rows.data, Source):
            return fold(partial(_coded, of=of, classes=self.classes), rows.data, **options)
        return fold(of, rows.data, rows.y, weights=rows.weights, **options)

    def batches(self) -> Iterator[Batch]:
        """Iterate over the rows in order; the targets are codes."""
        rows = self.rows
        if not isinstance(rows.data, Source):
            yield Batch(X=rows.data, y=rows.y, weights=rows.weights)
            return
        for batch in rows.data.batches():
            yield _coded(batch.X, batch.y, batch.weights, of=_batch, classes=self.classes)


def labelled_rows(estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> LabelledRows:
    """Check rows to learn from, and find their classes: those of rows that count, two at least."""
    rows, seen = check_class_rows(estimator, X, y, sample_weight, reset=reset)
    classes = classes_of(rows, seen)
    if len(classes) < 2:
        raise ValueError(f"y must have two classes at least, got {len(classes)} class")
    if seen is not None and len(classes) < len(seen):
        some = np.asarray(rows.weights) > 0.0
        codes = np.searchsorted(classes, seen[rows.y[some]])
        rows = Rows(data=rows.data[some], y=codes, weights=rows.weights[some])
    return LabelledRows(rows=rows, classes=classes)


def _coded(X: Any, y: Any, weights: Any = None, *, of: Callable[..., Any], classes: np.ndarray) -> Any:
    """Apply `of` to a block of a source: labels become codes; rows that count nothing may have any."""
    y = np.asarray(y)
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    known = classes[codes] == y
    if not np.all(known):
        if weights is None or np.any(np.asarray(weights)[~known] > 0.0):
            raise ValueError("y has a label that an earlier pass over the source did not have")
        X, codes, weights = X[known], codes[known], np.asarray(weights)[known]
    return of(X, codes, weights=weights)


def _batch(X: Any, y: Any, weights: Any = None) -> Batch:
    return Batch(X=X, y=y, weights=weights)


@value
class RowsOfClass:
    """The rows of one class, and how often each counts."""

    label: Any
    X: Any
    sample_weight: np.ndarray | None
    weight: float
    name: np.ndarray  # the label in an array of its own, of the type that labels came in

    @property
    def options(self) -> dict[str, Any]:
        """What `fit` is told beside the rows."""
        return {} if self.sample_weight is None else {"sample_weight": self.sample_weight}


class OfClass(ForwardingSource):
    """The rows of one class of a source."""

    def __init__(self, source: Source, label: Any) -> None:
        self.source, self._label = source, label

    @property
    def n_rows(self) -> None:
        """Unknown: only a pass can tell."""
        return

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """None: class densities know their columns by position."""
        return None

    def batches(self) -> Iterator[Batch]:
        """See `Source.batches`."""
        for batch in self.source.batches():
            mine = np.asarray(batch.y) == self._label
            if np.any(mine):
                weights = None if batch.weights is None else batch.weights[mine]
                yield Batch(X=batch.X[mine], weights=weights)


def rows_of_classes(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool, words: bool
) -> list[RowsOfClass]:
    """Check rows to learn from, and return those of each class that has any, in the order of the labels.

    Parameters
    ----------
    estimator : estimator
        It remembers the columns.
    X, y, sample_weight
        As given to `fit`.
    reset : bool
        Whether the columns are remembered or compared.
    words : bool
        Whether columns of tables may hold words; tables are then passed on as they are.
    """
    if words and is_frame(X):
        return _of_table(estimator, X, y, sample_weight, reset=reset)
    rows, classes = check_class_rows(estimator, X, y, sample_weight, reset=reset)
    if classes is None:
        return _of_source(rows.data)
    return _parts(rows.data, rows.y, rows.weights, classes)


def rows_of_block(batch: Batch) -> list[RowsOfClass]:
    """Return the rows of each class of a batch."""
    classes, codes = label_codes(np.asarray(batch.y))
    return _parts(batch.X, codes, batch.weights, classes)


def plain_labels(classes: np.ndarray) -> list[Any]:
    """Return labels one by one, as users write them; dates keep their type, as others do in Python's."""
    return list(classes) if classes.dtype.kind == "M" else classes.tolist()


def joined(parts: list[Any], codes: np.ndarray) -> Any:
    """Return rows drawn class by class in the order that their codes are in."""
    order = np.argsort(np.argsort(codes, kind="stable"), kind="stable")
    if not is_frame(parts[0]):
        return np.concatenate([np.asarray(part) for part in parts])[order]
    return one_table(parts, order)


def _of_table(estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> list[RowsOfClass]:
    given = {"y": y, "sample_weight": sample_weight}
    taken = {name: column for name, column in given.items() if isinstance(column, str)}
    for name, column in taken.items():
        if column not in column_names(X):
            raise ValueError(f"{name}={column!r} is not a column of X, which has {column_names(X)}")
        given[name] = np.asarray(X[column])
    if taken:
        X = some_columns(X, [column for column in column_names(X) if column not in taken.values()])
    if given["y"] is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None"
        )
    names = column_names(X)
    check_names(estimator, names, len(names), reset=reset)
    classes, codes = check_labels(given["y"])
    if len(codes) != len(X):
        raise ValueError(f"y must have one label a row: X has {len(X)} rows, y has {len(codes)}")
    weights = check_weights(given["sample_weight"], np.zeros((len(X), 1)))
    return _parts(with_all_categories(X), codes, weights, classes)


def _parts(X: Any, codes: np.ndarray, weights: Any, classes: np.ndarray) -> list[RowsOfClass]:
    found = []
    for k, label in enumerate(plain_labels(classes)):
        mine = np.flatnonzero((codes == k) if weights is None else (codes == k) & (weights > 0.0))
        if len(mine):
            w = None if weights is None else weights[mine]
            weight = float(len(mine)) if w is None else float(w.sum())
            found.append(
                RowsOfClass(
                    label=label,
                    X=some_rows(X, mine),
                    sample_weight=w,
                    weight=weight,
                    name=classes[k : k + 1],
                )
            )
    return found


def _of_source(source: Source) -> list[RowsOfClass]:
    """Return the rows of each class that has any; one pass finds which do, and their weight."""
    classes, total = np.zeros(0), np.zeros(0)
    for batch in source.batches():
        seen, codes = label_codes(np.asarray(batch.y))
        more = np.bincount(codes, batch.weights, minlength=len(seen))
        every = union_of_labels([classes, seen[more > 0]])
        sums = np.zeros(len(every))
        sums[np.searchsorted(every, classes)] = total
        sums[np.searchsorted(every, seen[more > 0])] += more[more > 0]
        classes, total = every, sums
    return [
        RowsOfClass(
            label=label,
            X=OfClass(source, label),
            sample_weight=None,
            weight=float(total[k]),
            name=classes[k : k + 1],
        )
        for k, label in enumerate(plain_labels(classes))
    ]


def column_names(table: Any) -> list[Any]:
    """Return the names of a table's columns."""
    return list(table.column_names if hasattr(table, "column_names") else table.columns)


def some_columns(table: Any, names: list[Any]) -> Any:
    """Return the columns of these names."""
    return table.select(names) if hasattr(table, "column_names") else table[names]


def some_rows(table: Any, rows: np.ndarray) -> Any:
    """Return the rows at these places, of a table or an array."""
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    return table.take(rows) if hasattr(table, "column_names") else table[rows]


def one_table(parts: list[Any], order: np.ndarray) -> Any:
    """Return the rows of tables of one kind, in an order."""
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts).iloc[order].reset_index(drop=True)
    if hasattr(parts[0], "column_names"):
        import pyarrow as pa

        return pa.concat_tables(parts).unify_dictionaries().take(order)
    import polars as pl

    return pl.concat(parts)[order]


def with_all_categories(table: Any) -> Any:
    """Return the table with columns of words whose type knows all of them, so that each class's rows do."""
    if hasattr(table, "iloc"):
        words = [c for c in table.columns if table[c].dtype.kind == "O" and _words(table[c].dropna())]
        return table.astype(dict.fromkeys(words, "category"))
    if hasattr(table, "column_names"):
        return _arrow(table)
    import polars as pl

    words = [name for name, kind in table.schema.items() if kind == pl.String]
    known = {name: pl.Enum(sorted(table[name].drop_nulls().unique().to_list())) for name in words}
    return table.with_columns(*(pl.col(name).cast(kind) for name, kind in known.items()))


def _words(column: Any) -> bool:
    return all(isinstance(value, str) for value in column.unique())


def _arrow(table: Any) -> Any:
    import pyarrow as pa

    for j, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            table = table.set_column(j, field.name, table.column(j).dictionary_encode())
    return table
