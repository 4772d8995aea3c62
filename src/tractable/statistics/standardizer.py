"""Standardized columns: one shift, one scale and one rule for what is constant, for every model."""

from typing import Any, ClassVar

import numpy as np

from tractable.arrays.limits import power_of_two, reciprocals
from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.primitives import as_double
from tractable.statistics.moments import DiagonalMoments
from tractable.statistics.rows import Statistic, as_rows, as_weights
from tractable.value import replace, value

#: A standard deviation of at most so many roundings of the mean is rounding: the column is constant.
ROUNDINGS = 8.0

_ROUNDING = ROUNDINGS * float(np.finfo(np.float64).eps)


def column_varies(mean: Any, stddev: Any) -> Array:
    """Return which columns are not constant: those whose standard deviation is more than rounding.

    Parameters
    ----------
    mean, stddev : arrays (d,)
        Mean and standard deviation of each column.

    Examples
    --------
    >>> column_varies(np.array([1e6, 1e6]), np.array([1e-12, 1e-3])).tolist()
    [False, True]
    """
    return stddev > _ROUNDING * namespace_of(mean).abs(mean)


@value
class Standardizer:
    """The map z = (x - shift) · scale to columns of mean 0 and variance 1, and back.

    Parameters
    ----------
    shift : array (d,)
        Mean of each column.
    scale : array (d,)
        One over the standard deviation; of a constant column, one over a few roundings of its value.
    varies : array (d,) of bool
        Which columns are not constant, see `column_varies`.

    Examples
    --------
    >>> x = np.array([[1.0, 5.0], [3.0, 5.0]])
    >>> standardizer = Standardizer.from_moments(DiagonalMoments.of(x))
    >>> standardizer.transform(x)[:, 0].tolist(), standardizer.varies.tolist()
    ([-1.0, 1.0], [True, False])
    """

    shift: Array
    scale: Array
    varies: Array

    @classmethod
    def identity(cls, dim: int) -> "Standardizer":
        """Return the standardizer that leaves `dim` columns as they are."""
        return cls(shift=np.zeros(dim), scale=np.ones(dim), varies=np.ones(dim, dtype=bool))

    @classmethod
    def from_moments(
        cls, moments: Any, *, common: bool = False, exact: bool = False, centered: bool = True
    ) -> "Standardizer":
        """Return the standardizer of columns with these moments.

        Parameters
        ----------
        moments : Moments or DiagonalMoments
            Weight, mean and scatter of the rows.
        common, exact, centered
            As in `from_stddev`.
        """
        xp = namespace_of(moments.mean)
        scatter = moments.scatter if moments.scatter.ndim == 1 else xp.linalg.diagonal(moments.scatter)
        stddev = xp.sqrt(scatter / moments.weight)
        return cls.from_stddev(moments.mean, stddev, common=common, exact=exact, centered=centered)

    @classmethod
    def from_stddev(
        cls, mean: Array, stddev: Array, *, common: bool = False, exact: bool = False, centered: bool = True
    ) -> "Standardizer":
        """Return the standardizer of columns with these means and standard deviations.

        Parameters
        ----------
        mean, stddev : arrays (d,)
            Of the columns.
        common : bool
            Whether all columns have one scale, one over the root mean square of the standard deviations of
            those that vary: distances keep their order.
        exact : bool
            Whether the scale is rounded to a power of two and the shift to a fraction of the spread, so that
            whole numbers are transformed without rounding.
        centered : bool
            If not, for models without an intercept, the shift is 0 and the root mean square stands for the
            deviation.
        """
        xp, limits = namespace_of(mean), np.finfo(np.float64)
        if not centered:
            mean, stddev = xp.zeros_like(mean), xp.hypot(stddev, mean)
        varies, width = column_varies(mean, stddev), stddev
        every = bool(xp.all(varies))
        if not every:
            rounding = ROUNDINGS * float(limits.eps) * xp.where(mean != 0, xp.abs(mean), 1.0)
            least = float(limits.tiny) ** 0.5
            width = xp.where(varies, stddev, xp.where(rounding > least, rounding, least))
        if common:
            some = every or bool(xp.any(varies))
            widths = width[varies] if some and not every else width
            peak = float(xp.max(widths))  # squares neither overflow nor underflow
            width = xp.full_like(width, peak * float(xp.mean((widths / peak) ** 2)) ** 0.5)
            varies = varies if every else xp.full_like(varies, some)
        if exact:
            width = power_of_two(width)
            mean = xp.round(mean / (0.125 * width)) * (0.125 * width)
        return cls(shift=mean, scale=reciprocals(width), varies=varies)

    @property
    def log_jacobian(self) -> float:
        """Log |dz/dx| = Σ log scale: added to a log density of z, it gives that of x."""
        return float(np.sum(np.log(self.scale)))

    def transform(self, x: Any) -> np.ndarray:
        """Return standardized rows; missing entries stay missing."""
        return (as_double(x) - self.shift) * self.scale

    def inverse_transform(self, z: Any) -> np.ndarray:
        """Return rows from standardized rows."""
        return self.shift + as_double(z) / self.scale

    def __getitem__(self, columns: Any) -> "Standardizer":
        """Return the standardizer of some columns."""
        return Standardizer(shift=self.shift[columns], scale=self.scale[columns], varies=self.varies[columns])


