"""Tables as rows of numbers: what the models of columns of several kinds share."""

from typing import Any, ClassVar

import numpy as np

from tractable.base.density import LogLikelihood
from tractable.base.validation import Rows, check_columns, refuse_foreign
from tractable.data import Source, is_frame
from tractable.data.source import mapped
from tractable.data.table_columns import TableColumns, coded_frame, columns_of, learn_columns, ranges
from tractable.statistics import ColumnSummary
from tractable.value import replace, value


@value
class TableSummary:
    """Moments and extremes of each column, and which columns hold whole numbers."""

    columns: ColumnSummary
    whole: np.ndarray

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "TableSummary":
        """Summarise a block of rows; missing entries and rows of weight zero count for nothing."""
        counted = x if weights is None else x[np.asarray(weights) > 0]
        return cls(columns=ColumnSummary.of(x, weights), whole=ranges(counted)[2])

    def __add__(self, other: "TableSummary") -> "TableSummary":
        return TableSummary(columns=self.columns + other.columns, whole=self.whole & other.whole)


class TableRows:
    """Frames and arrays as rows of numbers, categories by their codes, for densities fitted by EM.

    A model supplies `_row_check()`, a value that is called with rows of numbers like those of the fit and
    returns the events of `distribution_` that they are, or refuses them.
    """

    #: The kind of columns that are not declared and have no type; whether all columns are categorical.
    _default: ClassVar[str] = "normal"
    _all_categorical: ClassVar[bool] = False
    _columns_: TableColumns
    # Parameters that only some of these models have.
    kinds: Any = None
    unseen: str = "error"

    def _validate_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Rows:
        leave = sample_weight if isinstance(sample_weight, str) else None
        refuse_foreign(X)
        coded = self._coded(X, leave, reset=reset)
        rows: Rows = super()._validate_rows(coded, y, sample_weight, reset=reset)  # type: ignore[misc]
        if not reset:
            return replace(rows, data=mapped(rows.data, self._row_check()))
        if not hasattr(self, "_columns_"):
            model: Any = self
            names = getattr(self, "feature_names_in_", None)
            self._columns_ = columns_of(names, model.n_features_in_, self.kinds, self._default)
        return rows

    def _coded(self, X: Any, leave: Any = None, *, reset: bool = False) -> Any:
        """Return a table as numbers, the categories of frames and of rows of text by their codes."""
        rows = X if is_frame(X) else _text(X) if self._all_categorical else None
        if rows is None:
            return X
        if reset:
            self._columns_ = self._learn_columns(rows, () if leave is None else (leave,))
            if rows is not X:
                self._columns_ = replace(self._columns_, library=None, types=None)
        coded = coded_frame(rows, self._columns_, self.unseen)
        return coded if rows is X else coded.to_numpy()

    def _learn_columns(self, frame: Any, leave: Any = ()) -> TableColumns:
        return learn_columns(frame, self.kinds, leave, codes=self._all_categorical)

    def _row_check(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define _row_check")

    def _events(self, X: Any) -> np.ndarray:
        """Return checked rows as events of `distribution_`."""
        model: Any = self
        model._density()  # noqa: SLF001
        refuse_foreign(X)
        return self._row_check()(check_columns(self, self._coded(X)))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """See `DensityMixin.score`: the mean log density of the rows."""
        model: Any = self
        density, rows = model._density(), self._validate_rows(X, None, sample_weight, reset=False)  # noqa: SLF001
        if isinstance(rows.data, Source):
            total = rows.data.reduce(LogLikelihood(density=density))
            return float(total[0] / total[1])
        return float(np.average(density.log_prob(rows.data), weights=rows.weights))


def _text(X: Any) -> Any:
    """Return rows of text as a frame; None where they are numbers, or no rows."""
    import pandas as pd

    if not isinstance(X, (np.ndarray, list, tuple)):
        return None
    try:
        found = np.asarray(X)
    except ValueError:
        return None
    if found.ndim != 2 or not found.size or found.dtype.kind not in "OUT":
        return None
    frame = pd.DataFrame(found.astype(object))
    return frame if any(isinstance(v, str) for v in found.astype(object).ravel()) else None
