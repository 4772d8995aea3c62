"""The array namespace of arrays, and checks of their kind; other packages name no array library."""

from typing import Any

import array_api_compat
import numpy as np
from array_api_compat import array_namespace as _array_namespace
from array_api_compat import device as _device

__all__ = [
    "Array",
    "all_true",
    "any_true",
    "as_float_array",
    "check_assignable",
    "check_held",
    "check_real_kind",
    "check_unmasked",
    "device",
    "freeze",
    "is_array_api_obj",
    "is_collection",
    "is_foreign_array",
    "is_numpy_array",
    "is_torch_array",
    "library_of",
    "namespace_of",
    "not_held",
    "to_numpy",
    "unbroadcast",
]

#: An array of NumPy, torch, CuPy, JAX, array-api-strict, …
Array = Any

# A small fit asks of the same few arrays hundreds of times: those of NumPy are answered at once, and by NumPy
# itself, which follows the standard since 2.1. The wrappers of array-api-compat take a sixth of such a fit.

#: Types of what is no array of another library, no collection, and has no mask.
_ON_HOST = frozenset({np.ndarray, type(None), bool, int, float, str})


def is_array_api_obj(x: Any) -> bool:
    """Whether x is an array of any library that is known.

    Examples
    --------
    >>> is_array_api_obj(np.ones(2)), is_array_api_obj([1.0])
    (True, False)
    """
    return type(x) is np.ndarray or bool(array_api_compat.is_array_api_obj(x))


def is_numpy_array(x: Any) -> bool:
    """Whether x is an array, or a number, of NumPy.

    Examples
    --------
    >>> is_numpy_array(np.ones(2)), is_numpy_array([1.0])
    (True, False)
    """
    return type(x) is np.ndarray or bool(array_api_compat.is_numpy_array(x))


def is_torch_array(x: Any) -> bool:
    """Whether x is a tensor of torch.

    Examples
    --------
    >>> is_torch_array(np.ones(2))
    False
    """
    return type(x) is not np.ndarray and bool(array_api_compat.is_torch_array(x))


def check_assignable(name: str, x: Any) -> None:
    """Refuse arrays of JAX, to whose entries nothing can be assigned, where matrices are filled in place.

    Examples
    --------
    >>> check_assignable("X", np.ones(2))
    """
    if type(x) is not np.ndarray and array_api_compat.is_jax_array(x):
        raise ValueError(
            f"{name} is an array of JAX, to which nothing can be assigned, and matrices of a kernel are "
            "filled and factored in place: give an array of NumPy, or a tensor of torch"
        )


def namespace_of(*arrays: Any) -> Any:
    """Return the array namespace shared by the arrays; lists and numbers count as NumPy's.

    Examples
    --------
    >>> namespace_of([1.0, 2.0], 3).__name__.endswith("numpy")
    True
    """
    for a in arrays:
        if type(a) is not np.ndarray:
            break
    else:
        return np
    found = [a for a in arrays if is_array_api_obj(a) and not isinstance(a, np.generic)]
    others = [a for a in found if not is_numpy_array(a)]
    return _array_namespace(*others) if others else np


def is_foreign_array(x: Any) -> bool:
    """Whether x is an array of a library other than NumPy: a tensor on a GPU, say.

    Examples
    --------
    >>> is_foreign_array(np.ones(2)), is_foreign_array([1.0])
    (False, False)
    """
    if type(x) in _ON_HOST:
        return False
    return is_array_api_obj(x) and not is_numpy_array(x) and not is_collection(x)


def device(x: Array) -> Any:
    """Return the device that an array is on.

    Examples
    --------
    >>> device(np.ones(2))
    'cpu'
    """
    return "cpu" if type(x) is np.ndarray else _device(x)


def is_sparse(x: Any) -> bool:
    """Whether x is a sparse matrix or array of SciPy.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> is_sparse(csr_array([[1.0]])), is_sparse(np.ones((1, 1)))
    (True, False)
    """
    return hasattr(x, "tocsr")


def library_of(x: Any) -> str:
    """Return the name of the library that an array is of.

    Examples
    --------
    >>> library_of(np.ones(2))
    'numpy'
    """
    return type(x).__module__.split(".", 1)[0]


def is_collection(x: Any) -> bool:
    """Whether x is a collection of Dask, or a list of its delayed partitions: its rows are not held here.

    Examples
    --------
    >>> is_collection(np.ones(2)), is_collection([np.ones(2)])
    (False, False)
    """
    if type(x) in _ON_HOST:
        return False
    if isinstance(x, (list, tuple)):
        first = x[0] if len(x) else None
        rows = first[0] if isinstance(first, tuple) and first else first  # of (X, y, weights)
        return not isinstance(rows, (list, tuple)) and is_collection(rows)
    return library_of(x) in ("dask", "dask_expr", "distributed")


