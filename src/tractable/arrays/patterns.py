"""Rows of a table of booleans that are equal: which entries are missing together."""

import numpy as np

__all__ = ["by_pattern"]


def by_pattern(mask: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return each different row of a boolean table, and the positions where it stands, in order.

    Examples
    --------
    >>> for pattern, rows in by_pattern(np.array([[True, False], [False, False], [True, False]])):
    ...     print(pattern, rows)
    [False False] [1]
    [ True False] [0 2]
    """
    n, d = mask.shape
    if not n:
        return []
    # A row becomes one number, or a run of bytes where it is wide: sorting those is much cheaper than rows.
    packed = np.zeros((n, 8 * -(-max(d, 1) // 64)), dtype=np.uint8)
    packed[:, : -(-d // 8)] = np.packbits(mask, axis=1)
    keys = packed.view(">u8" if packed.shape[1] == 8 else f"V{packed.shape[1]}").reshape(n)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(which, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(which))[:-1])
    return list(zip(mask[first], rows, strict=True))
