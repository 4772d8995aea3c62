"""Classifiers that learn from one pass: a statistic for every class is all they need."""

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np

from tractable.base import Estimator, OnePassMixin, all_or_nothing
from tractable.base.labels import check_class_rows, check_labels
from tractable.engines import fold
from tractable.statistics import ByClass

__all__ = ["OnePassClassifier"]


class OnePassClassifier(OnePassMixin, Estimator):
    """`fit`, `partial_fit`, `merge`, `summarize` and `from_statistic` of a classifier exact in one pass.

    A model supplies `_class_statistic()`, which maps a block of one class's rows to a statistic, and
    `_learn(statistic)`, which sets what was learned from a `ByClass` of them; `_known_classes(statistic)`
    gives the labels, those promised to `partial_fit` among them.
    """

    _supervised = True
    statistic_: ByClass
    classes_: np.ndarray

    def _class_statistic(self) -> Callable[..., Any]:
        raise NotImplementedError(f"{type(self).__name__} must say which statistic of a class it folds")

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
        """Return the classes: those seen, and those that were promised."""
        promised = getattr(self, "promised_classes_", None)
        if promised is None:
            return statistic.labels
        unknown = np.setdiff1d(statistic.labels, promised)
        if len(unknown):
            raise ValueError(f"y has the label {unknown[0]!r}, which is not among classes {list(promised)}")
        return promised

    def _class_weights(self, statistic: ByClass, classes: np.ndarray) -> np.ndarray:
        """Return the weight of the rows of each class; 0 of one that was promised and not seen."""
        found = np.zeros(len(classes))
        found[np.searchsorted(classes, statistic.labels)] = statistic.weight
        return found

    @all_or_nothing(afresh=False)
    def partial_fit(  # type: ignore[override]  # scikit-learn has `classes` in this place
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from more rows: exactly as if all had been given at once.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : array of shape (n_samples,) or column name
        classes : array of labels, optional
            All the classes there are, where some may be seen later; those that are seen when not given.
        sample_weight : array of shape (n_samples,) or column name, optional

        Returns
        -------
        self
        """
        if classes is not None:
            self._promise(check_labels(np.asarray(classes))[0])
        self._learn_more(X, y, sample_weight)
        return self

    def _promise(self, classes: np.ndarray) -> None:
        known = getattr(self, "promised_classes_", classes)
        if not np.array_equal(known, classes):
            raise ValueError(f"classes={list(classes)} is not what was given before, {list(known)}")
        self.promised_classes_ = classes
