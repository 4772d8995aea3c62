"""Rows of a table as the columns that a sparse fit works on: centred, weighted, and the way back."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.base import check_columns, check_rows
from tractable.base.estimator import Estimator
from tractable.base.tags import ModelTags
from tractable.base.validation import check_names, refuse_foreign
from tractable.engines import fold
from tractable.engines.sparse.problem import ColumnProblem, GramProblem
from tractable.linear_model.rows import CONSTANT, as_floats, steadied
from tractable.statistics import LinearFactor
from tractable.value import replace, value

__all__ = ["Columns", "columns_of", "columns_of_statistic", "predicted", "refuse_units", "summarised"]

#: With more columns the Gram matrix of all of them is not formed.
LARGEST_GRAM = 1000
#: Columns longer than this, or shorter than its inverse, have squares and products that may not be numbers.
LONG = 1e60


@value
class Columns:
    """Columns and targets about their means, times the roots of the weights.

    Any rows with the same inner products will do, the triangular factor of the rows among them.

    Parameters
    ----------
    X : array (m, p)
    Y : array (m, t)
    centre : array (p,)
    offset : array (t,)
        What was taken off the columns and the targets; zeros without an intercept.
    weight : float
        How many rows there were.
    flat : bool
        Whether there is one target, given as a vector.
    """

    X: Array
    Y: Array
    centre: Array
    offset: Array
    weight: float
    flat: bool = True

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return int(self.Y.shape[1])

    def problem(self, target: int = 0, *, precompute: bool | None = None) -> Any:
        """Return the least-squares problem of one target: by its Gram matrix, or by its columns.

        Without `precompute` the Gram matrix is formed where there are at least as many rows as columns.
        """
        X, y = self.X, self.Y[:, target]
        m, p = X.shape
        if precompute is None:
            precompute = p <= min(m, LARGEST_GRAM)
        if not precompute and is_numpy_array(X):
            return ColumnProblem(X=np.asfortranarray(X), y=np.ascontiguousarray(y))
        return GramProblem(gram=X.T @ X, moment=X.T @ y, square=float(y @ y), rank=min(m, p))

    def tamed(self) -> tuple["Columns", float, float]:
        """Return the columns and the targets in units in which products are numbers, and these units."""
        units = [_unit(part) for part in (self.X, self.Y)]
        if units == [1.0, 1.0]:
            return self, 1.0, 1.0
        wide, tall = units
        tame = replace(
            self, X=self.X / wide, Y=self.Y / tall, centre=self.centre / wide, offset=self.offset / tall
        )
        return tame, wide, tall

    def intercepts(self, coefs: Array, target: int = 0) -> Array:
        """Return the intercepts of coefficients (p, ...)."""
        return self.offset[target] - self.centre @ coefs


def columns_of(X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, *, fit_intercept: bool) -> Columns:
    """Return the columns of rows held in memory, in column order; a copy is made only where one is needed."""
    flat, Y = y.ndim == 1, np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    X = np.asarray(X, dtype=np.float64, order="F")
    weight = float(len(X)) if weights is None else float(weights.sum())
    centre, offset = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
    if fit_intercept:
        centre, offset = _mean(X, weights), _mean(Y, weights)
        X, Y = _about(X, centre), _about(Y, offset)
    if weights is not None:
        root = np.sqrt(weights)[:, None]
        X, Y = np.asfortranarray(X * root), Y * root
    return Columns(X=X, Y=Y, centre=centre, offset=offset, weight=weight, flat=flat)


def columns_of_statistic(statistic: LinearFactor, *, fit_intercept: bool) -> Columns:
    """Return the columns of a statistic: its factor stands for the rows."""
    xp = namespace_of(statistic.mean)
    factor = steadied(statistic).factor if fit_intercept else statistic.uncentred()
    mean = statistic.mean if fit_intercept else xp.zeros_like(statistic.mean)
    d = statistic.dim
    return Columns(
        X=factor[:, :d],
        Y=factor[:, d:],
        centre=mean[:d],
        offset=mean[d:],
        weight=float(statistic.weight),
        flat=statistic.flat,
    )


def refuse_units(wide: float, tall: float, what: str) -> None:
    """Say that columns and targets are of sizes whose product, or ratio, is no number."""
    raise ValueError(
        f"X and y must be in units nearer to one: of sizes near {wide:.1g} and {tall:.1g}, "
        f"{what} are no floating-point numbers"
    )


def _unit(columns: Array) -> float:
    """Return a power of two near the largest entry where that is far from one, else one."""
    xp = namespace_of(columns)
    top = float(xp.max(xp.abs(columns))) if columns.shape[0] and columns.shape[1] else 0.0
    return 1.0 if 1.0 / LONG <= top <= LONG or top == 0.0 else 2.0 ** int(np.log2(top))


def _mean(columns: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the means, corrected once: exact far from the origin."""
    first = np.average(columns, axis=0, weights=weights)
    return np.asarray(first + np.average(columns - first, axis=0, weights=weights))


