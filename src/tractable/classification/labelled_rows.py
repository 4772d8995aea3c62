"""Rows and their classes: checked, coded, and grouped by class."""

from math import prod
from typing import Any

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.namespace import is_sparse, namespace_of, to_numpy
from tractable.base import check_class_rows, check_labels, check_weights, classes_of
from tractable.base.validation import check_names, require_targets
from tractable.covariance.shapes import constant_columns
from tractable.data import ArraySource, Batch, Source, SparseSource, is_frame
from tractable.data.blocks import block_rows
from tractable.primitives.blocks import fill_blocks
from tractable.statistics import ByClass, DiagonalMoments
from tractable.statistics.by_class import label_codes
from tractable.value import replace, value


def labelled_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, finite: bool = True
) -> tuple[Source, np.ndarray]:
    """Check the rows of a fit; return a source whose targets are class codes, and the classes.

    The classes are those of rows with positive weight, at least two, in order; a code is a position among
    them. Rows without weight of other classes are left out. `finite` is as in `check_rows`.
    """
    rows, seen = check_class_rows(estimator, X, y, sample_weight, reset=True, finite=finite)
    if isinstance(rows.data, SparseSource):
        rows = replace(rows, data=rows.data.X, weights=rows.data.weights)
    classes = classes_of(rows, seen)
    if len(classes) < 2:
        raise ValueError(f"y must have two classes at least, got {len(classes)} class")
    if seen is None:
        return rows.data.map(ClassCodes(classes=classes)), classes
    if len(classes) < len(seen):
        if is_sparse(rows.data):
            some = np.flatnonzero(rows.weights)
            codes = np.searchsorted(classes, seen[rows.y[some]])
            rows = replace(rows, data=rows.data[some], y=codes, weights=rows.weights[some])
        else:
            xp = namespace_of(rows.data)
            some = xp.nonzero(rows.weights > 0.0)[0]
            data, codes, weights = (xp.take(each, some, axis=0) for each in (rows.data, rows.y, rows.weights))
            codes = xp.take(beside(np.searchsorted(classes, seen), data), codes)
            rows = replace(rows, data=data, y=codes, weights=weights)
    if is_sparse(rows.data):
        return labelled_source(rows.data, rows.y, rows.weights), classes
    return rows.source, classes


def labelled_source(x: Any, codes: np.ndarray, weights: Any) -> ArraySource | SparseSource:
    """Return rows in memory with their class codes and weights as a source, in sparse blocks if sparse."""
    if is_sparse(x):
        return SparseSource(X=x, y=codes, weights=weights, dense=False)
    return ArraySource(X=x, y=codes, weights=weights)


@value
class ClassCodes:
    """Replaces the labels of a batch by codes; rows without weight may have labels of no class."""

    classes: np.ndarray

    def __call__(self, batch: Batch) -> Batch:
        labels = np.asarray(batch.y)
        codes = np.minimum(np.searchsorted(self.classes, labels), len(self.classes) - 1)
        known = self.classes[codes] == labels
        if np.all(known):
            return Batch(X=batch.X, y=codes, weights=batch.weights)
        if batch.weights is None or np.any(np.asarray(batch.weights)[~known] > 0.0):
            raise ValueError("y has a label that an earlier pass over the source did not have")
        return Batch(X=batch.X[known], y=codes[known], weights=np.asarray(batch.weights)[known])


