"""The classes of a one-pass classifier, the weights of their rows, and their prior probabilities."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import namespace_of
from tractable.base import NotYetDetermined
from tractable.statistics import ByClass


def known_classes(estimator: Any, statistic: ByClass) -> np.ndarray:
    """Return the classes: those seen, and those that were declared to `partial_fit`."""
    declared = getattr(estimator, "_declared_classes_", None)
    if declared is None:
        return statistic.labels
    unknown = np.setdiff1d(statistic.labels, declared)
    if len(unknown):
        raise ValueError(f"y has the label {unknown[0]!r}, which is not among classes {list(declared)}")
    return declared


def class_weights(statistic: ByClass, classes: np.ndarray) -> np.ndarray:
    """Return the weight of the rows of each class; 0 of one that was declared and not seen."""
    if classes is statistic.labels:
        return np.array(statistic.weight)
    if classes is statistic.labels:
        return np.array(statistic.weight)
    found = np.zeros(len(classes))
    found[np.searchsorted(classes, statistic.labels)] = statistic.weight
    return found


def class_priors(priors: Any, counts: np.ndarray, classes: np.ndarray, name: str = "priors") -> np.ndarray:
    """Return p(C_k): those given, or the relative weights of the classes.

    `counts` are the weights of the rows of each class, `name` that of the parameter in error messages.

    Examples
    --------
    >>> class_priors(None, np.array([3.0, 1.0]), np.array(["a", "b"])).tolist()
    [0.75, 0.25]
    """
    if priors is None:
        return counts / counts.sum()
    p = np.asarray(as_reals(name, priors), dtype=np.float64)
    if p.ndim != 1 or not (np.all(p >= 0.0) and abs(p.sum() - 1.0) <= 1e-9):
        raise ValueError(f"{name} must not be negative, and one in sum, got {p.tolist()}")
    if len(p) != len(classes):
        raise (NotYetDetermined if len(p) > len(classes) else ValueError)(
            f"{name} must have one entry a class, got {len(p)} and y has {len(classes)}: {classes.tolist()}"
        )
    return p / p.sum()


def check_seen(priors: np.ndarray, counts: np.ndarray, classes: np.ndarray) -> None:
    """Refuse a class of positive prior without rows."""
    unseen = (counts <= 0.0) & (priors > 0.0)
    if unseen.any():
        k = int(np.argmax(unseen))
        raise NotYetDetermined(
            f"y has no rows of class {classes[k : k + 1].tolist()[0]!r}, whose prior is {priors[k]:g}"
        )


def check_spread(classes: np.ndarray, variances: Iterable[Any], jitters: Iterable[Any]) -> None:
    """Refuse classes whose variances are no more than the jitter added to them: rows all alike, as one is.

    Nothing is known of the spread of further rows then, and every probability would be 0 or 1.

    Parameters
    ----------
    classes : array (n_classes,)
        Labels.
    variances, jitters : of each class, arrays (d,)
        Variances of the columns, and what was added to them since the covariance was singular.
    """
    for label, variance, jitter in zip(classes.tolist(), variances, jitters, strict=True):
        if np.all(np.asarray(variance) <= (1.0 + 1e-6) * np.asarray(jitter)):
            raise no_spread(label)


def no_spread(label: Any) -> NotYetDetermined:
    """Return the error of a class of one row, or of rows all alike, where no other class has a spread."""
    return NotYetDetermined(
        f"y: the class {label!r} has one sample, or samples that are all alike, and no spread: "
        "give more rows of it, or leave it out; LinearDiscriminant shares one covariance among the "
        "classes, and QuadraticDiscriminant(estimate='bayes') has a prior for each"
    )


def log_priors(priors: np.ndarray) -> np.ndarray:
    """Return log p(C_k); -inf for a class of prior 0."""
    with np.errstate(divide="ignore"):
        return namespace_of(priors).log(priors)
