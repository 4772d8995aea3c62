"""Data as a source: arrays, frames, batches; and a random sample of rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from importlib import import_module
from itertools import chain
from os import PathLike
from typing import Any

import numpy as np

from tractable.arrays.namespace import check_unmasked, is_collection, is_foreign_array, namespace_of
from tractable.data.arrays import ArraySource, DeviceArraySource
from tractable.data.frames import frame_source, is_frame
from tractable.data.row_sample import draw_rows
from tractable.data.source import Batch, ForwardingSource, Source
from tractable.value import replace, value


def holds_batches(x: Any) -> bool:
    """Whether x is a sequence or stream of batches, and no single table."""
    if type(x) is np.ndarray:
        return False
    if isinstance(x, Sequence):
        return len(x) > 0 and _is_batch(x[0])
    if isinstance(x, Mapping | AbstractSet) or any(hasattr(x, name) for name in ("__array__", "shape")):
        return False
    return hasattr(x, "__iter__") or callable(x)


def batch_source(batches: Any, y: Any = None, weights: Any = None) -> "BatchSource":
    """Return batches as a source.

    Parameters
    ----------
    batches : list, re-iterable or callable
        Of arrays, frames, sources, or tuples ``(X, y)`` and ``(X, y, weights)``. Every ``iter(batches)``, or
        every ``batches()`` of a callable, starts a fresh pass; what can be walked only once is refused.
    y, weights : column name, optional
        Where the batches are frames.

    Examples
    --------
    >>> import numpy as np
    >>> def passes():
    ...     for seed in range(3):
    ...         yield np.random.default_rng(seed).normal(size=(4, 2))
    >>> source = batch_source(passes)
    >>> sum(batch.n_rows for batch in source.batches())
    12
    """
    for name, given in (("y", y), ("weights", weights)):
        if given is not None and not isinstance(given, str):
            raise ValueError(
                f"{name}: batches bring their own; give tuples (X, y, weights), or the name of a column"
            )
    passes = repeatable(batches)
    source = BatchSource(passes=passes, y=y, weights=weights, source=_table(passes.first(), y, weights, 0))
    if not isinstance(batches, Sequence):
        return source
    counts = [table.n_rows for table in source.tables()]
    return replace(source, rows=None if None in counts else sum(counts))


@value
class BatchSource(ForwardingSource):
    """Batches in the order they come, each like the first in width and names."""

    passes: "Passes"
    y: Any  # the names of columns, where the batches are frames
    weights: Any
    source: Source  # the first batch
    rows: int | None = None

    @property
    def n_rows(self) -> int | None:
        return self.rows

    def tables(self) -> Iterator[Source]:
        """Each batch as a source of its own, checked against the first."""
        for number, item in enumerate(self.passes):
            table = _table(item, self.y, self.weights, number)
            if table.n_features != self.n_features:
                own, first = table.n_features, self.n_features
                raise ValueError(f"batch {number} has {own} features, the first has {first}")
            if table.feature_names != self.feature_names:
                own_names, names = table.feature_names, self.feature_names
                raise ValueError(f"batch {number} has columns {own_names}, the first {names}")
            yield table

    def batches(self) -> Iterator[Batch]:
        beside, n_rows = None, 0
        for number, table in enumerate(self.tables()):
            for batch in table.batches():
                found = (batch.y is not None, batch.weights is not None)
                beside = found if beside is None else beside
                if found != beside:
                    raise ValueError(f"batch {number} and the first do not both have targets, or weights")
                n_rows += batch.n_rows
                yield batch
        self.passes.end(n_rows)


class Passes:
    """Passes over batches: the batch that is looked at before the first pass belongs to it.

    All passes must have the same number of rows. A model that reads rows once thus learns all batches of an
    iterable that its first pass empties; a model that reads them again raises an error.

    Parameters
    ----------
    start : callable
        Starts a pass.

    Examples
    --------
    >>> left = [1, 2, 3]
    >>> passes = Passes(lambda: (left.pop(0) for _ in range(len(left))))
    >>> passes.first(), list(passes), list(passes)
    (1, [1, 2, 3], [])
    """

    def __init__(self, start: Callable[[], Iterator[Any]]) -> None:
        self._start = start
        self._first: Any = None
        self._begun: Iterator[Any] | None = None  # the pass whose first batch has been looked at
        self._n_rows: int | None = None  # of the first pass

    def first(self) -> Any:
        """Return the first batch."""
        if self._first is None:
            batches = self._start()
            self._first = next(batches, None)
            if self._first is None:
                raise ValueError("X: there are no batches")
            self._begun = chain([self._first], batches)
        return self._first

    def __iter__(self) -> Iterator[Any]:
        begun, self._begun = self._begun, None
        return self._start() if begun is None else begun

    def end(self, n_rows: int) -> None:
        """Raise an error if a pass has ended after another number of rows than the first pass."""
        if self._n_rows is None:
            self._n_rows = n_rows
        if n_rows != self._n_rows:
            raise ValueError(
                f"X: the first pass over batches gave {self._n_rows} rows, and a later one gave {n_rows}; "
                "give a list, or an object whose __iter__ starts each pass at the first row"
            )


def repeatable(batches: Any) -> Passes:
    """Return what starts the passes over batches; refuse iterators, which allow one pass only."""
    if isinstance(batches, Passes):
        return batches
    if hasattr(batches, "__next__"):
        raise ValueError(
            f"X is a {type(batches).__name__}, which can be walked only once, and a fit may walk twice: "
            "give a list, the function that makes it (not called), or a class whose __iter__ starts afresh"
        )
    start = batches.__iter__ if hasattr(batches, "__iter__") else lambda: _called(batches)
    first, second = start(), start()
    if first is second:
        raise ValueError(
            "X gives the same iterator twice, so it can be walked only once; start a fresh one each time"
        )
    return Passes(start)


def with_passes(X: Any) -> Any:
    """Return a stream of batches as its `Passes`, for several functions that look at it; other data as it is.

    Sequences of batches are not changed by a pass.
    """
    if isinstance(X, Source | Sequence) or is_collection(X) or is_frame(X) or not holds_batches(X):
        return X
    return repeatable(X)


def _called(function: Callable[[], Any]) -> Iterator[Any]:
    try:
        return iter(function())
    except TypeError as error:
        raise ValueError(f"X is a function that does not return an iterator of batches: {error}") from error


def _is_batch(x: Any) -> bool:
    if isinstance(x, tuple):
        return len(x) > 0 and _is_batch(x[0])
    return isinstance(x, Source | Batch) or is_frame(x) or getattr(x, "ndim", 0) == 2


def _table(item: Any, y: Any, weights: Any, number: int) -> Source:
    """Return one batch as a source; errors name its number."""
    try:
        if isinstance(item, Source):
            return item.assign(y, weights)
        if isinstance(item, Batch):
            item = (item.X, item.y, item.weights)
        if isinstance(item, tuple):
            item, y, weights = triple(item, y, weights)
        return frame_source(item, y, weights) if is_frame(item) else ArraySource(X=item, y=y, weights=weights)
    except ValueError as error:
        raise ValueError(f"batch {number}: {error}") from error


def triple(item: tuple[Any, ...], y: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Return rows, targets and weights of a batch: its own, or those given for all."""
    if not 1 <= len(item) <= 3:
        raise ValueError(f"a tuple is (X, y) or (X, y, weights); got {len(item)} parts")
    X, own_y, own_weights = (*item, None, None)[:3]
    return X, y if own_y is None else own_y, weights if own_weights is None else own_weights