@value
class RowsOfClass:
    """The rows of one class, and their weights."""

    label: Any
    X: Any
    sample_weight: np.ndarray | None
    weight: float
    name: np.ndarray  # the label in an array of its own, of the type that labels came in
    alike: bool = False  # one row, or rows that are all alike; not looked for in tables with words
    mean: Any = None  # of the rows of a source
    source: Source | None = None  # the rows of all classes

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments of `fit`."""
        return {} if self.sample_weight is None else {"sample_weight": self.sample_weight}


@value
class _Moved:
    """Leaves the rows of some classes of a batch, and adds a step to those of each."""

    labels: list[Any]
    steps: list[np.ndarray]

    def __call__(self, batch: Batch) -> Batch:
        X, y, w = np.array(batch.X, dtype=np.float64), np.asarray(batch.y), batch.weights
        some = np.zeros(len(X), dtype=bool)
        for label, step in zip(self.labels, self.steps, strict=True):
            mine = y == label
            X[mine] += step
            some |= mine
        return Batch(X=X[some], weights=None if w is None else w[some])


def location(part: RowsOfClass) -> Any:
    """Return the row (1, d) that all rows of a class are alike."""
    return part.X[:1, ...] if part.source is None else part.mean[None]


def moved_rows(part: RowsOfClass, parts: list[RowsOfClass]) -> tuple[Any, dict[str, Any]] | None:
    """Return the deviations of rows from the means of their classes, moved to a class whose rows are alike.

    The rows are those of the classes in which they differ, with their weights as keyword arguments of `fit`;
    None where there are no such classes.
    """
    others = [each for each in parts if not each.alike]
    if not others:
        return None
    if part.source is not None:
        steps = [part.mean - each.mean for each in others]
        return part.source.map(_Moved(labels=[each.label for each in others], steps=steps)), {}
    xp, to = namespace_of(part.X), location(part)
    means = [DiagonalMoments.of(each.X, each.sample_weight).mean for each in others]
    rows = [xp.astype(each.X - mean + to, part.X.dtype) for each, mean in zip(others, means, strict=True)]
    weights = [each.sample_weight for each in others if each.sample_weight is not None]
    return xp.concat(rows), {"sample_weight": xp.concat(weights)} if weights else {}


@value
class _IsOfClass:
    """Leaves the rows of one class of a batch."""

    label: Any

    def __call__(self, batch: Batch) -> Batch:
        mine = np.asarray(batch.y) == self.label
        return Batch(X=batch.X[mine], weights=None if batch.weights is None else batch.weights[mine])


def rows_of_classes(estimator: Any, X: Any, y: Any, sample_weight: Any, *, words: bool) -> list[RowsOfClass]:
    """Check the rows of a fit, and return those of each class that has any, in the order of the labels.

    With `words`, columns of tables may hold words, and tables are passed on as they are.
    """
    if words and is_frame(X):
        return _of_table(estimator, X, y, sample_weight)
    rows, classes = check_class_rows(estimator, X, y, sample_weight, reset=True)
    if classes is not None:
        return grouped_by_class(rows.data, rows.y, rows.weights, classes)
    counted: ByClass = rows.data.reduce(_class_moments)
    return [
        RowsOfClass(
            label=label,
            X=rows.data.filter(_IsOfClass(label=label)),
            sample_weight=None,
            weight=float(part.total),
            name=counted.labels[k : k + 1],
            alike=all_alike(part),
            mean=part.mean,
            source=rows.data,
        )
        for k, (label, part) in enumerate(zip(plain_labels(counted.labels), counted.parts, strict=True))
    ]


def rows_of_block(batch: Batch) -> list[RowsOfClass]:
    """Return the rows of each class of a batch."""
    classes, codes = label_codes(np.asarray(batch.y))
    return grouped_by_class(batch.X, codes, batch.weights, classes)


def plain_labels(classes: np.ndarray) -> list[Any]:
    """Return labels one by one, in the types of Python; dates keep NumPy's."""
    return list(classes) if classes.dtype.kind == "M" else classes.tolist()


def column_names(table: Any) -> list[Any]:
    """Return the names of a table's columns."""
    return list(table.column_names if hasattr(table, "column_names") else table.columns)


def concatenated(parts: list[Any], codes: np.ndarray) -> Any:
    """Return rows drawn class by class in the order of their codes; tables of one library stay tables."""
    order = np.argsort(np.argsort(codes, kind="stable"), kind="stable")
    if not is_frame(parts[0]):
        return np.concatenate([np.asarray(part) for part in parts])[order]
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts).iloc[order].reset_index(drop=True)
    if hasattr(parts[0], "column_names"):
        import pyarrow as pa

        return pa.concat_tables(parts).unify_dictionaries().take(order)
    import polars as pl

    return pl.concat(parts)[order]


def all_alike(moments: Any) -> bool:
    """Whether rows are one, or all alike up to rounding, from their moments."""
    weight, mean, scatter = map(to_numpy, column_moments(moments))
    if not np.all(weight > 0.0):
        return False
    return bool(np.all(constant_columns(scatter / weight, mean)[1]))


