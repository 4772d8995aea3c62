"""Read ahead: the next batch is decoded while the last one is summarised."""

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, TypeVar

__all__ = ["prefetched"]

T = TypeVar("T")


def prefetched(items: Generator[T, Any, Any]) -> Iterator[T]:
    """Yield what a generator yields, one item ahead on a thread of its own.

    An error appears where its item would have; leaving early, or forgetting the iterator, ends the thread and
    closes the generator.

    Examples
    --------
    >>> list(prefetched(n * n for n in range(4)))
    [0, 1, 4, 9]
    """
    end: Any = object()
    with closing(items), ThreadPoolExecutor(1, thread_name_prefix="tractable-read-ahead") as reader:
        ahead = reader.submit(next, items, end)
        while (item := ahead.result()) is not end:
            ahead = reader.submit(next, items, end)
            yield item
            del item  # two batches are alive, not three
