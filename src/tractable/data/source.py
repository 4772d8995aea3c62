"""Sources of rows: where the rows live decides how they are reduced."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from tractable.data.blocks import BLOCK_BYTES, block_rows, map_blocks, reduce_blocks
from tractable.data.columns import Roles
from tractable.primitives.threads import ordered_map, single_threaded_blas
from tractable.value import replace, value

S = TypeVar("S")

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
        return int(self.X.shape[0])

    @property
    def row_weights(self) -> np.ndarray:
        """The weights, ones where every row counts once."""
        return np.ones(self.n_rows) if self.weights is None else np.asarray(self.weights, dtype=np.float64)

    def __getitem__(self, rows: slice) -> "Batch":
        y, weights = (None if part is None else part[rows, ...] for part in (self.y, self.weights))
        return Batch(X=self.X[rows, ...], y=y, weights=weights)


class Source(ABC):
    """Rows that can be read in passes, block by block, without being in memory at once.

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
    def n_rows(self) -> int | None:
        """The number of rows, or None where only a pass can tell."""
        return None

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of columns of every batch's X."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, or None where they have none."""
        return None

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """Start a fresh pass over the rows."""

    #: Whether the rows are held in memory, so that what is prepared of them may be stored; and whether in
    #: that of a device.
    in_memory = False
    on_device = False

    def blocks(self, rows: int | None = None) -> Iterator[Batch]:
        """Start a fresh pass in blocks of at most so many rows; by default, of four caches."""
        # Handing a block to a thread costs as much as the arithmetic of a small one: four at a time.
        step, empty, n_rows = rows or 4 * block_rows(self.n_features), None, 0
        for batch in self.batches():
            n_rows += batch.n_rows
            if not batch.n_rows:  # is left out, unless it is all there is
                empty = batch
            elif batch.n_rows <= step:
                yield batch
            else:
                yield from (batch[a : a + step] for a in range(0, batch.n_rows, step))
        if empty is not None and not n_rows:
            yield empty

    def reduce(
        self,
        of: Callable[[Batch], Any],
        *,
        rows: int | None = None,
        n_threads: int | None = None,
        label: str = "reading",
    ) -> Any:
        """Return the sum of ``of(block)`` over blocks of rows.

        The blocks and the order of the additions depend on the rows alone, so the sum is the same to the last
        bit whatever the number of threads. A source whose rows live elsewhere (on a device, on a cluster)
        overrides this method; models, `fold` and `em` call no other.

        Parameters
        ----------
        of : callable
            Maps a `Batch` to a statistic; statistics are merged with ``+``. It is a module-level function or
            a value that holds parameters and no rows, so that it can be sent to where the rows are.
        rows : int, optional
            Most rows of a block. When not given, ``of.block_rows(n_features)`` where the function says so;
            else chosen by the cache, and at least ``of.least_rows(n_features)``.
        n_threads : int, optional
            All cores when not given.
        label : str
            Shown before the progress bar of a pass that takes more than a second.
        """
        rows = self._rows_for(of) if rows is None else rows
        # BLAS on all cores gains nothing on blocks of this size, and loses much where the cores are busy.
        small = block_rows(self.n_features) * self.n_features * 8 <= BLOCK_BYTES
        return reduce_blocks(
            of, self.shared_blocks(rows), n_rows=self.n_rows, guard=small, n_threads=n_threads, label=label
        )

    def shared_blocks(self, rows: int | None) -> Iterable[Batch]:
        """Return the `blocks`, where rows are in memory as a sequence, of which each thread takes its own."""
        return self.blocks(rows)

    def _rows_for(self, of: Callable[[Batch], Any]) -> int:
        """Return how many rows a block should have for a function of blocks."""
        while isinstance(of, Composed):
            of = of.outer
        asked, least = getattr(of, "block_rows", None), getattr(of, "least_rows", None)
        if asked:
            return asked(self.n_features)
        return max(4 * block_rows(self.n_features), least(self.n_features) if least else 0)

    def map_rows(
        self, function: Callable[[np.ndarray], np.ndarray], *, n_threads: int | None = None
    ) -> np.ndarray:
        """Return `function` of the X of every block, stacked: one entry or row of results for each row."""
        return map_blocks(function, (block.X for block in self.blocks()), n_threads)

    def accumulate(self, step: Callable[[S, Batch], S], state: S, *, rows: int | None = None) -> S:
        """Return ``step(state, block)`` applied to block after block, in order: for online learning.

        Where the order of the rows does not matter, :meth:`reduce` uses every core.

        Parameters
        ----------
        step : callable
            Maps a state and a block of rows to the next state.
        state : object
            The state before the first block.
        rows : int, optional
            Rows of a block; the source's own batches when not given.
        """
        for block in self.batches() if rows is None else self.blocks(rows):
            state = step(state, block)
        return state

    def collect(self, check_targets: Callable[[list[Any]], None] | None = None) -> Batch:
        """Return all rows at once, in memory, for models that store them; targets are checked before."""
        batches = list(self.batches())
        if check_targets is not None:
            check_targets([b.y for b in batches if b.y is not None])
        columns: Any = ([getattr(b, name) for b in batches] for name in ("X", "y", "weights"))
        X, y, weights = (np.concatenate(c) if c and c[0] is not None else None for c in columns)
        return Batch(X=np.empty((0, self.n_features)) if X is None else X, y=y, weights=weights)

    def targets(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the targets of all rows, and their weights where there are any, without holding the rows."""
        parts = [(batch.y, batch.weights) for batch in self.batches() if batch.n_rows]
        y = [part for part, _ in parts if part is not None]
        if not y:
            raise ValueError("y is missing: the source has no target; name its column")
        weights = [part for _, part in parts if part is not None]
        return np.concatenate(y), np.concatenate(weights) if weights else None

    def map(self, function: Callable[[Batch], Batch], *, n_features: int | None = None) -> "Source":
        """Return the source of these rows with `function` applied to every batch."""
        return _Mapped(source=self, function=function, width=n_features)

    def filter(self, function: Callable[[Batch], Batch]) -> "Source":
        """Return the source of the rows that `function` leaves of every batch; columns have no names."""
        return _Filtered(source=self, function=function)

    def prepare(self, of: Callable[[Batch], Any], *, rows: int | None = None) -> "Prepared":
        """Return the blocks passed through `of`: stored if the rows are in memory, else made in every pass.

        For work on a block that is the same in every iteration of a search: encoding, grouping by pattern of
        missing entries, bounds that later passes reuse. A stored block with a method ``split()`` is replaced
        by the smaller blocks that it returns, for several threads.
        """
        return Prepared(source=self, of=of, rows=rows)

    def beside_model(self, library: str | None) -> "Source":
        """Return the source of these rows where a model is: on the host, where its library is None."""
        return self

    def assign(self, y: Any = None, weights: Any = None) -> "Source":
        """Return this source with other columns as its target and weights."""
        if y is None and weights is None:
            return self
        raise ValueError(
            f"y and weights: {type(self).__name__} carries its own targets and weights; "
            "give them where it is made"
        )


@value
class Composed:
    """The function ``block -> outer(inner(block))``, which pickles where its two parts do."""

    outer: Callable[[Any], Any]
    inner: Callable[[Any], Any]

    def __call__(self, block: Any) -> Any:
        return self.outer(self.inner(block))


@value
class Prepared:
    """Blocks of a source passed through a function; see `Source.prepare`."""

    source: Source
    of: Callable[[Batch], Any]
    rows: int | None = None

    @cached_property
    def stored(self) -> tuple[Any, ...]:
        """The prepared blocks of rows in memory."""
        blocks = ordered_map(self.of, self.source.shared_blocks(self.rows))
        return tuple(chain.from_iterable(b.split() if hasattr(b, "split") else (b,) for b in blocks))

    def reduce(
        self, of: Callable[[Any], Any], *, n_threads: int | None = None, label: str = "reading"
    ) -> Any:
        """Return the sum of `of` over the prepared blocks; see `Source.reduce`.

        Parameters
        ----------
        of, n_threads, label
            As in `Source.reduce`; `of` maps a prepared block to a statistic.
        """
        if not self.source.in_memory:
            composed = Composed(outer=of, inner=self.of)
            return self.source.reduce(composed, rows=self.rows, n_threads=n_threads, label=label)
        return reduce_blocks(of, self.stored, n_rows=len(self.stored), n_threads=n_threads, label=label)


@value
class Whole:
    """Something that is reduced at once: a statistic in the place of rows.

    Examples
    --------
    >>> Whole(value=3.0).reduce(lambda x: 2.0 * x)
    6.0
    """

    value: Any

    def reduce(self, of: Callable[[Any], Any], **options: Any) -> Any:
        """Return ``of(value)``, with BLAS held to one thread: matrices are small."""
        with single_threaded_blas():
            return of(self.value)


class ForwardingSource(Source):
    """Another source's rows, changed on the way; as many and as wide unless a subclass overrides it."""

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


class ColumnSource(Source):
    """The rows of a table whose columns are features, targets or weights."""

    roles: Roles

    @property
    def n_features(self) -> int:
        return len(self.roles.features)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self.roles.feature_names


def mapped(data: Any, of: Callable[[np.ndarray], np.ndarray]) -> Any:
    """Return rows, or a source of rows, with a function applied to their columns."""
    return data.map(_OfColumns(of=of)) if isinstance(data, Source) else of(data)


@value
class _OfColumns:
    of: Callable[[np.ndarray], np.ndarray]

    def __call__(self, batch: Batch) -> Batch:
        return replace(batch, X=self.of(batch.X))


@value
class _Mapped(ForwardingSource):
    """Rows of which every batch passes through a function."""

    source: Source
    function: Callable[[Batch], Batch]
    width: int | None = None

    @property
    def in_memory(self) -> bool:  # type: ignore[override]
        return self.source.in_memory

    @property
    def n_features(self) -> int:
        return self.source.n_features if self.width is None else self.width

    def batches(self) -> Iterator[Batch]:
        return map(self.function, self.source.batches())

    def blocks(self, rows: int | None = None) -> Iterator[Batch]:
        """See `Source.blocks`: those of the other source, which may be larger than its batches."""
        return map(self.function, self.source.blocks(rows or 4 * block_rows(self.n_features)))

    def reduce(self, of: Callable[[Batch], Any], **options: Any) -> Any:
        return self.source.reduce(Composed(outer=of, inner=self.function), **options)


@value
class _Filtered(ForwardingSource):
    """Some rows of every batch, by position of their columns alone."""

    source: Source
    function: Callable[[Batch], Batch]
    n_rows = None
    feature_names = None

    def batches(self) -> Iterator[Batch]:
        return (batch for batch in map(self.function, self.source.batches()) if batch.n_rows)

    def reduce(self, of: Callable[[Batch], Any], **options: Any) -> Any:
        return self.source.reduce(Composed(outer=of, inner=self.function), **options)


def batch_rows(n_features: int) -> int:
    """Return how many rows of so many columns make one batch."""
    fit = MAX_BATCH_BYTES // (8 * max(n_features, 1))
    return min(max(fit, 256), MAX_BATCH_ROWS)


def row_slices(n_rows: int, n_features: int) -> Iterator[slice]:
    """Cut rows into batches; no rows are one empty batch, so that a fold over nothing knows its width."""
    step = batch_rows(n_features)
    for start in range(0, max(n_rows, 1), step):
        yield slice(start, min(start + step, n_rows))
