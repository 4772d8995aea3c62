"""The lasso, read off its exact path."""

from typing import Any

from tractable.linear_model.lars_path import LarsPath, path_of, warn_unless_complete
from tractable.linear_model.sparse_columns import Columns
from tractable.linear_model.sparse_model import SparseModel
from tractable.linear_model.sparse_solution import check_penalties

__all__ = ["LassoLars"]


class LassoLars(SparseModel):
    """The lasso by least-angle regression: the exact path down to `alpha`, and the coefficients at its end.

    Minimises (1/2n) Σ (y - b - xᵀw)² + alpha Σ|w_j|, as :class:`tractable.Lasso` does, and gives the same
    coefficients; the textbook's |y - Xw|² + λ Σ|w_j| has alpha = λ / (2n). The path tells how they came
    about: which column entered when, and which left again.

    Parameters
    ----------
    alpha : float
        The penalty, from 0; for 0 the path goes on to least squares.
    fit_intercept : bool
    precompute : {"auto", True, False}
        Whether rows in memory are folded into a statistic; by default up to 200 columns.
    positive : bool
        Whether negative coefficients are forbidden.
    max_iter : int, optional
        The most knots; all when not given.

    Attributes
    ----------
    path_ : LarsPath or list of LarsPath, one a target
        Every knot; `tractable.plot` draws it.
    alphas_ : array of shape (n_knots,)
    active_ : tuple of int
        The columns in use at the end, in order of entry.
    coef_path_ : array of shape (n_features, n_knots)
        With several targets these three are lists.
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array of shape (n_targets,)
    support_ : array of int
    n_iter_ : int or list of int
        Number of knots.
    solver_ : {"statistic", "rows"}
    statistic_ : LinearFactor, where `solver_` is "statistic"
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    See Also
    --------
    tractable.lars_path : the path itself.
    tractable.Lasso : faster for many columns in use.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> model = tractable.LassoLars(alpha=0.25).fit(X, X @ [3.0, 1.0])
    >>> model.coef_, model.alphas_
    (array([2.5, 0.5]), array([1.5 , 0.5 , 0.25]))
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        positive: bool = False,
        max_iter: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.positive = positive
        self.max_iter = max_iter

    def _check(self) -> None:
        super()._check()
        check_penalties(self.alpha, 1.0)

    def _solve(self, columns: Columns, *, precompute: bool | None) -> None:
        names = getattr(self, "feature_names_in_", None)
        paths: list[LarsPath] = [
            path_of(
                columns,
                target,
                alpha_min=float(self.alpha),
                positive=bool(self.positive),
                precompute=precompute,
                max_iter=self.max_iter,
                names=None if names is None else tuple(str(name) for name in names),
            )
            for target in range(columns.n_targets)
        ]
        self._name(columns, [path.coefs[:, -1] for path in paths])
        self.path_ = paths[0] if columns.flat else paths
        self.alphas_ = paths[0].alphas if columns.flat else [path.alphas for path in paths]
        self.active_ = paths[0].active[-1] if columns.flat else [path.active[-1] for path in paths]
        self.coef_path_ = paths[0].coefs if columns.flat else [path.coefs for path in paths]
        self.n_iter_ = len(paths[0].alphas) if columns.flat else [len(path.alphas) for path in paths]

    def _report(self) -> None:
        warn_unless_complete(
            *([self.path_] if isinstance(self.path_, LarsPath) else self.path_), stacklevel=5
        )
