"""Vectors on the last axis, matrices that act on them, batches in front."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from tractable.arrays.namespace import (
    Array,
    as_float_array,
    check_unmasked,
    device,
    is_numpy_array,
    namespace_of,
)

__all__ = [
    "as_reals",
    "batch_index",
    "diagonal_matrix",
    "matvec",
    "on_columns",
    "one_vectors",
    "positions",
    "principal_block",
    "zero_gain",
]


def on_columns(function: Callable[[Array], Array], z: Array, n_batch: int) -> Array:
    """Apply a map of columns (*batch, d, n) to the vectors z (*samples, *batch, d), all samples at once."""
    if n_batch == 0 and z.ndim == 2:
        return function(z.T).T
    xp = namespace_of(z)
    if z.ndim <= n_batch:
        z = xp.reshape(z, (1,) * (n_batch + 1 - z.ndim) + tuple(z.shape))
    n_samples_axes = z.ndim - n_batch - 1
    samples, rest = tuple(z.shape[:n_samples_axes]), tuple(z.shape[n_samples_axes:])
    columns = xp.moveaxis(xp.reshape(z, (prod(samples), *rest)), 0, -1)
    out = xp.moveaxis(function(columns), -1, 0)
    return xp.reshape(out, samples + tuple(out.shape[1:]))


def batch_index(index: Any, n_event: int) -> tuple[Any, ...]:
    """Return an index of batch axes as one of whole arrays, which leaves the last `n_event` axes alone."""
    index = index if isinstance(index, tuple) else (index,)
    middle = () if any(i is Ellipsis for i in index) else (...,)
    return (*index, *middle, *(slice(None),) * n_event)


def matvec(matrix: Array, z: Array) -> Array:
    """Multiply matrices (*batch, m, d) with vectors (..., *batch, d)."""
    if matrix.ndim == 2:
        return z @ matrix.T
    return on_columns(lambda columns: matrix @ columns, z, matrix.ndim - 2)


def as_reals(name: str, x: Any, like: Array | None = None) -> Array:
    """Return x as a float array, or a ValueError that names it where it is not real numbers.

    Beside `like` it is of that library, and on its device where it was on the host; lists and numbers also
    take the dtype.
    """
    if type(x) is np.ndarray and x.dtype.kind == "f" and (like is None or type(like) is np.ndarray):
        return x
    check_unmasked(name, x)
    xp = namespace_of(x) if like is None else namespace_of(like)
    bare = not hasattr(x, "dtype") or isinstance(x, np.generic)
    try:
        if like is not None and bare:
            array = xp.asarray(x, dtype=like.dtype, device=device(like))
        elif like is not None and is_numpy_array(x):
            array = xp.asarray(x, device=device(like))
        else:
            array = xp.asarray(x)
        real = xp.isdtype(array.dtype, ("real floating", "integral", "bool"))
        array = as_float_array(array, xp) if real else None
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None:
        raise ValueError(f"{name} must be an array of real numbers, got {type(x).__name__}: {x!r:.60}")
    return array


def positions(dims: Sequence[int] | np.ndarray, like: Array) -> Array:
    """Return positions as an index array of `like`'s library."""
    xp = namespace_of(like)
    dims = dims if isinstance(dims, np.ndarray) else list(dims)
    return xp.asarray(dims, dtype=xp.int64, device=device(like))


def principal_block(matrix: Array, rows: Sequence[int], columns: Sequence[int]) -> Array:
    """Return the rows and columns of a (batch of) matrices."""
    xp = namespace_of(matrix)
    return xp.take(xp.take(matrix, positions(rows, matrix), axis=-2), positions(columns, matrix), axis=-1)


def diagonal_matrix(diagonal: Array) -> Array:
    """Return the matrices with these diagonals and zeros elsewhere."""
    xp = namespace_of(diagonal)
    d = diagonal.shape[-1]
    return diagonal[..., None] * xp.eye(d, dtype=diagonal.dtype, device=device(diagonal))


def one_vectors(dim: int, n_batch: int, like: Array) -> Array:
    """Return the unit vectors as (dim, 1, …, 1, dim): `dim` samples for any batch."""
    xp: Any = namespace_of(like)
    identity = xp.eye(dim, dtype=like.dtype, device=device(like))
    return xp.reshape(identity, (dim,) + (1,) * n_batch + (dim,))


def zero_gain(like: Array, n_rest: int, n_given: int) -> Array:
    """Return a gain of zeros for a batch of `like`'s shape."""
    xp = namespace_of(like)
    return xp.zeros((*like.shape, n_rest, n_given), dtype=like.dtype, device=device(like))
