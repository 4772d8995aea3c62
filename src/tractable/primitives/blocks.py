"""A function of blocks of rows, on all cores."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from tractable.primitives.threads import even_blocks, ordered_map

R = TypeVar("R")


def over_blocks(
    function: Callable[[slice], R], n_rows: int, most: int, n_threads: int | None = None
) -> Iterator[R]:
    """Yield a function of even blocks of at most `most` rows, computed on all cores, in the order of rows.

    Nothing is computed before the first result is asked for.

    Parameters
    ----------
    function : callable
        Maps a slice of rows to a result.
    n_rows, most : int
        Number of rows, and the most rows of a block; a block has at least one row.
    n_threads : int, optional
        As many as there are cores when not given.

    Examples
    --------
    >>> list(over_blocks(lambda rows: rows.stop, 1000, 600))
    [500, 1000]
    """
    return ordered_map(function, even_blocks(n_rows, max(1, most)), n_threads)


def fill_blocks(
    function: Callable[[slice], object], n_rows: int, most: int, n_threads: int | None = None
) -> None:
    """Call a function that writes its results with every block, as `over_blocks` does."""
    for _ in over_blocks(function, n_rows, most, n_threads):
        pass
