"""Learning is a fold: summarise every block of rows, and add."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np

from tractable.arrays.namespace import is_foreign_array, namespace_of
from tractable.data import Batch, Source, as_source
from tractable.engines.blocks import BLOCK_BYTES, block_rows
from tractable.engines.progress import progress
from tractable.engines.threads import ordered_map, single_threaded_blas

__all__ = ["fold", "tree_sum"]


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
    rows : int, optional
        Rows in a block; chosen by the cache when not given.
    n_threads : int, optional
        All cores when not given.
    label : str
        Shown before the progress bar of a fold that takes more than a second.

    Returns
    -------
    statistic
        Of the type that `of` returns.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.arange(10.0).reshape(5, 2)
    >>> tractable.fold(tractable.Moments.of, X, rows=2).mean.tolist()
    [4.0, 5.0]
    """
    _check_rows(rows)
    if is_foreign_array(data):
        return _on_device(of, data, y, weights)
    source = as_source(data, y, weights)
    # BLAS on all cores gains nothing on blocks of this size, and loses much where the cores are busy.
    small = block_rows(source.n_features) * source.n_features * 8 <= BLOCK_BYTES
    with progress(label, source.n_rows) as line, single_threaded_blas() if small else nullcontext():

        def summarise(block: Batch) -> tuple[int, Any]:
            return len(block.X), _apply(of, block.X, block.y, block.weights)

        def parts() -> Iterator[Any]:
            for n, part in ordered_map(
                summarise, _blocks(source, rows or _rows_for(of, source.n_features)), n_threads
            ):
                line.advance(n)
                yield part

        return tree_sum(parts())


def _check_rows(rows: Any) -> None:
    good = rows is None or (isinstance(rows, (int, np.integer)) and rows >= 1)
    if not good:
        raise ValueError(f"rows must be a whole number from 1, got {rows!r}")


def tree_sum(parts: Iterable[Any]) -> Any:
    """Add in a balanced tree, in order: rounding errors grow with the logarithm of the number of parts.

    Examples
    --------
    >>> tree_sum(["a", "b", "c", "d", "e"])
    'abcde'
    """
    waiting: list[tuple[int, Any]] = []
    for part in parts:
        height, total = 0, part
        while waiting and waiting[-1][0] == height:
            total = waiting.pop()[1] + total
            height += 1
        waiting.append((height, total))
    if not waiting:
        raise ValueError("data has no rows")
    total = waiting.pop()[1]
    while waiting:
        total = waiting.pop()[1] + total
    return total


def _apply(of: Callable[..., Any], x: Any, y: Any, weights: Any) -> Any:
    return of(x, weights=weights) if y is None else of(x, y, weights=weights)


def _rows_for(of: Callable[..., Any], n_columns: int) -> int:
    """Return the rows of a block: as many as the cache holds, or as the statistic asks for."""
    least = getattr(getattr(of, "__self__", None), "least_rows", None)
    # Handing a block to a thread costs as much as the arithmetic of a small one: four at a time.
    return max(4 * block_rows(n_columns), least(n_columns) if least else 0)


def _blocks(source: Source, step: int) -> Iterator[Batch]:
    for batch in source.batches():
        if len(batch.X) <= step:
            yield batch
            continue
        for a in range(0, len(batch.X), step):
            part = slice(a, a + step)
            yield Batch(
                X=batch.X[part],
                y=None if batch.y is None else batch.y[part],
                weights=None if batch.weights is None else batch.weights[part],
            )


def _on_device(of: Callable[..., Any], x: Any, y: Any, weights: Any) -> Any:
    """Arrays of other libraries stay where they are; their own kernels want few large blocks."""
    xp = namespace_of(x)
    if x.ndim != 2 or x.shape[0] == 0:
        raise ValueError(f"data must be rows and columns, with at least one row; got shape {tuple(x.shape)}")
    step = max(1, 2**28 // (8 * max(1, x.shape[1])))
    parts = (slice(a, min(a + step, x.shape[0])) for a in range(0, x.shape[0], step))

    def cut(values: Any, part: slice) -> Any:
        return None if values is None else xp.asarray(values)[part, ...]

    return tree_sum(_apply(of, cut(x, part), cut(y, part), cut(weights, part)) for part in parts)
