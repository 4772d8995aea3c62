"""Arrays on the host and on devices: values that hold arrays are moved, whole, where they are asked to be."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import is_dataclass
from functools import partial, wraps
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from tractable.arrays.namespace import (
    Array,
    device,
    is_array_api_obj,
    is_foreign_array,
    is_numpy_array,
    is_torch_array,
    library_of,
    namespace_of,
    to_numpy,
)
from tractable.value import parameters, replace

__all__ = [
    "as_plain",
    "asks_single",
    "beside",
    "beside_rows",
    "clear_device_errors",
    "device_of",
    "empty_tensor",
    "free_memory",
    "is_out_of_memory",
    "is_single",
    "map_arrays",
    "on_accelerator",
    "on_host",
    "pass_over",
    "placed",
    "precision",
    "tensor_type",
    "torch_and_device",
]

F = TypeVar("F", bound=Callable[..., Any])


def map_arrays(record: Any, function: Callable[[Array], Array]) -> Any:
    """Return a value, tuple, list, mapping or partial with a function applied to every array that it holds.

    Values that stay on the host (kernels, whose hyper-parameters are few numbers) are left as they are.

    Examples
    --------
    >>> map_arrays({"a": np.ones(2), "b": (np.zeros(1), "text")}, lambda x: x + 1.0)
    {'a': array([2., 2.]), 'b': (array([1.]), 'text')}
    """
    if is_array_api_obj(record) and not isinstance(record, np.generic):
        return function(record)
    if isinstance(record, (tuple, list)):
        parts = [map_arrays(part, function) for part in record]
        return type(record)(*parts) if hasattr(record, "_fields") else type(record)(parts)
    if isinstance(record, dict):
        return {key: map_arrays(part, function) for key, part in record.items()}
    if isinstance(record, partial):
        given, options = (map_arrays(each, function) for each in (record.args, record.keywords))
        return partial(record.func, *given, **options)
    if is_dataclass(record) and not isinstance(record, type) and not getattr(record, "stays_on_host", False):
        given = parameters(record)
        found = map_arrays(given, function)
        return replace(record, **found) if any(found[name] is not given[name] for name in given) else record
    return _map_estimator(record, function) if hasattr(record, "_library_") else record


def _map_estimator(fitted: Any, function: Callable[[Array], Array]) -> Any:
    """Return a fitted estimator that a model holds with a function applied to what it learned."""
    moved = copy(fitted)
    learned = {name: map_arrays(x, function) for name, x in vars(fitted).items() if name.endswith("_")}
    arrays = [x for x in learned.values() if is_array_api_obj(x)]
    if arrays:
        others = [x for x in arrays if is_foreign_array(x)]
        learned["_library_"] = library_of(others[0]) if others else None
    moved.__dict__ |= learned
    return moved


def on_host(record: Any) -> Any:
    """Return a value with its arrays as NumPy's.

    Examples
    --------
    >>> on_host((np.ones(1), 2.0))
    (array([1.]), 2.0)
    """
    return map_arrays(record, lambda x: to_numpy(x) if is_foreign_array(x) else x)


def beside(record: Any, like: Array) -> Any:
    """Return a value with its arrays of numbers in the library, and on the device, of another array.

    Examples
    --------
    >>> beside({"a": np.ones(2)}, np.zeros(1))
    {'a': array([1., 1.])}
    """
    if is_numpy_array(like):
        return on_host(record)
    xp, place = namespace_of(like), device(like)

    def moved(x: Array) -> Array:
        if not is_numpy_array(x) or x.dtype.kind not in "fiub":
            return x
        # A copy: the library may share memory, and the arrays of values are read-only.
        return xp.asarray(np.array(x, dtype=tensor_type(x.dtype)), device=place)

    return map_arrays(record, moved)


def tensor_type(kind: np.dtype) -> np.dtype:
    """Return the type of NumPy in which numbers go to other libraries: of this machine, of 64 bits at most.

    Examples
    --------
    >>> tensor_type(np.dtype(">f4")), tensor_type(np.dtype(np.longdouble))
    (dtype('float32'), dtype('float64'))
    """
    return np.dtype(np.float64) if kind.char == "g" else kind.newbyteorder("=")


def as_plain(name: str, x: Array) -> Array:
    """Return an array of another library that numbers can be computed with.

    Of a tensor that records gradients, the numbers alone; half precision as float32, which is exact.

    Examples
    --------
    >>> as_plain("X", np.ones(2)).tolist()
    [1.0, 1.0]
    """
    if not is_torch_array(x):
        return x
    if str(x.layout) != "torch.strided":
        raise ValueError(f"{name} is a sparse tensor, and must be dense: {name}.to_dense()")
    if x.device.type in _NO_DOUBLES:
        raise ValueError(f"{name} is on the device {x.device}, {_NO_DOUBLES[x.device.type]}")
    x = x.detach()
    return x.float() if str(x.dtype) in ("torch.float16", "torch.bfloat16") else x


#: Devices of torch that cannot be computed on.
_NO_DOUBLES = {
    "mps": "which has no float64, in which sums are taken: use a copy on the CPU",
    "meta": "which holds no numbers",
}


def placed(name: str, x: Any, like: Array) -> Any:
    """Return an array that goes with rows: of NumPy, moved to them; of another library, if it is there.

    Examples
    --------
    >>> placed("y", [1.0, 2.0], np.zeros((2, 1)))
    [1.0, 2.0]
    """
    if not is_foreign_array(like):
        return x
    if not is_foreign_array(x):
        return beside(np.asarray(x), like)
    x = as_plain(name, x)
    if library_of(x) != library_of(like):
        raise ValueError(
            f"{name} is an array of {library_of(x)}, and X one of {library_of(like)}: convert one of them"
        )
    if str(device(x)) != str(device(like)):
        raise ValueError(
            f"{name} is on the device {device(x)}, and X on {device(like)}; nothing is moved silently: "
            "move one of them"
        )
    return x


def on_accelerator(x: Array) -> bool:
    """Whether an array is on a device of its own, a GPU say, whose kernels are quickest on large blocks.

    Examples
    --------
    >>> on_accelerator(np.ones(2))
    False
    """
    return is_foreign_array(x) and "cpu" not in str(device(x)).lower()


#: Whether single precision was asked for, and whether a pass over rows is made in it now.
_ASKED: ContextVar[bool] = ContextVar("asked", default=False)
_SINGLE: ContextVar[bool] = ContextVar("single", default=False)


@contextmanager
def precision(kind: str) -> Iterator[None]:
    """Choose the precision of the passes of a search over float32 rows on a device.

    Sums over rows are in double precision otherwise, whatever the rows hold. In single precision the E-steps
    of mixtures and the assignments of k-means are three to seven digits precise, take half of the memory, and
    on devices without fast double precision a small part of the time. The sums of blocks are added, and
    parameters found from them, in double precision all the same.

    Parameters
    ----------
    kind : {"single", "double"}
        The precision within the context.

    Examples
    --------
    >>> import tractable
    >>> with tractable.precision("single"):
    ...     model = tractable.KMeans(2, random_state=0).fit(np.eye(4))  # of NumPy: in double precision
    """
    if kind not in ("single", "double"):
        raise ValueError(f'kind must be "single" or "double", got {kind!r}')
    token = _ASKED.set(kind == "single")
    try:
        yield
    finally:
        _ASKED.reset(token)


def asks_single() -> bool:
    """Whether single precision was asked for, which rows that are not float32 on a device do without."""
    return _ASKED.get()


def is_single(x: Array) -> bool:
    """Whether a pass in single precision is made over rows, which are float32 on a device."""
    return _SINGLE.get() and is_foreign_array(x) and x.dtype == namespace_of(x).float32


def pass_over(rows: Array, of: Callable[..., Any], *given: Any) -> Any:
    """Return on the host what a function finds of what it is given, moved to the device of rows.

    In single precision where that was asked for and the rows are float32.
    """
    moved = beside(given, rows)
    if not (_ASKED.get() and rows.dtype == namespace_of(rows).float32):
        return on_host(of(*moved))
    xp = namespace_of(rows)
    token = _SINGLE.set(True)
    try:
        found = of(*map_arrays(moved, lambda x: xp.astype(x, rows.dtype) if _is_double(x) else x))
    finally:
        _SINGLE.reset(token)
    return map_arrays(on_host(found), lambda x: x.astype(np.float64) if x.dtype == np.float32 else x)


def _is_double(x: Array) -> bool:
    return is_foreign_array(x) and x.dtype == namespace_of(x).float64


def beside_rows(step: F) -> F:
    """Make a function of a block, of a value that holds parameters, run where the rows of the block are.

    The parameters, which are small, go to the rows, and what is found comes back: the rows stay.
    """

    @wraps(step)
    def called(self: Any, block: Any) -> Any:
        if not is_foreign_array(block.X):
            return step(self, block)
        return on_host(step(beside(self, block.X), block))

    return called  # type: ignore[return-value]


def torch_and_device(place: Any) -> tuple[Any, Any]:
    """Return torch, and a device of it that is named, or refuse one that is not here."""
    try:
        torch = import_module("torch")
    except ImportError:
        raise ImportError(f"device={place!r} needs torch: install it, with support of that device") from None
    try:
        found = torch.device(place)
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise ValueError(f"device must be one that torch finds here, got {place!r}: {error}") from None
    if found.type in _NO_DOUBLES:
        raise ValueError(f"device must not be {place!r}, {_NO_DOUBLES[found.type]}")
    return torch, found


def empty_tensor(place: Any) -> Array:
    """Return a tensor of torch without entries, float64, on a device that is named."""
    torch, found = torch_and_device(place)
    return torch.empty(0, dtype=torch.float64, device=found)


def device_of(x: Array) -> AbstractContextManager[Any]:
    """Return a context in which kernels run on the GPU of a tensor; a thread may have another otherwise."""
    return import_module("torch").cuda.device_of(x)


def free_memory(x: Array) -> int | None:
    """Return how many bytes of the device of an array are free; None where its library does not say.

    Examples
    --------
    >>> free_memory(np.ones(2)) is None
    True
    """
    place = device(x)
    if getattr(place, "type", None) != "cuda":
        return None
    cuda = import_module("torch").cuda
    # What torch has taken from the device and does not use is free, too. Nested, as it is: flat takes longer.
    held = cuda.memory_stats_as_nested_dict(place)
    reserved, used = (held[name]["all"]["current"] for name in ("reserved_bytes", "allocated_bytes"))
    return int(cuda.mem_get_info(place)[0]) + int(reserved - used)


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error says that there is not enough memory: of torch, CuPy, JAX, or the host's.

    Examples
    --------
    >>> is_out_of_memory(MemoryError()), is_out_of_memory(ValueError())
    (True, False)
    """
    named = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    return named or "RESOURCE_EXHAUSTED" in str(error)


class _ClearDeviceErrors:
    """See `clear_device_errors`; no generator, which takes as long as a small product."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if not isinstance(error, RuntimeError):
            return
        said = str(error).split("\n", 1)[0]
        if is_out_of_memory(error):
            raise MemoryError(
                f"the device has too little memory for this ({said}): free some of it, give fewer rows, or "
                "choose a model that holds no matrix of all pairs of rows"
            ) from error
        if type(error).__name__ == "AcceleratorError" or "CUDA error" in said:
            raise RuntimeError(
                f"the device failed, and what was on it is lost ({said}): begin in a new process"
            ) from error


_clear = _ClearDeviceErrors()


def clear_device_errors() -> AbstractContextManager[None]:
    """Raise one error that says what to do where a device is full, or lost, in place of its library's."""
    return _clear
