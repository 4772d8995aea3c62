"""LAPACK's reflection of rows into a triangular factor, without the interpreter's lock.

SciPy's own wrapper holds the lock, so that threads would reflect one after the other.
"""

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np

__all__ = ["reflect"]


def reflect(factor: np.ndarray, below: np.ndarray, triangular: int, width: int) -> np.ndarray:
    """Return the triangular factor of a factor and the rows below it; both are overwritten.

    Parameters
    ----------
    factor : array (d, d)
        Upper triangular, float64, by columns.
    below : array (m, d)
        Float64, by columns; the last `triangular` rows are upper triangular.
    triangular : int
    width : int
        Columns reflected at a time.

    Examples
    --------
    >>> reflect(np.array([[3.0]], order="F"), np.array([[4.0]], order="F"), 0, 1).tolist()
    [[-5.0]]
    """
    found = _dtpqrt()
    if found is None:
        from scipy.linalg import lapack

        return lapack.dtpqrt(triangular, width, factor, below, overwrite_a=1, overwrite_b=1)[0]
    m, d = below.shape
    block, work = np.empty((width, d), order="F"), np.empty(width * d)
    sizes = [ctypes.c_int(n) for n in (m, d, triangular, width, max(d, 1), max(m, 1), width, 0)]
    rows, columns, last, nb, of_factor, of_below, of_block, info = (ctypes.addressof(n) for n in sizes)
    a, b, t, w = (x.ctypes.data for x in (factor, below, block, work))
    found(rows, columns, last, nb, a, of_factor, b, of_below, t, of_block, w, info)
    if sizes[-1].value:
        raise ValueError(f"factor and below must have as many columns; LAPACK says {sizes[-1].value}")
    return factor


@cache
def _dtpqrt() -> Callable[..., None] | None:
    """Return the routine that SciPy is linked with, as a foreign function; None if its sizes are no ints."""
    from scipy.linalg import cython_lapack

    capsule = cython_lapack.__pyx_capi__.get("dtpqrt")
    if capsule is None:
        return None
    named = ctypes.pythonapi.PyCapsule_GetName
    named.restype, named.argtypes = ctypes.c_char_p, [ctypes.py_object]
    signature = named(capsule)
    if not signature.startswith(b"void (int *, int *, int *, int *,"):
        return None
    pointed = ctypes.pythonapi.PyCapsule_GetPointer
    pointed.restype, pointed.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 12)
    return kind(pointed(capsule, signature))
