"""Which columns of a wide table are looked at: those that tell of the target, and the first ones."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tractable.data.names import clean_names
from tractable.report.blocks import gathered
from tractable.report.rows import listed
from tractable.report.table import TableError, unknown_column
from tractable.report.telling import telling_columns

__all__ = ["chosen_columns"]

#: Rows from the beginning of a table that columns are chosen by, and the blocks that they are sought in.
MOST_ROWS, MOST_BLOCKS = 2_000, 20


def chosen_columns(
    names: Sequence[Any],
    target: str | None,
    max_columns: int,
    path: str,
    blocks: Callable[[], Iterator[Any]],
    *,
    decimal: str = ".",
) -> tuple[list[int], list[str]]:
    """Return the positions of the columns to look at, and what to say of the others.

    Parameters
    ----------
    names : sequence
        As the file has them.
    blocks : callable
        Gives blocks of rows with all columns; called only where there are too many of them, and a target.
    """
    clean = clean_names(names)[0]
    if target is not None and target not in clean:
        raise unknown_column(target, clean, path)
    if len(names) <= max_columns:
        return list(range(len(names))), []
    told: list[str] = []
    if target is not None:
        told = _telling(names, target, blocks, decimal)[: max_columns - 1]
    first = [*([] if target is None else [clean.index(target)]), *(clean.index(name) for name in told)]
    chosen = sorted(list(dict.fromkeys([*first, *range(len(names))]))[:max_columns])
    far = [name for name in told if clean.index(name) >= max_columns]
    which = [f"those that tell most of {target} ({listed(far)})"] if far else []
    if target is not None and clean.index(target) >= max_columns:
        which.append("the target")
    words = listed(["the first ones", *which])
    return chosen, [f"The table has {len(names):,} columns; {len(chosen)} of them are looked at: {words}."]


def _telling(
    names: Sequence[Any], target: str, blocks: Callable[[], Iterator[Any]], decimal: str
) -> list[str]:
    """Return which columns tell of the target in the first rows; none where those cannot be read."""
    import pyarrow as pa

    head, n = [], 0
    try:
        for block in blocks():
            head.append(block.slice(0, MOST_ROWS - n))
            n += head[-1].num_rows
            if n >= MOST_ROWS or len(head) == MOST_BLOCKS:
                break
        rng = np.random.default_rng(0)
        table = gathered(head, list(names), max_rows=MOST_ROWS, rng=rng, decimal=decimal, path="", source="")
    except (pa.ArrowException, OSError, TableError):
        return []  # what is wrong is said when the whole is read
    return telling_columns(table, target)
