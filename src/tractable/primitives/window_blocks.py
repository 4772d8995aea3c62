"""Centres of windows in blocks of near ones, most of which a query can leave out."""

import numpy as np

from tractable.value import value

__all__ = ["WindowBlocks", "window_blocks"]

#: Points of a block.
SIZE = 24


@value
class WindowBlocks:
    """Points in an order in which neighbours are together, and what bounds the windows of each block."""

    order: np.ndarray  # (m,)
    first: np.ndarray  # (b + 1,), where blocks begin in that order
    low: np.ndarray  # (b, d), corners of the boxes that hold their points
    high: np.ndarray  # (b, d)


def window_blocks(points: np.ndarray) -> WindowBlocks:
    """Cut points at the middle of their longest side until blocks are small.

    Examples
    --------
    >>> blocks = window_blocks(np.arange(100.0)[::-1, None])
    >>> blocks.first.tolist(), blocks.low.ravel().tolist()
    ([0, 12, 25, 37, 50, 62, 75, 87, 100], [0.0, 12.0, 25.0, 37.0, 50.0, 62.0, 75.0, 87.0])
    """
    order, ends, waiting = np.arange(len(points)), [0], [(0, len(points))]
    while waiting:
        begin, end = waiting.pop()
        if end - begin <= SIZE:
            ends.append(end)
            continue
        inside = order[begin:end]
        part = points[inside]
        longest = int(np.argmax(part.max(axis=0) - part.min(axis=0)))
        half = (end - begin) // 2
        order[begin:end] = inside[np.argpartition(part[:, longest], half)]
        waiting += [(begin + half, end), (begin, begin + half)]
    first = np.array(ends)
    kept = points[order]
    return WindowBlocks(
        order=order,
        first=first,
        low=np.minimum.reduceat(kept, first[:-1], axis=0),
        high=np.maximum.reduceat(kept, first[:-1], axis=0),
    )
