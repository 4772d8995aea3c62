"""Models that learn from a statistic of the rows, which one pass gives."""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from tractable.base.estimator import Estimator, all_or_nothing, check_fitted
from tractable.base.labels import check_class_rows
from tractable.base.validation import Rows, check_rows
from tractable.engines.fold import fold
from tractable.statistics import ByClass
from tractable.statistics.rows import NotYetDetermined


class OnePassEstimator(Estimator):
    """`fit`, `partial_fit`, `merge`, `summarize` and `from_statistic` of a model exact in one pass.

    A model supplies `_check_parameters()`, which refuses constructor parameters that make no sense;
    `_statistic()`, which maps a block of rows to a statistic; and `_learn(statistic)`, which sets what was
    learned. A classifier has a statistic of the rows of each class (`_by_class`): `_learn` is given a
    `ByClass` of them.
    """

    #: Fewest rows that `fit` accepts; a stream may begin with fewer.
    _min_rows: ClassVar[int] = 1
    #: Whether the model learns from targets as well; and whether these are classes, each with a statistic.
    _supervised: ClassVar[bool] = False
    _by_class: ClassVar[bool] = False
    statistic_: Any

    def _check_parameters(self) -> None:
        """Refuse invalid parameters, before any work."""

    def _statistic(self) -> Callable[..., Any]:
        """Return the function from a block of rows to its statistic; models with a `_fold` need none."""
        raise NotImplementedError(f"{type(self).__name__} must define _statistic or _fold")

    @abstractmethod
    def _learn(self, statistic: Any) -> None:
        """Set what the model learns from the statistic of all rows."""

    def _require_kind(self, statistic: Any) -> None:
        """Refuse a statistic of another kind than the model's parameters ask for."""
        wanted = getattr(self._statistic(), "__self__", None)
        grouped = isinstance(statistic, ByClass)
        parts = statistic.parts if self._by_class and grouped else (statistic,)
        alike = not isinstance(wanted, type) or all(isinstance(part, wanted) for part in parts)
        if not alike or (self._by_class and not grouped):
            name = wanted.__name__ if isinstance(wanted, type) else "statistics"
            raise ValueError(
                f"statistic must be {'ByClass of ' * self._by_class}{name} for these parameters, got "
                f"{', '.join(sorted({type(part).__name__ for part in parts}))}"
            )

    def _require_statistic(self) -> None:
        """Refuse to go on from a fit without a statistic, where a model has such fits."""

    def _forget(self) -> None:
        lasting = {"n_features_in_", "feature_names_in_", "statistic_", "_declared_classes_"}
        for name in [n for n in vars(self) if n.endswith("_") and n not in lasting]:
            delattr(self, name)

    def _report(self) -> None:
        """Warn about the fitted model; not after `partial_fit`, since more rows may follow."""

    def _fold(self, subject: Any, X: Any, y: Any, sample_weight: Any, **options: Any) -> Any:
        """Check the rows against what `subject` knows of its columns, and summarise them."""
        if not self._by_class:
            return self._summary(
                check_rows(subject, X, y, sample_weight, supervised=self._supervised, **options)
            )
        rows, classes = check_class_rows(subject, X, y, sample_weight, **options)
        found = fold(partial(ByClass.of, of=self._statistic()), rows.source)
        return found if classes is None else found.named(classes)

    def _summary(self, rows: Rows) -> Any:
        """Return the statistic of checked rows."""
        return fold(self._statistic(), rows.source)

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows held in memory, in a file, or in a stream.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows.
        y : array of shape (n_samples,) or (n_samples, n_targets), or column name
            The targets, where the model learns from any.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        """
        self._check_parameters()
        statistic = self._fold(self, X, y, sample_weight, reset=True, min_rows=self._min_rows)
        check_weight(statistic)
        self._learn(statistic)
        self._report()
        return self

    @all_or_nothing(afresh=False)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: exactly as if all had been given at once.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        """
        self._learn_more(X, y, sample_weight)
        return self

    def _learn_more(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._check_parameters()
        self._require_statistic()
        before = getattr(self, "statistic_", None)
        if before is not None:
            self._require_kind(before)
        more = self._fold(self, X, y, sample_weight, reset=before is None)
        statistic = more if before is None else before + more
        self.__dict__.pop("undetermined_", None)
        try:
            self._learn(statistic)
        except NotYetDetermined as error:
            # The rows count all the same; later ones may determine the model.
            self._forget()
            self.statistic_, self.undetermined_ = statistic, str(error)

    def summarize(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Return the contribution of rows as a value; the estimator is left as it was.

        Statistics merge with ``+``; `from_statistic` learns from one.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        """
        self._check_parameters()
        known = hasattr(self, "n_features_in_")
        subject: Any = self if known else clone(self)
        return self._fold(subject, X, y, sample_weight, reset=not known)

    @all_or_nothing(afresh=False)
    def from_statistic(self, statistic: Any) -> Self:
        """Learn from a statistic alone: what `summarize` returned, or a sum of such."""
        self._check_parameters()
        self._require_kind(statistic)
        if getattr(self, "n_features_in_", statistic.dim) != statistic.dim:
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)
        self.n_features_in_ = statistic.dim
        self.__dict__.pop("undetermined_", None)
        self._learn(statistic)
        self._report()
        return self

    def merge(self, other: Any) -> Self:
        """Return the model of both models' data, as if it had been fitted to all rows at once.

        `other` is an estimator of the same type, fitted on the same columns; neither is changed.
        """
        check_fitted(self)
        if type(other) is not type(self):
            raise ValueError(f"other must be a {type(self).__name__}, got {type(other).__name__}")
        check_fitted(other)
        self._check_parameters()
        self._require_statistic()
        other._require_statistic()  # noqa: SLF001
        self._require_kind(other.statistic_)
        mine, theirs = (getattr(m, "feature_names_in_", None) for m in (self, other))
        if mine is not None and theirs is not None and list(mine) != list(theirs):
            raise ValueError(f"other was fitted on the columns {list(theirs)}, this model on {list(mine)}")
        both: Any = clone(self)
        names = mine if mine is not None else theirs
        if names is not None:
            both.feature_names_in_ = names
        merged = both.from_statistic(self.statistic_ + other.statistic_)
        like = self._device_of_parameters(None)
        return merged if like is None else merged._moved(like)  # noqa: SLF001


def check_weight(statistic: Any) -> None:
    """Refuse weights that are all zero, by whatever way they came."""
    total: Any = getattr(statistic, "total" if hasattr(statistic, "total") else "weight", 1.0)
    if np.ndim(total) == 0 and not float(total) > 0.0:
        raise ValueError("sample_weight must have a positive entry, all are zero")
