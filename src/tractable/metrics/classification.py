"""Scores of classifiers: confusion matrices, probabilities of classes, and decisions of least loss."""

from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import check_unmasked, freeze
from tractable.arrays.weights import check_weights
from tractable.metrics.checks import with_source_targets
from tractable.value import set_fields, value


@with_source_targets
def log_loss(y_true: Any, probabilities: Any, *, classes: Any = None, sample_weight: Any = None) -> float:
    """Return the mean of -log p(C | x) of the true classes, in nats: infinite where one was impossible.

    Parameters
    ----------
    y_true : array of labels (n,), or source that has them
        The true class of each row.
    probabilities : array (n, K), or (n,) of the second of two classes; or what `predict_dist` gives
        p(C_k | x) of each row.
    classes : array (K,), optional
        The label of each column, in the order of the columns. When not given, the columns are those of the
        labels that occur, sorted: a model whose classes are in another order needs it.
    sample_weight : array (n,), optional
        How often each row counts.

    Examples
    --------
    >>> round(log_loss(["a", "b"], [[0.5, 0.5], [0.25, 0.75]]), 4)
    0.4904
    >>> round(log_loss(["well", "ill"], [[0.9, 0.1], [0.2, 0.8]], classes=["well", "ill"]), 4)
    0.1643
    """
    p, codes, w = checked_probabilities(y_true, probabilities, classes, sample_weight)
    with np.errstate(divide="ignore"):
        losses = -np.log(p[np.arange(len(p)), codes])
    return float(np.average(losses[w > 0], weights=w[w > 0]))


@with_source_targets
def brier_score(y_true: Any, probabilities: Any, *, classes: Any = None, sample_weight: Any = None) -> float:
    """Return the mean of Σ_k (p(C_k | x) - t_k)², t the one-of-K code (Brier 1950): 0 is best, 2 is worst.

    Half of it, for two classes, is the squared error of the probability of the second.

    Parameters
    ----------
    y_true : array of labels (n,), or source that has them
        The true class of each row.
    probabilities : array (n, K), or (n,) of the second of two classes; or what `predict_dist` gives
        p(C_k | x) of each row.
    classes : array (K,), optional
        The label of each column, in the order of the columns; the labels that occur, sorted, by default.
    sample_weight : array (n,), optional
        Frequencies of the rows; one each by default.

    Examples
    --------
    >>> brier_score(["a", "b"], [[0.5, 0.5], [0.25, 0.75]])
    0.3125
    """
    p, codes, w = checked_probabilities(y_true, probabilities, classes, sample_weight)
    errors = np.sum((p - np.eye(p.shape[1])[codes]) ** 2, axis=1)
    return float(np.average(errors, weights=w))


def classes_of(y_true: Any, classes: Any) -> np.ndarray:
    """Return the classes as given, or those that occur, sorted."""
    return np.unique(as_labels("y_true", y_true)) if classes is None else as_classes(classes)


