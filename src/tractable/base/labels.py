"""What a classifier accepts as classes: labels, numbers or words, and their codes."""

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from tractable.base.validation import Rows, check_rows, refuse_foreign
from tractable.data import Source, is_streamed

__all__ = ["check_class_rows", "check_labels", "classes_of"]


def check_labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels in order, and the code of each row's: its place among them."""
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "O" and any(label is None or label != label for label in y):  # noqa: PLR0124
        raise ValueError("y contains NaN or None, which are no labels")
    found = _counted(y)
    if found is not None:
        return found
    assert_all_finite(y, input_name="y")
    try:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be labels of one kind: {error}") from None
    return classes, codes.astype(np.min_scalar_type(max(len(classes) - 1, 0)))


def _counted(y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return labels and codes of whole numbers near each other, in linear time; None of other labels."""
    if y.dtype.kind not in "iub" or not len(y):
        return None
    low, high = int(y.min()), int(y.max())
    if high - low >= max(256, len(y)) or high >= 2**62:
        return None
    places = y.astype(np.int64) - low
    seen = np.flatnonzero(np.bincount(places))
    code = np.zeros(high - low + 1, dtype=np.min_scalar_type(len(seen) - 1))
    code[seen] = np.arange(len(seen))
    return (seen + low).astype(y.dtype), code[places]


def check_class_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, reset: bool, min_rows: int = 1
) -> tuple[Rows, np.ndarray | None]:
    """Check rows and their classes; return rows whose targets are codes, and the labels these stand for.

    A source keeps its own labels, and what they are only a pass can tell: the second answer is None.
    """
    refuse_foreign(X)
    if is_streamed(X) or isinstance(y, str) or isinstance(sample_weight, str):
        rows = check_rows(estimator, X, y, sample_weight, reset=reset, min_rows=min_rows, supervised=True)
        if isinstance(rows.data, Source):
            return rows, None
        y = rows.y
    else:
        if y is None:
            raise ValueError(
                f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None"
            )
        rows = check_rows(estimator, X, None, sample_weight, reset=reset, min_rows=min_rows)
    classes, codes = check_labels(y)
    if len(codes) != len(rows.data):
        raise ValueError(
            "y must have one label a row: Found input variables with inconsistent numbers of samples: "
            f"X has {len(rows.data)} rows, y has {len(codes)}"
        )
    return Rows(data=rows.data, y=codes, weights=rows.weights), classes


def classes_of(rows: Rows, classes: np.ndarray | None) -> np.ndarray:
    """Return the labels of rows that count: those known, or by a pass over a source."""
    if classes is not None:
        if rows.weights is None:
            return classes
        return classes[np.bincount(rows.y, rows.weights, minlength=len(classes)) > 0]
    found: set[Any] = set()
    for batch in rows.data.batches():
        if batch.y is None:
            raise ValueError("y is missing: the source has no target; name its column")
        counted = batch.y if batch.weights is None else batch.y[np.asarray(batch.weights) > 0]
        found.update(np.unique(counted).tolist())
    return check_labels(np.array(sorted(found)))[0]
