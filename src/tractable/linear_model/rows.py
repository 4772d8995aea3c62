"""What linear models fold: the factor of rows and targets, or the rows themselves where they are fewer."""

import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from tractable.arrays.namespace import Array, as_float_array, namespace_of
from tractable.base import OnePassMixin, Rows, check_rows
from tractable.base.validation import check_names
from tractable.data import ArraySource, Source, as_source, is_streamed
from tractable.data.frames import FrameSource
from tractable.engines import fold
from tractable.engines.least_squares import column_lengths
from tractable.primitives.threads import single_threaded_blas
from tractable.statistics import LinearFactor
from tractable.value import replace

__all__ = [
    "CONSTANT",
    "OneTargetMixin",
    "as_floats",
    "as_vector",
    "blas_for",
    "check_factor",
    "check_held_rows",
    "check_one_target",
    "factor_of",
    "steadied",
]

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


def check_held_rows(estimator: Any, X: Any, y: Any, sample_weight: Any, *, min_rows: int = 1) -> Rows:
    """Check rows and one target held in memory, as arrays; targets and weights may be columns of a frame."""
    if not (is_streamed(X) or isinstance(y, str) or isinstance(sample_weight, str)):
        rows = check_rows(estimator, X, y, sample_weight, reset=True, min_rows=min_rows, supervised=True)
        if not isinstance(rows.data, np.ndarray):
            raise ValueError(f"X must be a NumPy array or a frame, got {type(X).__name__}")
        return rows
    source = as_source(X, y, sample_weight)
    if not isinstance(source, ArraySource | FrameSource):
        name = type(estimator).__name__
        raise ValueError(f"X must be rows in memory, which {name} reads many times; got {type(X).__name__}")
    data, y, weights = _collected(source)
    rows = check_rows(estimator, data, y, weights, reset=True, min_rows=min_rows, supervised=True)
    check_names(estimator, source.feature_names, source.n_features, reset=True)
    return rows


def _collected(source: Source) -> tuple[Any, Any, Any]:
    """Return all rows of a source, its targets and its weights."""
    batches = list(source.batches())
    parts: Any = ([b.X for b in batches], [b.y for b in batches], [b.weights for b in batches])
    X, y, weights = (np.concatenate(part) if part and part[0] is not None else None for part in parts)
    return (np.empty((0, source.n_features)) if X is None else X), y, weights
