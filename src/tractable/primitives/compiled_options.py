"""Compiled functions: the decorators that make them, options of the compiler, and the types of signatures.

Functions are written once, in Python that Numba can compile. A call from Python compiles them on first use
(the code is stored on disk) or, for a little work, runs them as they are: see `Kernel.interpreted`. An import
of a function neither compiles it nor imports Numba.

What Python calls has one signature, and is compiled once: a call converts the arrays that are only read, and
None, for one that is not given, to an empty array.

Kernels copy arrays entry by entry: where an array is assigned to a slice, Numba compiles the text of the
error about its shape too, which takes longer than most kernels.
"""

import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property, update_wrapper
from importlib import import_module
from pkgutil import walk_packages
from threading import RLock
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from tractable import primitives

#: Sums may be reordered and contracted; NaN and infinity keep their meaning.
FAST = {"contract", "nsz", "arcp", "reassoc"}

#: Types of scalars in signatures.
SCALARS = {"INT": "int64", "FLOAT": "float64", "BOOL": "boolean"}

#: Types of arrays in signatures: the type of an entry, the number of axes, and the memory order (A is any). A
#: function only reads them; where it writes, OUT_ comes before the name, and the order is C.
ARRAYS = {
    "ROWS": ("float64", 2, "A"),
    "VECTOR": ("float64", 1, "A"),
    "CODES": ("int64", 1, "A"),
    "DENSE_VECTOR": ("float64", 1, "C"),
    "MATRIX": ("float64", 2, "C"),
    "MATRICES": ("float64", 3, "C"),
    "SINGLE_VECTOR": ("float32", 1, "C"),
    "SINGLE_MATRIX": ("float32", 2, "C"),
    "INDICES": ("int64", 1, "C"),
    "INDEX_MATRIX": ("int64", 2, "C"),
    "LABELS": ("int32", 1, "C"),
    "BYTES": ("uint8", 1, "C"),
    "UNSIGNED": ("uint32", 1, "C"),
    "LABEL_MATRIX": ("int32", 2, "C"),
    "MASK": ("bool_", 1, "C"),
    "MASKS": ("bool_", 2, "C"),
}

_LOCK = RLock()

# A process that is forked while a thread compiles would find this lock, and those of Numba, held for ever.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


class Kernel:
    """A function that is compiled when it is first called, without the interpreter's lock.

    Compiled code is stored on disk; where no folder can be written to (neither beside the package nor in the
    user's home, nor ``NUMBA_CACHE_DIR``) it is compiled in every process.

    Parameters
    ----------
    function : callable
        Kernels that it calls by their global names are compiled into it.
    signature : str
        The names of types above, as "ROWS VECTOR INT", to which alone the function is compiled; a function
        without one is compiled to the types of each call, with int64 for signed whole numbers, and other
        kernels alone call it.
    options
        Those of `numba.njit`.

    Examples
    --------
    >>> kernel = Kernel(lambda n: n + 1)
    >>> kernel.interpreted(2)
    3
    """

    __name__: str

    def __init__(self, function: Callable[..., Any], signature: str = "", **options: Any) -> None:
        update_wrapper(self, function)
        self.function, self.signature, self.options = function, signature, options
        self._forms = [_form(name) for name in signature.split()]

    def __call__(self, *given: Any) -> Any:
        if not self._forms:
            raise TypeError(f"{self.__name__} has no signature: kernels alone call it")
        ready = [
            x if form is None else form[2] if x is None else np.asarray(x, form[0], order=form[1])
            for x, form in zip(given, self._forms, strict=True)
        ]
        if "dispatcher" not in vars(self):
            with _LOCK:  # one thread alone imports Numba
                _announce_compiling()
        return self.dispatcher(*ready)

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

            function = _bound(self.function, lambda kernel: kernel.dispatcher)
            # Nothing calls kernels as C functions, and Python calls none without a signature.
            made = njit(
                nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=not self.signature, **self.options
            )(function)
            with suppress(RuntimeError):  # Numba's, where it finds no folder to write to
                made._cache = _disk_cache(function)  # noqa: SLF001  (what `cache=True` sets, with a class of its own)
            if not self.signature:
                _widen_integers(made)
            else:
                made.compile(tuple(_type(name) for name in self.signature.split()))
                made.disable_compile()
            return made

    @property
    def family(self) -> str:
        """The package, or module, of primitives it belongs to."""
        name = str(self.__module__).removeprefix(f"{primitives.__name__}.").partition(".")[0]
        return name.removeprefix("compiled_")

    @property
    def folder(self) -> str | None:
        """Where compiled code is stored; None where no folder can be written to."""
        with suppress(RuntimeError):
            return str(_disk_cache(self.function).cache_path)
        return None


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a function a kernel that kernels call, compiled to the types of each call; see `numba.njit`."""
    return lambda function: Kernel(function, **{"error_model": "numpy", **options})


def entry(signature: str, **options: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a function a kernel that Python calls, of this signature alone; options are `numba.njit`'s."""
    return lambda function: Kernel(
        function, signature, **{"error_model": "numpy", "fastmath": FAST, **options}
    )


