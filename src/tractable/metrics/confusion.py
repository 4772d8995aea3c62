"""Which classes are taken for which."""

from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import freeze
from tractable.metrics.labels import as_classes, as_codes, as_labels, row_weights
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
    rejected : array (K,), optional
        Weight of the rows of each class that were left undecided; none when not given.

    Examples
    --------
    >>> found = ConfusionMatrix(counts=[[8, 2], [1, 9]], classes=["cat", "dog"])
    >>> found.accuracy, found.recall, found.precision.round(3)
    (0.85, array([0.8, 0.9]), array([0.889, 0.818]))
    """

    counts: np.ndarray
    classes: np.ndarray
    rejected: np.ndarray | None = None

    def __post_init__(self) -> None:
        counts = np.array(as_reals("counts", self.counts), dtype=np.float64)
        classes = np.array(self.classes)
        if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not np.all(counts >= 0.0):
            raise ValueError(f"counts must be a square of numbers, none negative, got shape {counts.shape}")
        if classes.shape != counts.shape[:1]:
            raise ValueError(f"classes must be {len(counts)} labels, got shape {classes.shape}")
        given = np.zeros(len(counts)) if self.rejected is None else as_reals("rejected", self.rejected)
        rejected = np.array(given, dtype=np.float64)
        if rejected.shape != classes.shape or not np.all(rejected >= 0.0):
            raise ValueError(f"rejected must be {len(counts)} numbers, none negative, got {self.rejected!r}")
        object.__setattr__(self, "rejected", freeze(rejected))
        object.__setattr__(self, "counts", freeze(counts))
        object.__setattr__(self, "classes", freeze(classes))

    @property
    def total(self) -> float:
        """Weight of all rows, those left undecided among them."""
        return float(self._of_class.sum())

    @property
    def accuracy(self) -> float:
        """The share of rows whose class was found; it was not where nothing was decided."""
        return float(np.trace(self.counts)) / self.total

    @property
    def rejected_share(self) -> float:
        """The share of rows that were left undecided."""
        return float(np.asarray(self.rejected).sum()) / self.total

    @property
    def decided_accuracy(self) -> float:
        """Of the rows that were decided, the share whose class was found; NaN where none was."""
        with np.errstate(invalid="ignore"):
            return float(np.trace(self.counts) / self.counts.sum())

    @property
    def recall(self) -> np.ndarray:
        """Of the rows of each class, the share that was found, (K,); NaN for a class that has none."""
        with np.errstate(invalid="ignore"):
            return np.diagonal(self.counts) / self._of_class

    @property
    def precision(self) -> np.ndarray:
        """Of the rows taken for each class, the share that is of it, (K,); NaN where none was."""
        with np.errstate(invalid="ignore"):
            return np.diagonal(self.counts) / self.counts.sum(axis=0)

    @property
    def f1(self) -> np.ndarray:
        """The harmonic mean of recall and precision, 2 TP / (2 TP + FP + FN), (K,).

        NaN for a class that is absent: that has no rows, and that none was taken for.
        """
        with np.errstate(invalid="ignore"):
            return 2.0 * np.diagonal(self.counts) / (self.counts.sum(axis=0) + self._of_class)

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of the classes that have rows."""
        return float(np.nanmean(self.recall))

    def normalized(self) -> np.ndarray:
        """Return p(taken for j | class k), NaN for a class that has no rows.

        Rows are one in sum, less the share that was left undecided.
        """
        with np.errstate(invalid="ignore"):
            return self.counts / self._of_class[:, None]

    def __add__(self, other: "ConfusionMatrix") -> "ConfusionMatrix":
        """Return the matrix of both sets of rows, of the same classes."""
        if not isinstance(other, ConfusionMatrix):
            return NotImplemented
        if not np.array_equal(self.classes, other.classes):
            raise ValueError(f"classes differ: {self.classes.tolist()} and {other.classes.tolist()}")
        return ConfusionMatrix(
            counts=self.counts + other.counts,
            classes=self.classes,
            rejected=np.asarray(self.rejected) + np.asarray(other.rejected),
        )

    @property
    def _of_class(self) -> np.ndarray:
        """Weight of the rows of each class, (K,)."""
        return self.counts.sum(axis=1) + np.asarray(self.rejected)


def confusion_matrix(
    y_true: Any, y_pred: Any, *, classes: Any = None, sample_weight: Any = None
) -> ConfusionMatrix:
    """Count which classes are taken for which.

    Parameters
    ----------
    y_true : array of labels (n,)
    y_pred : array of labels (n,)
        None where a row was left undecided, as by `decide(reject_loss=…)`.
    classes : array (K,), optional
        All the classes there are, in the order they are to have; those that occur, sorted, when not given.
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
    >>> found = confusion_matrix(["cat", "dog", "dog"], ["cat", None, "dog"], classes=["dog", "cat"])
    >>> found.counts.tolist(), found.rejected, round(found.accuracy, 3), found.decided_accuracy
    ([[1.0, 0.0], [0.0, 1.0]], array([1., 0.]), 0.667, 1.0)
    """
    truth = as_labels("y_true", y_true)
    said, decided = _decisions(y_pred)
    if len(truth) != len(decided):
        raise ValueError(f"y_pred must have one label a row, {len(truth)}, got {len(decided)}")
    if len(said) and (truth.dtype.kind in "biuf") != (said.dtype.kind in "biuf"):
        raise ValueError(f"y_pred must have labels of the kind of y_true, got {said[0]!r} and {truth[0]!r}")
    met = np.union1d(truth, said) if len(said) else np.unique(truth)
    known = met if classes is None else as_classes(classes)
    k, w = len(known), row_weights(sample_weight, len(truth))
    rows = as_codes("y_true", truth, known)
    columns = as_codes("y_pred", said, known) if len(said) else np.empty(0, np.intp)
    counts = np.bincount(k * rows[decided] + columns, w[decided], minlength=k * k)
    rejected = np.bincount(rows[~decided], w[~decided], minlength=k)
    return ConfusionMatrix(counts=counts.reshape(k, k), classes=known, rejected=rejected)


def accuracy_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Return the share of rows whose class was found; it was not where nothing was decided (None).

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


def _decisions(y_pred: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of the rows that were decided, and which these are, (n,)."""
    given = np.asarray(y_pred)
    if given.dtype != object:
        said = as_labels("y_pred", given)
        return said, np.ones(len(said), bool)
    given = given[:, 0] if given.ndim == 2 and given.shape[1] == 1 else given
    decided = np.array([label is not None for label in given.ravel()], bool)
    if given.ndim == 1 and len(given) and not np.any(decided):
        return given[:0], decided
    return as_labels("y_pred", given if np.all(decided) else given[decided]), decided
