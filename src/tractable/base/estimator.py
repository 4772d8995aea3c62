"""The base of every estimator: scikit-learn's contract, and fits that happen whole or not at all."""

import copy
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, TypeVar

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tractable.base.parameters import check_flags
from tractable.base.tags import ModelTags

__all__ = ["Estimator", "FitInterrupted", "all_or_nothing", "check_answerable", "check_fitted"]

F = TypeVar("F", bound=Callable[..., Any])


class FitInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search: the best model so far has been learned, and is kept."""


class Estimator(BaseEstimator):
    """An estimator whose constructor only stores parameters and whose learned names end in ``_``."""

    model_tags: ModelTags
    #: Whether columns may be text and categories, and whether numbers must not be negative.
    _reads_text: ClassVar[bool] = False
    _positive_only: ClassVar[bool] = False

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.input_tags.allow_nan = self.model_tags.missing_values
        found.input_tags.categorical = found.input_tags.string = self._reads_text
        found.input_tags.positive_only = self._positive_only
        return found


def all_or_nothing(*, afresh: bool) -> Callable[[F], F]:
    """Make a method that learns change its estimator only when it succeeds.

    It runs on a copy, once parameters that are True or False are seen to be. An interruption (Ctrl-C) leaves
    the estimator as it was too, unless the method says by `FitInterrupted` that a model was learned before it
    stopped. With `afresh`, the copy begins without what earlier fits learned.
    """

    def decorate(learn: F) -> F:
        @wraps(learn)
        def learned(self: Any, *args: Any, **options: Any) -> Any:
            check_flags(self)
            work = copy.copy(self)
            if afresh:
                work.__dict__ = {name: kept for name, kept in vars(self).items() if not name.endswith("_")}
            try:
                learn(work, *args, **options)
            except FitInterrupted:
                self.__dict__ = work.__dict__
                raise
            self.__dict__ = work.__dict__
            return self

        return learned  # type: ignore[return-value]

    return decorate


def check_fitted(estimator: Any) -> None:
    """Raise scikit-learn's NotFittedError where nothing has been learned."""
    check_is_fitted(estimator)


def check_answerable(estimator: Any) -> None:
    """Raise where nothing has been learned, or where the rows so far leave the model open."""
    check_fitted(estimator)
    if hasattr(estimator, "undetermined_"):
        raise ValueError(f"more rows are needed: {estimator.undetermined_}")
