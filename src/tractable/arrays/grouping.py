"""Groups of equal rows, and weighted counts of labels."""

import math
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, is_numpy_array, is_torch_array, namespace_of

__all__ = [
    "by_pattern",
    "first_of_each",
    "group_rows",
    "sorted_by_pattern",
    "sums_by_label",
    "weighted_counts",
]


#: Labels up to which a comparison for each takes less than `np.bincount`, which keeps the interpreter lock.
FEW_LABELS = 8


def weighted_counts(labels: Array, weights: Array | None, n: int) -> Array:
    """Return the total weight of each label 0, …, n - 1: Σ_i w_i [label_i = k], (n,), each 1 without weights.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_counts(np.array([0, 2, 2]), np.array([1.0, 2.0, 3.0]), 4)
    array([1., 0., 5., 0.])
    >>> weighted_counts(np.array([0, 2, 2]), None, 4)
    array([1., 0., 2., 0.])
    """
    xp = namespace_of(labels) if weights is None else namespace_of(labels, weights)
    if weights is None:
        if is_numpy_array(labels) and n <= FEW_LABELS:
            return np.array([np.count_nonzero(labels == k) for k in range(n)], dtype=np.float64)
        if is_numpy_array(labels):
            return np.bincount(labels, minlength=n).astype(np.float64)
        weights = xp.ones(labels.shape, dtype=xp.float64, device=device(labels))
    if is_numpy_array(weights):
        return np.bincount(labels, weights, minlength=n).astype(weights.dtype)
    if is_torch_array(weights):
        return xp.bincount(labels, weights, minlength=n)
    zero = xp.zeros_like(weights)
    sums = [xp.sum(xp.where(labels == k, weights, zero)) for k in range(n)]
    return xp.stack(sums) if sums else zero[:0]


def sums_by_label(labels: Array, rows: Array, n: int) -> Array:
    """Return the sum of the rows (m, d) of each label 0, …, n - 1, (n, d).

    Examples
    --------
    >>> import numpy as np
    >>> sums_by_label(np.array([0, 2, 2]), np.array([[1.0], [2.0], [3.0]]), 3).tolist()
    [[1.0], [0.0], [5.0]]
    """
    xp = namespace_of(labels, rows)
    if is_torch_array(rows):
        return xp.zeros((n, rows.shape[1]), dtype=rows.dtype, device=rows.device).index_add_(0, labels, rows)
    own = xp.arange(n, device=device(labels))
    return xp.astype(labels[None, :] == own[:, None], rows.dtype) @ rows


def group_rows(x: Array) -> Array:
    """Number the rows of x so that equal rows, and only they, have one number: (m,) integers from 0.

    A row with NaN equals no other.

    Examples
    --------
    >>> import numpy as np
    >>> group_rows(np.array([[1.0, 2.0], [0.0, 5.0], [1.0, 2.0]]))
    array([1, 0, 1])
    """
    xp = namespace_of(x)
    columns = xp.reshape(x, (x.shape[0], math.prod(x.shape[1:])))
    groups = _numbered(xp, columns[:, 0])
    for j in range(1, columns.shape[1]):
        # Numbers stay below the number of rows, so that pairs of them cannot overflow.
        groups = _numbered(xp, groups * max(1, x.shape[0]) + _numbered(xp, columns[:, j]))
    return groups


def first_of_each(groups: Array) -> Array:
    """Return where each number occurs first, in the order of the numbers: (m,) integers give (k,).

    Not every library's `unique_all` exists.

    Examples
    --------
    >>> import numpy as np
    >>> first_of_each(np.array([2, 0, 2, 5, 0]))
    array([1, 0, 3])
    """
    xp = namespace_of(groups)
    order = xp.argsort(groups, stable=True)
    ordered = xp.take(groups, order)
    new = xp.concat([xp.ones_like(ordered[:1]), xp.astype(ordered[1:] != ordered[:-1], ordered.dtype)])
    return xp.take(order, xp.nonzero(new)[0])


def _numbered(xp: Any, column: Array) -> Array:
    return xp.reshape(xp.astype(xp.unique_inverse(column).inverse_indices, xp.int64), (-1,))


def sorted_by_pattern(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return an order that puts equal rows together, how often each distinct row occurs, and the rows.

    Equal rows keep their order; a row that is False throughout comes first.

    Examples
    --------
    >>> order, counts, patterns = sorted_by_pattern(np.array([[True, False], [False, False], [True, False]]))
    >>> order.tolist(), counts.tolist(), patterns.tolist()
    ([1, 0, 2], [1, 2], [[False, False], [True, False]])
    """
    n, d = mask.shape
    # A row becomes one number, or a run of bytes where it is wide: sorting those is much cheaper than rows.
    packed = np.zeros((n, 8 * -(-max(d, 1) // 64)), dtype=np.uint8)
    packed[:, : -(-d // 8)] = np.packbits(mask, axis=1)
    keys = packed.view(">u8" if packed.shape[1] == 8 else f"V{packed.shape[1]}").reshape(n)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(which, kind="stable")
    return order, np.bincount(which, minlength=len(first)), mask[first]


def by_pattern(mask: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return each distinct row of a boolean table, and the positions at which it occurs, in order.

    Examples
    --------
    >>> for pattern, rows in by_pattern(np.array([[True, False], [False, False], [True, False]])):
    ...     print(pattern, rows)
    [False False] [1]
    [ True False] [0 2]
    """
    if not len(mask):
        return []
    order, counts, patterns = sorted_by_pattern(mask)
    return list(zip(patterns, np.split(order, np.cumsum(counts)[:-1]), strict=True))
