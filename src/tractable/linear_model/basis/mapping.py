"""What every basis shares: rows in, named columns out, the same map at prediction as at the fit."""

from typing import Any, Self

import numpy as np
from sklearn.base import TransformerMixin

from tractable.arrays.namespace import Array, namespace_of
from tractable.base import (
    Estimator,
    ModelTags,
    all_or_nothing,
    check_columns,
    check_fitted,
    check_weights,
)
from tractable.linear_model.linear_rows import as_floats

__all__ = ["Basis"]


class Basis(TransformerMixin, Estimator):
    """A map from rows to columns φ(x), settled by `fit` and the same ever after.

    A basis supplies `_settle(X, weights)`, which learns where its functions lie, `_map(X)`, which evaluates
    them, and `_names(inputs)`, which says what the columns are called.
    """

    model_tags = ModelTags(kind="mapping", parametric=True, streaming="no")

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn where the functions lie.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How often each row counts.

        Returns
        -------
        self
        """
        rows = as_floats(check_columns(self, X, reset=True))
        weights = check_weights(sample_weight, rows)
        xp = namespace_of(rows)
        weights = xp.ones_like(rows[:, 0]) if weights is None else xp.astype(weights, xp.float64)
        seen = xp.nonzero(weights > 0)[0]
        with np.errstate(all="ignore"):
            self._settle(xp.take(rows, seen, axis=0), xp.take(weights, seen))
        return self

    def transform(self, X: Any) -> Array:
        """Return the basis functions at each row.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_functions)
        """
        check_fitted(self)
        rows = as_floats(check_columns(self, X))
        xp = namespace_of(rows)
        with np.errstate(all="ignore"):
            columns = xp.stack(self._map(rows), axis=1)
        if not bool(xp.all(xp.isfinite(columns))):
            bad = int(xp.argmax(xp.astype(xp.any(~xp.isfinite(columns), axis=0), xp.int64)))
            raise ValueError(
                f"X has rows at which {self.get_feature_names_out()[bad]} is not a finite number"
            )
        return columns

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return what the columns are called.

        Parameters
        ----------
        input_features : array of str, optional
            What the columns of X are called; by default as in `fit`, or x0, x1, ….

        Returns
        -------
        array of str
        """
        check_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        if input_features is None:
            given = [f"x{j}" for j in range(self.n_features_in_)] if known is None else list(known)
        else:
            given = [str(name) for name in input_features]
        if known is not None and given != list(known):
            raise ValueError(f"input_features is not equal to feature_names_in_, {list(known)}")
        if len(given) != self.n_features_in_:
            raise ValueError(f"input_features should have length {self.n_features_in_}, got {len(given)}")
        return np.asarray(self._names(given), dtype=object)

    def _settle(self, X: Array, weights: Array) -> None:
        raise NotImplementedError(f"{type(self).__name__} must say what it learns from rows")

    def _map(self, X: Array) -> list[Array]:
        raise NotImplementedError(f"{type(self).__name__} must say what its columns are")

    def _names(self, inputs: list[str]) -> list[str]:
        raise NotImplementedError(f"{type(self).__name__} must name its columns")
