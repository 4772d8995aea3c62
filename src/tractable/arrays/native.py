"""The library's own special functions, where it has them."""

from collections.abc import Callable
from typing import Any

from tractable.arrays.namespace import Array, as_float_array, is_numpy_array, is_torch_array, namespace_of

__all__ = ["floats", "horner", "special_function"]


def floats(*arrays: Any) -> tuple[Any, ...]:
    """Return the namespace the arguments share, then each of them as a floating array of it."""
    xp = namespace_of(*arrays)
    return (xp, *(as_float_array(x, xp) for x in arrays))


def special_function(name: str, agnostic: Callable[..., Array], *arrays: Any) -> Array:
    """Call SciPy's function on NumPy arrays, torch's on tensors if there is one, else the agnostic one."""
    _, *xs = floats(*arrays)
    if is_numpy_array(xs[0]):
        import scipy.special

        return getattr(scipy.special, name)(*xs)
    if is_torch_array(xs[0]):
        import torch

        return getattr(torch.special, name, agnostic)(*xs)
    return agnostic(*xs)


def horner(coefficients: tuple[float, ...], x: Array) -> Array:
    """Return c_0 + c_1 x + c_2 x² + …"""
    total = x * 0.0 + coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = total * x + c
    return total
