"""Regression by any loss: the coefficients of linear predictors that cost least, over any source of rows."""

from typing import Any

import numpy as np

from tractable.arrays.limits import reciprocals
from tractable.data.dispatch import as_source
from tractable.engines.fold import fold
from tractable.engines.glm.losses import Loss
from tractable.engines.glm.problem import LinearPredictorProblem, Penalty
from tractable.engines.glm.search import minimize
from tractable.statistics import DiagonalMoments, Standardizer
from tractable.value import value


@value
class LossRegression:
    """Linear predictors η = intercept + coef x that minimise a loss.

    Parameters
    ----------
    coef : array (d,), or (c, d) of c linear predictors
        Coefficients, in the units of the columns.
    intercept : float, or array (c,)
        Intercepts, zeros where there are none.
    objective : float
        The loss and the penalty, over the weight of the rows.
    n_iter : int
        Number of steps over all rows.
    converged : bool
        Whether the search ended by its tolerance.
    """

    coef: np.ndarray
    intercept: Any
    objective: float
    n_iter: int
    converged: bool

    def predict(self, X: Any) -> np.ndarray:
        """Return the linear predictors of rows, (n,) or (n, c)."""
        return np.asarray(X, dtype=np.float64) @ self.coef.T + self.intercept


def loss_regression(
    loss: Loss,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    alpha: float = 0.0,
    fit_intercept: bool = True,
    tol: float = 1e-8,
    max_iter: int = 500,
) -> LossRegression:
    """Minimise the mean loss of the rows + ½ alpha |coef|².

    By Newton's method or L-BFGS, whose steps are folds over the rows; of many rows from the minimum of a
    sample. The loss has a slope everywhere; if it is not convex, the minimum may be a local one. Columns are
    standardised inside; intercepts have no penalty.

    Parameters
    ----------
    loss : Loss
        One of `tractable.engines.glm`, or a class of your own.
    X : array, frame, source or re-iterable of batches
        Rows of numbers.
    y : array (n,), or (n, 2) with exposures, or column name
        Targets, of the kind that the loss is of.
    sample_weight : array (n,) or column name, optional
        How often each row counts.
    alpha : float
        Penalty weight of squared coefficients, beside the mean loss.
    fit_intercept : bool
        Whether linear predictors have an intercept.
    tol : float
        The search ends when the predicted relative decrease of the objective is smaller.
    max_iter : int
        Maximum number of steps.

    Examples
    --------
    >>> from tractable.engines.glm import Huber
    >>> X, y = np.arange(6.0)[:, None], np.array([1.0, 3.0, 5.0, 7.0, 9.0, 1000.0])
    >>> found = loss_regression(Huber(), X, y)
    >>> found.coef.round(1), round(float(found.intercept), 1)
    (array([2.4]), 0.5)
    """
    if not loss.smooth:
        raise ValueError(f"loss must have a slope everywhere, got {loss!r}: its minimum is at a corner")
    if not alpha >= 0.0:
        raise ValueError(f"alpha must be a number that is not negative, got {alpha!r}")
    data = as_source(X, y, sample_weight)
    moments: DiagonalMoments = fold(_moments, data)
    weight = float(moments.total)
    if not weight > 0.0:
        raise ValueError("sample_weight must have a positive entry, all are zero")
    if np.any(moments.weight < moments.total) or not np.all(np.isfinite(moments.scatter)):
        raise ValueError("X contains NaN or infinity, or numbers too large to square: leave out such rows")
    standard = Standardizer.from_moments(moments)
    shift = standard.shift if fit_intercept else 0.0 * standard.shift
    size = np.hypot(np.sqrt(moments.scatter / weight), standard.shift - shift)
    varies = standard.varies if fit_intercept else size > 0.0
    scale = np.where(varies, reciprocals(np.where(varies, size, 1.0)), 0.0)
    problem = LinearPredictorProblem(
        data=data,
        loss=loss,
        penalty=Penalty(squares=weight * alpha),
        standardizer=Standardizer(shift=shift, scale=scale, varies=varies),
        weight=weight,
        has_intercept=fit_intercept,
    )
    found = minimize(problem, np.zeros(problem.shape), tol=tol, max_iter=max_iter)
    if found.interrupted:
        raise KeyboardInterrupt
    slopes = found.x[:, int(fit_intercept) :] * scale
    intercept = found.x[:, 0] - slopes @ shift if fit_intercept else np.zeros(len(slopes))
    one = loss.n_predictors == 1
    return LossRegression(
        coef=slopes[0] if one else slopes,
        intercept=float(intercept[0]) if one else intercept,
        objective=found.value,
        n_iter=found.n_iter,
        converged=found.converged,
    )


def _moments(x: Any, y: Any = None, weights: Any = None) -> DiagonalMoments:
    if y is None:
        raise ValueError("y must be given: the source has no target")
    if not np.all(np.isfinite(y)):
        raise ValueError("y contains NaN or infinity: leave out such rows")
    return DiagonalMoments.of(x, weights)
