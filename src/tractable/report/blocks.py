"""Blocks of rows, from wherever they come, made into a table: counted all, and some kept."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from tractable.data.names import clean_names
from tractable.data.text import is_text
from tractable.report.kinds import judged
from tractable.report.table import Table, TableError
from tractable.report.tally import Tally

__all__ = ["Kept", "gathered"]


class Kept:
    """A uniform sample of rows that pass by, in their order: those with the smallest random keys."""

    def __init__(self, max_rows: int, rng: np.random.Generator) -> None:
        self.max_rows, self.rng = max_rows, rng
        self.blocks: list[Any] = []
        self.keys: list[np.ndarray] = []
        self.n_kept = self.n_seen = 0
        self.limit = 1.0  # no row with a larger key can be among them

    def add(self, block: Any) -> None:
        keys = self.rng.random(block.num_rows)
        chosen = np.flatnonzero(keys < self.limit)
        self.n_seen += block.num_rows
        if len(chosen):
            self.blocks.append(block if len(chosen) == block.num_rows else block.take(chosen))
            self.keys.append(keys[chosen])
            self.n_kept += len(chosen)
        if self.n_kept > 2 * self.max_rows:
            self._thin()

    def table(self) -> Any:
        """Return the rows that were kept, as an Arrow table."""
        import pyarrow as pa

        if self.n_kept > self.max_rows:
            self._thin()
        return pa.Table.from_batches(self.blocks)

    def _thin(self) -> None:
        import pyarrow as pa

        keys = np.concatenate(self.keys)
        self.limit = float(np.partition(keys, self.max_rows - 1)[self.max_rows - 1])
        chosen = np.flatnonzero(keys <= self.limit)
        rows = pa.Table.from_batches(self.blocks).take(chosen).combine_chunks()
        self.blocks, self.keys, self.n_kept = rows.to_batches(), [keys[chosen]], len(chosen)


def gathered(
    blocks: Iterable[Any],
    names: list[Any],
    *,
    max_rows: int,
    rng: np.random.Generator,
    decimal: str = ".",
    path: str,
    notes: tuple[str, ...] = (),
    source: str,
) -> Table:
    """Return the table that blocks (Arrow record batches, alike) make up; `names` as the file has them."""
    import pandas as pd

    kept = Kept(max_rows, rng)
    tallies: list[Tally] = []
    for block in blocks:
        tallies = tallies or [Tally(text=is_text(field.type)) for field in block.schema]
        for tally, entries in zip(tallies, block.columns, strict=True):
            tally.add(entries, decimal)
        kept.add(block)
    if kept.n_seen == 0:
        raise TableError(f"{path} has no rows")
    clean, changed = clean_names(names)
    rows, columns, series = kept.table(), [], {}
    for j, (name, tally) in enumerate(zip(clean, tallies, strict=True)):
        column, values = judged(name, tally, rows.column(j).combine_chunks(), decimal)
        columns.append(column)
        series[name] = values
    return Table(
        columns=tuple(columns),
        frame=pd.DataFrame(series),
        n_rows=kept.n_seen,
        path=path,
        notes=(*notes, *changed, *_sampled(kept)),
        source=source,
    )


def _sampled(kept: Kept) -> list[str]:
    if kept.n_kept == kept.n_seen:
        return []
    counted = (
        f"The table has {kept.n_seen:,} rows. Missing entries, ranges and categories are counted over all"
    )
    return [f"{counted} of them; all else is worked out from {kept.n_kept:,} rows, chosen at random."]
