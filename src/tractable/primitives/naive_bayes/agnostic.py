"""The functions of `tractable.primitives.naive_bayes` in the array API."""

from typing import Any

import numpy as np
from scipy.sparse import csc_array

from tractable.arrays.log_space import softmax
from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of
from tractable.primitives import SILENT

#: Products that a matrix of zeros and ones may take more than one of SciPy's with its ones alone.
FEW_PRODUCTS = 2**18


@SILENT
def class_moments(
    x: Array, codes: Array, n_classes: int, weights: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    xp = namespace_of(x)
    x = xp.astype(x, xp.float64, copy=False)
    codes = codes if is_numpy_array(codes) else xp.astype(codes, xp.int64)
    members = class_members(x, codes, n_classes, weights)
    sums, total = members @ x, members @ xp.ones(x.shape[0], dtype=xp.float64, device=device(x))
    weight, seen, nothing = total[:, None], None, None
    if not bool(xp.all(xp.isfinite(sums))):  # a missing entry spoils its sum
        seen, nothing = ~xp.isnan(x), xp.zeros_like(x)
        weight, sums = members @ xp.astype(seen, xp.float64), members @ xp.where(seen, x, nothing)
    each = weight if bool(xp.all(weight > 0)) else xp.where(weight > 0, weight, xp.ones_like(weight))
    mean = sums / each
    centred = x - xp.take(mean, codes, axis=0)
    centred = centred if seen is None else xp.where(seen, centred, nothing)
    rounding = members @ centred / each
    centred *= centred
    scatter = members @ centred - weight * rounding * rounding
    return weight, mean + rounding, scatter, total


def class_members(x: Array, codes: Array, n_classes: int, weights: Array | None = None) -> Any:
    """Return the weight of each row, in the row of its class, (K, n): sparse where products are quicker."""
    if is_numpy_array(x) and n_classes * x.size > FEW_PRODUCTS:
        n = len(x)
        one = np.ones(n) if weights is None else weights
        return csc_array((one, codes.astype(np.int32), np.arange(n + 1, dtype=np.int32)), (n_classes, n))
    xp = namespace_of(x)
    of = xp.arange(n_classes, dtype=codes.dtype, device=device(x))
    found = xp.astype(codes[None, :] == of[:, None], xp.float64)
    return found if weights is None else found * weights


@SILENT
def class_sums(
    x: Any, codes: Any, n_classes: int, weights: Any = None, *, within: Any, above: float | None = None
) -> Any:
    low, high = within
    if x.size and not (x.min() >= low and x.max() <= high):
        return np.full((n_classes, x.shape[1]), np.nan)
    x = x if above is None else x > above
    return class_members(x, codes, n_classes, weights) @ x.astype(np.float64, copy=False)


def category_counts(x: Any, codes: Any, n_classes: int, weights: Any, n_categories: int) -> Any:
    d = x.shape[1]
    cell = n_categories * (codes.astype(np.int64)[:, None] * d + np.arange(d))
    seen = ~np.isnan(x)
    one = None if weights is None else np.broadcast_to(weights[:, None], x.shape)[seen]
    x = x if seen.all() else np.where(seen, x, 0.0)
    category = x.astype(np.int64)
    if np.any(category != x):
        return None
    cell = cell + category
    cell = cell.ravel() if seen.all() else cell[seen]
    found = np.bincount(cell, one, n_classes * d * n_categories)
    return found.astype(np.float64, copy=False).reshape(n_classes, d, n_categories)


def sparse_class_sums(X: Any, codes: Any, n_classes: int, weights: Any = None) -> Any:
    indicator = np.equal.outer(np.arange(n_classes), codes) * (1.0 if weights is None else weights)
    return indicator @ X


#: Entries of rows from which on classes are scored one after another, in the same memory.
LONG_LOOPS = 2**12


@SILENT
def diagonal_scores(x: Array, means: Array, scales: Array, log_norms: Array) -> Array:
    xp = namespace_of(x)
    x = xp.astype(x, xp.float64)
    if is_numpy_array(x):
        if x.size > LONG_LOOPS:
            squares, z = np.empty((len(x), len(means))), np.empty_like(x)
            for k, scale in enumerate(scales):
                np.subtract(x, means[k], out=z)
                z *= scale
                np.einsum("ij,ij->i", z, z, out=squares[:, k])
        else:
            z = (x[:, None, :] - means) * scales
            squares = (z * z).sum(axis=-1)
        found = log_norms.sum(axis=1) - 0.5 * squares
        complete = not np.isnan(found).any()
        return found if complete else _diagonal_terms(x[:, None, :], means, scales, log_norms)
    each = range(means.shape[0])  # one class after the other: no array is larger than the rows
    return xp.stack([_diagonal_terms(x, means[k, :], scales[k, :], log_norms[k, :]) for k in each], axis=1)


def _diagonal_terms(x: Array, means: Array, scales: Array, log_norms: Array) -> Array:
    xp = namespace_of(x)
    z = (x - means) * scales
    terms = log_norms - 0.5 * z * z
    return xp.sum(xp.where(xp.isnan(x), xp.zeros_like(terms), terms), axis=-1)


@SILENT
def softmax_rows(scores: Array) -> Array:
    if not is_numpy_array(scores):
        return softmax(scores)
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    total = raised.sum(axis=1, keepdims=True)
    return softmax(scores) if np.isnan(total).any() else raised / total


@SILENT
def category_scores(x: Array, tables: Array, starts: Array) -> Array:
    xp = namespace_of(x)
    if xp is np and not np.isnan(x).any():
        return tables[x.astype(np.int64) + starts].sum(axis=1)
    seen = ~xp.isnan(x)
    rows = xp.astype(xp.where(seen, x, xp.zeros_like(x)), xp.int64) + xp.astype(starts, xp.int64)
    found = xp.reshape(xp.take(tables, xp.reshape(rows, (-1,)), axis=0), (*x.shape, tables.shape[1]))
    return xp.sum(xp.where(seen[:, :, None], found, xp.zeros_like(found)), axis=1)
