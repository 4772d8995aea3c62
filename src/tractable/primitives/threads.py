"""The library's one thread pool, and the one guard that keeps BLAS to a thread of its own inside it."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_here = threading.local()


def default_threads() -> int:
    """Return how many threads a fold uses: ``TRACTABLE_NUM_THREADS``, else the cores this process may use."""
    asked = os.environ.get("TRACTABLE_NUM_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ordered_map(function: Callable[[T], R], items: Iterable[T], n_threads: int | None = None) -> Iterator[R]:
    """Apply a function to every item on the pool and yield the results in the order of the items.

    At most four items a thread are in flight, so a long stream is read no faster than it is used. A call
    from inside the pool runs in the caller's thread, so folds may be nested.
    """
    threads = default_threads() if n_threads is None else n_threads
    items = iter(items)
    first = list(islice(items, 2))
    if threads == 1 or len(first) < 2 or getattr(_here, "inside", False):
        yield from map(function, first)
        yield from map(function, items)
        return

    def inside(item: T) -> R:
        _here.inside = True
        return function(item)

    waiting: deque[Future[R]] = deque()
    with single_threaded_blas():
        try:
            pool = _pool(threads)
            waiting.extend(pool.submit(inside, item) for item in first)
            for item in items:
                waiting.append(pool.submit(inside, item))
                if len(waiting) >= 4 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="tractable")


class _BlasGuard:
    """Overlapping `threadpool_limits` restore each other's limits, so nesting is counted here instead."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.depth = 0
        self.limits: Any = None

    def enter(self) -> None:
        with self.lock:
            self.depth += 1
            if self.depth == 1:
                _release_control()
                self.limits = _controller().limit(limits=1, user_api="blas")

    def leave(self) -> None:
        with self.lock:
            self.depth -= 1
            if self.depth == 0:
                _release_control()
                self.limits.restore_original_limits()
                self.limits = None
                _release_control()


_guard = _BlasGuard()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread: the pool's threads already use every core."""
    _guard.enter()
    try:
        yield
    finally:
        _guard.leave()


@cache
def _controller() -> Any:
    # SciPy brings a BLAS of its own, which compiled code uses too; one loaded later would escape the guard.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _release_control() -> None:
    """Let this thread set the limit: the first to do so owns it, and the last to leave may be another."""
    from threadpoolctl import OpenBLASController

    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


def _after_fork() -> None:
    """A child has none of the parent's threads and may have caught its locks held: begin anew."""
    _pool.cache_clear()
    _guard.__init__()  # type: ignore[misc]
    _here.inside = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
