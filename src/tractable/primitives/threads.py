"""Threads: how many, the pool of those that work on batches, and the one guard that holds BLAS to one thread.

Passes over rows in memory share the threads of the native core, see ``src/native/core.hpp``.
"""

import ctypes
import math
import os
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ContextDecorator, suppress
from functools import cache, cached_property
from itertools import chain, islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from tractable._core import native_core

#: Up to so many columns, BLAS works sooner on one thread than it wakes the others.
FEW_COLUMNS = 512

#: Up to so many rows, BLAS has one thread for matrices of rows × rows: where other processes use the cores
#: too, its threads wait for each other ten times as long as one needs.
FEW_ROWS = 4096

#: A product of up to the first number of multiplications wakes no other threads of BLAS. From there up to the
#: second, its threads wait for each other longer than they work where other processes use the cores too.
LEAST_PRODUCTS, FEW_PRODUCTS = 2**17, 2**24

T = TypeVar("T")
R = TypeVar("R")

_here = threading.local()


def default_threads() -> int:
    """Return how many threads a fold uses.

    It is ``TRACTABLE_NUM_THREADS`` where that is set. Else it is the number of cores that this process may
    use, by its affinity and by the quota of its container, and no more than OpenMP is allowed: by
    ``OMP_NUM_THREADS``, which the workers of joblib and of Dask are started with, or inside
    ``threadpoolctl.threadpool_limits``.
    """
    asked = _asked_threads()
    return min([_cores(), *_omp_variable(), *_openmp_limits()]) if asked is None else asked


def _asked_threads() -> int | None:
    """Return what ``TRACTABLE_NUM_THREADS`` says, where it is set."""
    given = os.environ.get("TRACTABLE_NUM_THREADS", "").strip()
    asked = _positive(given)
    if given and asked is None:
        _warn_of_threads(given)
    return asked


@cache
def _warn_of_threads(given: str) -> None:
    """Say once that a number of threads is none."""
    warnings.warn(
        f"TRACTABLE_NUM_THREADS must be a whole number from 1, got {given!r}: it is ignored", stacklevel=4
    )


def _omp_variable() -> list[int]:
    """Return what ``OMP_NUM_THREADS`` allows at the outermost level, where it is set: "4,2" is 4, then 2."""
    allowed = _positive(os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip())
    return [] if allowed is None else [allowed]


def _positive(text: str) -> int | None:
    return int(text) if text.isdecimal() and int(text) > 0 else None


@cache
def _cores() -> int:
    affine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return math.ceil(min(affine, cpu_quota()))


def cpu_quota(root: Path = Path("/")) -> float:
    """Return how many cores the control groups of this process grant it; infinity where none sets a quota.

    A group has at most what each group around it has. Inside a container the path of the group may be that
    of the host, which is not to be seen there: its own quota then stands at the mount.

    Parameters
    ----------
    root : path
        The root of the file system.
    """
    least = math.inf
    mount = root / "sys/fs/cgroup"
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers and "cpu" not in controllers.split(","):
            continue
        # The second version has one tree, without a name; the first has one for each set of controllers.
        trees = [mount / controllers, mount / "cpu"] if controllers else [mount, mount / "unified"]
        groups = [path.strip("/")]
        while groups[-1]:
            groups.append(groups[-1].rpartition("/")[0])
        least = min([least, *(_group_quota(tree / group) for tree in trees for group in groups)])
    return least