def checked_probabilities(
    y_true: Any, probabilities: Any, classes: Any, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the probabilities (n, K), the position of the true class of each row, and the weights."""
    labels = as_labels("y_true", y_true)
    p = as_probabilities(probabilities, len(labels))
    known = classes_of(labels, classes)
    if len(known) != p.shape[1]:
        raise ValueError(
            f"probabilities has {p.shape[1]} columns, but there are {len(known)} classes, {known.tolist()}; "
            "give classes where some do not occur"
        )
    return p, as_codes("y_true", labels, known), row_weights(sample_weight, len(labels))


@value
class ConfusionMatrix:
    """Counts of the rows of each true class (rows) by predicted class (columns).

    Parameters
    ----------
    counts : array (K, K)
        Weight of the rows of class k for which class j was predicted.
    classes : array (K,)
        The labels, in the order of the rows and columns.
    rejected : array (K,), optional
        Weight of the rows of each class that were rejected, left undecided; none when not given.

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
        set_fields(self, rejected=freeze(rejected), counts=freeze(counts), classes=freeze(classes))

    @property
    def total(self) -> float:
        """Weight of all rows, rejected ones included."""
        return float(self._of_class.sum())

    @property
    def accuracy(self) -> float:
        """The fraction of rows whose class was predicted; a rejected row counts as an error."""
        return float(np.trace(self.counts)) / self.total

    @property
    def rejected_fraction(self) -> float:
        """The fraction of rows that were rejected."""
        return float(np.asarray(self.rejected).sum()) / self.total

    @property
    def decided_accuracy(self) -> float:
        """The fraction of the rows not rejected whose class was predicted; NaN where there is none."""
        with np.errstate(invalid="ignore"):
            return float(np.trace(self.counts) / self.counts.sum())

    @property
    def recall(self) -> np.ndarray:
        """The fraction of the rows of each class that was predicted as such, (K,); NaN without rows."""
        with np.errstate(invalid="ignore"):
            return np.diagonal(self.counts) / self._of_class

    @property
    def precision(self) -> np.ndarray:
        """The fraction of the predictions of each class that is right, (K,); NaN without predictions."""
        with np.errstate(invalid="ignore"):
            return np.diagonal(self.counts) / self.counts.sum(axis=0)

    @property
    def f1(self) -> np.ndarray:
        """The harmonic mean of recall and precision, 2 TP / (2 TP + FP + FN), (K,).

        NaN for a class that has neither rows nor predictions.
        """
        with np.errstate(invalid="ignore"):
            return 2.0 * np.diagonal(self.counts) / (self.counts.sum(axis=0) + self._of_class)

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of the classes that have rows."""
        return float(np.nanmean(self.recall))

    def normalized(self) -> np.ndarray:
        """Return p(predicted j | class k), NaN for a class that has no rows.

        Rows sum to one, less the fraction that was rejected.
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


@with_source_targets
def confusion_matrix(
    y_true: Any, y_pred: Any, *, classes: Any = None, sample_weight: Any = None
) -> ConfusionMatrix:
    """Count the rows of each true class by predicted class.

    Parameters
    ----------
    y_true : array of labels (n,), or source that has them
        The true class of each row.
    y_pred : array of labels (n,)
        None where a row was rejected, as by `decide(reject_loss=…)`.
    classes : array (K,), optional
        All classes, in the order wanted; those that occur, sorted, when not given.
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
    decisions, decided = _decisions(y_pred)
    if len(truth) != len(decided):
        raise ValueError(f"y_pred must have one label a row, {len(truth)}, got {len(decided)}")
    if len(decisions) and (truth.dtype.kind in "biuf") != (decisions.dtype.kind in "biuf"):
        raise ValueError(
            f"y_pred must have labels of the kind of y_true, got {decisions[0]!r} and {truth[0]!r}"
        )
    met = np.union1d(truth, decisions) if len(decisions) else np.unique(truth)
    known = met if classes is None else as_classes(classes)
    k, w = len(known), row_weights(sample_weight, len(truth))
    rows = as_codes("y_true", truth, known)
    columns = as_codes("y_pred", decisions, known) if len(decisions) else np.empty(0, np.intp)
    counts = np.bincount(k * rows[decided] + columns, w[decided], minlength=k * k)
    rejected = np.bincount(rows[~decided], w[~decided], minlength=k)
    return ConfusionMatrix(counts=counts.reshape(k, k), classes=known, rejected=rejected)


@with_source_targets
def accuracy_score(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Return the fraction of rows whose class was predicted; a rejected row (None) counts as an error.

    Parameters
    ----------
    y_true, y_pred : arrays of labels (n,)
        True and predicted classes.
    sample_weight : array (n,), optional
        Frequencies of the rows; one each by default.

    Examples
    --------
    >>> accuracy_score(["cat", "dog", "dog", "dog"], ["cat", "cat", "dog", "dog"])
    0.75
    """
    return confusion_matrix(y_true, y_pred, sample_weight=sample_weight).accuracy


def _decisions(y_pred: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of the rows that were not rejected, and which these are, (n,)."""
    check_unmasked("y_pred", y_pred)
    given = np.asarray(y_pred)
    if given.dtype != object:
        labels = as_labels("y_pred", given)
        return labels, np.ones(len(labels), bool)
    given = given[:, 0] if given.ndim == 2 and given.shape[1] == 1 else given
    decided = np.array([label is not None for label in given.ravel()], bool)
    if given.ndim == 1 and len(given) and not np.any(decided):
        return given[:0], decided
    return as_labels("y_pred", given if np.all(decided) else given[decided]), decided


def expected_loss(probabilities: Any, loss: Any = None) -> np.ndarray:
    """Return the expected loss (n, J) of each decision, R_j(x) = Σ_k L_kj p(C_k | x).

    Parameters
    ----------
    probabilities : array (n, K)
        p(C_k | x), one row a case.
    loss : array (K, J), optional
        L_kj, what decision j costs where class k is true; 1 for every mistake when not given.

    Examples
    --------
    A missed illness costs a hundred times what a needless treatment does:

    >>> expected_loss([[0.98, 0.02]], loss=[[0.0, 1.0], [100.0, 0.0]])
    array([[2.  , 0.98]])
    """
    p = np.asarray(as_reals("probabilities", probabilities), dtype=np.float64)
    if p.ndim != 2 or not p.shape[1]:
        raise ValueError(f"probabilities must have shape (n, n_classes), got {p.shape}")
    _check_probabilities(p)
    if loss is None:
        return 1.0 - p
    cost = np.asarray(as_reals("loss", loss), dtype=np.float64)
    if cost.ndim != 2 or len(cost) != p.shape[1] or not np.all(np.isfinite(cost)):
        raise ValueError(f"loss must be finite, of shape ({p.shape[1]}, n_decisions), got shape {cost.shape}")
    return p @ cost


def least_loss(probabilities: Any, *, loss: Any = None, reject_loss: float | None = None) -> np.ndarray:
    """Return the decision (n,) of least expected loss of each case, or -1 where rejecting it is cheaper.

    With the 0-1 loss that is the most probable class, and a case is rejected where even that is less
    probable than 1 - reject_loss (Chow's rule). Of tied decisions the first is taken.

    Parameters
    ----------
    probabilities : array (n, K)
        Class probabilities of each case.
    loss : array (K, J), optional
        L_kj, the loss of decision j where class k is true; the 0-1 loss by default.
    reject_loss : float, optional
        What leaving a case undecided costs.

    Examples
    --------
    >>> least_loss([[0.98, 0.02], [0.55, 0.45]], reject_loss=0.1)
    array([ 0, -1])
    """
    risk = expected_loss(probabilities, loss)
    chosen = np.argmin(risk, axis=1)
    if reject_loss is None:
        return chosen
    if isinstance(reject_loss, bool) or not isinstance(reject_loss, (int, float, np.number)):
        raise ValueError(f"reject_loss must be a number, got {reject_loss!r}")
    if not np.isfinite(reject_loss):
        raise ValueError(f"reject_loss must be finite, got {reject_loss}")
    return np.where(risk.min(axis=1) > reject_loss, -1, chosen)


def check_class_loss(loss: Any, n_classes: int) -> None:
    """Raise unless the loss has one row and one column for each class."""
    k = n_classes
    if loss is not None and np.shape(loss) != (k, k):
        raise ValueError(f"loss must have shape ({k}, {k}), one row and column a class, got {np.shape(loss)}")


def as_labels(name: str, y: Any) -> np.ndarray:
    """Return labels as an array (n,), checked: one a row, none missing."""
    check_unmasked(name, y)
    labels = _plain(np.asarray(y))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or not len(labels):
        raise ValueError(f"{name} must be labels, one a row, got shape {labels.shape}")
    missing = [label is None or label != label for label in labels.tolist()]  # noqa: PLR0124
    if any(missing):
        raise ValueError(f"{name} contains NaN or None, which are no labels")
    return labels


def as_classes(classes: Any) -> np.ndarray:
    """Return distinct labels in the order given, checked."""
    known = as_labels("classes", classes)
    if len(set(known.tolist())) < len(known):
        raise ValueError(f"classes must be different labels, got {known.tolist()}")
    return known


def as_codes(name: str, y: Any, classes: np.ndarray) -> np.ndarray:
    """Return the position of each label among the classes, which may be in any order."""
    labels = as_labels(name, y)
    try:
        order = np.argsort(classes, kind="stable")
        codes = order[np.minimum(np.searchsorted(classes[order], labels), len(classes) - 1)]
    except TypeError as error:
        raise ValueError(f"{name} has labels of another kind than classes: {error}") from None
    unknown = labels[classes[codes] != labels]
    if len(unknown):
        raise ValueError(
            f"{name} has the label {unknown.tolist()[0]!r}, which is not among {classes.tolist()}"
        )
    return codes


def as_probabilities(p: Any, n_rows: int) -> np.ndarray:
    """Return p(C_k | x), (n, K), checked; one column is that of the second of two classes."""
    p = np.asarray(as_reals("probabilities", getattr(p, "probabilities", p)), dtype=np.float64)
    if p.ndim == 1:
        p = np.column_stack([1.0 - p, p])
    if p.ndim != 2 or len(p) != n_rows or p.shape[1] < 2:
        raise ValueError(f"probabilities must have shape ({n_rows}, n_classes), got {p.shape}")
    _check_probabilities(p)
    return p


def _check_probabilities(p: np.ndarray) -> None:
    if not (np.all(p >= 0.0) and np.allclose(p.sum(axis=1), 1.0, atol=1e-6)):
        raise ValueError("probabilities must not be negative, and must sum to one in every row")


def row_weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Return the weight of each row, 1 when not given."""
    if sample_weight is None:
        return np.ones(n_rows)
    return np.asarray(check_weights(sample_weight, n_rows, name="sample_weight", some=True))


def _plain(labels: np.ndarray) -> np.ndarray:
    """Return an array of objects as an array of strings or of numbers, where all are such."""
    if labels.dtype == object and labels.size:
        for kinds in (str, (bool, int, float, np.number, np.bool_)):
            if all(isinstance(label, kinds) for label in labels.ravel()):
                return np.asarray(labels.tolist())
    return labels
