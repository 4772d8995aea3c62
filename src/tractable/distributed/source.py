"""A collection of Dask as a source of rows: partitions are reduced on the workers that hold them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from dask.delayed import delayed

from tractable.arrays.namespace import not_held
from tractable.data import ArraySource, Batch, Composed, Source
from tractable.data.files import check_readable
from tractable.distributed.cluster import (
    chain,
    clear_errors,
    computed,
    current_client,
    fit_in_memory,
    sent,
    tree,
)
from tractable.primitives.threads import single_threaded_blas
from tractable.value import replace, value

S = TypeVar("S")


class Partitions:
    """The partitions of a collection as tasks, each a `Batch`; held by the workers once it is known they fit.

    Parameters
    ----------
    load : callable
        ``load(number, *parts)`` makes a batch of one partition, on a worker.
    parts : list of tuples of Delayed
        What it is made of: rows, targets and weights.
    n_rows : list of int, optional
        Rows of each, where they are known.
    n_bytes : float, optional
        Bytes of all, where they are known.
    kind : str
        The kind of the collection, for messages.
    files : list of paths
        Files that they are read from, for messages.
    """

    def __init__(
        self,
        load: Callable[..., Batch],
        parts: list[tuple[Any, ...]],
        *,
        n_rows: list[int] | None = None,
        n_bytes: float | None = None,
        kind: str,
        files: Sequence[Any] = (),
    ) -> None:
        self._load, self._parts, self._files = load, parts, files
        self.n_rows, self.n_bytes, self.kind = n_rows, n_bytes, kind
        self._held: tuple[Any, list[Any]] | None = None

    def __len__(self) -> int:
        return len(self._parts)

    def apply(
        self, function: Callable[..., Any], head: Any, extras: Sequence[Any] = (), *, once: bool = False
    ) -> list[Any]:
        """Return ``function(head, batch, number, *extra)`` of each partition, as tasks.

        Workers hold the batches from now on if they fit, unless they are read `once`. Where they do not, one
        task makes the batch and uses it, so that no two copies of a partition wait in memory.
        """
        extras = extras or [()] * len(self)
        held = self._held_batches(once=once)
        if held is not None:
            one = delayed(function)
            return [one(head, b, i, *x) for i, (b, x) in enumerate(zip(held, extras, strict=True))]
        one = delayed(_made_and_used)
        pairs = enumerate(zip(self._parts, extras, strict=True))
        return [one(function, head, self._load, i, part, x) for i, (part, x) in pairs]

    def _held_batches(self, *, once: bool) -> list[Any] | None:
        client = current_client()
        if client is None:
            return None
        if self._held is not None and self._held[0] is client:
            return self._held[1]
        if once or self.n_bytes is None:
            return None
        with clear_errors(client):
            if not fit_in_memory(client, self.n_bytes):
                return None
            make = delayed(self._load)
            self._held = client, client.compute([make(i, *part) for i, part in enumerate(self._parts)])
            return self._held[1]

    def summed(self, tasks: list[Any]) -> Any:
        """Return the sum of tasks of the partitions; a file that cannot be read is named."""
        try:
            return computed(tree(tasks))[0]
        except ConnectionError:
            raise
        except (OSError, ValueError) as error:
            check_readable(self._files, error)
            raise

    def note(self, sizes: "Sizes") -> None:
        """Remember what a pass found of the partitions."""
        self.n_rows, self.n_bytes = list(sizes.n_rows), float(sum(sizes.n_bytes))


@value
class Sizes:
    """Rows and bytes of partitions, in order; they add."""

    n_rows: tuple[int, ...]
    n_bytes: tuple[int, ...]

    @classmethod
    def of(cls, batch: Batch) -> "Sizes":
        """Return the sizes of one partition."""
        parts = [part for part in (batch.X, batch.y, batch.weights) if part is not None]
        return cls(n_rows=(batch.n_rows,), n_bytes=(sum(part.nbytes for part in parts),))

    def __add__(self, other: "Sizes") -> "Sizes":
        return Sizes(n_rows=self.n_rows + other.n_rows, n_bytes=self.n_bytes + other.n_bytes)


@value
class Part:
    """A sum over some partitions, with their sizes; None of partitions without rows. They add."""

    total: Any
    sizes: Sizes

    def __add__(self, other: "Part") -> "Part":
        sizes = self.sizes + other.sizes
        if self.total is None or other.total is None:
            return Part(total=self.total if other.total is None else other.total, sizes=sizes)
        return Part(total=self.total + other.total, sizes=sizes)


@value
class DaskSource(Source):
    """The rows of a collection of Dask, which stay on the workers.

    A pass is one task a partition and a tree of additions; the function of a block is sent once, and one
    statistic comes back. From the second pass on the partitions are held in the memory of the workers where
    they fit. Made by `tractable.data.as_source`.

    Parameters
    ----------
    partitions : Partitions
        The partitions as tasks.
    width : int
        Number of columns.
    names : tuple of str, optional
        Names of the columns.
    function : callable, optional
        What a block passes through first.
    same_rows : bool
        Whether the function leaves as many rows as there are.
    """

    partitions: Partitions
    width: int
    names: tuple[str, ...] | None = None
    function: Callable[[Batch], Batch] | None = None  # what a block passes through first
    same_rows: bool = True  # whether the function leaves as many rows as there are

    @property
    def n_rows(self) -> int | None:
        counts = self.partitions.n_rows if self.same_rows else None
        return None if counts is None else sum(counts)

    @property
    def n_features(self) -> int:
        return self.width

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self.names

    def batches(self) -> Iterator[Batch]:
        """Refuse to bring the rows here: see `reduce`."""
        raise not_held("X", self.partitions.kind)

    def collect(self, check_targets: Callable[[list[Any]], None] | None = None) -> Batch:
        """Refuse to bring the rows here: see `reduce`."""
        raise not_held("X", self.partitions.kind)

    def reduce(
        self,
        of: Callable[[Batch], Any],
        *,
        rows: int | None = None,
        n_threads: int | None = None,
        label: str = "reading",
    ) -> Any:
        """See `Source.reduce`: on the workers, one thread a partition, in the order of the partitions.

        Parameters
        ----------
        of, rows
            As in `Source.reduce`.
        n_threads, label
            Not used: the scheduler shares out the partitions, and has its own dashboard.
        """
        function = of if self.function is None else Composed(outer=of, inner=self.function)
        return self._summed(_Reduced(of=function, rows=rows))

    def _summed(self, of: Callable[[Batch], Any]) -> Any:
        """Return the sum of a function of partitions that have rows."""
        known = self.partitions.n_rows is not None
        found = self.partitions.summed(self.partitions.apply(_part, sent(of), once=not known))
        self.partitions.note(found.sizes)
        if found.total is None:
            raise ValueError("X has no rows: every partition is empty")
        return found.total

    def accumulate(self, step: Callable[[S, Batch], S], state: S, *, rows: int | None = None) -> S:
        """See `Source.accumulate`: partition after partition, the state goes from worker to worker.

        Parameters
        ----------
        step, state, rows
            As in `Source.accumulate`.
        """
        how = sent((step, self.function, rows))
        parts = self.partitions.apply(_same, how)
        return chain(_accumulated, state, parts, how)

    def map(self, function: Callable[[Batch], Batch], *, n_features: int | None = None) -> "DaskSource":
        """See `Source.map`."""
        width = self.width if n_features is None else n_features
        return replace(self, function=self._then(function), width=width)

    def filter(self, function: Callable[[Batch], Batch]) -> "DaskSource":
        """See `Source.filter`."""
        return replace(self, function=self._then(function), names=None, same_rows=False)

    def _then(self, function: Callable[[Batch], Batch]) -> Callable[[Batch], Batch]:
        return function if self.function is None else Composed(outer=function, inner=self.function)


@value
class _Reduced:
    """The sum of a function over the blocks of a partition."""

    of: Callable[[Batch], Any]
    rows: int | None

    def __call__(self, batch: Batch) -> Any:
        return _as_array(batch).reduce(self.of, rows=self.rows, n_threads=1)


def _made_and_used(function: Any, head: Any, load: Any, number: int, part: Any, extra: Any) -> Any:
    """Make the batch of a partition and use it; runs on a worker."""
    return function(head, load(number, *part), number, *extra)


def _same(_: Any, batch: Batch, __: int) -> Batch:
    return batch


def _part(of: Callable[[Batch], Any], batch: Batch, number: int) -> Part:
    """Return a function of one partition; runs on a worker."""
    total = None
    if batch.n_rows:
        with single_threaded_blas(), named(number):
            total = of(batch)
        if _holds_rows(total):
            raise not_held("X", "whose rows this model stores")
    return Part(total=total, sizes=Sizes.of(batch))


def _holds_rows(statistic: Any) -> bool:
    """Whether a statistic holds rows, by itself or within: it must not leave their machine."""
    if isinstance(statistic, tuple | list):
        return any(map(_holds_rows, statistic))
    if getattr(statistic, "holds_rows", False):
        return True
    return is_dataclass(statistic) and any(
        _holds_rows(getattr(statistic, part.name)) for part in fields(statistic)
    )


def _accumulated(state: Any, batch: Batch, how: Any) -> Any:
    step, function, rows = how
    if not batch.n_rows:
        return state
    source: Source = _as_array(batch)
    with single_threaded_blas():
        return (source if function is None else source.map(function)).accumulate(step, state, rows=rows)


def _as_array(batch: Batch) -> ArraySource:
    return ArraySource(X=batch.X, y=batch.y, weights=batch.weights)


@contextmanager
def named(number: int) -> Iterator[None]:
    """Name the partition in the errors of bad input."""
    try:
        yield
    except (ValueError, TypeError) as error:
        said = str(error)
        if isinstance(error, ValueError) and (said.startswith("partition ") or "Dask" in said):
            raise
        raise ValueError(f"partition {number} of X: {said}") from error
