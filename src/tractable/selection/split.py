"""Rows to learn from, to choose with, and to judge by."""

import math
from typing import Any

from sklearn.model_selection import train_test_split

__all__ = ["train_val_test_split"]


def train_val_test_split(
    *arrays: Any, val: float = 0.15, test: float = 0.15, stratify: Any = None, random_state: Any = None
) -> list[Any]:
    """Split rows into three parts: to train, to choose (validation), and to judge once at the end (test).

    Scikit-learn's `train_test_split`, twice. The parts are disjoint and together are everything.

    Parameters
    ----------
    *arrays : arrays, frames or lists of the same length
    val, test : float
        Shares of all rows; together below 1.
    stratify : array, optional
        Labels whose shares each part keeps.
    random_state : None, int or RandomState

    Returns
    -------
    list
        Training, validation and test part of the first array, then of the second, and so on.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.arange(20).reshape(10, 2), np.arange(10)
    >>> X_train, X_val, X_test, y_train, y_val, y_test = train_val_test_split(
    ...     X, y, val=0.2, test=0.2, random_state=0
    ... )
    >>> len(X_train), len(X_val), len(X_test)
    (6, 2, 2)
    >>> sorted([*y_train, *y_val, *y_test]) == sorted(y)
    True
    """
    if not arrays:
        raise ValueError("arrays must hold at least one array to split")
    if not (0.0 < val < 1.0 and 0.0 < test < 1.0 and val + test < 1.0):
        raise ValueError(f"val and test must be shares that together are below 1, got {val!r} and {test!r}")
    with_labels = (*arrays, *(() if stratify is None else (stratify,)))
    n_val, n_test = (_rows_of(share, arrays[0]) for share in (val, test))
    apart = train_test_split(*with_labels, test_size=n_test, stratify=stratify, random_state=random_state)
    rest, tests = apart[0::2], apart[1::2]
    labels = None if stratify is None else rest[-1]
    again = train_test_split(*rest, test_size=n_val, stratify=labels, random_state=random_state)
    return [part for i in range(len(arrays)) for part in (again[2 * i], again[2 * i + 1], tests[i])]


def _rows_of(share: float, array: Any) -> int:
    """Return how many rows a share is, rounded up; 0.07 of 100 is seven, whatever its last bit says."""
    n = array.shape[0] if hasattr(array, "shape") else len(array)
    return math.ceil(round(share * n, 9))
