"""Which classes are taken for which."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import freeze
from tractable.covariance.rows import as_reals
from tractable.metrics.labels import as_codes, as_labels, row_weights
from tractable.value import value

__all__ = ["ConfusionMatrix", "accuracy_score", "confusion_matrix"]


@value
class ConfusionMatrix:
    """How often rows of each class (down) were taken for each class (across).

    Parameters
    ----------
    counts : array (K, K)
        Weight of the rows of class k that were taken for class j.
    classes : array (K,)

    Examples
    --------
    >>> found = ConfusionMatrix(counts=[[8, 2], [1, 9]], classes=["cat", "dog"])
    >>> found.accuracy, found.recall, found.precision.round(3)
    (0.85, array([0.8, 0.9]), array([0.889, 0.818]))
    """

    counts: np.ndarray
    classes: np.ndarray

    def __post_init__(self) -> None:
        counts = np.array(as_reals("counts", self.counts), dtype=np.float64)
        classes = np.array(self.classes)
        if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not np.all(counts >= 0.0):
            raise ValueError(f"counts must be a square of numbers, none negative, got shape {counts.shape}")
        if classes.shape != counts.shape[:1]:
            raise ValueError(f"classes must be {len(counts)} labels, got shape {classes.shape}")
        object.__setattr__(self, "counts", freeze(counts))
        object.__setattr__(self, "classes", freeze(classes))

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.counts.sum())

    @property
    def accuracy(self) -> float:
        """The share of rows whose class was found."""
        return float(np.trace(self.counts)) / self.total

    @property
    def recall(self) -> np.ndarray:
        """Of the rows of each class, the share that was found, (K,); NaN for a class that has none."""
        return _shares(self.counts, axis=1)

    @property
    def precision(self) -> np.ndarray:
        """Of the rows taken for each class, the share that is of it, (K,); NaN where none was."""
        return _shares(self.counts, axis=0)

    @property
    def f1(self) -> np.ndarray:
        """The harmonic mean of recall and precision, 2 TP / (2 TP + FP + FN), (K,)."""
        either = self.counts.sum(axis=0) + self.counts.sum(axis=1)
        with np.errstate(invalid="ignore"):
            return 2.0 * np.diagonal(self.counts) / either

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of the classes that have rows."""
        return float(np.nanmean(self.recall))

    def normalized(self) -> np.ndarray:
        """Return p(taken for j | class k), rows one in sum; NaN for a class that has no rows."""
        with np.errstate(invalid="ignore"):
            return self.counts / self.counts.sum(axis=1, keepdims=True)

    def __add__(self, other: "ConfusionMatrix") -> "ConfusionMatrix":
        """Return the matrix of both sets of rows, of the same classes."""
        if not isinstance(other, ConfusionMatrix):
            return NotImplemented
        if not np.array_equal(self.classes, other.classes):
            raise ValueError(f"classes differ: {self.classes.tolist()} and {other.classes.tolist()}")
        return ConfusionMatrix(counts=self.counts + other.counts, classes=self.classes)


def confusion_matrix(
    y_true: Any, y_pred: Any, *, classes: Any = None, sample_weight: Any = None
) -> ConfusionMatrix:
    """Count which classes are taken for which.

    Parameters
    ----------
    y_true, y_pred : arrays of labels (n,)
    classes : array (K,), optional
        All the classes there are; those that occur when not given.
    sample_weight : array (n,), optional
        How often each row counts.

    Returns
    -------
    ConfusionMatrix
        Which `tractable.plot` draws.

    Examples
    --------
    >>> confusion_matrix(["cat", "dog", "dog"], ["cat", "cat", "dog"]).counts
    array([[1., 0.],
           [1., 1.]])
    """
    truth, said = as_labels("y_true", y_true), as_labels("y_pred", y_pred)
    if len(truth) != len(said):
        raise ValueError(f"y_pred must have one label a row, {len(truth)}, got {len(said)}")
    if (truth.dtype.kind in "biuf") != (said.dtype.kind in "biuf"):
        raise ValueError(f"y_pred must have labels of the kind of y_true, got {said[0]!r} and {truth[0]!r}")
    known = np.union1d(truth, said) if classes is None else np.unique(as_labels("classes", classes))
    rows, columns = as_codes("y_true", truth, known), as_codes("y_pred", said, known)
    k = len(known)
    counts = np.bincount(k * rows + columns, row_weights(sample_weight, len(truth)), minlength=k * k)
    return ConfusionMatrix(counts=counts.reshape(k, k), classes=known)


def accuracy_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Return the share of rows whose class was found.

    Parameters
    ----------
    y_true, y_pred : arrays of labels (n,)
    sample_weight : array (n,), optional

    Examples
    --------
    >>> accuracy_score(["cat", "dog", "dog", "dog"], ["cat", "cat", "dog", "dog"])
    0.75
    """
    return confusion_matrix(y_true, y_pred, sample_weight=sample_weight).accuracy


def _shares(counts: np.ndarray, axis: int) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.diagonal(counts) / counts.sum(axis=axis)
