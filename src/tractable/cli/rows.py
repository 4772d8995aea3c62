"""Rows to learn from: counted as they pass, with what to do where an entry is missing."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from tractable.data.source import Batch, ForwardingSource, Source
from tractable.value import replace

__all__ = ["MissingEntries", "WatchedRows", "as_whole", "missing_entries", "missing_target"]


class WatchedRows(ForwardingSource):
    """A source whose rows are counted; rows that a model cannot take are left out, or are an error.

    Parameters
    ----------
    source : Source
    holes : bool
        Whether the model takes rows with missing features.
    drop : bool
        Whether rows that it cannot take are left out.
    label : str
        What to call the model in the error.
    whole : bool
        Whether the targets are labels that are whole numbers.
    tell : callable, optional
        Called with the number of rows that have passed.
    """

    def __init__(
        self,
        source: Source,
        *,
        holes: bool,
        drop: bool,
        label: str,
        whole: bool = False,
        tell: Callable[[int], None] | None = None,
    ) -> None:
        self.source, self.holes, self.drop, self.label = source, holes, drop, label
        self.whole, self.tell = whole, tell
        self.counted = self.dropped = 0

    @property
    def n_rows(self) -> int | None:
        return None if self.drop else self.source.n_rows

    def batches(self) -> Iterator[Batch]:
        counted = dropped = 0
        for batch in self.source.batches():
            kept = self._kept(batch)
            counted += kept.n_rows
            dropped += batch.n_rows - kept.n_rows
            # A later pass may stop half-way.
            self.counted, self.dropped = max(self.counted, counted), max(self.dropped, dropped)
            if self.tell is not None:
                self.tell(counted)
            yield kept if kept.y is None or not self.whole else replace(kept, y=as_whole(kept.y))
        if dropped and not counted:
            raise ValueError("there are no rows without missing entries")

    def _kept(self, batch: Batch) -> Batch:
        bad = self._without_target(batch)
        if not self.holes:
            bad |= np.isnan(batch.X).any(axis=1)
        if not bad.any():
            return batch
        if not self.drop:
            raise self._missing(batch)
        y, weights = (None if part is None else part[~bad] for part in (batch.y, batch.weights))
        return Batch(X=batch.X[~bad], y=y, weights=weights)

    def _without_target(self, batch: Batch) -> np.ndarray:
        bad = np.zeros(batch.n_rows, dtype=bool)
        if batch.y is None:
            return bad
        if batch.y.dtype.kind == "O":
            return np.array([label is None or label in _blanks() for label in batch.y], dtype=bool)
        return bad | np.isnan(batch.y) if batch.y.dtype.kind == "f" else bad

    def _missing(self, batch: Batch) -> "MissingEntries":
        if self._without_target(batch).any():
            return missing_target()
        column = int(np.flatnonzero(np.isnan(batch.X).any(axis=0))[0])
        return missing_entries(
            self.label, column if self.feature_names is None else self.feature_names[column]
        )


@cache
def _blanks() -> frozenset[str]:
    """Return how CSV files spell what is missing."""
    from pyarrow import csv

    return frozenset(csv.ConvertOptions().null_values)


def as_whole(labels: np.ndarray) -> np.ndarray:
    """Return labels as whole numbers where they are.

    Examples
    --------
    >>> as_whole(np.array([1.0, 3.0])).tolist(), as_whole(np.array([0.5])).tolist()
    ([1, 3], [0.5])
    """
    whole = labels.astype(np.int64)
    return whole if np.array_equal(whole, labels) else labels


class MissingEntries(ValueError):  # noqa: N818
    """Rows have holes that a model does not take."""


def missing_entries(label: str, column: Any) -> MissingEntries:
    """Return what to raise where a feature has holes that a model does not take."""
    said = f"{column!r} has missing entries, which {label} does not take; --drop-missing leaves such rows out"
    return MissingEntries(f"{said}, and `tractable models` says which models take them")


def missing_target() -> MissingEntries:
    """Return what to raise where the target has holes."""
    return MissingEntries("--target has missing entries; --drop-missing leaves such rows out")
