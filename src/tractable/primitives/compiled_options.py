"""Compiled functions: the decorators that make them, options of the compiler, and the types of signatures.

Functions are written once, in Python that Numba can compile. A call from Python compiles them on first use
(the code is stored on disk) or, for a little work, runs them as they are: see `Kernel.interpreted`. An import
of a function neither compiles it nor imports Numba.

A signature with read-only arrays of any memory order takes writable and contiguous ones too, so that a
function is compiled once.
"""

import logging
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property, update_wrapper
from threading import RLock
from types import CodeType, FunctionType
from typing import Any

from tractable import primitives

#: Sums may be reordered and contracted; NaN and infinity keep their meaning.
FAST = {"contract", "nsz", "arcp", "reassoc"}

#: Types of scalars in signatures.
SCALARS = {"INT": "int64", "FLOAT": "float64", "BOOL": "boolean"}

#: Types of arrays in signatures: the type of an entry, the number of axes, the memory order (A is any), and
#: whether the function only reads it.
ARRAYS = {
    "ROWS": ("float64", 2, "A", True),
    "SINGLE_ROWS": ("float32", 2, "A", True),
    "VECTOR": ("float64", 1, "A", True),
    "CODES": ("int64", 1, "A", True),
    "DENSE_VECTOR": ("float64", 1, "C", True),
    "MATRIX": ("float64", 2, "C", True),
    "MATRICES": ("float64", 3, "C", True),
    "INDICES": ("int64", 1, "C", True),
    "LABELS": ("int32", 1, "C", True),
    "MASKS": ("boolean", 2, "C", True),
    "OUT_VECTOR": ("float64", 1, "C", False),
    "OUT_MATRIX": ("float64", 2, "C", False),
    "OUT_MATRICES": ("float64", 3, "C", False),
    "OUT_INDICES": ("int64", 1, "C", False),
    "OUT_LABELS": ("int32", 1, "C", False),
    "OUT_BOUNDS": ("float32", 1, "C", False),
}

_LOCK = RLock()


class Kernel:
    """A function that is compiled when it is first called, without the interpreter's lock.

    Compiled code is stored on disk; where no folder can be written to (neither beside the package nor in the
    user's home, nor ``NUMBA_CACHE_DIR``) it is compiled in every process.

    Parameters
    ----------
    function : callable
        Kernels that it calls by their global names are compiled into it.
    signatures : tuple of str
        Lines of the names of types above, as "ROWS VECTOR INT", to which alone the function is compiled;
        without any, to the types of each call.
    options
        Those of `numba.njit`.

    Examples
    --------
    >>> kernel = Kernel(lambda n: n + 1)
    >>> kernel.interpreted(2)
    3
    """

    def __init__(
        self, function: Callable[..., Any], signatures: tuple[str, ...] = (), **options: Any
    ) -> None:
        update_wrapper(self, function)
        self.function, self.signatures, self.options = function, signatures, options

    def __call__(self, *given: Any) -> Any:
        return self.dispatcher(*given)

    def for_work(self, work: float) -> Callable[..., Any]:
        """Return the function compiled, or interpreted where the work is little: see `runs_compiled`.

        `work` counts elementary operations of NumPy; a step of the interpreter takes about a hundred.
        """
        return self if work >= primitives.COMPILED_WORK else self.interpreted

    @cached_property
    def interpreted(self) -> Callable[..., Any]:
        """The function in plain Python, for work so little that compiling would take longer."""
        return _bound(self.function, lambda kernel: kernel.interpreted)

    @cached_property
    def dispatcher(self) -> Any:
        """What Numba makes of the function."""
        with _LOCK:
            if "dispatcher" in vars(self):
                return vars(self)["dispatcher"]
            from numba import njit

            _announce_compiling()
            function = _bound(self.function, lambda kernel: kernel.dispatcher)
            made = njit(nogil=True, **self.options)(function)
            with suppress(RuntimeError):  # Numba's, where it finds no folder to write to
                made._cache = _disk_cache(function)  # noqa: SLF001  (what `cache=True` sets, with a class of its own)
            for line in self.signatures:
                made.compile(tuple(_type(name) for name in line.split()))
            if self.signatures:
                made.disable_compile()
            return made


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a function a kernel that is compiled to the types of each call; options are `numba.njit`'s."""
    return lambda function: Kernel(function, **options)


def entry(*signatures: str) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a function a kernel of these signatures alone, compiled when it is first called."""
    return lambda function: Kernel(function, signatures, error_model="numpy", fastmath=FAST)


def _bound(function: Callable[..., Any], made: Callable[[Kernel], Any]) -> Callable[..., Any]:
    """Return the function with the kernels among its globals replaced by what is made of them."""
    assert isinstance(function, FunctionType)
    around = dict(function.__globals__)
    for name in _names(function.__code__):
        if isinstance(around.get(name), Kernel):
            around[name] = made(around[name])
    bound = FunctionType(
        function.__code__, around, function.__name__, function.__defaults__, function.__closure__
    )
    return update_wrapper(bound, function)


def _names(code: CodeType) -> set[str]:
    inner = [_names(part) for part in code.co_consts if isinstance(part, CodeType)]
    return set(code.co_names).union(*inner)


@cache
def _announce_compiling() -> None:
    """Say so when the first kernel of this process is compiled, not read from disk: it may take seconds."""
    from numba.core import event

    class Announcement(event.Listener):
        def on_start(self, happened: Any) -> None:
            function = happened.data["dispatcher"].py_func
            if not said and function.__module__.startswith("tractable."):
                said.append(function)
                text = "compiling numerical kernels, once on this machine (in advance: tractable warmup)"
                if sys.stderr is not None and sys.stderr.isatty():
                    print(f"tractable: {text}", file=sys.stderr)  # noqa: T201
                else:
                    logging.getLogger("tractable").info(text)

        def on_end(self, happened: Any) -> None:
            pass

    said: list[Any] = []
    event.register("numba:compile", Announcement())


def _type(name: str) -> Any:
    from numba import types

    if name in SCALARS:
        return getattr(types, SCALARS[name])
    entry_type, n_axes, order, read_only = ARRAYS[name]
    return types.Array(getattr(types, entry_type), n_axes, order, readonly=read_only)


def _disk_cache(function: Callable[..., Any]) -> Any:
    from numba.core.caching import FunctionCache

    class DiskCache(FunctionCache):
        """Compiled code on disk, which is never an error: what cannot be read or written is compiled."""

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)
            except Exception:  # noqa: BLE001  (a file of another program's bytes may raise anything)
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            try:
                super().save_overload(sig, data)
            except Exception:  # noqa: BLE001  (a damaged index is begun afresh, a full disk done without)
                with suppress(Exception):
                    self.flush()
                    super().save_overload(sig, data)

    return DiskCache(function)
