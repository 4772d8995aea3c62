"""Least-angle regression: the exact path of the lasso, and the lasso from it."""

import warnings
from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.base.options import SklearnOptions
from tractable.base.parameters import check_choice, check_number
from tractable.engines.sparse.lars import Knots, lars
from tractable.linear_model.sparse.columns import (
    CoefficientPath,
    Columns,
    checked_columns,
    column_names,
    refuse_scales,
)
from tractable.linear_model.sparse.estimator import SparseModel
from tractable.value import value


class LassoLars(SparseModel):
    """The lasso by least-angle regression: the exact path down to `alpha`, and the coefficients at its end.

    Minimises (1/2n) Σ (y - b - xᵀw)² + alpha Σ|w_j|, as :class:`tractable.Lasso` does, and gives the same
    coefficients; the textbook's |y - Xw|² + λ Σ|w_j| has alpha = λ / (2n). The path says at which penalty
    each column enters and leaves.

    There is no `predict_dist`: intervals that ignore the selection of columns cover less than they state.

    Parameters
    ----------
    alpha : float
        The penalty, from 0; for 0 the path goes on to least squares.
    fit_intercept, precompute, positive
        As in :class:`tractable.Lasso`.
    max_iter : int, optional
        The most knots; all when not given.

    Attributes
    ----------
    path_ : LarsPath or list of LarsPath, one a target
        Every knot; `tractable.plot` draws it.
    alphas_ : array of shape (n_knots,)
        Penalties of the knots.
    active_ : tuple of int
        The columns in use at the end, in order of entry.
    coef_path_ : array of shape (n_features, n_knots)
        Coefficients at the knots. With several targets these three are lists.
    coef_, intercept_, support_, sparse_coef_
        The coefficients at `alpha`, and the columns in use.
    n_iter_ : int or list of int
        Number of knots.
    solver_, statistic_
        As in :class:`tractable.ElasticNet`.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

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

    _sklearn_options = SklearnOptions(
        ignored=("eps", "fit_path", "random_state", "precompute"), limited={"jitter": (None,)}
    )

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        positive: bool = False,
        max_iter: int | None = None,
    ) -> None:
        self.alpha, self.fit_intercept, self.positive = alpha, fit_intercept, positive
        self.precompute, self.max_iter = precompute, max_iter

    def _solve(self, columns: Columns, *, precompute: bool | None) -> None:
        options: dict[str, Any] = {"positive": bool(self.positive), "max_knots": self.max_iter}
        options |= {"alpha_min": float(self.alpha), "precompute": precompute, "names": column_names(self)}
        paths = [LarsPath.of(columns, target, **options) for target in range(columns.n_targets)]
        self._set_coef(columns, [path.coefs[:, -1] for path in paths])
        each = [(path, path.alphas, path.active[-1], path.coefs, len(path.alphas)) for path in paths]
        found: Any = each[0] if columns.flat else [list(part) for part in zip(*each, strict=True)]
        self.path_, self.alphas_, self.active_, self.coef_path_, self.n_iter_ = found

    def _report(self) -> None:
        warn_unless_complete(
            *([self.path_] if isinstance(self.path_, LarsPath) else self.path_), stacklevel=5
        )


@value
class LarsPath(CoefficientPath):
    """Every knot of a piecewise linear path: between knots the coefficients are linear in alpha.

    It unpacks as scikit-learn's tuple does: ``alphas, active, coefs = lars_path(X, y)``, where `active` are
    the columns in use at the end.

    Parameters
    ----------
    alphas, coefs, intercepts, names
        As in `LassoPath`; the first penalty is the one that leaves no coefficient.
    active : tuple of m tuples of int
        The columns in use below each knot, in order of entry.
    method : {"lasso", "lar"}
        The exact path of the lasso, or least-angle regression, from which no column leaves.
    complete : bool
        False where rounding stopped the path above the penalty asked for.
    """

    active: tuple[tuple[int, ...], ...]
    method: str = "lasso"
    complete: bool = True

    def __iter__(self) -> Iterator[Any]:
        return iter((self.alphas, list(self.active[-1]), self.coefs))

    @classmethod
    def of(
        cls,
        columns: Columns,
        target: int = 0,
        *,
        alpha_min: float,
        names: tuple[str, ...] | None,
        precompute: bool | None,
        method: str = "lasso",
        **options: Any,
    ) -> "LarsPath":
        """Follow the path of a target, in scikit-learn's units.

        Parameters
        ----------
        columns : Columns
            Rows and targets, centred.
        target : int
            Which target.
        alpha_min : float
            The penalty to stop at.
        names : tuple of str, optional
            Names of the columns.
        precompute : bool, optional
            Whether products of columns are computed before the path.
        method : {"lasso", "lar"}
            Whether a column whose coefficient reaches zero leaves, as in the lasso.
        **options
            Those of `lars`.
        """
        if not isinstance(columns.rows, np.ndarray):
            raise ValueError("X must be a NumPy array for least-angle regression; Lasso takes others")
        scaled, scale, target_scale = columns.rescaled()
        n = columns.weight / scale / target_scale
        if n == 0.0 or (n == inf and alpha_min == 0.0):
            refuse_scales(scale, target_scale, "penalties")
        problem = scaled.problem(target, precompute=precompute, once=True)
        knots: Knots = lars(problem, least=n * alpha_min, drop=method == "lasso", **options)
        alphas = knots.penalties / n
        if knots.penalties[-1] == n * alpha_min:
            alphas[-1] = alpha_min  # not beside it, by rounding: the path is known there
        coefs = knots.coefs * (target_scale / scale)
        return cls(
            alphas=alphas,
            coefs=coefs,
            intercepts=columns.intercepts(coefs, target),
            active=knots.active,
            method=method,
            names=names,
            complete=knots.complete,
        )

    def at(self, alpha: Any) -> np.ndarray:
        """Return the coefficients at one penalty, (n_features,), or at several, (n_features, k): exactly.

        Parameters
        ----------
        alpha : float or array (k,)
            Not below the last knot.
        """
        asked = np.asarray(alpha, dtype=np.float64)
        if not np.all(asked >= self.alphas[-1]):
            raise ValueError(
                f"alpha must not be below the end of the path, {self.alphas[-1]:g}; got {alpha!r}"
            )
        return np.stack([np.interp(asked, self.alphas[::-1], w[::-1]) for w in self.coefs])


def lars_path(
    X: Any,
    y: Any = None,
    *,
    method: str = "lasso",
    alpha_min: float = 0.0,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    positive: bool = False,
    precompute: bool | None = None,
    max_iter: int | None = None,
) -> LarsPath:
    """Return the exact lasso path, from the penalty at which all coefficients are zero down to none.

    The minimiser of (1/2n) Σ (y - b - xᵀw)² + alpha Σ|w_j| is piecewise linear in alpha. At a knot a column
    enters, because its correlation with the residual equals that of the active columns, or one leaves,
    because its coefficient reaches zero. With that drop step least-angle regression is no approximation: it
    gives the lasso at every penalty (Efron, Hastie, Johnstone and Tibshirani 2004).

    Parameters
    ----------
    X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features); or LinearFactor
        Rows, or what `summarize` of a linear model returned for them.
    y : array of shape (n_samples,), or column name
        None with a statistic.
    method : {"lasso", "lar"}
        "lar" is least-angle regression proper: columns never leave.
    alpha_min : float
        The penalty to stop at.
    fit_intercept : bool
        Scikit-learn's function has none, and takes the columns for centred.
    sample_weight : array of shape (n_samples,) or column name, optional
        How often each row counts.
    positive : bool
        Whether negative coefficients are forbidden.
    precompute : bool, optional
        Whether the Gram matrix of all columns is formed. When not given: where there are at least as many
        rows as columns, and no more than 1,000 columns.
    max_iter : int, optional
        The most knots after the first.

    Notes
    -----
    A column that is linearly dependent on those in use (an equal column, one dummy variable too many) does
    not enter while they stay: the fit is the same without it. Of equal columns one is used.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> path = tractable.lars_path(X, X @ [3.0, 1.0])
    >>> path.alphas, path.active
    (array([1.5, 0.5, 0. ]), ((0,), (0, 1), (0, 1)))
    >>> path.at(1.0)
    array([1., 0.])
    """
    check_choice("method", method, ("lasso", "lar"))
    check_number("alpha_min", alpha_min, least=0.0)
    if max_iter is not None:
        check_number("max_iter", max_iter, least=1, whole=True)
    columns, names = checked_columns(X, y, sample_weight, fit_intercept=fit_intercept)
    path = LarsPath.of(
        columns,
        alpha_min=alpha_min,
        names=names,
        precompute=precompute,
        method=method,
        positive=positive,
        max_knots=max_iter,
    )
    warn_unless_complete(path)
    return path


def warn_unless_complete(*paths: LarsPath, stacklevel: int = 3) -> None:
    """Warn of paths that end before the requested penalty."""
    ends = [path.alphas[-1] for path in paths if not path.complete]
    if ends:
        warnings.warn(
            f"rounding stopped the path at alpha {max(ends):g}, above the one asked for; bring the columns "
            "to similar scales, or use Lasso",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
