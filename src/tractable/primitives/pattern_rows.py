"""Rows with missing entries, those with the same entries missing side by side."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of, to_numpy
from tractable.arrays.patterns import sorted_by_pattern
from tractable.value import value

__all__ = ["PatternRows", "group_by_pattern"]

#: Rows that are copied at a time.
_ROWS = 2**14


@value
class PatternRows:
    """Rows sorted by which of their entries are there; only those are kept.

    Parameters
    ----------
    flat : array
        Pattern after pattern, row after row, the entries that are there.
    starts : array (P,)
        Where each pattern's entries begin.
    begins : array (P + 1,)
        Where each pattern's rows begin, and where the last ones end.
    masks : bool array (P, d)
        Which entries each pattern has.
    order : array (n,)
        Where each row stood.
    weights : array (n,) or None
        How often each row counts, in this order.
    """

    flat: Array
    starts: np.ndarray
    begins: np.ndarray
    masks: np.ndarray
    order: np.ndarray
    weights: Array | None

    @property
    def n_rows(self) -> int:
        """How many rows there are, empty ones included."""
        return len(self.order)

    @property
    def n_empty(self) -> int:
        """How many rows have no entry at all; they come first."""
        return int(self.begins[1]) if len(self.masks) and not self.masks[0].any() else 0

    def parts(self, rows: int = 8192) -> list[tuple[int, int]]:
        """Cut the rows into ranges of about equal work, for several threads; cuts depend on the rows alone.

        A pattern of its own is as much work as twice as many rows as there are columns.
        """
        n, d = self.n_rows, self.masks.shape[1]
        pattern = np.repeat(np.arange(len(self.masks)), np.diff(self.begins))
        work = np.arange(n) + 2 * d * pattern
        cuts = np.searchsorted(work, np.arange(0, work[-1] + 1 if n else 0, rows))
        cuts = np.unique(np.append(cuts, n))
        return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


def group_by_pattern(
    x: Array, weights: Array | None = None, shift: Array | None = None, scale: Array | None = None
) -> PatternRows:
    """Sort rows by which entries are missing (NaN), and keep the others, as (x - shift) * scale.

    Parameters
    ----------
    x : array (n, d)
    weights : array (n,), optional
    shift, scale : arrays (d,), optional

    Examples
    --------
    >>> rows = group_by_pattern(np.array([[1.0, 2.0], [np.nan, 3.0], [4.0, 5.0]]))
    >>> rows.flat.tolist(), rows.masks.tolist(), rows.order.tolist()
    ([3.0, 1.0, 2.0, 4.0, 5.0], [[False, True], [True, True]], [1, 0, 2])
    """
    xp = namespace_of(x)
    mask = ~to_numpy(xp.isnan(x))
    order, counts, masks = sorted_by_pattern(mask)
    entries = counts * masks.sum(axis=1)
    collect = _collected if is_numpy_array(x) else _collected_elsewhere
    return PatternRows(
        flat=collect(x, mask, order, 0.0 if shift is None else shift, 1.0 if scale is None else scale),
        starts=np.cumsum(entries) - entries,
        begins=np.concatenate([[0], np.cumsum(counts)]),
        masks=np.ascontiguousarray(masks),
        order=order,
        weights=None if weights is None else xp.take(weights, xp.asarray(order, device=device(x)), axis=0),
    )


def _collected(x: np.ndarray, mask: np.ndarray, order: np.ndarray, shift: Any, scale: Any) -> np.ndarray:
    flat, end = np.empty(np.count_nonzero(mask)), 0
    for a in range(0, len(order), _ROWS):
        rows = order[a : a + _ROWS]
        entries = ((x[rows] - shift) * scale)[mask[rows]]
        flat[end : end + len(entries)] = entries
        end += len(entries)
    return flat


def _collected_elsewhere(x: Any, mask: np.ndarray, order: np.ndarray, shift: Any, scale: Any) -> Array:
    xp = namespace_of(x)
    rows = xp.take(x, xp.asarray(order, device=device(x)), axis=0)
    return ((rows - shift) * scale)[xp.asarray(mask[order], device=device(x))]
