"""Rows of a period laid out on a line, where bandwidths are chosen."""

from typing import Any

import numpy as np

from tractable.smoothing.checks import as_rows

__all__ = ["unrolled"]


def unrolled(X: Any, period: Any, weights: Any = None) -> np.ndarray:
    """Return rows of periods as rows of a line: turned into one period and cut where they leave most room.

    Distances across the cut are lost, and all others are what they are on the circle, so that rules see how
    wide the rows are, not where the period happens to begin, and left-out rows see their neighbours.

    Parameters
    ----------
    X : array (n, d) or (n,)
    period : number, or one (or None) a column
        The length of a period.
    weights : array (n,), optional
        Rows of weight zero do not move the cut.

    Examples
    --------
    >>> unrolled([23.0, 1.0, 26.0], 24.0).ravel().tolist()
    [23.0, 25.0, 26.0]
    """
    X, w = as_rows(X, weights)
    lengths = [period] * X.shape[1] if np.ndim(period) == 0 else list(period)
    columns = [x if t is None else _cut(x, float(t), w) for x, t in zip(X.T, lengths, strict=True)]
    return np.stack(columns, axis=1)


def _cut(x: np.ndarray, period: float, weights: np.ndarray | None) -> np.ndarray:
    """Return numbers turned into the period that begins after the widest gap."""
    first = x.min()
    turned = first + np.mod(x - first, period)  # from a row on: a remainder of the origin would cost digits
    places = np.unique(turned if weights is None else turned[weights > 0])
    gaps = np.diff(places, append=places[0] + period)
    widest = int(np.argmax(gaps))
    if widest == len(places) - 1:
        return turned
    return np.where(turned <= places[widest], turned + period, turned)
