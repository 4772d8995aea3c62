"""Learning distributions of numbers from observations on the first axis, one for each column."""

from math import prod
from typing import Any, TypeVar

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.checks import check_finite, check_sample_weight
from tractable.value import parameters

__all__ = ["as_columns", "fit_columns", "like_columns"]

D = TypeVar("D")


def as_columns(X: Any, sample_weight: Any) -> tuple[Array, Array, Array | None]:
    """Return observations (n, *batch), the same as columns (n, size of batch), and their weights."""
    X = as_reals("X", X)
    if X.ndim < 1 or not X.shape[0]:
        raise ValueError(f"X must have observations on its first axis, got shape {tuple(X.shape)}")
    check_finite("X", X)
    columns = namespace_of(X).reshape(X, (X.shape[0], prod(X.shape[1:])))
    return X, columns, check_sample_weight(sample_weight, X.shape[0], X)


def fit_columns(family: Any, X: Any, sample_weight: Any = None, **options: Any) -> Any:
    """Return the maximum likelihood estimate of a family that learns from a statistic."""
    X, columns, weights = as_columns(X, sample_weight)
    return like_columns(family.from_statistic(family.statistic.of(columns, weights), **options), X)


def like_columns(fitted: D, X: Array) -> D:
    """Return a batch of distributions in the shape and dtype of the observations they were learnt from."""
    xp = namespace_of(X)
    shaped = {
        name: xp.astype(xp.reshape(getattr(fitted, name), tuple(X.shape[1:])), X.dtype)
        for name in fitted.parameter_ndims  # type: ignore[attr-defined]
    }
    return type(fitted)(**{**parameters(fitted), **shaped})
