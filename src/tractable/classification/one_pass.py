"""Classifiers that learn from one statistic a class, and class priors."""

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.base import Estimator, NotYetDetermined, OnePassMixin, all_or_nothing
from tractable.base.labels import check_class_rows, check_labels
from tractable.engines import fold
from tractable.statistics import ByClass


class OnePassClassifier(OnePassMixin, Estimator):
    """`fit`, `partial_fit`, `merge`, `summarize` and `from_statistic` of a classifier exact in one pass.

    A model supplies `_class_statistic()`, which maps a block of one class's rows to a statistic, and
    `_learn(statistic)`, which sets what was learned from a `ByClass` of them; `_known_classes(statistic)`
    gives the labels, those declared to `partial_fit` among them.
    """

    _supervised = True
    statistic_: ByClass
    classes_: np.ndarray

    def _class_statistic(self) -> Callable[..., Any]:
        raise NotImplementedError(f"{type(self).__name__} must define _class_statistic")

    def _fold(self, subject: Any, X: Any, y: Any, sample_weight: Any, **options: Any) -> ByClass:
        rows, classes = check_class_rows(subject, X, y, sample_weight, **options)
        of = partial(ByClass.of, of=self._class_statistic())
        found = fold(of, rows.data, rows.y, weights=rows.weights)
        return found if classes is None else found.named(classes)

    def _statistic(self) -> Callable[..., Any]:
        return partial(ByClass.of, of=self._class_statistic())

    def _require_kind(self, statistic: Any) -> None:
        wanted = getattr(self._class_statistic(), "__self__", None)
        parts = statistic.parts if isinstance(statistic, ByClass) else (statistic,)
        if not isinstance(statistic, ByClass) or (
            isinstance(wanted, type) and not all(isinstance(part, wanted) for part in parts)
        ):
            kinds = sorted({type(part).__name__ for part in parts})
            inner = wanted.__name__ if isinstance(wanted, type) else "statistics"
            raise ValueError(f"statistic must be ByClass of {inner} for these parameters, got {kinds}")

    def _known_classes(self, statistic: ByClass) -> np.ndarray:
        """Return the classes: those seen, and those that were declared."""
        declared = getattr(self, "_declared_classes_", None)
        if declared is None:
            return statistic.labels
        unknown = np.setdiff1d(statistic.labels, declared)
        if len(unknown):
            raise ValueError(f"y has the label {unknown[0]!r}, which is not among classes {list(declared)}")
        return declared

    def _class_weights(self, statistic: ByClass, classes: np.ndarray) -> np.ndarray:
        """Return the weight of the rows of each class; 0 of one that was declared and not seen."""
        found = np.zeros(len(classes))
        found[np.searchsorted(classes, statistic.labels)] = statistic.weight
        return found

    @all_or_nothing(afresh=False)
    def partial_fit(  # type: ignore[override]  # scikit-learn has `classes` in this place
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from more rows: exactly as if all had been given at once.

        `classes` are all the classes there are, where some may be seen later; by default those that are seen.
        The other arguments are those of `fit`.
        """
        if classes is not None:
            declared = check_labels(np.asarray(classes))[0]
            known = getattr(self, "_declared_classes_", declared)
            if not np.array_equal(known, declared):
                raise ValueError(f"classes={list(declared)} is not what was given before, {list(known)}")
            self._declared_classes_ = declared
        self._learn_more(X, y, sample_weight)
        return self


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
    if np.any(unseen):
        k = int(np.argmax(unseen))
        raise NotYetDetermined(
            f"y has no rows of class {classes[k : k + 1].tolist()[0]!r}, whose prior is {priors[k]:g}"
        )


def log_priors(priors: np.ndarray) -> np.ndarray:
    """Return log p(C_k); -inf for a class of prior 0."""
    return np.where(priors > 0, np.log(np.where(priors > 0, priors, 1.0)), -np.inf)
