"""How an index keeps points: such that nobody changes them, and that squares of distances are numbers."""

from typing import Any

import numpy as np

__all__ = ["LARGEST", "mean_of", "never_changed", "unit_of"]

#: Squares of larger numbers, or of their inverses, are not to be trusted.
LARGEST = 2.0**400

#: The largest exponent of a unit: inverses of larger ones are no numbers.
FINEST = 1000


def never_changed(rows: np.ndarray, given: Any) -> np.ndarray:
    """Return rows that nobody can change: copied where somebody can write to the memory they lie in.

    Examples
    --------
    >>> base = np.zeros((3, 2))
    >>> view = base.view()
    >>> view.setflags(write=False)
    >>> kept = never_changed(view, view)
    >>> base[0] = 5.0
    >>> float(kept.max())
    0.0
    """
    if rows.flags.writeable and not np.may_share_memory(rows, np.asarray(given)):
        rows.setflags(write=False)  # they were made from what was given
    if not _is_frozen(rows):
        rows = rows.copy()
        rows.setflags(write=False)
    return rows


def _is_frozen(owner: Any) -> bool:
    """Whether an array is read-only, and all that own its memory are."""
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return False
        owner = owner.base
    if owner is None:
        return True
    try:
        return memoryview(owner).readonly
    except TypeError:
        return False


def mean_of(rows: np.ndarray) -> np.ndarray:
    """Return the mean of rows, finite where the rows are.

    Examples
    --------
    >>> mean_of(np.array([[1.6e308], [1.6e308]])).tolist()
    [1.6e+308]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        mean = rows.mean(axis=0)
    return mean if np.isfinite(mean).all() else (rows / len(rows)).sum(axis=0)


def unit_of(rows: np.ndarray) -> float:
    """Return the power of two by which rows are multiplied before they are measured; mostly one.

    Examples
    --------
    >>> unit_of(np.array([[3.0, 5.0]])), unit_of(np.array([[2.0**-800]])) == 2.0**800
    (1.0, True)
    """
    largest = float(np.abs(rows).max())
    if not largest or 1.0 / LARGEST < largest < LARGEST:
        return 1.0
    return float(2.0 ** -np.clip(np.floor(np.log2(largest)), -FINEST, FINEST))