def as_source(X: Any, y: Any = None, weights: Any = None) -> Source:
    """Return X, with targets and weights, as a source.

    Parameters
    ----------
    X : array, frame, source, collection of Dask, re-iterable of batches, or function that starts a pass
        The rows.
    y, weights : array or column name, optional
        Targets and frequencies of the rows, or the columns that hold them.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> as_source(X).n_rows, as_source([X[:2], X[2:]]).n_rows
    (6, 6)
    """
    if is_collection(X):
        return distributed().collection_source(X, y, weights)
    check_unmasked("y", y)
    check_unmasked("weights", weights)
    if isinstance(X, Source):
        return X.assign(y, weights)
    if is_foreign_array(X):
        return DeviceArraySource(X=X, y=y, weights=weights)
    if isinstance(X, str | PathLike):
        raise ValueError(f"X is a path; open it with tractable.scan({str(X)!r})")
    if is_frame(X):
        return frame_source(X, y, weights)
    if holds_batches(X):
        return batch_source(X, y, weights)
    return ArraySource(X=X, y=y, weights=weights)


def is_streamed(X: Any) -> bool:
    """Whether X is a source, a collection of Dask or a stream of batches, and no single table in memory."""
    if type(X) is np.ndarray:
        return False
    if isinstance(X, Source | str | PathLike) or is_collection(X):
        return True
    return not is_frame(X) and holds_batches(X)


def distributed() -> Any:
    """Return the package that knows Dask, a layer above this one: the one place where it is looked up."""
    return import_module("tractable.distributed")


def without_uncounted_missing(source: Source) -> Source:
    """Return rows of which those of weight zero have no missing entry, but any number in its place.

    Sums over complete rows are then numbers, to which these rows add nothing.

    Examples
    --------
    >>> rows = ArraySource(X=np.array([[np.nan, 1.0], [2.0, 3.0]]), weights=np.array([0.0, 1.0]))
    >>> without_uncounted_missing(rows).X.tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    if isinstance(source, ArraySource | DeviceArraySource):
        return _fill_uncounted(source)  # which has the fields of a batch
    return source.map(_fill_uncounted)


def _fill_uncounted(batch: Any) -> Any:
    if batch.weights is None:
        return batch
    xp, uncounted = namespace_of(batch.X), batch.weights == 0
    if not bool(xp.any(uncounted)):
        return batch
    missing = xp.isnan(batch.X) & uncounted[:, None]
    if not bool(xp.any(missing)):  # complete rows with weights of a bootstrap are not copied
        return batch
    return replace(batch, X=xp.where(missing, xp.zeros_like(batch.X), batch.X))


def sample_rows(
    data: Any, weights: Any, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return at most n distinct rows and their weights; each is as likely as any other.

    The draw depends on the rows and the seed alone: not on their order, nor on how they are cut into blocks,
    nor on whether they are in memory, in files, on a cluster or on a device. It takes one pass in bounded
    memory: the rows of the n smallest hashes are kept, and the weights of equal rows are added. If a few rows
    have much of the weight, a second pass draws rows by how much they weigh. The rows are in lexicographic
    order, which the units of the columns do not change; those of weight zero are left out.

    Parameters
    ----------
    data, weights : array, frame or source; array (n,), optional
        Rows, and how often each counts.
    n : int
        The most rows to return.
    rng : Generator
        Where randomness comes from.

    Examples
    --------
    >>> rows, _ = sample_rows(np.arange(20.0)[:, None], None, 3, np.random.default_rng(0))
    >>> rows.shape
    (3, 1)
    """
    drawn = draw_rows(as_source(data, None, weights), n, rng)
    return drawn.rows, None if np.all(drawn.weights == 1.0) else drawn.weights
