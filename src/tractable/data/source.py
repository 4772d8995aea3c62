"""What a fold walks: a source gives its rows in batches, as often as it is asked."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from tractable.value import value

__all__ = ["MAX_BATCH_ROWS", "Batch", "PassedOn", "Source", "batch_rows", "row_slices"]

#: No batch has more rows, whatever the file's row groups are.
MAX_BATCH_ROWS = 131_072

#: Nor, for wide tables, many more bytes: a few batches are alive at once, and memory stays bounded.
MAX_BATCH_BYTES = 2**23


@value
class Batch:
    """Some rows, with their targets and weights where there are any."""

    X: np.ndarray  # (n, d), float64 or float32, any memory order
    y: np.ndarray | None = None  # (n,) or (n, t), of its own type
    weights: np.ndarray | None = None  # (n,), float64

    @property
    def n_rows(self) -> int:
        return len(self.X)


class Source(ABC):
    """Rows that can be walked more than once without being held at once.

    Examples
    --------
    A source of one's own says how wide it is and gives a fresh pass whenever it is asked:

    >>> class Countdown(Source):
    ...     n_rows, n_features, feature_names = 6, 1, ("left",)
    ...
    ...     def batches(self):
    ...         yield Batch(X=np.array([[6.0], [5.0], [4.0]]))
    ...         yield Batch(X=np.array([[3.0], [2.0], [1.0]]))
    >>> [batch.n_rows for batch in Countdown().batches()]
    [3, 3]
    """

    @property
    @abstractmethod
    def n_rows(self) -> int | None:
        """The number of rows, or None where only a pass can tell."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of columns of every batch's X."""

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, or None where they have none."""

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """Start a fresh pass over the rows."""

    def assign(self, y: Any = None, weights: Any = None) -> "Source":
        """Return this source with other columns as its target and weights."""
        if y is None and weights is None:
            return self
        raise ValueError(
            f"y and weights: {type(self).__name__} carries its own targets and weights; "
            "give them where it is made"
        )


class PassedOn(Source):
    """Another source's rows, changed on the way: as many and as wide as there unless it is said otherwise."""

    source: Source

    @property
    def n_rows(self) -> int | None:
        return self.source.n_rows

    @property
    def n_features(self) -> int:
        return self.source.n_features

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self.source.feature_names


def batch_rows(n_features: int) -> int:
    """Return how many rows of so many columns make one batch."""
    fit = MAX_BATCH_BYTES // (8 * max(n_features, 1))
    return min(max(fit, 256), MAX_BATCH_ROWS)


def row_slices(n_rows: int, n_features: int) -> Iterator[slice]:
    """Cut rows into batches; no rows are one empty batch, so that a fold over nothing knows its width."""
    step = batch_rows(n_features)
    for start in range(0, max(n_rows, 1), step):
        yield slice(start, min(start + step, n_rows))