def check_held(name: str, x: Any) -> None:
    """Refuse collections of Dask where rows must be held in memory: nothing is brought here silently.

    Examples
    --------
    >>> check_held("X", np.ones(2))
    """
    if is_collection(x):
        raise not_held(name, type(x).__name__)


def not_held(name: str, kind: str) -> ValueError:
    """Return the error of a collection of Dask where rows must be held in memory."""
    return ValueError(
        f"{name} is a collection of Dask ({kind}), and this needs its rows in the memory of this process: "
        f"they are not brought to one machine silently; give {name}.compute() if they fit, or some of them"
    )


def check_unmasked(name: str, x: Any) -> None:
    """Refuse entries behind a mask: only rows of X may be missing.

    Examples
    --------
    >>> check_unmasked("y", np.ma.masked_array([1.0, 2.0], [False, True]))
    Traceback (most recent call last):
    ...
    ValueError: y has masked entries, and must have none: leave out these rows
    """
    if type(x) in _ON_HOST:
        return
    check_held(name, x)
    if np.ma.is_masked(x):
        raise ValueError(f"{name} has masked entries, and must have none: leave out these rows")


def check_real_kind(name: str, x: Any) -> None:
    """Refuse what is masked, and complex numbers, dates and durations, which are no real numbers.

    Examples
    --------
    >>> check_real_kind("y", np.array(["NaT"], dtype="M8[D]"))
    Traceback (most recent call last):
    ...
    ValueError: y must be real numbers, got dtype datetime64[D]
    """
    check_unmasked(name, x)
    if isinstance(x, (list, tuple)):
        x = np.asarray(x)
    dtype = getattr(x, "dtype", None)
    if getattr(dtype, "kind", "f") in "mMc":
        raise ValueError(f"{name} must be real numbers, got dtype {dtype}")


def all_true(x: Any) -> bool:
    """Whether every entry is true: the method of NumPy takes half as long as the function of the standard.

    Examples
    --------
    >>> all_true(np.array([True, False])), all_true(np.array([]))
    (False, True)
    """
    return bool(x.all()) if isinstance(x, (np.ndarray, np.bool_)) else bool(namespace_of(x).all(x))


def any_true(x: Any) -> bool:
    """Whether an entry is true; see `all_true`.

    Examples
    --------
    >>> any_true(np.array([True, False])), any_true(np.array([]))
    (True, False)
    """
    return bool(x.any()) if isinstance(x, (np.ndarray, np.bool_)) else bool(namespace_of(x).any(x))


def as_float_array(x: Any, xp: Any = None) -> Array:
    """Return x as a real floating array of its own library: float32 stays, integers become float64."""
    if type(x) is np.ndarray and x.dtype.kind == "f" and (xp is None or xp is np):
        return x
    xp = namespace_of(x) if xp is None else xp
    x = xp.asarray(x)
    return x if xp.isdtype(x.dtype, "real floating") else xp.astype(x, xp.float64)


def freeze(x: Array) -> Array:
    """Return a read-only copy, where the library supports that, else the array itself."""
    if type(x) is np.ndarray and 0 not in x.strides:
        held = x.copy("K")
        held.setflags(write=False)
        return held
    if not is_numpy_array(x):
        return x
    held = np.array(unbroadcast(x))
    held.setflags(write=False)
    return held if held.shape == x.shape else np.broadcast_to(held, x.shape)


def to_numpy(x: Array) -> np.ndarray:
    """Return x on the host: the one place where an array of another library is moved, and only when asked."""
    if is_numpy_array(x):
        return np.asarray(x)
    if is_torch_array(x):
        return np.asarray(x.detach().cpu())
    found = np.asarray(x)
    return found if found.flags.writeable else found.copy()  # of JAX, whose arrays do not change


def unbroadcast(x: Array) -> Array:
    """Return an array of NumPy with axes of length one where its entries are repeated by broadcasting.

    A function of it, to be broadcast again, is computed once for each entry. Other arrays are returned as
    they are.

    Examples
    --------
    >>> unbroadcast(np.broadcast_to(np.array([[1.0], [2.0]]), (2, 500))).tolist()
    [[1.0], [2.0]]
    """
    if not is_numpy_array(x) or 0 not in x.strides:
        return x
    return x[tuple(slice(0, 1) if step == 0 else slice(None) for step in x.strides)]
