"""Arrays, frames, batches and files as sources."""

from os import PathLike
from typing import Any

from tractable.arrays.namespace import is_foreign_array
from tractable.data.arrays import ArraySource, DeviceArraySource
from tractable.data.batches import batch_source, holds_batches
from tractable.data.frames import frame_source, is_frame
from tractable.data.source import Source

__all__ = ["as_source", "is_streamed"]


def as_source(X: Any, y: Any = None, weights: Any = None) -> Source:
    """Return X, with targets and weights beside it, as something a fold can walk.

    Parameters
    ----------
    X : array, frame, source, re-iterable of batches, or function that returns an iterator of batches
    y, weights : array or column name, optional

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> as_source(X).n_rows, as_source([X[:2], X[2:]]).n_rows
    (6, 6)
    """
    if isinstance(X, Source):
        return X.assign(y, weights)
    if is_foreign_array(X):
        return DeviceArraySource(X=X, y=y, weights=weights)
    if isinstance(X, str | PathLike):
        raise ValueError(f"X is a path; open it with tractable.scan({str(X)!r})")
    if is_frame(X):
        return frame_source(X, y, weights)
    if holds_batches(X):
        return batch_source(X, y, weights)
    return ArraySource(X=X, y=y, weights=weights)


def is_streamed(X: Any) -> bool:
    """Tell what has to be walked, sources and batches, from a single table in memory."""
    return isinstance(X, Source | str | PathLike) or (not is_frame(X) and holds_batches(X))
