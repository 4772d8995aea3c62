"""What linear models fold: the factor of rows and targets, or the rows themselves where they are fewer."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tractable.arrays.namespace import Array, as_float_array, namespace_of
from tractable.base import Rows
from tractable.data import Source
from tractable.engines import fold
from tractable.engines.least_squares import column_lengths
from tractable.primitives.threads import single_threaded_blas
from tractable.statistics import LinearFactor
from tractable.value import replace

__all__ = ["CONSTANT", "as_floats", "blas_for", "check_factor", "factor_of", "steadied"]

#: A column that varies less than this, relative to its distance from zero, varies by rounding.
CONSTANT = 1e-14
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


def as_floats(x: Array) -> Array:
    """Return checked rows as float64."""
    xp = namespace_of(x)
    return xp.astype(as_float_array(x, xp), xp.float64)


def steadied(statistic: LinearFactor) -> LinearFactor:
    """Return the statistic, its columns that vary about their means by rounding alone as constant ones."""
    xp = namespace_of(statistic.mean)
    factor, reach = statistic.factor, float(statistic.weight) ** 0.5 * statistic.factor.shape[0] ** 0.5
    varies = column_lengths(factor) > CONSTANT * xp.abs(statistic.mean) * reach
    return replace(statistic, factor=xp.where(varies, factor, xp.zeros_like(factor)))


def _width(rows: Rows) -> int:
    return int(rows.data.n_features if isinstance(rows.data, Source) else rows.data.shape[1])
