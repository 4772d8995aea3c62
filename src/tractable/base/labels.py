"""Checks of class labels, numbers or words, and their codes."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from tractable.arrays.devices import beside, placed
from tractable.arrays.grouping import weighted_counts
from tractable.arrays.namespace import (
    check_unmasked,
    is_foreign_array,
    is_numpy_array,
    library_of,
    to_numpy,
)
from tractable.base.validation import Rows, check_rows, refuse_foreign, require_targets
from tractable.data import Batch, Source, is_streamed
from tractable.data.blocks import map_rows
from tractable.primitives.blocks import over_blocks
from tractable.statistics.by_class import codes_that_occur, distinct_labels, label_codes, union_of_labels
from tractable.value import replace, value

#: Labels that a thread looks at, for a fraction of a millisecond: it takes a tenth of one to wake.
LABELS = 2**19


def check_labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels in order, and the code of each row's: its position among them.

    Codes of labels on a device are there.
    """
    check_unmasked("y", y)
    if is_foreign_array(y):
        if y.ndim != 1:
            raise ValueError(f"y must be labels, one a row; got shape {tuple(y.shape)}")
        classes, codes = label_codes(y)
        return as_labels(classes), codes
    found = _categorical(y)
    if found is not None:
        return found
    y = as_labels(y)
    found = _counted(y)
    if found is not None:
        return found
    if y.dtype.kind != "O":
        check_classification_targets(y)
    return label_codes(y)


def as_labels(y: Any) -> np.ndarray:
    """Return labels of some rows as an array, of one kind: words, whole numbers, truth values or dates."""
    check_unmasked("y", y)
    if type(y) is np.ndarray and y.ndim == 1 and y.size and y.dtype.kind in "biuU":
        return y  # nothing to check: much of the work of a small fit
    if not isinstance(getattr(y, "dtype", np.dtype(float)), np.dtype):
        y = np.asarray(y)  # numbers that may be missing in pandas are none the less whole
    try:
        y = column_or_1d(y, warn=True)
    except ValueError as error:
        # Some of scikit-learn's messages do not say which argument they mean.
        raise error if "y" in str(error).split() else ValueError(f"y must be labels: {error}") from None
    if y.dtype.kind == "O":
        return _plain(y)
    if y.dtype.kind == "M" and np.isnat(y).any():
        raise ValueError("y contains NaT, which is no label")
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
        if np.any(y != np.trunc(y)):
            broken = y[np.argmax(y != np.trunc(y))]
            raise ValueError(
                f"y must be labels. Unknown label type: continuous, {broken:g} is no whole number"
            )
    elif y.dtype.kind not in "biuUM":
        raise ValueError(f"y must be labels: words, whole numbers, truth values or dates, got {y.dtype}")
    return y


def _plain(y: np.ndarray) -> np.ndarray:
    """Return objects as labels: words as they are, whole numbers and truth values in a type of their own."""
    found = distinct_labels(y)
    first = found[0] if found else ""
    if isinstance(first, str):
        return y
    if isinstance(first, (bool, np.bool_)):
        return y.astype(bool)
    if isinstance(first, Integral):
        return np.array(y.tolist())
    raise ValueError(
        "y must be labels: words, whole numbers, truth values or dates. "
        f"Unknown label type: {type(first).__name__}"
    )


