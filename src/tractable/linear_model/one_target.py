"""Models of one target."""

import warnings
from typing import Any

from sklearn.exceptions import DataConversionWarning

from tractable.base import OnePassMixin, check_rows
from tractable.data import Source
from tractable.engines import fold
from tractable.statistics import LinearFactor

__all__ = ["OneTargetMixin"]


class OneTargetMixin(OnePassMixin):
    """A one-pass model that folds a :class:`LinearFactor` of rows and one target."""

    _supervised = True

    def _fold(self, subject: Any, X: Any, y: Any, sample_weight: Any, **options: Any) -> LinearFactor:
        rows = check_rows(subject, X, _as_vector(y), sample_weight, supervised=True, **options)
        if not isinstance(rows.data, Source) and rows.data.shape[0] < rows.data.shape[1]:
            return self._statistic()(rows.data, rows.y, rows.weights, reduce=False)
        return fold(self._statistic(), rows.data, rows.y, weights=rows.weights)

    def _checked(self, statistic: Any) -> LinearFactor:
        if not isinstance(statistic, LinearFactor):
            raise ValueError(f"statistic must be a LinearFactor, got {type(statistic).__name__}")
        if statistic.n_targets != 1:
            raise ValueError(f"y must be one target, got {statistic.n_targets}")
        return statistic


def _as_vector(y: Any) -> Any:
    shape: Any = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected; its one column is used"
        warnings.warn(message, DataConversionWarning, stacklevel=4)
        return y.iloc[:, 0] if hasattr(y, "iloc") else y[:, 0]
    return y