def _about(columns: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Return the columns less their means; what varies by rounding alone is zero."""
    moved = np.asfortranarray(columns - centre)
    moved[:, _lengths(moved) <= CONSTANT * np.abs(centre) * len(columns) ** 0.5] = 0.0
    return moved


def _lengths(columns: Array) -> Array:
    """Return Euclidean lengths, (p,), whose squares need not be numbers."""
    xp = namespace_of(columns)
    with np.errstate(over="ignore", under="ignore"):
        squares = (
            np.einsum("ij,ij->j", columns, columns) if is_numpy_array(columns) else xp.sum(columns**2, axis=0)
        )
    if bool(xp.all((squares > LONG**-2) & (squares < LONG**2))):
        return xp.sqrt(squares)
    top = xp.max(xp.abs(columns), axis=0)
    units = xp.where(top > 0, top, xp.ones_like(top))
    return units * xp.sqrt(xp.sum((columns / units) ** 2, axis=0))


class LinearFit(Estimator):
    """Checks rows as every estimator does, for functions that have none."""

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact in one pass")


def predicted(X: Any, coefs: Array, intercepts: Any, names: tuple[str, ...] | None) -> Any:
    """Return planes at the rows of X, checked as an estimator's: finite, as wide, columns in their order."""
    fit = LinearFit()
    check_names(fit, names, coefs.shape[0], reset=True)
    if is_numpy_array(coefs):
        refuse_foreign(X)
    return as_floats(check_columns(fit, X)) @ coefs + intercepts


def summarised(
    X: Any, y: Any, sample_weight: Any, *, fit_intercept: bool
) -> tuple[Columns, tuple[str, ...] | None]:
    """Check rows and a target, or a statistic of them, and return their columns and the names of these."""
    if isinstance(X, LinearFactor):
        if y is not None or sample_weight is not None:
            raise ValueError("y and sample_weight must be None where X is a statistic: it has them in it")
        columns, names = columns_of_statistic(X, fit_intercept=fit_intercept), None
    else:
        columns, names = _columns_of_rows(X, y, sample_weight, fit_intercept=fit_intercept)
    if columns.n_targets != 1:
        raise ValueError(f"y must be one target for a path, got {columns.n_targets}")
    if not columns.weight > 0.0:
        raise ValueError("sample_weight must have a positive entry, all are zero")
    return columns, None if names is None else tuple(str(name) for name in names)


def _columns_of_rows(X: Any, y: Any, sample_weight: Any, *, fit_intercept: bool) -> tuple[Columns, Any]:
    table: Any = LinearFit()
    rows = check_rows(table, X, y, sample_weight, reset=True, supervised=True)
    names = getattr(table, "feature_names_in_", None)
    if rows.y is None or not isinstance(rows.data, np.ndarray):
        statistic = fold(LinearFactor.of, rows.data, rows.y, weights=rows.weights)
        return columns_of_statistic(statistic, fit_intercept=fit_intercept), names
    return columns_of(rows.data, rows.y, rows.weights, fit_intercept=fit_intercept), names