def observed_range(x: Array) -> tuple[Array, Array]:
    """Return the smallest and the largest observed entry of each column, ±inf where there are none.

    Examples
    --------
    >>> observed_range(np.array([[1.0, np.nan], [4.0, np.nan]]))
    (array([ 1., inf]), array([  4., -inf]))
    """
    xp = namespace_of(x)
    if is_numpy_array(x):  # fmin and fmax pass over NaN
        low = np.fmin.reduce(x, axis=0, initial=np.inf)
        return low, np.fmax.reduce(x, axis=0, initial=-np.inf)
    if not x.shape[0]:
        return xp.zeros_like(xp.sum(x, axis=0)) + xp.inf, xp.zeros_like(xp.sum(x, axis=0)) - xp.inf
    missing, end = xp.isnan(x), xp.full_like(x, xp.inf)
    return xp.min(xp.where(missing, end, x), axis=0), xp.max(xp.where(missing, -end, x), axis=0)


@value
class ColumnSummary(Statistic):
    """Moments and extremes of each column.

    Parameters
    ----------
    moments : DiagonalMoments
        Weight, mean and scatter of each column.
    low, high : arrays (d,)
        Smallest and largest observed entries; ±inf in a column without any.

    Examples
    --------
    >>> summary = ColumnSummary.of([[1.0], [4.0]])
    >>> summary.low.tolist(), summary.high.tolist(), summary.moments.mean.tolist()
    ([1.0], [4.0], [2.5])
    """

    _extensive: ClassVar = ("moments",)

    moments: DiagonalMoments
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "ColumnSummary":
        """Summarise a block of rows; missing entries and rows of weight zero count for nothing."""
        x = as_rows(x)
        weights = as_weights(weights, x)
        counted = x if weights is None else x[weights > 0]
        low, high = observed_range(counted)
        return cls(moments=DiagonalMoments.of(x, weights), low=low, high=high)

    def _merged(self, other: "ColumnSummary") -> "ColumnSummary":
        xp = namespace_of(self.low)
        return replace(
            self,
            moments=self.moments + other.moments,
            low=xp.minimum(self.low, other.low),
            high=xp.maximum(self.high, other.high),
        )

    @property
    def dim(self) -> int:
        """Number of columns."""
        return self.moments.dim

    @property
    def total(self) -> float:
        """Weight of the rows in which something was observed."""
        return float(self.moments.total - self.moments.unseen)

    @property
    def unseen(self) -> float:
        """Weight of the rows in which nothing was observed."""
        return float(self.moments.unseen)

    @property
    def complete(self) -> bool:
        """Whether every entry was observed."""
        return bool(np.all(self.moments.weight == self.moments.total))

    def check_observed(self, labels: Any = None) -> None:
        """Refuse rows that leave a column without an observed value of positive weight."""
        weight = self.moments.weight
        if np.all(weight > 0):
            return
        empty = [j if labels is None else labels[j] for j in np.flatnonzero(weight == 0).tolist()]
        reason = "no observed value" if np.any(weight > 0) else "no row of positive weight"
        raise ValueError(f"X (with sample_weight) has {reason} in the columns {empty}")

    def standardizer(self, *, common: bool = False, exact: bool = False) -> Standardizer:
        """Return the standardizer of these columns, once every one was observed."""
        self.check_observed()
        return Standardizer.from_moments(self.moments, common=common, exact=exact)

    def centre(self, standardizer: Standardizer) -> np.ndarray:
        """Return the mean of the standardized rows: 0, unless the standardizer is of other rows."""
        seen = self.moments.weight > 0
        return np.where(seen, (self.moments.mean - standardizer.shift) * standardizer.scale, 0.0)

    def squared_radius(self, standardizer: Standardizer) -> float:
        """Return a bound on |z - centre|² over the standardized rows z."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.where(self.moments.weight > 0, self.moments.mean, standardizer.shift)
            reach = np.maximum(self.high - mean, mean - self.low) * standardizer.scale
        reach = np.nan_to_num(reach, nan=0.0, neginf=0.0)
        return float(np.dot(reach, reach))
