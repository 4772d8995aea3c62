"""Where the columns lie and how wide they are, so that a search depends on neither."""

from typing import Any

import numpy as np

from tractable.base import Rows
from tractable.engines import fold
from tractable.statistics import DiagonalMoments
from tractable.value import value

__all__ = ["Units", "seen_in", "survey"]

#: A column that never varies is given so many roundings of its values as a standard deviation.
ROUNDINGS = 8.0


@value
class Units:
    """The search runs on z = (x - shift) * scale: columns of mean 0 and variance 1.

    The last five are of the rows at hand, which may be others than those that gave the units.
    """

    shift: np.ndarray  # (d,)
    scale: np.ndarray  # (d,), of a constant column: one over a few roundings of its values
    varies: np.ndarray  # (d,), bool
    centre: np.ndarray  # (d,), the mean of z: 0, but for other rows
    reach: float  # no |z - centre|² is greater
    total: float  # weight of the rows in which something was observed
    unseen: float  # weight of the others
    complete: bool  # whether every entry was observed


def survey(rows: Rows, *, common: bool = False) -> Units:
    """Look at the rows once; with `common`, all columns share one unit."""
    found = fold(_Survey.of, rows.data, weights=rows.weights)
    moments = found.moments
    if not np.all(moments.weight > 0):
        empty = np.flatnonzero(moments.weight == 0).tolist()
        reason = "no observed value" if np.any(moments.weight > 0) else "no row of positive weight"
        raise ValueError(f"X (with sample_weight) has {reason} in the columns {empty}")
    stddev = np.sqrt(moments.scatter / moments.weight)
    limits = np.finfo(np.float64)
    varies = stddev > limits.eps * np.abs(moments.mean)
    size = np.where(moments.mean != 0, np.abs(moments.mean), 1.0)
    least = np.maximum(ROUNDINGS * limits.eps * size, np.sqrt(limits.tiny))
    width = np.where(varies, stddev, least)
    if common:
        width = np.full_like(width, _size(width[varies] if np.any(varies) else width))
        varies = np.full_like(varies, np.any(varies))  # in the unit that all columns share
    scale = 1.0 / width
    return _of_rows(found, shift=moments.mean, scale=scale, varies=varies)


def seen_in(rows: Rows, units: Units) -> Units:
    """Return the same units, with what is said of rows said of these."""
    found = fold(_Survey.of, rows.data, weights=rows.weights)
    return _of_rows(found, shift=units.shift, scale=units.scale, varies=units.varies)


def _of_rows(found: "_Survey", *, shift: np.ndarray, scale: np.ndarray, varies: np.ndarray) -> Units:
    moments = found.moments
    with np.errstate(over="ignore", invalid="ignore"):
        middle = np.where(moments.weight > 0, moments.mean, shift)
        reach = np.maximum(found.high - middle, middle - found.low) * scale
        reach = np.nan_to_num(reach, nan=0.0, neginf=0.0)
    return Units(
        shift=shift,
        scale=scale,
        varies=varies,
        centre=(middle - shift) * scale,
        reach=float(reach @ reach),
        total=float(moments.total - moments.unseen),
        unseen=float(moments.unseen),
        complete=bool(np.all(moments.weight == moments.total)),
    )


def _size(widths: np.ndarray) -> float:
    """Return the root of the mean square, whose squares may overflow."""
    largest = float(np.max(widths))
    return largest * float(np.sqrt(np.mean((widths / largest) ** 2)))


@value
class _Survey:
    """Moments and range of the columns, of what was observed."""

    moments: DiagonalMoments
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "_Survey":
        seen = x if weights is None else x[np.asarray(weights) > 0]
        d = x.shape[1]
        # Begin with an empty row, so that a block without rows (or a column without entries) has a range.
        return cls(
            moments=DiagonalMoments.of(x, weights),
            low=np.fmin.reduce(seen, axis=0, initial=np.inf) if len(seen) else np.full(d, np.inf),
            high=np.fmax.reduce(seen, axis=0, initial=-np.inf) if len(seen) else np.full(d, -np.inf),
        )

    def __add__(self, other: "_Survey") -> "_Survey":
        return _Survey(
            moments=self.moments + other.moments,
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
        )
