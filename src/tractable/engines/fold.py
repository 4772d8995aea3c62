"""The fold: the sum of a statistic over blocks of rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.namespace import is_foreign_array
from tractable.data import Batch, as_source
from tractable.value import value


def fold(
    of: Callable[..., Any],
    data: Any,
    y: Any = None,
    *,
    weights: Any = None,
    rows: int | None = None,
    n_threads: int | None = None,
    label: str = "reading",
) -> Any:
    """Summarise all of the data: the sum of ``of(block)`` over blocks of rows.

    The blocks and the order of the additions depend on the data alone, so the answer is the same to the last
    bit whatever the number of threads, and equal to rounding for any other way of cutting the rows.

    Parameters
    ----------
    of : callable
        Maps a block to a statistic: ``of(X, weights=w)``, or ``of(X, y, weights=w)`` where there is a target.
        Statistics are merged with ``+``. Where that is much work, the class of the statistic may say in
        ``least_rows(n_columns)`` how many rows are worth it.
    data : array, frame, source, or re-iterable of batches
        What :func:`tractable.scan` returns, for instance.
    y, weights : array or column name, optional
        Targets and frequencies of the rows, or the columns that hold them.
    rows : int, optional
        Rows in a block; chosen by the cache when not given.
    n_threads : int, optional
        All cores when not given.
    label : str
        Shown before the progress bar of a fold that takes more than a second.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.arange(10.0).reshape(5, 2)
    >>> tractable.fold(tractable.Moments.of, X, rows=2).mean.tolist()
    [4.0, 5.0]
    """
    if not (rows is None or (isinstance(rows, (int, np.integer)) and rows >= 1)):
        raise ValueError(f"rows must be a whole number from 1, got {rows!r}")
    source = as_source(data, y, weights)
    return source.reduce(BlockStatistic(of=of), rows=rows, n_threads=n_threads, label=label)


@value
class BlockStatistic:
    """A statistic's ``of(X, weights=w)`` or ``of(X, y, weights=w)`` as a function of a block.

    Parameters that it holds, which are small, go to the device of the rows.
    """

    of: Callable[..., Any]

    def __call__(self, block: Batch) -> Any:
        of = beside(self.of, block.X) if is_foreign_array(block.X) else self.of
        if block.y is None:
            return of(block.X, weights=block.weights)
        return of(block.X, block.y, weights=block.weights)

    def least_rows(self, n_columns: int) -> int:
        """Return how many rows a block should have at least, where the statistic's class says so."""
        of = getattr(self.of, "keywords", {}).get("of", self.of)  # of the rows of each class
        least = getattr(getattr(of, "__self__", None), "least_rows", None)
        return least(n_columns) if least else 0
