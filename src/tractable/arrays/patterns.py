"""Rows of a table of booleans that are equal: which entries are missing together."""

import numpy as np

__all__ = ["by_pattern", "sorted_by_pattern"]


def sorted_by_pattern(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return an order that puts equal rows together, how often each different row stands, and what it is.

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
    """Return each different row of a boolean table, and the positions where it stands, in order.

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
