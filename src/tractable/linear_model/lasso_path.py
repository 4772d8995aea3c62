"""The lasso for a whole grid of penalties."""

from typing import Any

import numpy as np

from tractable.base.parameters import check_number
from tractable.linear_model.path_rows import predicted, summarised
from tractable.linear_model.sparse_solution import alpha_grid, check_penalties, solve_path
from tractable.value import value

__all__ = ["LassoPath", "lasso_path"]


@value
class LassoPath:
    """Coefficients for decreasing penalties.

    Parameters
    ----------
    alphas : array (m,)
        Penalties, decreasing.
    coefs : array (n_features, m)
    intercepts : array (m,)
    dual_gaps : array (m,)
        Certificates, in the units of the objective: no coefficients whatever have one lower by more.
    n_iter : array (m,)
    l1_ratio : float
    names : tuple of str, optional
        Names of the columns.
    """

    alphas: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    dual_gaps: np.ndarray
    n_iter: np.ndarray
    l1_ratio: float = 1.0
    names: tuple[str, ...] | None = None

    @property
    def n_nonzero(self) -> np.ndarray:
        """Number of columns in use at each penalty."""
        return np.count_nonzero(self.coefs, axis=0)

    def predict(self, X: Any) -> np.ndarray:
        """Return the predictions of all penalties, (n_samples, m)."""
        return predicted(X, self.coefs, self.intercepts, self.names)


def lasso_path(
    X: Any,
    y: Any = None,
    *,
    l1_ratio: float = 1.0,
    eps: float = 1e-3,
    n_alphas: int = 100,
    alphas: Any = None,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    positive: bool = False,
    precompute: bool | None = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> LassoPath:
    """Solve the lasso, or the elastic net, for a whole grid of penalties.

    Minimises (1/2n) Σ (y - b - xᵀw)² + alpha l1_ratio Σ|w_j| + alpha (1 - l1_ratio)/2 Σ w_j² for every alpha.
    Few columns are worked on, by Newton steps on the signed support; all are certified by duality gaps.

    Parameters
    ----------
    X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features); or LinearFactor
        Rows, or what `summarize` of a linear model made of them.
    y : array of shape (n_samples,), or column name
        None with a statistic.
    l1_ratio : float
        1 is the lasso.
    eps : float
        Smallest penalty of the grid, relative to the smallest one that leaves no coefficient.
    n_alphas : int
        Number of penalties of the grid.
    alphas : array, optional
        The penalties, instead of a grid.
    fit_intercept : bool
        Scikit-learn's function has none, and takes the columns for centred.
    sample_weight : array of shape (n_samples,) or column name, optional
        How often each row counts.
    positive : bool
        Whether negative coefficients are forbidden.
    precompute : bool, optional
        Whether the Gram matrix of all columns is formed. When not given: where there are at least as many
        rows as columns, and no more than 1,000 columns.
    tol : float
        Largest duality gap, relative to Σ (y - ȳ)² / n (without an intercept, Σ y² / n).
    max_iter : int
        Most Newton steps a penalty.

    Returns
    -------
    LassoPath

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> path = tractable.lasso_path(X, X @ [3.0, 1.0], alphas=[1.0, 0.25])
    >>> path.coefs
    array([[1. , 2.5],
           [0. , 0.5]])

    A statistic of the rows is as good as the rows:

    >>> statistic = tractable.Lasso().summarize(X, X @ [3.0, 1.0])
    >>> tractable.lasso_path(statistic, alphas=[1.0, 0.25]).coefs.round(12)
    array([[1. , 2.5],
           [0. , 0.5]])
    """
    check_number("l1_ratio", l1_ratio, least=0.0, most=1.0)
    check_number("eps", eps, above=0.0, below=1.0)
    check_number("n_alphas", n_alphas, least=1, whole=True)
    check_number("tol", tol, above=0.0)
    check_number("max_iter", max_iter, least=1, whole=True)
    columns, names = summarised(X, y, sample_weight, fit_intercept=fit_intercept)
    if alphas is None:
        grid = alpha_grid(columns, l1_ratio=l1_ratio, eps=eps, n_alphas=n_alphas, positive=positive)
    else:
        grid = check_penalties(alphas, l1_ratio)
    path = solve_path(
        columns,
        grid,
        l1_ratio=l1_ratio,
        precompute=precompute,
        positive=positive,
        tol=tol,
        max_iter=max_iter,
    )
    return LassoPath(
        alphas=grid,
        coefs=path.coefs,
        intercepts=columns.intercepts(path.coefs),
        dual_gaps=path.gaps,
        n_iter=path.n_iter,
        l1_ratio=l1_ratio,
        names=names,
    )
