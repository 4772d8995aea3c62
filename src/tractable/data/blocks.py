"""Rows in cache-sized blocks, on all cores: the sum of a statistic over blocks, or one result a row."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from math import prod
from typing import Any

import numpy as np

from tractable.arrays.devices import free_memory, is_out_of_memory
from tractable.arrays.namespace import is_foreign_array, is_sparse, namespace_of
from tractable.data.progress import progress
from tractable.primitives.threads import (
    even_blocks,
    even_rows,
    ordered_map,
    sequence_of_few,
    single_threaded_blas,
)

#: A block, and the copy a step makes of it, stay in a core's second-level cache.
BLOCK_BYTES = 2**20

#: Entries of a block: the arrays that a formula makes on the way stay in the cache.
BLOCK_ENTRIES = 2**14

#: Random numbers in a block: enough that the seeding of its generator costs nothing.
BLOCK_DRAWS = 2**16

#: Blocks that a thread is handed at a time.
BLOCKS_A_TASK = 16

#: Entries whose products wake no threads of BLAS: to hold it to one would take longer than they do.
FEW_ENTRIES = 10_000

#: Entries of rows for which no function wakes threads of BLAS: triangular systems wake them for a thousand.
ONE_THREAD = 256

#: Entries that are worth waking threads for.
LEAST_SHARED = 2**22

#: Entries whose squares a thread adds, in a fraction of a millisecond: it takes a tenth of one to wake.
SQUARED_ENTRIES = 2**20


def block_rows(n_columns: int) -> int:
    """Return how many rows of float64 make a block: the same whatever the number of threads."""
    return max(64, BLOCK_BYTES // (8 * max(1, n_columns)))


def reduce_blocks(
    of: Callable[[Any], Any],
    blocks: Iterable[Any],
    *,
    n_rows: float | None = None,
    guard: bool = True,
    n_threads: int | None = None,
    label: str = "reading",
) -> Any:
    """Return the sum of ``of(block)`` over blocks on all cores, added in a tree that their order gives.

    Parameters
    ----------
    of : callable
        Maps a block to a statistic; statistics are merged with ``+``.
    blocks : iterable
        The blocks, in the order in which they are added.
    n_rows : float, optional
        Number of rows of all blocks, for the progress line.
    guard : bool
        Whether BLAS is held to one thread: several gain nothing on blocks that fit in the cache.
    n_threads : int, optional
        All cores when not given.
    label : str
        Shown before the progress line.
    """
    blocks = sequence_of_few(blocks)
    if isinstance(blocks, Sequence) and len(blocks) == 1:
        with single_threaded_blas(guard):
            return of(blocks[0])

    def counted(block: Any) -> tuple[int, Any]:
        return getattr(block, "n_rows", 1), of(block)

    def parts() -> Iterator[Any]:
        for n, part in ordered_map(counted, blocks, n_threads):
            line.advance(n)
            yield part

    with progress(label, n_rows) as line, single_threaded_blas(guard):
        return tree_sum(parts())


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


def map_rows(
    function: Callable[[Any], np.ndarray], x: Any, *, rows: int | None = None, n_threads: int | None = None
) -> np.ndarray:
    """Apply a function from rows (n, ...) to (n, ...) to blocks of x on all cores and stack what it returns.

    Parameters
    ----------
    function : callable
        Maps a block of rows to an array with one entry a row.
    x : array or Source
        Rows; a source applies the function where its rows are.
    rows : int, optional
        Rows of a block, fewer where a row is much work; as many as fit in the cache when not given.
    n_threads : int, optional
        All cores when not given.

    Examples
    --------
    >>> map_rows(lambda rows: rows.sum(axis=1), np.ones((5, 2))).tolist()
    [2.0, 2.0, 2.0, 2.0, 2.0]
    """
    if hasattr(x, "map_rows"):
        return x.map_rows(function, n_threads=n_threads)
    width = prod(x.shape[1:])
    if is_foreign_array(x):
        n, step = x.shape[0], device_rows(x)
        return map_blocks(function, (x[a : min(a + step, n), ...] for a in range(0, n, step)))
    step = rows or 4 * block_rows(width)  # a row-wise function keeps to its own cache
    if len(x) <= step and len(x) * width <= ONE_THREAD:
        return function(x)
    step = even_rows(len(x), step)
    with single_threaded_blas():
        if len(x) <= step:
            return function(x)
        out: list[np.ndarray] = []  # the result, once the first block tells its form

        def fill(start: int) -> np.ndarray | None:
            part = function(x[start : start + step])
            if not start:
                out.append(np.empty((len(x), *part.shape[1:]), dtype=part.dtype))
            if not out:
                return part
            out[0][start : start + step] = part
            return None

        starts = range(0, len(x), step)
        for start, part in zip(starts, ordered_map(fill, starts, n_threads), strict=True):
            if part is not None:  # of a block that was done before the first
                out[0][start : start + step] = part
    return out[0]


#: Bytes of working memory that a byte of rows may need: products of columns, responsibilities.
BYTES_A_BYTE = 64


def device_memory(x: Any) -> int:
    """Return how many bytes of the device of an array may be used: `TRACTABLE_DEVICE_MEMORY`, or half.

    Half is of what is free, where the library can tell; 16 GB elsewhere.
    """
    given = os.environ.get("TRACTABLE_DEVICE_MEMORY")
    if given:
        try:
            return max(1, int(float(given)))
        except ValueError:
            raise ValueError(
                f"TRACTABLE_DEVICE_MEMORY must be a number of bytes, such as 8e9; got {given!r}"
            ) from None
    free = free_memory(x)
    return 2**34 if free is None else free // 2


def device_rows(x: Any) -> int:
    """Return how many rows of an array on a device make a block: kernels of devices use large ones best."""
    return max(1, device_memory(x) // (BYTES_A_BYTE * 8 * max(1, prod(x.shape[1:]))))


#: Entries of a block of rows of a matrix on a device, of which a formula makes a few of that size on the way.
DEVICE_ENTRIES = 2**25


def matrix_rows(x: Any, n_columns: int, entries: int, device_entries: int | None = None) -> int:
    """Return how many rows of a matrix of so many columns make a block: of so many entries, on the host.

    On the device of x they are as many as it computes well, if its memory allows.

    Examples
    --------
    >>> matrix_rows(np.empty(0), 100, 1000)
    10
    """
    if is_foreign_array(x):
        entries = min(device_entries or DEVICE_ENTRIES, device_memory(x) // 64)
    return max(1, entries // max(1, n_columns))


def map_matrix_rows(
    of: Callable[[slice], Any], n: int, m: int, x: Any, entries: int, device_entries: int | None = None
) -> list[Any]:
    """Return what a function gives for each block of rows of a matrix (n, m) beside the array x.

    On the host blocks have so many entries, and run on all cores; on a device one runs after the other, and
    one for which there is no memory in halves.
    """
    blocks = even_blocks(n, matrix_rows(x, m, entries, device_entries))
    if not is_foreign_array(x):
        return list(ordered_map(of, blocks))

    def of_range(rows: range) -> Any:
        return of(slice(rows.start, rows.stop))

    ranges = [range(block.start, block.stop) for block in blocks]
    return [part for rows in ranges for part in in_halves(of_range, rows, len(rows))]


def in_halves(of: Callable[[Any], Any], block: Any, n_rows: int) -> Iterator[Any]:
    """Yield what a function gives for a block of rows; for its halves where a device has no memory for it.

    Examples
    --------
    >>> list(in_halves(np.sum, np.ones(4), 4))
    [np.float64(4.0)]
    """
    try:
        found = of(block)
    except Exception as error:
        if n_rows < 2 or not is_out_of_memory(error):
            raise
    else:
        yield found
        return
    half = n_rows // 2
    yield from in_halves(of, block[:half], half)
    yield from in_halves(of, block[half:], n_rows - half)


def map_blocks(function: Callable[[Any], Any], blocks: Iterable[Any], n_threads: int | None = None) -> Any:
    """Return the results of a function of blocks, an array or several with one entry a row, stacked.

    Blocks on a device come one after the other, in the thread, and on the stream, in which they were made.

    Examples
    --------
    >>> map_blocks(lambda rows: rows.sum(axis=1), [np.ones((2, 2)), np.ones((1, 2))]).tolist()
    [2.0, 2.0, 2.0]
    """
    blocks = iter(blocks)
    first = list(islice(blocks, 1))
    if first and is_foreign_array(first[0]):
        return stacked([part for x in chain(first, blocks) for part in in_halves(function, x, x.shape[0])])
    return stacked(list(ordered_map(function, chain(first, blocks), n_threads)))


def stacked(parts: list[Any]) -> Any:
    """Return arrays of blocks, or tuples and lists of them, as those of all rows.

    Examples
    --------
    >>> stacked([(np.zeros(1), np.ones(1)), (np.zeros(2), np.ones(2))])
    (array([0., 0., 0.]), array([1., 1., 1.]))
    """
    if not parts:
        raise ValueError("data has no rows")
    if isinstance(parts[0], (tuple, list)):
        return type(parts[0])(stacked(list(part)) for part in zip(*parts, strict=True))
    if is_sparse(parts[0]):
        from scipy.sparse import vstack

        return vstack(parts, format="csr")
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else namespace_of(parts[0]).concat(parts)


def sum_of_squares(x: np.ndarray) -> float:
    """Return Σ x² over all entries: not finite if an entry is not finite, or too large to square.

    Examples
    --------
    >>> sum_of_squares(np.array([[3.0, 4.0], [0.0, np.inf]]))
    inf
    """
    if x.size <= FEW_ENTRIES:
        return _square(x)
    flat = x.ravel(order="K") if x.flags.forc else x
    blocks = even_blocks(len(flat), max(1, SQUARED_ENTRIES // prod(flat.shape[1:])))
    with single_threaded_blas():
        return sum(ordered_map(lambda block: _square(flat[block]), blocks))


def _square(x: np.ndarray) -> float:
    return float(np.vdot(x, x))  # which releases the interpreter lock, and warns of nothing


def map_entries(fill: Callable[..., None], *arrays: np.ndarray, n_threads: int | None = None) -> np.ndarray:
    """Fill an array entry by entry from arrays that broadcast, in blocks of the first axis.

    A formula of many steps is then bound by its arithmetic, not by the memory that its intermediate results
    would pass through. Floating-point warnings are off.

    Parameters
    ----------
    fill : callable
        ``fill(*blocks, out)`` writes its result to a block of the result.
    *arrays : arrays
        Arguments, which broadcast to the shape of the result.
    n_threads : int, optional
        When not given, all cores if there are millions of entries, else one.

    Examples
    --------
    >>> map_entries(np.add, np.arange(3.0), np.array(1.0)).tolist()
    [1.0, 2.0, 3.0]
    """
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    out = np.empty(shape, dtype=np.result_type(*arrays))
    step = max(1, BLOCK_ENTRIES // max(1, int(np.prod(shape[1:]))))
    cut = [len(shape) > 0 and a.ndim == len(shape) and len(a) > 1 for a in arrays]

    def several(first: int) -> None:
        with np.errstate(all="ignore"):
            for start in range(first, min(first + BLOCKS_A_TASK * step, shape[0]), step):
                part = slice(start, start + step)
                fill(*(a[part] if blocked else a for a, blocked in zip(arrays, cut, strict=True)), out[part])

    if not shape:
        with np.errstate(all="ignore"):
            fill(*arrays, out)
        return out
    if n_threads is None and out.size < LEAST_SHARED:
        n_threads = 1
    for _ in ordered_map(several, range(0, shape[0], BLOCKS_A_TASK * step), n_threads):
        pass
    return out


def map_draws(
    fill: Callable[[np.random.Generator, np.ndarray], None],
    shape: tuple[int, ...],
    rng: np.random.Generator,
    **options: Any,
) -> np.ndarray:
    """Fill an array with independent draws, in blocks of the first axis, on all cores.

    Every block has a generator of its own, seeded by the one given, so that the draws depend on that alone,
    not on the number of threads. A single block takes the given generator itself.

    Parameters
    ----------
    fill : callable
        ``fill(generator, out)`` writes draws to a block of the result, which is contiguous.
    shape : tuple of int
        The shape of the result.
    rng : Generator
        Where randomness comes from.

    Examples
    --------
    >>> draws = map_draws(lambda g, out: g.random(out=out), (100_000, 2), np.random.default_rng(0))
    >>> draws.shape, bool(abs(draws.mean() - 0.5) < 0.01)
    ((100000, 2), True)
    """
    out = np.empty(shape)
    step = max(1, BLOCK_DRAWS // max(1, prod(shape[1:])))
    if shape[0] <= step:
        fill(rng, out)
        return out
    starts = range(0, shape[0], step)
    seeds = rng.integers(2**63, size=(len(starts), 4))

    def one(i: int) -> None:
        fill(np.random.default_rng(seeds[i]), out[starts[i] : starts[i] + step])

    for _ in ordered_map(one, range(len(starts)), **options):
        pass
    return out
