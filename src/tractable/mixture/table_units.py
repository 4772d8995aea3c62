"""One look at the columns of a table: where numbers lie, how large counts are, which categories there are."""

from typing import Any

import numpy as np

from tractable.base import Rows
from tractable.engines import fold
from tractable.mixture.table_columns import TableColumns
from tractable.statistics import DiagonalMoments
from tractable.value import value

__all__ = ["TableUnits", "survey_table"]

#: A column that never varies is given so many roundings of its values as a standard deviation.
ROUNDINGS = 8.0

#: More categories than this are not codes, but numbers.
MOST_CATEGORIES = 65_536


@value
class TableUnits:
    """What the steps must know of the columns.

    Parameters
    ----------
    columns : TableColumns
    mean, scale : arrays (d,)
        Normal columns are searched as z = (x - mean) * scale, of mean 0 and variance 1.
    varies : array (d,) of bool
    sizes : array (d,) of int
        How many categories a column has; 0 where it has none.
    total : float
        Weight of the rows in which something was observed.
    unseen : float
        Weight of the others, which change nothing.
    """

    columns: TableColumns
    mean: np.ndarray
    scale: np.ndarray
    varies: np.ndarray
    sizes: np.ndarray
    total: float
    unseen: float

    def where(self, *kinds: str) -> np.ndarray:
        """Return the positions of the columns of some kinds."""
        return np.array([j for j, kind in enumerate(self.columns.kinds) if kind in kinds], dtype=np.int64)


def survey_table(rows: Rows, columns: TableColumns) -> TableUnits:
    """Look at the rows once."""
    found: _Survey = fold(_Survey.of, rows.data, weights=rows.weights)
    moments = found.moments
    if not np.all(moments.weight > 0):
        empty = np.flatnonzero(moments.weight == 0).tolist()
        reason = "no observed value" if np.any(moments.weight > 0) else "no row of positive weight"
        raise ValueError(f"X (with sample_weight) has {reason} in the columns {empty}")
    counted = [j for j, kind in enumerate(columns.kinds) if kind != "normal"]
    for j in sorted(counted, key=lambda j: found.low[j] >= 0):  # what is negative is said first
        _check(columns.kinds[j], j, float(found.low[j]), float(found.high[j]), whole=bool(found.whole[j]))
    stddev = np.sqrt(moments.scatter / moments.weight)
    limits = np.finfo(np.float64)
    varies = stddev > limits.eps * np.abs(moments.mean)
    size = np.where(moments.mean != 0, np.abs(moments.mean), 1.0)
    least = np.maximum(ROUNDINGS * limits.eps * size, np.sqrt(limits.tiny))
    return TableUnits(
        columns=columns,
        mean=moments.mean,
        scale=1.0 / np.where(varies, stddev, least),
        varies=varies,
        sizes=np.array([_size(columns, j, found.high[j]) for j in range(len(stddev))], dtype=np.int64),
        total=float(moments.total - moments.unseen),
        unseen=float(moments.unseen),
    )


def _size(columns: TableColumns, j: int, high: float) -> int:
    kind, table = columns.kinds[j], columns.categories[j]
    if kind == "bernoulli":
        return 2
    if kind != "categorical":
        return 0
    return int(high) + 1 if table is None else len(table)


def _check(kind: str, j: int, low: float, high: float, *, whole: bool) -> None:
    if low < 0:
        raise ValueError(f"Negative values in data: X has {low:g} in the column {j}, which is {kind}")
    if not whole:
        raise ValueError(f"X must have whole numbers in the column {j}, which is {kind}")
    if kind == "bernoulli" and high > 1:
        raise ValueError(f"X must have zeros and ones in the column {j}, which is bernoulli; got {high:g}")
    if kind == "categorical" and high >= MOST_CATEGORIES:
        raise ValueError(f"X has the code {high:g} in the column {j}: codes of categories are 0, 1, 2, …")


@value
class _Survey:
    """Moments and range of the columns, and whether they are whole numbers."""

    moments: DiagonalMoments
    low: np.ndarray
    high: np.ndarray
    whole: np.ndarray

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "_Survey":
        seen = x if weights is None else x[np.asarray(weights) > 0]
        return cls(
            moments=DiagonalMoments.of(x, weights),
            low=np.fmin.reduce(seen, axis=0, initial=np.inf),
            high=np.fmax.reduce(seen, axis=0, initial=-np.inf),
            whole=np.all((seen == np.floor(seen)) | np.isnan(seen), axis=0),
        )

    def __add__(self, other: "_Survey") -> "_Survey":
        return _Survey(
            moments=self.moments + other.moments,
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            whole=self.whole & other.whole,
        )
