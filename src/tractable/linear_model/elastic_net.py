"""The elastic net: squared and absolute penalties together."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays import namespace_of
from tractable.base.parameters import check_number
from tractable.linear_model.sparse_columns import Columns
from tractable.linear_model.sparse_model import SparseModel
from tractable.linear_model.sparse_solution import solve_path

__all__ = ["ElasticNet"]


class ElasticNet(SparseModel):
    """Linear regression with a penalty on absolute and on squared coefficients.

    Minimises (1/2n) Σ (y - b - xᵀw)² + alpha l1_ratio Σ|w_j| + alpha (1 - l1_ratio)/2 Σ w_j², scikit-learn's
    objective; n is the total weight of the rows. The absolute part sets coefficients to zero, the squared
    part lets correlated columns share. The intercept b is not penalised.

    The answer is exact to rounding, and `dual_gap_` proves it: the last step solves for the signed support.
    With few columns, and for streams and files, rows are folded into a statistic (`solver_` is "statistic"):
    `partial_fit`, `merge` and sources give exactly the fit to all rows. With many columns the rows themselves
    are used ("rows"), and only the columns that matter are ever multiplied with each other.

    Parameters
    ----------
    alpha : float
        Weight of the penalty, from 0. No penalty gives the shortest solution of least squares.
    l1_ratio : float
        Share of the absolute part: 1 is the lasso, 0 ridge regression.
    fit_intercept : bool
    precompute : {"auto", True, False}
        Whether rows in memory are folded into a statistic; by default up to 200 columns.
    positive : bool
        Whether negative coefficients are forbidden.
    tol : float
        Largest duality gap, relative to the mean squared target (about its mean where there is an intercept):
        scikit-learn's meaning.
    max_iter : int
        Most Newton steps.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array of shape (n_targets,)
    support_ : array of int
        The columns in use.
    sparse_coef_ : sparse matrix
    dual_gap_ : float or array of shape (n_targets,)
        No coefficients whatever have an objective lower by more.
    n_iter_ : int or array of shape (n_targets,)
    solver_ : {"statistic", "rows"}
        What the fit was computed from.
    statistic_ : LinearFactor, where `solver_` is "statistic"
        Everything the model knows about the rows.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    See Also
    --------
    tractable.Lasso : without the squared part.
    tractable.lasso_path : all penalties at once.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[1.0, 1.0], [-1.0, -1.0], [2.0, 2.0], [-2.0, -2.0]])
    >>> tractable.ElasticNet(alpha=1.0, l1_ratio=0.5).fit(X, 3 * X[:, 0]).coef_.round(3)
    array([1.273, 1.273])
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        positive: bool = False,
        tol: float = 1e-8,
        max_iter: int = 1000,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.positive = positive
        self.tol = tol
        self.max_iter = max_iter

    def _check(self) -> None:
        super()._check()
        check_number("l1_ratio", self.l1_ratio, least=0.0, most=1.0)
        check_number("tol", self.tol, above=0.0)
        check_number("max_iter", self.max_iter, least=1, whole=True)

    def _solve(self, columns: Columns, *, precompute: bool | None) -> None:
        paths = [
            solve_path(
                columns,
                np.array([float(self.alpha)]),
                target=target,
                l1_ratio=float(self.l1_ratio),
                precompute=precompute,
                positive=bool(self.positive),
                tol=self.tol,
                max_iter=self.max_iter,
            )
            for target in range(columns.n_targets)
        ]
        self._name(columns, [path.coefs[:, 0] for path in paths])
        gaps, n_iter = np.array([p.gaps[0] for p in paths]), np.array([p.n_iter[0] for p in paths])
        xp = namespace_of(columns.Y)
        lengths = columns.Y / columns.weight**0.5
        with np.errstate(over="ignore"):  # as the gaps do, where the square of the target is not a number
            squares = np.array([float(s) for s in xp.sum(lengths * lengths, axis=0)])
        self.dual_gap_: Any = float(gaps[0]) if columns.flat else gaps
        self.n_iter_: Any = int(n_iter[0]) if columns.flat else n_iter
        self.converged_ = bool(np.all(gaps <= self.tol * squares))

    def _report(self) -> None:
        if not self.converged_:
            warnings.warn(
                f"the duality gap {np.max(self.dual_gap_):.2g} is above tol times the mean squared target; "
                "raise max_iter or tol, or bring the columns to similar scales",
                ConvergenceWarning,
                stacklevel=4,
            )
