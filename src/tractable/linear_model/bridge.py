"""Bridge regression: penalties |w|^q between and beyond the lasso and ridge regression."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.namespace import Array, as_float_array, namespace_of
from tractable.base.parameters import check_number
from tractable.linear_model.bridge_problem import absolute, dual, primal, problem_of
from tractable.linear_model.path_rows import predicted, summarised
from tractable.value import value

__all__ = ["BridgeFit", "bridge_regression", "lp_norm"]


def lp_norm(x: Any, p: float = 2.0, *, axis: int = -1) -> Array:
    """Return ‖x‖_p = (Σ |x_i|^p)^(1/p), the largest |x_i| for p = ∞.

    Parameters
    ----------
    x : array
    p : float
        At least 1: below, the triangle inequality fails.
    axis : int

    Examples
    --------
    >>> import numpy as np, tractable
    >>> x = [3.0, -4.0]
    >>> [round(float(tractable.lp_norm(x, p)), 3) for p in (1, 2, 3, np.inf)]
    [7.0, 5.0, 4.498, 4.0]
    """
    if p != float("inf"):
        check_number("p", p, least=1.0)
    x = as_float_array(x)
    xp = namespace_of(x)
    size = xp.abs(x)
    if 0 in x.shape:  # of nothing, zero
        return xp.sum(size, axis=axis)
    top = xp.max(size, axis=axis, keepdims=True)
    if p == float("inf"):
        return xp.squeeze(top, axis=axis)
    # Relative to the largest entry, so that powers neither overflow nor vanish.
    safe = xp.where((top > 0) & xp.isfinite(top), top, xp.ones_like(top))
    return xp.squeeze(safe, axis=axis) * xp.sum((size / safe) ** p, axis=axis) ** (1.0 / p)


@value
class BridgeFit:
    """A bridge regression that was solved.

    Parameters
    ----------
    coef : array (n_features,)
    intercept : float
    objective : float
        (1/2n) Σ (y - b - xᵀw)² + alpha Σ |w_j|^q; infinite where the squares of the targets are.
    n_iter : int
    converged : bool
    names : tuple of str, optional
        Names of the columns.
    """

    coef: np.ndarray
    intercept: float
    objective: float
    n_iter: int
    converged: bool
    names: tuple[str, ...] | None = None

    def predict(self, X: Any) -> np.ndarray:
        """Return the plane at each row."""
        return np.asarray(predicted(X, self.coef, self.intercept, self.names))


def bridge_regression(
    X: Any,
    y: Any = None,
    alpha: float = 1.0,
    q: float = 1.0,
    *,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    tol: float = 1e-15,
    max_iter: int = 500,
) -> BridgeFit:
    """Minimise (1/2n) Σ (y - b - xᵀw)² + alpha Σ |w_j|^q, for q of at least 1.

    The textbook's ½ Σ (y - xᵀw)² + λ/2 Σ|w_j|^q has alpha = λ / (2n). With q = 1 it is the lasso of the same
    alpha; with q = 2 ridge regression, whose penalty in scikit-learn's units is 2 n alpha. Only q = 1 sets
    coefficients to zero: for any larger q the penalty is flat at zero. The larger q, the more the largest
    coefficients are held back.

    Between 1 and 2 the penalty has infinite curvature at zero, but its conjugate is smooth: Newton's method
    solves the dual problem, in the residuals, and w_j = sign(z_j) (|z_j| / (n alpha q))^(1/(q-1)) with the
    correlations z. From 2 on, Newton's method solves the problem itself.

    Parameters
    ----------
    X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features); or LinearFactor
        Rows, or what `summarize` of a linear model made of them.
    y : array of shape (n_samples,), or column name
        None with a statistic.
    alpha : float
        Positive.
    q : float
        At least 1; below, there are many local minima.
    fit_intercept : bool
    sample_weight : array of shape (n_samples,) or column name, optional
        How often each row counts.
    tol : float
        Decrease of the objective, relative to its size, that a step must promise to be worth taking.
    max_iter : int
        Most Newton steps; a warning says where they were too few.

    Returns
    -------
    BridgeFit

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X, y = np.array([[1.0], [-1.0]]), np.array([2.0, -2.0])
    >>> [round(float(tractable.bridge_regression(X, y, 0.5, q).coef[0]), 3) for q in (1.0, 1.5, 2.0)]
    [1.5, 1.184, 1.0]
    """
    check_number("q", q, least=1.0)
    check_number("alpha", alpha, above=0.0)
    check_number("tol", tol, least=0.0)
    check_number("max_iter", max_iter, least=1, whole=True)
    columns, names = summarised(X, y, sample_weight, fit_intercept=fit_intercept)
    problem = problem_of(columns, float(alpha), float(q))
    solve = absolute if q == 1.0 else dual if q < 2.0 else primal
    w, n_iter, converged = solve(problem, tol, max_iter)
    if not converged:
        warnings.warn(
            f"the coefficients did not settle in max_iter={max_iter} steps; raise max_iter or tol",
            ConvergenceWarning,
            stacklevel=2,
        )
    coef = np.ldexp(w, problem.unit)
    return BridgeFit(
        coef=coef,
        intercept=float(columns.intercepts(coef)),
        objective=problem.objective(w) / columns.weight,
        n_iter=n_iter,
        converged=converged,
        names=names,
    )
