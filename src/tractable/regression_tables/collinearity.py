"""Collinearity: variance inflation factors and the condition number of the columns."""

from typing import Any

import numpy as np

from tractable.arrays.linalg import column_lengths
from tractable.arrays.namespace import to_numpy
from tractable.statistics import LinearFactor

#: Variance inflation that a table mentions, and one that it warns of: standard errors ten times as large.
NOTED, WARNED = 10.0, 100.0


class CollinearityWarning(UserWarning):
    """Columns are so nearly linearly dependent that their coefficients have large standard errors."""


def variance_inflation(statistic: LinearFactor, *, fit_intercept: bool = True) -> np.ndarray:
    """Return the variance inflation factor of each column, 1 / (1 - R²) of it on the others, (d,).

    It is how many times larger the variance of a coefficient is than it would be, were the column orthogonal
    to the others. Without an intercept R² is about the origin. Infinite where a column is linearly dependent
    on the others, NaN where it is constant.

    Parameters
    ----------
    statistic : LinearFactor
        Of the rows.
    fit_intercept : bool
        Whether the columns are centred.

    Examples
    --------
    >>> x = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 5.0]])
    >>> variance_inflation(LinearFactor.of(x, np.zeros(4))).round(1)
    array([29.2, 29.2])
    """
    d = statistic.dim
    columns = to_numpy(statistic.triangular() if fit_intercept else statistic.uncentred())[:, :d]
    lengths = np.asarray(column_lengths(columns))
    constant = lengths <= 1e-12 * np.hypot(
        lengths, float(statistic.weight) ** 0.5 * np.abs(to_numpy(statistic.mean)[:d])
    )
    unit = columns / np.where(constant, 1.0, lengths)
    _, sizes, axes = np.linalg.svd(unit, full_matrices=True)
    sizes = np.concatenate([sizes, np.zeros(d - len(sizes))])
    open_ = sizes <= 10.0 * d * float(np.finfo(float).eps)
    found = np.sum((axes[~open_] / sizes[~open_, None]) ** 2, axis=0)
    dependent = np.sum(axes[open_] ** 2, axis=0) > 1e-8
    return np.where(constant, np.nan, np.where(dependent, np.inf, found))


def of_columns(statistic: LinearFactor, *, intercept: bool) -> dict[str, Any]:
    """Return what a regression table says of the columns: their scales, inflation and condition number.

    Parameters
    ----------
    statistic : LinearFactor
        Of the rows.
    intercept : bool
        Whether the first parameter is an intercept.
    """
    return {
        "scales": np.append([0.0] if intercept else [], to_numpy(statistic.stddev)[: statistic.dim]),
        "inflation": np.append(
            [np.nan] if intercept else [], variance_inflation(statistic, fit_intercept=intercept)
        ),
        "condition_number": condition_number(statistic, fit_intercept=intercept),
    }


def weighted_inflation(information: np.ndarray, *, fit_intercept: bool = True) -> np.ndarray:
    """Return the variance inflation factors of a generalised linear model, from its information XᵀWX, (d,).

    Those of the columns with the weights W of the rows at the fit, 1 / (1 - R²) of a weighted regression of
    each on the others: how many times larger the variance of its coefficient is. Infinite and NaN as in
    `variance_inflation`. The units of the columns do not matter.

    Parameters
    ----------
    information : array (p, p)
        Fisher's, of the intercept first, where there is one, and the coefficients.
    fit_intercept : bool
        Whether the first parameter is an intercept.

    Examples
    --------
    >>> x = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 2.0], [1.0, 3.0, 3.0], [1.0, 4.0, 5.0]])
    >>> weighted_inflation(x.T @ x).round(1)
    array([29.2, 29.2])
    """
    size = np.sqrt(np.diagonal(information))
    constant = size == 0.0
    unit = information / np.where(constant, 1.0, size) / np.where(constant, 1.0, size)[:, None]
    if fit_intercept:
        unit = unit[1:, 1:] - np.outer(unit[1:, 0], unit[1:, 0])
        left = np.diagonal(unit)
        constant = constant[1:] | (left <= 1e-12)
        size = np.sqrt(np.where(constant, 1.0, left))
        unit = unit / size / size[:, None]
    unit = np.where(constant[:, None] | constant, 0.0, unit)
    values, axes = np.linalg.eigh(0.5 * (unit + unit.T))
    open_ = values <= 10.0 * len(unit) * float(np.finfo(float).eps)
    found = np.sum(axes[:, ~open_] ** 2 / values[~open_], axis=1)
    dependent = np.sum(axes[:, open_] ** 2, axis=1) > 1e-8
    return np.where(constant, np.nan, np.where(dependent, np.inf, found))


def condition_number(statistic: LinearFactor, *, fit_intercept: bool = True, scaled: bool = False) -> float:
    """Return the ratio of the largest to the smallest singular value of the design, with its ones.

    Parameters
    ----------
    statistic : LinearFactor
        Of the rows.
    fit_intercept : bool
        Whether the design has a column of ones.
    scaled : bool
        Whether the columns are divided by their lengths first (Belsley), so that units do not matter; above
        30 a dependency is strong.

    Examples
    --------
    >>> x = np.array([[1.0], [2.0], [3.0]])
    >>> round(condition_number(LinearFactor.of(x, np.zeros(3))), 2)
    6.79
    """
    width = statistic.dim + bool(fit_intercept)
    columns: Any = statistic.with_ones() if fit_intercept else statistic.uncentred()
    columns = to_numpy(columns)[:, :width]
    if not width:
        return 1.0
    lengths = np.asarray(column_lengths(columns))
    if scaled:
        columns = columns / np.where(lengths > 0.0, lengths, 1.0)
    sizes = np.linalg.svd(columns, compute_uv=False)
    least = float(sizes[-1]) if len(sizes) == width else 0.0
    return float(sizes[0]) / least if least > 0.0 else float("inf")


def weighted_condition_number(
    information: np.ndarray, shift: np.ndarray, scale: np.ndarray, *, fit_intercept: bool = True
) -> float:
    """Return the condition number of √W X, with its ones, of a generalised linear model.

    Parameters
    ----------
    information : array (p, p)
        Fisher's, of parameters of the columns (x - shift) scale.
    shift, scale : arrays (d,)
        Of the columns; a constant column has the scale 0.
    fit_intercept : bool
        Whether the first parameter is an intercept.

    Examples
    --------
    >>> x = np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
    >>> round(weighted_condition_number(x.T @ x, np.zeros(1), np.ones(1)), 2)
    6.79
    """
    if not np.all(scale > 0.0):
        return float("inf")
    values, axes = np.linalg.eigh(information)
    first = int(fit_intercept)
    back = np.diag(np.append(np.ones(first), 1.0 / scale))
    if first:
        back[0, 1:] = shift
    sizes = np.linalg.svd(np.sqrt(np.maximum(values, 0.0))[:, None] * (axes.T @ back), compute_uv=False)
    return float(sizes[0] / sizes[-1]) if sizes[-1] > 0.0 else float("inf")
