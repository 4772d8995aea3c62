"""Models of one target."""

import warnings
from typing import Any

from sklearn.exceptions import DataConversionWarning

from tractable.base import OnePassMixin, check_rows
from tractable.linear_model.linear_rows import check_factor, factor_of
from tractable.statistics import LinearFactor

__all__ = ["OneTargetMixin", "as_vector", "check_one_target"]


class OneTargetMixin(OnePassMixin):
    """A one-pass model that folds a :class:`LinearFactor` of rows and one target."""

    _supervised = True

    def _fold(self, subject: Any, X: Any, y: Any, sample_weight: Any, **options: Any) -> LinearFactor:
        rows = check_rows(subject, X, as_vector(y, stacklevel=5), sample_weight, supervised=True, **options)
        self._statistic()
        return factor_of(rows)

    def _checked(self, statistic: Any, *, some: bool = False) -> LinearFactor:
        """Return a factor of one target; with `some`, refuse that of no rows, which says nothing of noise."""
        found = check_factor(statistic)
        if some and not found.weight > 0:
            raise ValueError("statistic must be of some rows: the noise cannot be learned from none")
        check_one_target(found.n_targets)
        return found


def check_one_target(n_targets: int) -> None:
    """Refuse several targets, or none."""
    if n_targets != 1:
        raise ValueError(f"y must be one target, got {n_targets}")


def as_vector(y: Any, *, stacklevel: int) -> Any:
    """Return one target as a vector where it is given as a column, and say so."""
    shape: Any = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected; its one column is used"
        warnings.warn(message, DataConversionWarning, stacklevel=stacklevel)
        return y.iloc[:, 0] if hasattr(y, "iloc") else y[:, 0]
    return y
