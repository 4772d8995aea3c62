"""Least squares and ridge regression with coefficients that are not negative, from the factor of the rows."""

from typing import Any

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.limits import check_coefficients
from tractable.arrays.linalg import column_lengths
from tractable.arrays.namespace import to_numpy
from tractable.engines.least_squares import PointSolution, reduced_rows
from tractable.statistics import LinearFactor

#: Why such a fit has no standard errors.
AT_BOUNDS = (
    "coefficients that must not be negative have no standard errors in closed form, as some of them are at "
    "the bound; positive=False has them, and a bootstrap serves both"
)


def nonnegative_least_squares(
    statistic: LinearFactor, alpha: float = 0.0, *, fit_intercept: bool = True
) -> PointSolution:
    """Minimise |y - Xw|² + α|w|² over w ≥ 0, the intercept free, from the statistic of the rows.

    With the triangular factor R of the rows, |y - Xw|² = |z - Rw|² + rest, so that the search needs no rows:
    the active set of Lawson & Hanson (1974) on R, above √α I, each target by itself. Columns that vary by
    rounding alone have a coefficient of zero.

    Parameters
    ----------
    statistic : LinearFactor
        The triangular factor of the rows and targets, from ``fold(LinearFactor.of, X, y)``.
    alpha : float
        The penalty α, not negative.
    fit_intercept : bool
        Whether the linear predictor has an intercept, of any sign.

    Examples
    --------
    >>> rows = LinearFactor.of([[0.0, 3.0], [1.0, 2.0], [2.0, 0.0], [3.0, 1.0]], [0.0, 1.0, 2.5, 3.0])
    >>> nonnegative_least_squares(rows).coef.round(12)
    array([[1.05, 0.  ]])
    """
    from scipy.optimize import nnls

    d = statistic.dim
    parts = reduced_rows(statistic, fit_intercept=fit_intercept)
    r, z, rest = (to_numpy(part) for part in parts)
    mean = to_numpy(statistic.mean) * float(fit_intercept)
    about_origin = np.hypot(to_numpy(column_lengths(statistic.factor)), mean * float(statistic.weight) ** 0.5)
    rounding = 10.0 * max(d, 1) * np.finfo(float).eps * about_origin[:d]
    lengths = np.sqrt(column_lengths(r) ** 2 + alpha)
    varies = lengths > rounding
    unit = np.where(varies, lengths, 1.0)
    system = np.vstack([r, alpha**0.5 * np.eye(d)])[:, varies] / unit[varies]
    targets = np.vstack([z, np.zeros((d, z.shape[1]))])
    coef = np.zeros((z.shape[1], d))
    for found, target in zip(coef, targets.T, strict=True) if varies.any() else ():
        size = float(np.max(np.abs(target), initial=0.0)) or 1.0
        found[varies] = size * nnls(system, target / size, maxiter=30 * max(d, 10))[0]
    with np.errstate(over="ignore"):
        coef = check_coefficients(coef / unit)
    centre, offset = mean[:d], mean[d:]
    like: Any = statistic.mean
    return PointSolution(
        coef=beside(coef, like),
        intercept=beside(offset - coef @ centre, like),
        rss=beside(np.sum((z - r @ coef.T) ** 2, axis=0) + rest, like),
        reason=AT_BOUNDS,
    )