def column_moments(moments: Any) -> tuple[Any, Any, Any]:
    """Return the weight, mean and scatter of the observed entries of each column."""
    whole = getattr(moments, "complete", moments)
    if whole is None:
        return moments.columns()
    xp, scatter = namespace_of(whole.mean), whole.scatter
    scatter = xp.linalg.diagonal(scatter) if scatter.ndim == 2 else scatter
    return whole.weight + xp.zeros_like(whole.mean), whole.mean, scatter


def _class_moments(block: Batch) -> ByClass:
    return ByClass.of(block.X, block.y, block.weights, of=DiagonalMoments.of)


def grouped_by_class(X: Any, codes: Any, weights: Any, classes: np.ndarray) -> list[RowsOfClass]:
    """Return the rows of each class that has any that count, by codes from 0 that stand for classes."""
    found = []
    for k, label in enumerate(plain_labels(classes)):
        mine = np.flatnonzero((codes == k) if weights is None else (codes == k) & (weights > 0.0))
        if len(mine):
            w = None if weights is None else weights[mine]
            rows = _rows(X, mine)
            found.append(
                RowsOfClass(
                    label=label,
                    X=rows,
                    sample_weight=w,
                    weight=float(len(mine)) if w is None else float(w.sum()),
                    name=classes[k : k + 1],
                    alike=_rows_alike(rows),
                )
            )
    return found


def _rows_alike(X: Any) -> bool:
    if is_frame(X) or isinstance(X, Source):
        return False
    xp = namespace_of(X)
    # Most rows differ from the next one, and no more than two are looked at.
    return bool(xp.all(X[:2, ...] == X[:1, ...])) and bool(xp.all(X[1:, ...] == X[:1, ...]))


def _of_table(estimator: Any, X: Any, y: Any, sample_weight: Any) -> list[RowsOfClass]:
    names, given = column_names(X), {"y": y, "sample_weight": sample_weight}
    taken = {name: column for name, column in given.items() if isinstance(column, str)}
    for name, column in taken.items():
        if column not in names:
            raise ValueError(f"{name}={column!r} is not a column of X, which has {names}")
        given[name] = np.asarray(X[column])
    if taken:
        names = [name for name in names if name not in taken.values()]
        X = X.select(names) if hasattr(X, "column_names") else X[names]
    require_targets(estimator, given["y"])
    check_names(estimator, names, len(names), reset=True)
    classes, codes = check_labels(given["y"])
    if len(codes) != len(X):
        raise ValueError(f"y must have one label a row: X has {len(X)} rows, y has {len(codes)}")
    weights = check_weights(given["sample_weight"], np.zeros((len(X), 1)))
    return grouped_by_class(_with_all_categories(X), codes, weights, classes)


def _rows(table: Any, rows: np.ndarray) -> Any:
    """Return some rows of a table or an array; many of an array on all cores."""
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    if type(table) is np.ndarray:
        found = np.empty((len(rows), *table.shape[1:]), table.dtype)

        def fill(part: slice) -> None:
            table.take(rows[part], axis=0, out=found[part], mode="clip")  # else it writes to a copy first

        fill_blocks(fill, len(rows), 4 * block_rows(prod(table.shape[1:])))
        return found
    return table.take(rows) if hasattr(table, "column_names") else table[rows]


def _with_all_categories(table: Any) -> Any:
    """Return the table with columns of words as categories, so that the rows of every class know all."""
    if hasattr(table, "iloc"):
        objects = [c for c in table.columns if table[c].dtype.kind == "O"]
        words = [c for c in objects if all(isinstance(v, str) for v in table[c].dropna().unique())]
        return table.astype(dict.fromkeys(words, "category"))
    if hasattr(table, "column_names"):
        import pyarrow as pa

        for j, field in enumerate(table.schema):
            if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
                table = table.set_column(j, field.name, table.column(j).dictionary_encode())
        return table
    import polars as pl

    words = [name for name, kind in table.schema.items() if kind == pl.String]
    known = {name: pl.Enum(sorted(table[name].drop_nulls().unique().to_list())) for name in words}
    return table.with_columns(*(pl.col(name).cast(kind) for name, kind in known.items()))
