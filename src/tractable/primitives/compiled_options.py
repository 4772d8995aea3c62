"""What compiled functions share: options of the compiler, and the types of signatures.

A signature with read-only arrays of any memory order takes writable and contiguous ones too, so that a
function is compiled once.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from threading import Lock
from typing import Any

from numba import njit, types
from numba.core.caching import FunctionCache

#: Sums may be reordered and contracted; NaN and infinity keep their meaning.
FAST = {"contract", "nsz", "arcp", "reassoc"}

INT, FLOAT, BOOL = types.int64, types.float64, types.boolean

# Read-only, of any memory order.
ROWS = types.Array(types.float64, 2, "A", readonly=True)
SINGLE_ROWS = types.Array(types.float32, 2, "A", readonly=True)
VECTOR = types.Array(types.float64, 1, "A", readonly=True)
CODES = types.Array(types.int64, 1, "A", readonly=True)

# Read-only and contiguous.
DENSE_VECTOR = types.Array(types.float64, 1, "C", readonly=True)
MATRIX = types.Array(types.float64, 2, "C", readonly=True)
MATRICES = types.Array(types.float64, 3, "C", readonly=True)
INDICES = types.Array(types.int64, 1, "C", readonly=True)
LABELS = types.Array(types.int32, 1, "C", readonly=True)
MASKS = types.Array(types.boolean, 2, "C", readonly=True)

# Written to.
OUT_VECTOR = types.Array(types.float64, 1, "C")
OUT_MATRIX = types.Array(types.float64, 2, "C")
OUT_MATRICES = types.Array(types.float64, 3, "C")
OUT_INDICES = types.Array(types.int64, 1, "C")
OUT_LABELS = types.Array(types.int32, 1, "C")
OUT_BOUNDS = types.Array(types.float32, 1, "C")


class DiskCache(FunctionCache):
    """Compiled code on disk, which is never an error: what cannot be read or written is compiled instead."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code of a signature; None where there is none, or its file is damaged."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001  (a file of another program's bytes may raise anything)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the code of a signature; a damaged index is begun afresh, a full disk done without."""
        try:
            super().save_overload(sig, data)
        except Exception:  # noqa: BLE001
            with suppress(Exception):
                self.flush()
                super().save_overload(sig, data)


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function when it is called, without the interpreter's lock, and store the code on disk.

    Where no folder can be written to (neither beside the package nor in the user's home, nor
    ``NUMBA_CACHE_DIR``) the code is not stored. Options are those of `numba.njit`.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        made = njit(nogil=True, **options)(function)
        with suppress(RuntimeError):  # Numba's, where it finds no folder to write to
            made._cache = DiskCache(function)  # noqa: SLF001  (what `cache=True` sets, with a class of its own)
        return made

    return decorate


def entry(*signatures: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function to these signatures when it is first called: an import compiles nothing.

    A signature is a line of the names above, as "ROWS VECTOR INT".
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        lock = Lock()
        made: list[Callable[..., Any]] = []

        @wraps(function)
        def call(*given: Any) -> Any:
            if not made:
                with lock:
                    if not made:
                        made.append(_of_signatures(function, signatures))
            return made[0](*given)

        return call

    return decorate


def _of_signatures(function: Callable[..., Any], signatures: tuple[str, ...]) -> Callable[..., Any]:
    dispatcher = compiled(error_model="numpy", fastmath=FAST)(function)
    for one in signatures:
        dispatcher.compile(tuple(globals()[name] for name in one.split()))
    dispatcher.disable_compile()
    return dispatcher
