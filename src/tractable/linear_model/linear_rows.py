"""What linear models fold: the factor of rows and targets, or the rows themselves where they are fewer."""

from typing import Any

from tractable.base import Rows
from tractable.data import Source
from tractable.engines import fold
from tractable.statistics import LinearFactor

__all__ = ["check_factor", "factor_of"]


def factor_of(rows: Rows) -> LinearFactor:
    """Return the factor of rows and targets: of fewer rows than columns, these themselves."""
    if not isinstance(rows.data, Source) and rows.data.shape[0] < rows.data.shape[1]:
        return LinearFactor.of(rows.data, rows.y, rows.weights, reduce=False)
    found: LinearFactor = fold(LinearFactor.of, rows.data, rows.y, weights=rows.weights)
    return found


def check_factor(statistic: Any) -> LinearFactor:
    """Return the statistic if it is one of linear models."""
    if not isinstance(statistic, LinearFactor):
        raise ValueError(f"statistic must be a LinearFactor, got {type(statistic).__name__}")
    return statistic
