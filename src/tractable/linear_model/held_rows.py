"""Rows that a model must hold all at once, since it reads them many times."""

from typing import Any

import numpy as np

from tractable.base import Rows, check_rows
from tractable.base.validation import check_names
from tractable.data import ArraySource, Source, as_source, is_streamed
from tractable.data.frames import FrameSource

__all__ = ["check_held_rows"]


def check_held_rows(estimator: Any, X: Any, y: Any, sample_weight: Any, *, min_rows: int = 1) -> Rows:
    """Check rows and one target held in memory, as arrays; targets and weights may be columns of a frame."""
    if not (is_streamed(X) or isinstance(y, str) or isinstance(sample_weight, str)):
        rows = check_rows(estimator, X, y, sample_weight, reset=True, min_rows=min_rows, supervised=True)
        if not isinstance(rows.data, np.ndarray):
            raise ValueError(f"X must be a NumPy array or a frame, got {type(X).__name__}")
        return rows
    source = as_source(X, y, sample_weight)
    if not isinstance(source, ArraySource | FrameSource):
        name = type(estimator).__name__
        raise ValueError(f"X must be rows in memory, which {name} reads many times; got {type(X).__name__}")
    data, y, weights = _collected(source)
    rows = check_rows(estimator, data, y, weights, reset=True, min_rows=min_rows, supervised=True)
    check_names(estimator, source.feature_names, source.n_features, reset=True)
    return rows


def _collected(source: Source) -> tuple[Any, Any, Any]:
    """Return all rows of a source, its targets and its weights."""
    batches = list(source.batches())
    parts: Any = ([b.X for b in batches], [b.y for b in batches], [b.weights for b in batches])
    X, y, weights = (np.concatenate(part) if part and part[0] is not None else None for part in parts)
    return (np.empty((0, source.n_features)) if X is None else X), y, weights
