"""Whatever holds rows, as a source."""

from typing import Any

from tractable.data.arrays import ArraySource
from tractable.data.source import Source

__all__ = ["as_source"]


def as_source(X: Any, y: Any = None, weights: Any = None) -> Source:
    """Return X, with targets and weights beside it, as something a fold can walk."""
    if isinstance(X, Source):
        return X.assign(y, weights)
    return ArraySource(X=X, y=y, weights=weights)