def _categorical(y: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Return labels and codes of a categorical of pandas, which has codes of its own; None of others."""
    categories = getattr(getattr(y, "dtype", None), "categories", None)
    own = getattr(getattr(y, "cat", y), "codes", None)
    if categories is None or own is None:
        return None
    own = np.asarray(own)
    if np.any(own < 0):
        raise ValueError("y contains NaN or None, which are no labels")
    names = as_labels(np.asarray(categories))
    seen = np.flatnonzero(np.bincount(own, minlength=len(names)))
    classes, order = label_codes(names[seen])
    code = np.zeros(len(names), dtype=np.min_scalar_type(max(len(seen) - 1, 0)))
    code[seen] = order
    return classes, code[own]


def _counted(y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return labels and codes of whole numbers near each other, in linear time; None of other labels."""
    if y.dtype.kind not in "iub" or not len(y):
        return None
    ends = list(over_blocks(lambda part: (y[part].min(), y[part].max()), len(y), LABELS))
    low, high = int(min(ends)[0]), int(max(high for _, high in ends))
    if high - low >= max(256, len(y)) or high >= 2**62:
        return None
    width = high - low + 1
    kind = np.min_scalar_type(width - 1)
    offsets = map_rows(
        lambda part: (part.astype(np.int64) - low if low else part).astype(kind), y, rows=LABELS
    )
    # Of two numbers side by side, the least and the greatest, both are there.
    seen = np.arange(width) if width <= 2 else codes_that_occur(offsets)
    if len(seen) == width:  # none between them is missing
        return (seen + low).astype(y.dtype), offsets
    code = np.zeros(width, dtype=np.min_scalar_type(len(seen) - 1))
    code[seen] = np.arange(len(seen))
    return (seen + low).astype(y.dtype), code[offsets]


def check_class_rows(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    reset: bool,
    min_rows: int = 1,
    finite: bool = True,
) -> tuple[Rows, np.ndarray | None]:
    """Check rows and their classes; return rows whose targets are codes, and the labels these stand for.

    A source has its own labels, which only a pass can tell: the second result is None then. `finite` is as in
    `check_rows`.
    """
    asked: dict[str, Any] = {"reset": reset, "min_rows": min_rows, "finite": finite}
    if not estimator._learns_on_host:  # noqa: SLF001
        refuse_foreign(X)
    if is_streamed(X) or isinstance(y, str) or isinstance(sample_weight, str):
        rows = check_rows(estimator, X, y, sample_weight, supervised=True, **asked)
        if isinstance(rows.data, Source):
            return Rows(data=rows.data.map(_with_labels)), None
        y = rows.y
    else:
        require_targets(estimator, y)
        rows = check_rows(estimator, X, None, sample_weight, **asked)
    if is_foreign_array(y) and not is_foreign_array(rows.data):
        raise ValueError(
            f"y is an array of {library_of(y)} and X is not, and nothing is moved to the host silently: "
            "convert one of them"
        )
    classes, codes = check_labels(placed("y", y, rows.data) if is_foreign_array(y) else y)
    if codes.shape[0] != rows.n_rows:
        raise ValueError(
            "y must have one label a row: Found input variables with inconsistent numbers of samples: "
            f"X has {rows.n_rows} rows, y has {codes.shape[0]}"
        )
    codes = beside(codes.astype(np.int64), rows.data) if rows.to_host and is_numpy_array(codes) else codes
    return replace(rows, y=codes), classes


def classes_of(rows: Rows, classes: np.ndarray | None) -> np.ndarray:
    """Return the labels of rows that count: those known, or by a pass over a source."""
    if classes is not None:
        if rows.weights is None:
            return classes
        return classes[to_numpy(weighted_counts(rows.y, rows.weights, len(classes))) > 0]
    return rows.data.reduce(_labels_that_count).labels


@value
class _Labels:
    """The labels of some rows, in order; they add."""

    labels: np.ndarray

    def __add__(self, other: "_Labels") -> "_Labels":
        return _Labels(labels=union_of_labels([self.labels, other.labels]))


def _labels_that_count(block: Batch) -> _Labels:
    labels = np.asarray(block.y)
    counted = labels if block.weights is None else labels[np.asarray(block.weights) > 0]
    return _Labels(labels=label_codes(counted)[0])


def _with_labels(batch: Batch) -> Batch:
    """Return a batch whose targets are labels, none of them missing."""
    if batch.y is None:
        raise ValueError("y is missing: the source has no target; name its column")
    return replace(batch, y=as_labels(batch.y))
