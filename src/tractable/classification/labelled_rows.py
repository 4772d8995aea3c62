"""Rows and the codes of their classes, for models that walk them several times."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from tractable.base import Rows, check_class_rows, classes_of
from tractable.data import Batch, Source
from tractable.engines import fold
from tractable.value import value

__all__ = ["LabelledRows", "labelled_rows"]


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
