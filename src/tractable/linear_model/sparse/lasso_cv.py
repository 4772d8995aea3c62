"""The lasso with its penalty chosen by cross-validation."""

from typing import Any, Self

import numpy as np
from sklearn.model_selection import check_cv

from tractable.arrays.limits import check_squarable
from tractable.base import Estimator, ModelTags, RegressorMixin, all_or_nothing
from tractable.base.by_blocks import by_blocks
from tractable.base.parameters import check_number
from tractable.data.blocks import reduce_blocks
from tractable.linear_model.rows import (
    as_vector,
    check_one_target,
    check_rows_in_memory,
    linear_predictor,
)
from tractable.linear_model.sparse.columns import Columns, column_names
from tractable.linear_model.sparse.estimator import check_precompute, sparse_coef, support, warn_gap
from tractable.linear_model.sparse.path import LassoPath, alpha_grid, solve_path
from tractable.metrics.penalties import CVCurve, check_penalties


class LassoCV(RegressorMixin, Estimator):
    """The lasso, with the penalty of the least cross-validated squared error.

    A whole path is solved on the training rows of each fold; the mean squared errors on the others choose
    `alpha_`, with which all rows are fitted. See :class:`tractable.Lasso` for the objective and its units.

    There is no `predict_dist`: intervals that ignore the selection of columns cover less than they state.

    Parameters
    ----------
    eps : float
        Smallest penalty, relative to the smallest one that makes all coefficients zero.
    alphas : int or array
        How many penalties, evenly spaced in their logarithm; or the penalties.
    fit_intercept : bool
        Whether to fit an intercept.
    cv : int, splitter or iterable of (train, test), optional
        As in scikit-learn; five folds of consecutive rows when not given.
    precompute : {"auto", True, False}
        Whether Gram matrices of all columns are formed; by default where there are at least as many rows as
        columns, and no more than 1,000 columns.
    positive, tol, max_iter
        As in :class:`tractable.Lasso`, for every penalty.

    Attributes
    ----------
    alpha_ : float
        The penalty of least mean squared error.
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

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="no")
    support_ = property(support)
    sparse_coef_ = property(sparse_coef)

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        cv: Any = None,
        precompute: Any = "auto",
        positive: bool = False,
        tol: float = 1e-8,
        max_iter: int = 1000,
    ) -> None:
        self.eps, self.alphas, self.cv = eps, alphas, cv
        self.fit_intercept, self.positive = fit_intercept, positive
        self.precompute, self.tol, self.max_iter = precompute, tol, max_iter

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the penalty and fit all rows with it.

        Parameters
        ----------
        X, y, sample_weight
            Rows in memory (n_samples, n_features), one target, and how often each row counts.
        """
        self._check_parameters()
        rows = check_rows_in_memory(self, X, y, sample_weight, min_rows=2)
        X, y, weights = rows.data, as_vector(rows.y, stacklevel=4), rows.weights
        check_one_target(1 if y.ndim == 1 else y.shape[1])
        check_squarable("y", y, nonzero=True)
        self._learn_path(X, y, weights)
        folds = self._folds(X, y)

        def errors(fold: tuple[np.ndarray, np.ndarray]) -> tuple[tuple[np.ndarray, float], ...]:
            return (self._errors(X, y, weights, *fold),)

        found = reduce_blocks(errors, folds, n_rows=len(folds), label="cross-validating")
        self.mse_path_ = np.stack([part for part, _ in found], axis=1)
        self._choose(np.array([weight for _, weight in found]))
        self._report(y, weights)
        return self

    @by_blocks
    def predict(self, X: Any) -> np.ndarray:
        """Return intercept + xᵀ coef for each row."""
        return linear_predictor(self, X)

    def _check_parameters(self) -> None:
        check_number("eps", self.eps, above=0.0, below=1.0)
        if self.alphas is None or np.ndim(self.alphas) == 0:
            check_number("alphas", self.alphas, least=1, whole=True)
        check_number("tol", self.tol, above=0.0)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        check_precompute(self.precompute)

    def _folds(self, X: np.ndarray, y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        try:
            folds = [(np.asarray(train), np.asarray(test)) for train, test in check_cv(self.cv).split(X, y)]
        except (TypeError, ValueError) as error:
            message = f"cv must be a number of folds, a splitter or pairs of (train, test) rows: {error}"
            raise ValueError(message) from error
        if not folds:
            raise ValueError("cv must have a fold, got none")
        return folds

    def _options(self) -> dict[str, Any]:
        return {
            "precompute": None if self.precompute == "auto" else bool(self.precompute),
            "positive": bool(self.positive),
            "tol": self.tol,
            "max_iter": self.max_iter,
        }

    def _learn_path(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> None:
        """Solve the path of all rows; its penalties are those of every fold."""
        columns = Columns.of(X, y, weights, fit_intercept=bool(self.fit_intercept))
        if np.ndim(self.alphas) == 0:
            grid = alpha_grid(columns, eps=self.eps, n_alphas=self.alphas, positive=bool(self.positive))
        else:
            grid = np.sort(check_penalties("alphas", self.alphas))[::-1]
        self.alphas_ = grid
        self.path_ = LassoPath.of(columns, grid, column_names(self), **self._options())

    def _errors(
        self, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, train: np.ndarray, test: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """Return the mean squared errors of one fold, (n_alphas,), and its weight."""
        w = (None, None) if weights is None else (weights[train], weights[test])
        if w[0] is not None and not w[0].any():
            raise ValueError("sample_weight must have a positive entry in the training rows of every fold")
        columns = Columns.of(X[train], y[train], w[0], fit_intercept=bool(self.fit_intercept))
        path = solve_path(columns, self.alphas_, **self._options())
        residuals = y[test, None] - X[test] @ path.coefs - columns.intercepts(path.coefs)
        total = float(len(test)) if w[1] is None else float(w[1].sum())
        if total == 0.0:
            return np.zeros(len(self.alphas_)), 0.0
        return np.average(residuals**2, axis=0, weights=w[1]), total

    def _choose(self, weights: np.ndarray) -> None:
        share = weights / weights.sum()
        mean = self.mse_path_ @ share
        # Of the mean of k folds: their unbiased variance over k, without fourth powers that overflow.
        unit = float(mean.max()) or 1.0
        variance = ((self.mse_path_ / unit - mean[:, None] / unit) ** 2) @ share
        errors = unit * np.sqrt(variance / max(len(share) - 1, 1))
        self.cv_curve_ = CVCurve(
            alphas=self.alphas_, scores=mean, standard_errors=errors, method=f"{len(share)} folds"
        )
        best = self.cv_curve_.best
        simplest = int(np.argmax(mean <= mean[best] + errors[best]))
        self.alpha_, self.alpha_1se_ = float(self.alphas_[best]), float(self.alphas_[simplest])
        self.coef_, self.intercept_ = self.path_.coefs[:, best].copy(), float(self.path_.intercepts[best])
        self.dual_gap_, self.n_iter_ = float(self.path_.dual_gaps[best]), int(self.path_.n_iter[best])

    def _report(self, y: np.ndarray, weights: np.ndarray | None) -> None:
        mean = np.average(y, weights=weights) if self.fit_intercept else 0.0
        if self.dual_gap_ > self.tol * np.average((y - mean) ** 2, weights=weights):
            warn_gap(self.dual_gap_)
