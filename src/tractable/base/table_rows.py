"""Tables as rows of numbers: what the models of columns of several kinds share."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.base.density import LogLikelihood
from tractable.base.estimator import check_answerable
from tractable.base.validation import Rows, check_columns, refuse_foreign
from tractable.data import Source, is_frame, is_streamed, with_passes
from tractable.data.source import mapped
from tractable.data.streamed_tables import streamed_tables
from tractable.data.table_columns import coded_frame, columns_of, learn_columns, ranges
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


def check_table_rows(
    model: Any, check: Callable[..., Rows], X: Any, y: Any, sample_weight: Any, *, reset: bool
) -> Rows:
    """Return checked rows of a table as numbers, of a model that keeps its columns in `_columns_`.

    Parameters
    ----------
    model : estimator
        Its `_coded` makes numbers of a table, `_row_check()` events of numbers like those of the fit; `kinds`
        and `_default` are the kinds of columns without a type.
    check : callable
        Checks rows of numbers, as `EMEstimator._validate_rows`.
    X, y, sample_weight
        As in `fit`.
    reset : bool
        Whether the columns are learned.
    """
    leave = sample_weight if isinstance(sample_weight, str) else None
    refuse_foreign(X)
    X = with_passes(X)
    tables = streamed_tables(X, None, sample_weight) if model._reads_text and is_streamed(X) else None  # noqa: SLF001
    if tables is not None:
        coded, y, sample_weight = _coded_stream(model, tables, reset=reset), None, None
    else:
        coded = model._coded(X, leave, reset=reset)  # noqa: SLF001
    rows = check(coded, y, sample_weight, reset=reset)
    if not reset:
        return replace(rows, data=mapped(rows.data, model._row_check()))  # noqa: SLF001
    if not hasattr(model, "_columns_"):
        names = getattr(model, "feature_names_in_", None)
        kinds = getattr(model, "kinds", None)
        model._columns_ = columns_of(names, model.n_features_in_, kinds, model._default)  # noqa: SLF001
    return rows


def _coded_stream(model: Any, tables: Any, *, reset: bool) -> Source:
    """Return a stream of tables as numbers; a pass collects the categories where the columns are learned."""
    if reset:
        codes, kinds = model._default == "categorical", getattr(model, "kinds", None)  # noqa: SLF001
        frame, noted = tables.distinct_values(kinds)
        model._columns_ = noted(learn_columns(frame, kinds, codes=codes))
    return tables.coded(model._columns_, model.unseen)


def coded_table(model: Any, X: Any, leave: Any, *, reset: bool, categorical: bool) -> Any:
    """Return a table as numbers, the categories of frames by their codes.

    Parameters
    ----------
    model : estimator
        Its `_columns_` are learned, or used; `kinds` are those declared.
    X : array, frame or source
        The table.
    leave : str or None
        The column of weights, which is none of the table.
    reset : bool
        Whether the columns are learned.
    categorical : bool
        Whether all columns are categories: then rows of text in an array are read too.
    """
    rows = X if is_frame(X) else _text(X) if categorical else None
    if rows is None:
        return X
    if reset:
        kinds, without = getattr(model, "kinds", None), () if leave is None else (leave,)
        found = learn_columns(rows, kinds, without, codes=categorical)
        model._columns_ = found if rows is X else replace(found, library=None, types=None)
    coded = coded_frame(rows, model._columns_, model.unseen)
    return coded if rows is X else coded.to_numpy()


def table_events(model: Any, X: Any) -> np.ndarray:
    """Return checked rows of a table as events of a model's distribution."""
    check_answerable(model)
    refuse_foreign(X)
    return model._row_check()(check_columns(model, model._coded(X)))  # noqa: SLF001


def table_score(model: Any, X: Any, sample_weight: Any) -> float:
    """Return the mean log density of the rows of a table."""
    check_answerable(model)
    density, rows = model.distribution_, model._validate_rows(X, None, sample_weight, reset=False)  # noqa: SLF001
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
