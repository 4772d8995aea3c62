"""Arrays on the host and on devices: values that hold arrays are moved, whole, where they are asked to be."""

from collections.abc import Callable
from copy import copy
from dataclasses import is_dataclass
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np

from tractable.arrays.namespace import (
    Array,
    device,
    is_array_api_obj,
    is_foreign_array,
    is_numpy_array,
    library_of,
    namespace_of,
    to_numpy,
)
from tractable.value import parameters, replace

__all__ = ["beside", "beside_rows", "map_arrays", "on_accelerator", "on_host"]

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
        return xp.asarray(np.array(x), device=place)

    return map_arrays(record, moved)


def on_accelerator(x: Array) -> bool:
    """Whether an array is on a device of its own, a GPU say, whose kernels are quickest on large blocks.

    Examples
    --------
    >>> on_accelerator(np.ones(2))
    False
    """
    return is_foreign_array(x) and "cpu" not in str(device(x)).lower()


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
