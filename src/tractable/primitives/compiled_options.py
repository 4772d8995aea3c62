"""What compiled functions share: options of the compiler, and the types of signatures.

A signature with read-only arrays of any memory order takes writable and contiguous ones too, so that a
function is compiled once.
"""

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any

from numba import njit, types

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


def entry(*signatures: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function to these signatures when it is first called: an import compiles nothing.

    A signature is a line of the names above, as "ROWS VECTOR INT".
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        lock = Lock()
        compiled: list[Callable[..., Any]] = []

        @wraps(function)
        def call(*given: Any) -> Any:
            if not compiled:
                with lock:
                    if not compiled:
                        options = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": FAST}
                        types_of = [tuple(globals()[name] for name in one.split()) for one in signatures]
                        compiled.append(njit(types_of, **options)(function))
            return compiled[0](*given)

        return call

    return decorate
