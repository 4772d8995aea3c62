"""What all sparse linear models share: rows or a statistic to learn from, and predictions."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from tractable.arrays import Array, namespace_of
from tractable.base import (
    Estimator,
    ModelTags,
    OnePassMixin,
    Rows,
    all_or_nothing,
    check_columns,
    check_fitted,
    check_rows,
)
from tractable.base.parameters import check_number
from tractable.engines import fold
from tractable.linear_model.linear_rows import as_floats, check_factor
from tractable.linear_model.sparse_columns import Columns, columns_of, columns_of_statistic
from tractable.statistics import LinearFactor

__all__ = ["SparseModel", "check_precompute"]

#: Up to so many columns, rows in memory are folded into a statistic too.
FEW = 200


class SparseModel(OnePassMixin, RegressorMixin, Estimator):
    """Learns from rows or from a statistic of them; a model says in `_solve` what it makes of the columns."""

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact in one pass")
    _supervised = True
    fit_intercept: bool
    alpha: Any
    max_iter: Any
    precompute: Any
    coef_: Array
    intercept_: Any

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.target_tags.multi_output = True
        return found

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows held in memory, in a file, or in a stream.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets), or column name
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.

        Returns
        -------
        self
        """
        self._check()
        rows = check_rows(self, X, y, sample_weight, reset=True, supervised=True)
        if self._by_statistic(rows):
            self._learn(fold(self._statistic(), rows.data, rows.y, weights=rows.weights))
        else:
            self.solver_ = "rows"
            columns = columns_of(rows.data, rows.y, rows.weights, fit_intercept=bool(self.fit_intercept))
            self._solve(columns, precompute=False)
        self._report()
        return self

    def predict(self, X: Any) -> Array:
        """Return the plane at each row.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
        """
        check_fitted(self)
        return as_floats(check_columns(self, X)) @ self.coef_.T + self.intercept_

    @property
    def support_(self) -> np.ndarray:
        """Indices of the columns in use, by any target."""
        check_fitted(self)
        used = namespace_of(self.coef_).reshape(self.coef_ != 0, (-1, self.coef_.shape[-1]))
        return np.flatnonzero(np.asarray(used).any(axis=0))

    @property
    def sparse_coef_(self) -> Any:
        """Coefficients as a sparse matrix (CSR)."""
        from scipy.sparse import csr_matrix

        check_fitted(self)
        return csr_matrix(np.atleast_2d(self.coef_))

    def _check(self) -> None:
        """Raise where a parameter is not one."""
        check_number("alpha", self.alpha, least=0.0)
        if self.max_iter is not None:
            check_number("max_iter", self.max_iter, least=1, whole=True)
        check_precompute(self.precompute)

    def _solve(self, columns: Columns, *, precompute: bool | None) -> None:
        raise NotImplementedError(f"{type(self).__name__} must say how it solves its columns")

    def _by_statistic(self, rows: Rows) -> bool:
        if not isinstance(rows.data, np.ndarray) or self.precompute is True:
            return True
        n, p = rows.data.shape
        return self.precompute == "auto" and p <= FEW and p <= max(n, 64)

    def _require_statistic(self) -> None:
        if hasattr(self, "coef_") and not hasattr(self, "statistic_"):
            raise ValueError(
                "precompute must be True for a model that will learn from more rows or be merged: "
                "this one was fitted to rows without keeping a statistic of them"
            )

    def _statistic(self) -> Callable[..., Any]:
        self._check()
        return LinearFactor.of

    def _learn(self, statistic: Any) -> None:
        self._check()
        self.statistic_ = statistic = check_factor(statistic)
        self.solver_ = "statistic"
        columns = columns_of_statistic(statistic, fit_intercept=bool(self.fit_intercept))
        few = statistic.dim <= 2 * FEW or columns.X.shape[0] >= statistic.dim
        self._solve(columns, precompute=True if few else None)

    def _name(self, columns: Columns, coefs: list[Array]) -> None:
        """Set `coef_` and `intercept_` from the coefficients of every target."""
        xp = namespace_of(columns.X)
        intercepts = [columns.intercepts(w, t) for t, w in enumerate(coefs)]
        if columns.flat:
            self.coef_, self.intercept_ = coefs[0], float(intercepts[0])
        else:
            self.coef_, self.intercept_ = xp.stack(coefs), xp.stack([xp.asarray(b) for b in intercepts])


def check_precompute(given: Any) -> None:
    """Refuse what does not say whether to form Gram matrices."""
    if not (isinstance(given, (bool, np.bool_)) or (isinstance(given, str) and given == "auto")):
        raise ValueError(f"precompute must be 'auto', True or False, got {given!r}")
