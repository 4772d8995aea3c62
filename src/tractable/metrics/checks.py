"""Checks of targets and predictions, and weighted averages over rows and targets."""

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from math import isfinite
from typing import Any, TypeVar

from tractable.arrays.batched import as_reals
from tractable.arrays.limits import check_squarable
from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.weights import check_weights
from tractable.data import Source

F = TypeVar("F", bound=Callable[..., Any])


def with_source_targets(metric: F) -> F:
    """Let the targets of a metric be a source's: its targets, and its weights where none are given."""
    names = list(signature(metric).parameters)
    targets = next(name for name in ("y_true", "y") if name in names)

    @wraps(metric)
    def scored(*args: Any, **options: Any) -> Any:
        given = dict(zip(names, args, strict=False)) | options
        if not isinstance(given.get(targets), Source):
            return metric(*args, **options)
        y, weights = given[targets].targets()
        if "sample_weight" in names and given.get("sample_weight") is None:
            given["sample_weight"] = weights
        return metric(**given | {targets: y})

    return scored  # type: ignore[return-value]


def as_pair(y_true: Any, y_pred: Any) -> tuple[Array, Array]:
    """Return targets and predictions as float64 of one shape, (n,) or (n, t), with squares in range."""
    y_true = as_reals("y_true", y_true)
    y_pred = as_reals("y_pred", y_pred, y_true)
    if y_true.ndim not in (1, 2) or 0 in y_true.shape:
        raise ValueError(
            f"y_true must have shape (n,) or (n, n_targets) with n above 0, got {tuple(y_true.shape)}"
        )
    if tuple(y_true.shape) != tuple(y_pred.shape):
        raise ValueError(
            f"y_pred must have the shape of y_true, {tuple(y_true.shape)}, got {tuple(y_pred.shape)}"
        )
    xp = namespace_of(y_true)
    for name, y in (("y_true", y_true), ("y_pred", y_pred)):
        low, high = float(xp.min(y)), float(xp.max(y))  # without an array of absolute values
        if not (isfinite(low) and isfinite(high)):
            raise ValueError(f"{name} contains NaN or infinity")
        check_squarable(name, max(high, -low), nonzero=name == "y_true")
    return xp.astype(y_true, xp.float64, copy=False), xp.astype(y_pred, xp.float64, copy=False)


def as_targets(y: Any, shape: Sequence[int], *, like: Array | None = None) -> Array:
    """Return targets as finite floats of the shape that was predicted, checked.

    One distribution, of shape (), serves targets of any shape; other shapes must agree, since broadcasting
    would compare rows with the distributions of others.
    """
    y = as_reals("y", y, like)
    if tuple(shape) and tuple(y.shape) != tuple(shape):
        raise ValueError(f"y must have the shape of the predictions, {tuple(shape)}, got {tuple(y.shape)}")
    if not bool(namespace_of(y).all(namespace_of(y).isfinite(y))):
        raise ValueError("y contains NaN or infinity")
    return y


def averaged(x: Array, sample_weight: Any) -> Array:
    """Return the weighted mean over the rows, the first axis."""
    xp = namespace_of(x)
    if sample_weight is None:
        return xp.mean(x, axis=0)
    w = check_weights(sample_weight, x.shape[0], like=x, name="sample_weight", some=True)
    w = xp.reshape(xp.astype(w, x.dtype), (-1, *(1,) * (x.ndim - 1)))
    return xp.sum(w * x, axis=0) / xp.sum(w)


def over_targets(x: Array, multioutput: Any) -> Any:
    """Return the score of each target (``"raw_values"``), their mean, or their mean with weights."""
    xp = namespace_of(x)
    if isinstance(multioutput, str) and multioutput == "raw_values":
        return xp.reshape(x, (-1,))
    if isinstance(multioutput, str):
        if multioutput != "uniform_average":
            raise ValueError(
                f'multioutput must be "raw_values", "uniform_average" or weights, got {multioutput!r}'
            )
        return float(xp.mean(x))
    x = xp.reshape(x, (-1,))
    w = check_weights(multioutput, x.shape[0], like=x, name="multioutput", some=True)
    return float(xp.sum(xp.astype(w, x.dtype) * x) / xp.sum(w))


def row_count(sample_weight: Any, x: Array) -> float:
    """Return the total weight of the rows."""
    if sample_weight is None:
        return float(x.shape[0])
    w = check_weights(sample_weight, x.shape[0], like=x, name="sample_weight", some=True)
    return float(namespace_of(w).sum(w))
