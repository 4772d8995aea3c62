"""The rows of each class: of arrays, of tables with words, and of sources that are walked again."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tractable.base import check_class_rows, check_labels, check_weights
from tractable.base.validation import check_names
from tractable.classification.tables import (
    column_names,
    one_table,
    some_columns,
    some_rows,
    with_all_categories,
)
from tractable.data import Batch, ForwardingSource, Source, is_frame
from tractable.statistics.label_codes import label_codes, union_of_labels
from tractable.value import value

__all__ = ["OfClass", "RowsOfClass", "joined", "plain_labels", "rows_of_block", "rows_of_classes"]


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