def _group_quota(group: Path) -> float:
    """Return the cores that one control group grants, of either version."""
    words = _text(group / "cpu.max").split()  # "200000 100000" or "max 100000": of microseconds
    if not words:
        words = [_text(group / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    quota, period = (_positive(word) for word in (*words, "", "")[:2])  # -1 is no quota
    return math.inf if quota is None or period is None else quota / period


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def _openmp_limits() -> list[int]:
    """Return what the OpenMP libraries that are loaded allow the calling thread."""
    # Scikit-learn brings one, and is loaded with the first estimator.
    return [library.num_threads for library in _openmp("sklearn.base" in sys.modules).lib_controllers]


@cache
def _openmp(loaded: bool) -> Any:  # noqa: ARG001  (the key of the cache)
    """Return the controls of OpenMP, looked for again once scikit-learn is `loaded`."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="openmp")


def core_with_threads() -> Any:
    """Return the native core, with the number of threads of `default_threads`; None where there is none."""
    core = _core()
    if core is not None:
        _obey_openmp("sklearn.base" in sys.modules)
    return core


@cache
def _core() -> Any:
    core = native_core()
    if core is not None:
        core.set_cores(_cores())
        core.on_bad_variable(_asked_threads)
    return core


@cache
def _obey_openmp(loaded: bool) -> None:
    """Let the core ask what the OpenMP libraries that are loaded allow the thread that calls."""
    for library in _openmp(loaded).lib_controllers:
        limit = getattr(library.dynlib, "omp_get_max_threads", None)
        if limit is not None:
            _core().add_limit(ctypes.cast(limit, ctypes.c_void_p).value)


def even_rows(n_rows: int | None, most: int) -> int:
    """Return the rows of an even number of equal blocks, each of `most` rows at most, or a tenth more.

    Threads that share few blocks then have the same to do, and no block is much smaller than the others. More
    than eight blocks are a multiple of sixteen, which 2, 4, 8 and 16 threads share evenly.

    Examples
    --------
    >>> even_rows(1000, 400), even_rows(1000, 600), even_rows(300, 400), even_rows(10_000, 384)
    (250, 500, 400, 313)
    """
    if n_rows is None or n_rows <= most:
        return most
    n_blocks = -(-n_rows // (most + most // 10))  # a tenth more, rather than more blocks
    shared = 2 if n_blocks <= 8 else 16
    return -(-n_rows // (-(-n_blocks // shared) * shared))


def even_blocks(n_rows: int, most: int) -> list[slice]:
    """Return slices that cut rows into blocks of `even_rows`.

    Examples
    --------
    >>> even_blocks(1000, 600)
    [slice(0, 500, None), slice(500, 1000, None)]
    """
    step = even_rows(n_rows, most)
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def ordered_map(function: Callable[[T], R], items: Iterable[T], n_threads: int | None = None) -> Iterator[R]:
    """Apply a function to every item on the pool and yield the results in the order of the items.

    At most four items a thread are in flight, so a long stream is read no faster than it is used. A call
    from inside the pool runs in the caller's thread, so folds may be nested.
    """
    items = sequence_of_few(items)
    alone = (isinstance(items, Sequence) and len(items) < 2) or getattr(_here, "inside", False)
    threads = 1 if alone else default_threads() if n_threads is None else n_threads
    if threads == 1:
        return map(function, items)
    if isinstance(items, Sequence):  # each is made in the thread that works on it
        of = items.__getitem__
        return _map_on_pool(lambda i: function(of(i)), range(len(items)), threads)
    return _map_on_pool(function, items, threads)


def sequence_of_few(items: Iterable[T]) -> Iterable[T]:
    """Return a stream of fewer than two items as a sequence, and others as they are: all items, once.

    Examples
    --------
    >>> sequence_of_few(iter([1])), sequence_of_few((1, 2)), list(sequence_of_few(iter([1, 2, 3])))
    ([1], (1, 2), [1, 2, 3])
    """
    if isinstance(items, Sequence):
        return items
    rest = iter(items)
    first = list(islice(rest, 2))
    return first if len(first) < 2 else chain(first, rest)


def _map_on_pool(function: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """See `ordered_map`. The caller's thread works on no item, and is interrupted at once."""
    pool, done, n_read, n_used = _pool(threads), _Results(), 0, 0
    stopped: list[bool] = []

    def task(i: int, item: T) -> Callable[[], None]:
        return lambda: None if stopped else done.add(i, lambda: function(item))

    with single_threaded_blas():
        try:
            for item in items:
                pool.put(task(n_read, item))
                n_read += 1
                if n_read - n_used >= 4 * threads:
                    yield done.pop(n_used)
                    n_used += 1
            while n_used < n_read:
                yield done.pop(n_used)
                n_used += 1
        finally:
            stopped.append(True)


class _Results:
    """Results of numbered items that threads add in any order; an error is raised where it is read."""

    def __init__(self) -> None:
        self.added: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
        self.known: dict[int, tuple[Any, BaseException | None]] = {}

    def add(self, i: int, compute: Callable[[], Any]) -> None:
        """Add the result of an item."""
        try:
            self.added.put((i, compute(), None))
        except BaseException as error:  # noqa: BLE001
            self.added.put((i, None, error))

    def pop(self, i: int) -> Any:
        """Return the result of an item, once it is there."""
        while i not in self.known:
            j, result, error = self.added.get()
            self.known[j] = result, error
        result, error = self.known.pop(i)
        try:
            if error is not None:
                raise error
        finally:
            del error  # whose traceback refers to this frame
        return result


class _Pool:
    """Threads that take tasks from one queue.

    A future for each task, as executors make, takes as long as the Python around a small block, which one
    thread at a time runs. And in a queue of the standard library each thread wakes the next once it has a
    task of its own: the last of sixteen would begin two milliseconds after the first. Here the caller wakes
    them, by a lock for each that it waits for.
    """

    def __init__(self, n_threads: int) -> None:
        self.tasks: deque[Callable[[], None]] = deque()
        self.asleep: list[threading.Lock] = []  # who takes a lock from it, wakes its thread
        for i in range(n_threads):
            threading.Thread(target=self._serve, name=f"tractable_{i}", daemon=True).start()

    def put(self, task: Callable[[], None]) -> None:
        """Add a task, and wake a thread that sleeps, if there is one."""
        self.tasks.append(task)
        with suppress(IndexError):
            self.asleep.pop().release()

    def _serve(self) -> None:
        _here.inside = True
        core = core_with_threads()
        if core is not None:  # threads of two pools would share the cores
            core.work_alone()
        wake = threading.Lock()
        wake.acquire()
        while True:
            try:
                task = self.tasks.popleft()
            except IndexError:
                self.asleep.append(wake)
                if self.tasks:  # added before this thread was among those asleep
                    with suppress(ValueError):  # the caller is about to wake it
                        self.asleep.remove(wake)
                        continue
                wake.acquire()
            else:
                task()


class _Pools:
    """The pools of this process, one for each number of threads."""

    def __init__(self) -> None:
        self.lock, self.known = threading.Lock(), dict[int, _Pool]()

    def __call__(self, n_threads: int) -> _Pool:
        """Return the pool of so many threads."""
        with self.lock:
            return self.known.get(n_threads) or self.known.setdefault(n_threads, _Pool(n_threads))


_pool = _Pools()


class _BlasGuard:
    """The least of the limits in force; overlapping `threadpool_limits` would restore each other's."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.limits: list[int] = []
        self.least = 0  # of the limits
        self.before: list[tuple[Callable[[int], Any], int]] = []

    def enter(self, most: int) -> None:
        with self.lock:
            if not self.limits:
                # Not by `threadpool_limits`, which asks for all that is known: a tenth of a small fit.
                now = ((limit, n_threads()) for n_threads, limit in _blas())
                self.before = [(limit, n) for limit, n in now if n > 1]
            if not self.limits or most < self.least:
                self._set(most)
            self.limits.append(most)

    def leave(self, most: int) -> None:
        with self.lock:
            if most not in self.limits:  # entered before the process was forked
                return
            self.limits.remove(most)
            if most == self.least and most not in self.limits:
                self._set(min(self.limits, default=sys.maxsize))

    def _set(self, most: int) -> None:
        self.least = most
        for limit, n_threads in self.before:
            limit(min(most, n_threads))


_guard = _BlasGuard()


class _Limited(ContextDecorator):
    """The context in which BLAS has few threads; no generator, which takes as long as a small product."""

    def __init__(self, most: int) -> None:
        self.most = most

    def __enter__(self) -> None:
        _guard.enter(self.most)

    def __exit__(self, *raised: object) -> None:
        _guard.leave(self.most)


class _AsItIs(ContextDecorator):
    """The context in which BLAS has the threads that it has."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *raised: object) -> None:
        pass


_one, _as_it_is = _Limited(1), _AsItIs()


def single_threaded_blas(when: bool = True) -> _Limited | _AsItIs:
    """Hold BLAS to one thread, `when` that is wanted: the pool's threads already use every core.

    Else it is `limited_blas`. The result is a context manager, and a decorator of functions.
    """
    return _one if when else limited_blas()


def limited_blas() -> _Limited | _AsItIs:
    """Hold BLAS to no more threads than ``TRACTABLE_NUM_THREADS`` says, where that is set."""
    asked = _asked_threads()
    return _as_it_is if asked is None else _Limited(asked)


def blas_for_columns(n_columns: int) -> AbstractContextManager[None]:
    """Hold BLAS to one thread where a system of so few columns is solved."""
    return single_threaded_blas(n_columns <= FEW_COLUMNS)


def blas_for_rows(n_rows: int) -> AbstractContextManager[None]:
    """Hold BLAS to one thread where a matrix of so few rows × rows is factorised."""
    return single_threaded_blas(n_rows <= FEW_ROWS)


def blas_for_products(n_products: int) -> AbstractContextManager[None]:
    """Hold BLAS to one thread for a product of matrices of so few multiplications."""
    return single_threaded_blas(LEAST_PRODUCTS < n_products <= FEW_PRODUCTS)


@cache
def _blas() -> list[tuple[Callable[[], int], Callable[[int], Any]]]:
    """Return for every BLAS the functions that tell and set its number of threads."""
    # SciPy brings a BLAS of its own, which compiled code uses too; one loaded later would escape the guard.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return [_controls(library) for library in found]


def _controls(library: Any) -> tuple[Callable[[], int], Callable[[int], Any]]:
    """Return the functions that tell and set the threads of a library: of OpenBLAS, its own."""
    # Called by way of threadpoolctl they take a tenth of a small fit. Its newer versions also let only the
    # thread that set a limit first set another, and here the last to leave may be any: the guard has a lock.
    if library.internal_api == "openblas" and getattr(library, "threading_layer", "openmp") != "openmp":
        symbol = getattr(library, "_get_symbol", lambda _name: None)
        tell, limit = symbol("openblas_get_num_threads"), symbol("openblas_set_num_threads")
        if tell is not None and limit is not None:
            return tell, limit
    return library.get_num_threads, getattr(library, "_real_set_num_threads", library.set_num_threads)


def _after_fork() -> None:
    """A child has none of the parent's threads and may have caught its locks held: begin anew."""
    _pool.__init__()  # type: ignore[misc]
    if _guard.limits:
        _guard._set(sys.maxsize)  # noqa: SLF001  (nothing in the child would lift the limits)
    _guard.__init__()  # type: ignore[misc]
    _here.inside = False
    if sys.version_info < (3, 12):
        _unlock_cached_properties()


def _unlock_cached_properties() -> None:
    """Give cached properties new locks, of which Python 3.11 has one for all instances of a class."""
    classes = [
        found
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] == "tractable"
        for found in list(vars(module).values())
        if isinstance(found, type)
    ]
    for attribute in (attribute for kind in classes for attribute in vars(kind).values()):
        if isinstance(attribute, cached_property) and hasattr(attribute, "lock"):
            attribute.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
