"""The functions of `tractable.primitives.naive_bayes` in the array API."""

from typing import Any

import numpy as np

from tractable.arrays.log_space import softmax
from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of
from tractable.primitives import SILENT


@SILENT
def class_moments(
    x: Array, codes: Array, n_classes: int, weights: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    xp = namespace_of(x)
    x = xp.astype(x, xp.float64)
    codes = xp.astype(codes, xp.int64)
    one = codes[:, None] == xp.arange(n_classes, dtype=xp.int64, device=device(x))
    indicator = xp.astype(one, xp.float64)
    indicator = indicator if weights is None else indicator * weights[:, None]
    seen = ~xp.isnan(x)
    nothing = xp.zeros_like(x)
    weight = indicator.T @ xp.astype(seen, xp.float64)
    safe = xp.where(weight > 0, weight, xp.ones_like(weight))
    mean = indicator.T @ xp.where(seen, x, nothing) / safe
    centred = xp.where(seen, x - xp.take(mean, codes, axis=0), nothing)
    rounding = indicator.T @ centred / safe
    scatter = indicator.T @ (centred * centred) - weight * rounding * rounding
    return weight, mean + rounding, scatter, xp.sum(indicator, axis=0)


def sparse_class_sums(X: Any, codes: Any, n_classes: int, weights: Any = None) -> tuple[Any, Any]:
    indicator = np.equal.outer(np.arange(n_classes), codes) * (1.0 if weights is None else weights)
    return indicator @ X, indicator @ X.power(2)


@SILENT
def diagonal_scores(x: Array, means: Array, scales: Array, log_norms: Array) -> Array:
    xp = namespace_of(x)
    x = xp.astype(x, xp.float64)
    if is_numpy_array(x):
        return _diagonal_terms(x[:, None, :], means, scales, log_norms)
    each = range(means.shape[0])  # one class after the other: no array is larger than the rows
    return xp.stack([_diagonal_terms(x, means[k, :], scales[k, :], log_norms[k, :]) for k in each], axis=1)


def _diagonal_terms(x: Array, means: Array, scales: Array, log_norms: Array) -> Array:
    xp = namespace_of(x)
    z = (x - means) * scales
    terms = log_norms - 0.5 * z * z
    return xp.sum(xp.where(xp.isnan(x), xp.zeros_like(terms), terms), axis=-1)


@SILENT
def softmax_rows(scores: Array) -> Array:
    return softmax(scores)


@SILENT
def category_scores(x: Array, tables: Array, starts: Array) -> Array:
    xp = namespace_of(x)
    if xp is np and not np.isnan(x).any():
        return tables[x.astype(np.int64) + starts].sum(axis=1)
    seen = ~xp.isnan(x)
    rows = xp.astype(xp.where(seen, x, xp.zeros_like(x)), xp.int64) + xp.astype(starts, xp.int64)
    found = xp.reshape(xp.take(tables, xp.reshape(rows, (-1,)), axis=0), (*x.shape, tables.shape[1]))
    return xp.sum(xp.where(seen[:, :, None], found, xp.zeros_like(found)), axis=1)
