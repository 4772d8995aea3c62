"""What linear models fold: the factor of rows and targets, or the rows themselves where they are fewer."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tractable.base import Rows
from tractable.data import Source
from tractable.engines import fold
from tractable.engines.threads import single_threaded_blas
from tractable.statistics import LinearFactor

__all__ = ["blas_for", "check_factor", "factor_of"]

#: Matrices of so many columns are no work for several threads.
FEW_COLUMNS = 256


def factor_of(rows: Rows) -> LinearFactor:
    """Return the factor of rows and targets: of fewer rows than columns, these themselves."""
    if not isinstance(rows.data, Source) and rows.data.shape[0] < rows.data.shape[1]:
        return LinearFactor.of(rows.data, rows.y, rows.weights, reduce=False)
    found: LinearFactor = fold(LinearFactor.of, rows.data, rows.y, weights=rows.weights)
    return found


def blas_for(rows: Rows) -> AbstractContextManager[None]:
    """Hold BLAS to one thread where matrices are small.

    Waking its threads after a fold costs more than what is learned from the factor.
    """
    return single_threaded_blas() if _width(rows) <= FEW_COLUMNS else nullcontext()


def check_factor(statistic: Any) -> LinearFactor:
    """Return the statistic if it is one of linear models."""
    if not isinstance(statistic, LinearFactor):
        raise ValueError(f"statistic must be a LinearFactor, got {type(statistic).__name__}")
    return statistic


def _width(rows: Rows) -> int:
    return int(rows.data.n_features if isinstance(rows.data, Source) else rows.data.shape[1])
