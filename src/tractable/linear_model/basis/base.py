"""Base class of basis expansions φ(x): `fit` learns their parameters, `transform` evaluates them."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names_in

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.base import (
    Estimator,
    ModelTags,
    all_or_nothing,
    check_columns,
    check_fitted,
    check_weights,
)
from tractable.base.by_blocks import by_blocks, keeps_float32
from tractable.data import is_frame
from tractable.data.frames import split_frame
from tractable.linear_model.rows import as_floats
from tractable.statistics.rows import counts


class Basis(TransformerMixin, Estimator):
    """A map from rows to columns φ(x), whose parameters `fit` learns.

    A subclass supplies `_learn(X, weights)`, which sets centres, knots or scales, `_map(X)`, which evaluates
    the basis functions, and `_names(inputs)`, which returns the names of the columns.
    """

    model_tags = ModelTags(kind="mapping", parametric=True, streaming="no")

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the parameters of the basis functions.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n_samples, n_features), and how often each counts; y is ignored. Of a frame, y and
            sample_weight may be names of columns.
        """
        if is_frame(X):
            X, _, sample_weight = split_frame(X, y if isinstance(y, str) else None, sample_weight)
        rows = as_floats(check_columns(self, X, reset=True))
        weights = check_weights(sample_weight, rows)
        xp, weights = namespace_of(rows), counts(weights, rows)
        seen = xp.nonzero(weights > 0)[0]
        with np.errstate(all="ignore"):
            self._learn(xp.take(rows, seen, axis=0), xp.take(weights, seen))
        return self

    @by_blocks
    @keeps_float32
    def transform(self, X: Any) -> Array:
        """Return the basis functions at each row, (n_samples, n_functions)."""
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
        """Return the names of the columns, from those of X: `input_features`, as in `fit`, or x0, x1, …."""
        check_fitted(self)
        given = _check_feature_names_in(self, input_features)
        return np.asarray(self._names([str(name) for name in given]), dtype=object)

    @abstractmethod
    def _learn(self, X: Array, weights: Array) -> None:
        """Set the centres, knots or scales of the basis functions."""

    @abstractmethod
    def _map(self, X: Array) -> list[Array]:
        """Return the basis functions at rows, (n,) each."""

    @abstractmethod
    def _names(self, inputs: list[str]) -> list[str]:
        """Return the names of the basis functions, from those of the columns."""


STRATEGIES = ("quantile", "uniform")


def check_strategy(strategy: Any) -> str:
    """Return the strategy by which centres or knots are chosen, or raise ValueError."""
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy must be one of {list(STRATEGIES)}, got {strategy!r}")
    return str(strategy)


def column_range(X: Array) -> tuple[Array, Array]:
    """Return the middle and the half width of every column; a constant one gets the half width 1."""
    xp = namespace_of(X)
    low, high = xp.min(X, axis=0), xp.max(X, axis=0)
    half = 0.5 * high - 0.5 * low
    return 0.5 * low + 0.5 * high, xp.where(half > 0, half, xp.ones_like(half))


def standardised(X: Array, middle: Array, half: Array) -> Array:
    """Return the columns in units of their range, which is [-1, 1]."""
    return (X - middle) / half


def spread_over(column: Array, weights: Array, n: int, strategy: str) -> Array:
    """Return at most n different points over the range of a column, both ends among them.

    Evenly spaced, or at evenly spaced weighted quantiles: the smallest value whose cumulative weight is at
    least the fraction q of the total, so that a row of weight two equals the row given twice.
    """
    xp = namespace_of(column)
    ends = (0.0, 1.0) if n > 1 else (0.5, 0.5)
    levels = xp.linspace(*ends, n, dtype=xp.float64, device=device(column))
    if strategy == "uniform":
        low, high = xp.min(column), xp.max(column)
        points = low * (1.0 - levels) + high * levels
    else:
        order = xp.argsort(column)
        cumulative = xp.cumulative_sum(xp.take(weights, order))
        at = xp.searchsorted(cumulative, levels * cumulative[-1])
        last = column.shape[0] - 1
        points = xp.take(column, xp.take(order, xp.clip(at, 0, last)))
    return xp.sort(xp.unique_values(points))
