"""Routines of the BLAS and LAPACK that SciPy brings, called without the interpreter's lock.

SciPy's own functions keep the lock while they work, so that threads wait for each other.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np


@cache
def routine(name: str, n_arguments: int) -> Callable[..., None] | None:
    """Return a routine of BLAS or LAPACK as a foreign function of pointers; None if its sizes are no ints.

    Examples
    --------
    >>> routine("no such routine", 3) is None
    True
    """
    from scipy.linalg import cython_blas, cython_lapack

    known = {**cython_blas.__pyx_capi__, **cython_lapack.__pyx_capi__}
    capsule = known.get(name)
    if capsule is None:
        return None
    named = ctypes.pythonapi.PyCapsule_GetName
    named.restype, named.argtypes = ctypes.c_char_p, [ctypes.py_object]
    signature: Any = named(capsule)
    if not signature.startswith(b"void (") or b" int *" not in signature.replace(b"(", b" "):
        return None
    pointed = ctypes.pythonapi.PyCapsule_GetPointer
    pointed.restype, pointed.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arguments)
    return kind(pointed(capsule, signature))


def call(found: Callable[..., None], *arguments: Any) -> int:
    """Call a routine with arrays, int, float and single letters; return the last argument, if it is an int.

    Examples
    --------
    >>> x = np.array([1.0, 2.0])
    >>> call(routine("dscal", 4), 2, 3.0, x, 1), x.tolist()
    (1, [3.0, 6.0])
    """
    held = [_held(argument) for argument in arguments]
    found(*(x.ctypes.data if isinstance(x, np.ndarray) else ctypes.addressof(x) for x in held))
    return int(held[-1].value) if isinstance(held[-1], ctypes.c_int) else 0


def _held(argument: Any) -> Any:
    """Return what a pointer to the argument points to."""
    if isinstance(argument, str):
        return ctypes.c_char(argument.encode())
    if isinstance(argument, np.ndarray):
        return argument
    return ctypes.c_double(argument) if isinstance(argument, float) else ctypes.c_int(argument)
