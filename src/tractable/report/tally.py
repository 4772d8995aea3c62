"""What is counted of a column over all rows of a table, block by block."""

from collections import Counter
from typing import Any

import numpy as np

from tractable.data.text import numbers_of, trimmed

__all__ = ["MOST_DISTINCT", "Tally"]

#: Different values are counted up to this number.
MOST_DISTINCT = 10_000


class Tally:
    """Counts of one column: rows, missing entries, numbers and their range, different values.

    A column of text is read as numbers while that goes well; what cannot be read is counted.
    """

    def __init__(self, *, text: bool) -> None:
        self.text = text  # whether the file gives text, which may stand for numbers
        self.n_rows = self.n_missing = self.n_numbers = self.n_infinite = 0
        self.low, self.high = np.inf, -np.inf
        self.whole = self.stepping = True
        self.last: float | None = None
        self.counts: Counter[Any] = Counter()
        self.odd: Counter[str] = Counter()

    def add(self, entries: Any, decimal: str = ".") -> None:
        """Count one block: an Arrow array of numbers, or of text."""
        numbers = numbers_of(entries, decimal)
        readable = ~np.isnan(numbers)
        if self.text and int(readable.sum()) < len(entries) - entries.null_count:
            entries = trimmed(entries)
            numbers = numbers_of(entries, decimal)
            readable = ~np.isnan(numbers)
        self.n_rows += len(entries)
        self.n_missing += entries.null_count
        self.n_numbers += int(readable.sum())
        self._range(numbers)
        self._values(entries)
        if self.text and len(self.odd) < 20:
            self._odd(entries, readable)

    @property
    def n_valid(self) -> int:
        return self.n_rows - self.n_missing

    @property
    def n_distinct(self) -> int:
        """How many different values there are, one more than can be counted where there are more."""
        return len(self.counts)

    @property
    def n_unreadable(self) -> int:
        return self.n_valid - self.n_numbers

    def _range(self, numbers: np.ndarray) -> None:
        finite = numbers[np.isfinite(numbers)]
        self.n_infinite += int(np.isinf(numbers).sum())
        if len(finite):
            self.low, self.high = min(self.low, float(finite.min())), max(self.high, float(finite.max()))
            self.whole = self.whole and bool((finite == np.floor(finite)).all())
        if self.stepping and len(numbers):
            before = numbers[:1] - 1 if self.last is None else np.array([self.last])
            with np.errstate(over="ignore", invalid="ignore"):
                self.stepping = bool((np.diff(np.concatenate([before, numbers])) == 1).all())
            self.last = float(numbers[-1])

    def _values(self, entries: Any) -> None:
        from pyarrow import compute as pc

        if len(self.counts) > MOST_DISTINCT:
            return
        for pair in pc.value_counts(entries.drop_null()):
            self.counts[pair["values"].as_py()] += pair["counts"].as_py()
            if len(self.counts) > MOST_DISTINCT:
                return

    def _odd(self, entries: Any, readable: np.ndarray) -> None:
        import pyarrow as pa

        rest = entries.filter(pa.array(~readable)).drop_null()
        self.odd.update(str(entry)[:40] for entry in rest.slice(0, 20).to_pylist())
