"""The lasso and the elastic net with penalties chosen by cross-validation."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from tractable.arrays.limits import check_squarable
from tractable.base import Estimator, ModelTags, RegressorMixin, Rows, all_or_nothing
from tractable.base.by_blocks import by_blocks
from tractable.base.options import SklearnOptions
from tractable.base.parameters import check_choice, check_number
from tractable.base.penalty_search import PenaltySearch
from tractable.linear_model.rows import (
    as_vector,
    check_one_target,
    check_rows_in_memory,
    linear_predictor,
)
from tractable.linear_model.sparse.columns import Columns, column_names
from tractable.linear_model.sparse.estimator import check_precompute, sparse_coef, support
from tractable.linear_model.sparse.path import LassoPath, alpha_grid, solve_path, warn_gap
from tractable.metrics.penalties import RULES, best_curve, check_penalties, check_ratios
from tractable.value import replace


class SparseCV(RegressorMixin, Estimator):
    """A sparse linear model whose penalty, and its share of absolute values, cross-validation chooses.

    A model supplies `_ratios()`, the shares to try.
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="no")
    _takes_sparse = True
    _sparse_methods = ("predict",)
    support_ = property(support)
    sparse_coef_ = property(sparse_coef)
    eps: float
    alphas: Any
    fit_intercept: bool
    cv: Any
    rule: str
    precompute: Any
    positive: bool
    tol: float
    max_iter: int

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the penalty and fit all rows with it.

        Parameters
        ----------
        X, y, sample_weight
            Rows in memory (n_samples, n_features), one target, and how often each row counts.
        """
        self._check_parameters()
        ratios = self._ratios()
        rows = check_rows_in_memory(self, X, y, sample_weight, min_rows=2)
        rows = replace(rows, y=as_vector(rows.y, stacklevel=4))
        check_one_target(1 if rows.y.ndim == 1 else rows.y.shape[1])
        check_squarable("y", rows.y, nonzero=True)
        columns = self._columns(rows)
        grids = [self._grid(columns, ratio) for ratio in ratios]

        def judge(train: Rows, test: Rows) -> tuple[Any, None]:
            inside, errors = self._columns(train), []
            for ratio, grid in zip(ratios, grids, strict=True):
                coefs = solve_path(inside, grid, l1_ratio=ratio, **self._options()).coefs
                residuals = test.y[:, None] - test.data @ coefs - inside.intercepts(coefs)
                errors.append(np.average(residuals**2, axis=0, weights=test.weights))
            return errors, None

        found = PenaltySearch.over(judge, rows, self.cv, grids)
        chosen = best_curve(found.curves)
        self.cv_curve_ = curve = found.curves[chosen]
        at = curve.chosen(self.rule)
        self.alpha_, self.alpha_1se_ = float(curve.alphas[at]), float(curve.alphas[curve.simplest])
        options = {"l1_ratio": ratios[chosen], **self._options()}
        self.path_ = path = LassoPath.of(columns, curve.alphas, column_names(self), **options)
        self.coef_, self.intercept_ = path.coefs[:, at].copy(), float(path.intercepts[at])
        self.dual_gap_, self.n_iter_ = float(path.dual_gaps[at]), int(path.n_iter[at])
        self.alphas_, self.mse_path_ = grids[chosen], found.losses[chosen]
        self._set_shares(np.array(ratios), grids, found.losses, chosen)
        if self.dual_gap_ > self.tol * columns.mean_squares[0]:
            warn_gap(self.dual_gap_, stacklevel=4)
        return self

    @by_blocks
    def predict(self, X: Any) -> np.ndarray:
        """Return intercept + xᵀ coef for each row."""
        return linear_predictor(self, X)

    @abstractmethod
    def _ratios(self) -> list[float]:
        """Return the shares of absolute values in the penalty to try."""

    def _check_parameters(self) -> None:
        check_number("eps", self.eps, above=0.0, below=1.0)
        if self.alphas is None or np.ndim(self.alphas) == 0:
            check_number("alphas", self.alphas, least=1, most=1 << 16, whole=True)
        check_choice("rule", self.rule, RULES)
        check_number("tol", self.tol, above=0.0)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        check_precompute(self.precompute)

    def _options(self) -> dict[str, Any]:
        return {
            "precompute": None if self.precompute == "auto" else bool(self.precompute),
            "positive": bool(self.positive),
            "tol": self.tol,
            "max_iter": self.max_iter,
        }

    def _grid(self, columns: Columns, ratio: float) -> np.ndarray:
        """Return the penalties of every fold, decreasing."""
        if np.ndim(self.alphas) > 0:
            return np.sort(check_penalties("alphas", self.alphas))[::-1]
        positive = bool(self.positive)
        return alpha_grid(columns, l1_ratio=ratio, eps=self.eps, n_alphas=self.alphas, positive=positive)

    def _columns(self, rows: Rows) -> Columns:
        return Columns.of(rows.data, rows.y, rows.weights, fit_intercept=bool(self.fit_intercept))

    def _set_shares(self, ratios: np.ndarray, grids: Any, errors: np.ndarray, chosen: int) -> None:
        """Set what else depends on the shares that were tried."""


class LassoCV(SparseCV):
    """The lasso, with the penalty of the least cross-validated squared error.

    A whole path is solved on the training rows of each fold; the mean squared errors on the others choose
    `alpha_`, with which all rows are fitted. See :class:`tractable.Lasso` for the objective and its units.

    There is no `predict_dist`: intervals that ignore the selection of columns cover less than they state.

    Parameters
    ----------
    eps : float
        Smallest penalty, relative to the smallest one that makes all coefficients zero.
    alphas : int or array
        How many penalties, 65,536 at most, evenly spaced in their logarithm; or the penalties.
    fit_intercept : bool
        Whether to fit an intercept.
    cv : int, splitter or iterable of (train, test), optional
        As in scikit-learn; five folds of consecutive rows when not given.
    rule : {"least", "one_standard_error"}
        Which penalty is taken: that of the least error, or `alpha_1se_`, the largest whose error is within
        one standard error of the least, of fewer columns.
    precompute : {"auto", True, False}
        Whether Gram matrices of all columns are formed; by default where there are at least as many rows as
        columns, and no more than 1,000 columns.
    positive, tol, max_iter
        As in :class:`tractable.Lasso`, for every penalty.

    Attributes
    ----------
    alpha_ : float
        The penalty that was chosen.
    alpha_1se_ : float
        The largest penalty whose error is within one standard error of the least (the one-standard-error
        rule).
    alphas_ : array of shape (n_alphas,)
        Penalties, decreasing.
    mse_path_ : array of shape (n_alphas, n_folds)
        Mean squared errors on the rows left out.
    cv_curve_ : CVCurve
        Their means over the folds, with standard errors.
    path_ : LassoPath
        The path of all rows; `tractable.plot` draws it.
    coef_, intercept_, support_, sparse_coef_
        The coefficients of the fit to all rows, and the columns in use.
    dual_gap_, n_iter_
        Its duality gap and Newton steps.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    tractable.Lasso : with a given penalty.

    Notes
    -----
    With weights, errors are weighted, and so are the folds. A row that counts twice is still one row to the
    splitter.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 8))
    >>> y = 3.0 * X[:, 2] + rng.standard_normal(60)
    >>> model = tractable.LassoCV().fit(X, y)
    >>> bool(model.alpha_ <= model.alpha_1se_), int(np.abs(model.coef_).argmax())
    (True, 2)
    """

    _sklearn_options = SklearnOptions(ignored=("warm_start", "random_state", "selection", "precompute"))

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        cv: Any = None,
        rule: str = "least",
        precompute: Any = "auto",
        positive: bool = False,
        tol: float = 1e-8,
        max_iter: int = 1000,
    ) -> None:
        self.eps, self.alphas, self.cv, self.rule = eps, alphas, cv, rule
        self.fit_intercept, self.positive = fit_intercept, positive
        self.precompute, self.tol, self.max_iter = precompute, tol, max_iter

    def _ratios(self) -> list[float]:
        return [1.0]


class ElasticNetCV(SparseCV):
    """The elastic net, with penalty and `l1_ratio` of the least cross-validated squared error.

    A whole path, each solution from the one before, is solved on the training rows of each fold for each
    share of the absolute penalty; the mean squared errors on the others choose `l1_ratio_` and `alpha_`, with
    which all rows are fitted. See :class:`tractable.ElasticNet` for the objective and its units.

    There is no `predict_dist`: intervals that ignore the selection of columns cover less than they state.

    Parameters
    ----------
    l1_ratio : float or list of float
        The share of the absolute penalty, or those to try: 1 is the lasso. 0, ridge regression, needs
        `alphas`.
    eps, alphas, fit_intercept, cv, rule, precompute, positive, tol, max_iter
        As in :class:`tractable.LassoCV`, for every share.

    Attributes
    ----------
    alpha_, l1_ratio_ : float
        The penalty and the share that were chosen.
    alpha_1se_ : float
        The largest penalty of that share whose error is within one standard error of the least.
    alphas_ : array of shape (n_alphas,) or (n_l1_ratios, n_alphas)
        Penalties, decreasing; a row a share where several were given.
    mse_path_ : array of shape (n_alphas, n_folds) or (n_l1_ratios, n_alphas, n_folds)
        Mean squared errors on the rows left out.
    cv_curve_, path_
        Mean errors of the chosen share, with standard errors, and its path of all rows.
    coef_, intercept_, support_, sparse_coef_
        The coefficients of the fit to all rows, and the columns in use.
    dual_gap_, n_iter_
        Its duality gap and Newton steps.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    tractable.ElasticNet : with a given penalty.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 8))
    >>> y = 3.0 * X[:, 2] + rng.standard_normal(60)
    >>> model = tractable.ElasticNetCV(l1_ratio=[0.2, 0.9]).fit(X, y)
    >>> model.l1_ratio_, model.mse_path_.shape, int(np.abs(model.coef_).argmax())
    (0.9, (2, 100, 5), 2)
    """

    _sklearn_options = SklearnOptions(ignored=("warm_start", "random_state", "selection", "precompute"))

    def __init__(
        self,
        *,
        l1_ratio: Any = 0.5,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        cv: Any = None,
        rule: str = "least",
        precompute: Any = "auto",
        positive: bool = False,
        tol: float = 1e-8,
        max_iter: int = 1000,
    ) -> None:
        self.l1_ratio, self.eps, self.alphas, self.cv, self.rule = l1_ratio, eps, alphas, cv, rule
        self.fit_intercept, self.positive = fit_intercept, positive
        self.precompute, self.tol, self.max_iter = precompute, tol, max_iter

    def _ratios(self) -> list[float]:
        return check_ratios("l1_ratio", self.l1_ratio)

    def _set_shares(self, ratios: np.ndarray, grids: Any, errors: np.ndarray, chosen: int) -> None:
        self.l1_ratio_ = float(ratios[chosen])
        if np.ndim(self.l1_ratio) > 0:
            self.mse_path_ = errors
            self.alphas_ = np.stack(grids) if np.ndim(self.alphas) == 0 else grids[0]
