"""Units in which a mixture of regressions is searched: columns and targets of mean 0 and spread 1."""

from typing import Any

import numpy as np

from tractable.base import Rows
from tractable.engines import LeastSquares, fold, least_squares
from tractable.statistics import LinearFactor
from tractable.statistics.rows import as_rows
from tractable.value import replace, value

__all__ = ["RegressionUnits", "survey"]

#: A spread of fewer roundings than these of a column's mean is no spread.
ROUNDINGS = 16.0


@value
class RegressionUnits:
    """The search runs on (x - shift) / spread and (y - middle) / width.

    Parameters
    ----------
    shift, spread : array (d,)
        The spread of a column that never varies is infinite: in these units it is zero.
    middle, width : float
        Of the targets.
    located : bool
        Whether planes have an intercept; without one nothing is shifted.
    plane : LeastSquares
        The one plane of least squares, in these units.
    total : float
        Weight of the rows.
    """

    shift: np.ndarray
    spread: np.ndarray
    middle: float
    width: float
    located: bool
    plane: LeastSquares
    total: float

    def columns(self, x: Any) -> np.ndarray:
        """Return rows in these units."""
        return (as_rows(x) - self.shift) / self.spread

    def targets(self, y: Any) -> np.ndarray:
        """Return targets in these units."""
        return (one_target(y) - self.middle) / self.width

    def slopes(self, coef: np.ndarray) -> np.ndarray:
        """Return coefficients (K, d) of planes in the units of the rows."""
        return coef * self.width / self.spread

    def heights(self, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Return the intercepts (K,) of planes in the units of the rows."""
        return self.middle + self.width * intercept - self.slopes(coef) @ self.shift


@value
class _Survey:
    """The linear statistic of rows, and how many of them count."""

    linear: LinearFactor
    n_rows: int

    @classmethod
    def of(cls, x: Any, y: Any, weights: Any = None) -> "_Survey":
        found = LinearFactor.of(x, one_target(y), weights)
        return cls(linear=found, n_rows=len(x) if weights is None else int(np.sum(np.asarray(weights) > 0)))

    def __add__(self, other: "_Survey") -> "_Survey":
        return _Survey(linear=self.linear + other.linear, n_rows=self.n_rows + other.n_rows)


def survey(rows: Rows, n_components: int, *, fit_intercept: bool) -> RegressionUnits:
    """Look at the rows once, and refuse those that no search can use."""
    if rows.y is None and not hasattr(rows.data, "batches"):
        raise ValueError("y must be given")
    found = fold(_survey_of, rows.data, rows.y, weights=rows.weights)
    if not float(found.linear.weight) > 0.0:
        raise ValueError("sample_weight must have a positive entry, all are zero")
    if found.n_rows < n_components:
        raise ValueError(
            f"n_components={n_components} needs as many rows that count, but X has n_samples={found.n_rows}"
        )
    return _units(found.linear, fit_intercept=fit_intercept)


def _survey_of(x: Any, y: Any = None, weights: Any = None) -> _Survey:
    if y is None:
        raise ValueError("y must be given: X is a source without a target")
    return _Survey.of(x, y, weights)


def _units(linear: LinearFactor, *, fit_intercept: bool) -> RegressionUnits:
    total, d = float(linear.weight), linear.dim
    spread = _lengths(linear.factor) / np.sqrt(total)
    whole = np.hypot(spread, linear.mean)  # about the origin
    varies = spread > ROUNDINGS * np.finfo(float).eps * np.abs(linear.mean)
    if not fit_intercept:
        spread, varies = whole, whole > 0
    shift = linear.mean if fit_intercept else np.zeros(d + 1)
    columns = np.where(varies[:d], spread[:d], np.inf)
    width = float(spread[d]) if varies[d] else float(whole[d]) or 1.0
    _check_width(width)
    scale = np.append(columns, width)
    standard = replace(linear, mean=(linear.mean - shift) / scale, factor=linear.factor / scale)
    return RegressionUnits(
        shift=shift[:d],
        spread=columns,
        middle=float(shift[d]),
        width=width,
        located=fit_intercept,
        plane=least_squares(standard, fit_intercept=fit_intercept),
        total=total,
    )


def one_target(y: Any) -> np.ndarray:
    """Return targets as a vector; refuse several."""
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y must be one target, of shape (n_samples,); got shape {y.shape}")
    try:
        return y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be numbers: {error}") from None


def _check_width(width: float) -> None:
    limits = np.finfo(float)
    if not limits.tiny / limits.eps < width * width < limits.max * limits.eps:
        raise ValueError("y varies by so much, or so little, that its square is no number; rescale it")


def _lengths(factor: np.ndarray) -> np.ndarray:
    """Return the lengths of columns, without overflow."""
    peak = np.max(np.abs(factor), axis=0, initial=0.0)
    peak = np.where(peak > 0, peak, 1.0)
    return peak * np.sqrt(np.sum((factor / peak) ** 2, axis=0))
