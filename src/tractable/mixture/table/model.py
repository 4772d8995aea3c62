"""One look at the columns of a table: where numbers lie, how large counts are, which categories there are."""

from typing import Any

import numpy as np

from tractable.base import Rows
from tractable.data.table_columns import (
    DECLARE,
    MOST_CATEGORIES,
    TableColumns,
    check_entries,
    warn_unseen,
)
from tractable.distributions import Bernoulli, Categorical, Mixture, Normal
from tractable.engines import fold
from tractable.statistics import DiagonalMoments
from tractable.value import value

__all__ = ["TableUnits", "checked_column", "drawn", "expected", "survey_table"]

#: A column that never varies is given so many roundings of its values as a standard deviation.
ROUNDINGS = 8.0


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
        empty = [columns.label(int(j)) for j in np.flatnonzero(moments.weight == 0)]
        reason = "no observed value" if np.any(moments.weight > 0) else "no row of positive weight"
        raise ValueError(f"X (with sample_weight) has {reason} in the columns {empty}")
    counted = [j for j, kind in enumerate(columns.kinds) if kind != "normal"]
    for j in sorted(counted, key=lambda j: found.low[j] >= 0):  # what is negative is said first
        check_entries(columns, j, float(found.low[j]), float(found.high[j]), whole=bool(found.whole[j]))
        if columns.kinds[j] == "categorical" and found.high[j] >= MOST_CATEGORIES:
            raise ValueError(
                f"X has the code {found.high[j]:g} in the column {columns.label(j)!r}: codes of categories "
                f"are 0, 1, 2, …, fewer than {MOST_CATEGORIES}"
            )
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


def checked_column(
    units: TableUnits, j: int, values: np.ndarray, argument: str, unseen: str = "error"
) -> np.ndarray:
    """Return entries of one column, unless it cannot have them; `unseen` categories may become missing."""
    columns, kind = units.columns, units.columns.kinds[j]
    seen = values[~np.isnan(values)]
    if not np.all(np.isfinite(seen)):
        raise ValueError(f"{argument} must be finite in the column {columns.label(j)!r}")
    if kind == "normal" or not len(seen):
        return values
    high, whole = float(seen.max()), bool(np.all(seen == np.floor(seen)))
    check_entries(columns, j, float(seen.min()), high, whole=whole, argument=argument)
    if kind != "categorical" or high < units.sizes[j]:
        return values
    if unseen == "error":
        raise ValueError(
            f"{argument}: the column {columns.label(j)!r} has no category {high:g}; "
            f"it has the codes 0 to {units.sizes[j] - 1}; {DECLARE}"
        )
    warn_unseen(columns.label(j), high)
    return np.where(values < units.sizes[j], values, np.nan)


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


#: Entries of the arrays that a block of rows makes.
BLOCK_ENTRIES = 2**20


def expected(mixture: Mixture, x: np.ndarray) -> np.ndarray:
    """Return rows of numbers with means and likeliest categories in their holes; counts are whole."""
    shares = mixture.responsibilities(x)
    found = x.copy()
    for j, part in enumerate(mixture.components.parts):  # type: ignore[attr-defined]
        holes = np.isnan(x[:, j])
        found[holes, j] = _best(part, shares[holes])
    return found


def drawn(mixture: Mixture, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return rows of numbers with draws in their holes: first a component, given the rest of the row."""
    edges = np.cumsum(mixture.responsibilities(x), axis=1)
    labels = np.sum(rng.random((len(x), 1)) * edges[:, -1:] >= edges[:, :-1], axis=1)
    found = x.copy()
    for j, part in enumerate(mixture.components.parts):  # type: ignore[attr-defined]
        holes = np.isnan(x[:, j])
        for k in np.unique(labels[holes]):
            of_k = holes & (labels == k)
            found[of_k, j] = part[k].sample(int(of_k.sum()), rng=rng)
    return found


def _best(part: Any, shares: np.ndarray) -> np.ndarray:
    if isinstance(part, Categorical):
        rows = max(1, BLOCK_ENTRIES // part.probabilities.shape[1])
        blocks = [shares[i : i + rows] for i in range(0, len(shares), rows)]
        return np.concatenate([np.zeros(0), *(np.argmax(r @ part.probabilities, axis=1) for r in blocks)])
    mean = shares @ part.mean
    if isinstance(part, Bernoulli):
        return mean > 0.5
    return mean if isinstance(part, Normal) else np.rint(mean)