class _ReadOnly(Kernel):
    @cached_property
    def dispatcher(self) -> Any:
        from numba.core.imputils import impl_ret_borrowed
        from numba.extending import intrinsic

        def cast(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            (given,), found = signature.args, signature.return_type
            same = context.cast(builder, values[0], given, found)
            return impl_ret_borrowed(context, builder, found, same)

        def typed(_: Any, array: Any) -> Any:
            return array.copy(readonly=True)(array), cast

        return intrinsic(typed)


#: Passes an array on as one that is only read: a kernel that is called with arrays of both sorts is compiled
#: to both.
read_only = _ReadOnly(lambda array: array)


def entry_kernels() -> list[Kernel]:
    """Return every kernel that Python calls."""
    found = walk_packages(primitives.__path__, f"{primitives.__name__}.")
    modules = [info.name for info in found if info.name.rpartition(".")[2].startswith("compiled")]
    kernels = [x for name in modules for x in vars(import_module(name)).values() if isinstance(x, Kernel)]
    return list(dict.fromkeys(kernel for kernel in kernels if kernel.signature))


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
    """Say so when a call first has a kernel compiled, not read from disk: it may take seconds."""
    from numba.core import event

    class Announcement(event.Listener):
        def on_start(self, happened: Any) -> None:
            dispatcher = happened.data["dispatcher"]
            if said or not dispatcher.py_func.__module__.startswith("tractable."):
                return
            stored = hasattr(dispatcher._cache, "cache_path")  # noqa: SLF001  (see `Kernel.dispatcher`)
            how = "once on this machine" if stored else "in every process, as no folder can be written to"
            said.append(f"compiling numerical kernels, {how}; in advance: tractable warmup")
            if sys.stderr is not None and sys.stderr.isatty():
                print(f"tractable: {said[0]}", file=sys.stderr)  # noqa: T201
            else:
                logging.getLogger("tractable").info(said[0])

        def on_end(self, happened: Any) -> None:
            pass

    said: list[str] = []
    event.register("numba:compile", Announcement())


def _form(name: str) -> tuple[Any, Any, np.ndarray] | None:
    """Return the type and memory order of an argument, and what stands for None; None for what is kept."""
    if name not in ARRAYS:
        return None
    held, n_axes, order = ARRAYS[name]
    return np.dtype(held), "C" if order == "C" else None, np.empty((0,) * n_axes, held)


def _type(name: str) -> Any:
    from numba import types

    if name in SCALARS:
        return getattr(types, SCALARS[name])
    written = name.startswith("OUT_")
    held, n_axes, order = ARRAYS[name.removeprefix("OUT_")]
    return types.Array(getattr(types, held), n_axes, "C" if written else order, readonly=not written)


def _widen_integers(made: Any) -> None:
    """Compile calls with constants, and with signed numbers of fewer bits, as those with any whole number."""
    from numba import types

    own = made.get_call_template

    def widened(given: Any) -> Any:
        return types.int64 if isinstance(given, types.Integer) and given.signed else given

    def template(args: Any, kws: Any) -> Any:
        return own([widened(x) for x in args], {name: widened(x) for name, x in kws.items()})

    made.get_call_template = template


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
