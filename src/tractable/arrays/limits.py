"""Numbers too large or too small to square: the one limit, and the one check of it."""

from math import isnan
from typing import Any

from tractable.arrays.namespace import namespace_of

__all__ = ["LARGEST", "check_squarable", "is_squarable", "too_large"]

#: Squares of differences of numbers up to this size, and sums of millions of such squares, do not overflow;
#: squares of numbers down to its inverse do not underflow.
LARGEST = 1e150


def check_squarable(name: str, x: Any, *, nonzero: bool = False) -> Any:
    """Return a number or an array whose squares do not overflow; missing entries may be among them.

    If `nonzero`, the squares must not all underflow either, unless all entries are zero.

    Examples
    --------
    >>> check_squarable("y", 1e100)
    1e+100
    >>> check_squarable("y", 1e200)
    Traceback (most recent call last):
        ...
    ValueError: y has values so large that their squares overflow; rescale y
    """
    size = _largest(x)
    if size > LARGEST:
        raise too_large(name)
    if nonzero and 0.0 < size < 1.0 / LARGEST:
        raise ValueError(f"{name} has values so small that their squares underflow; rescale {name}")
    return x


def too_large(name: str) -> ValueError:
    """Return the error of an argument whose squares overflow."""
    return ValueError(f"{name} has values so large that their squares overflow; rescale {name}")


def is_squarable(x: Any) -> bool:
    """Return whether the square of every entry, and of its inverse, is a number.

    Examples
    --------
    >>> is_squarable(1e-100), is_squarable(1e-160)
    (True, False)
    """
    xp = namespace_of(x)
    size = xp.abs(xp.asarray(x, dtype=xp.float64))
    return bool(xp.all((size > 1.0 / LARGEST) & (size < LARGEST)))


def _largest(x: Any) -> float:
    """Return max |x| over the entries that are not missing; 0 of none."""
    if isinstance(x, float):
        return abs(x)
    xp = namespace_of(x)
    if 0 in x.shape:
        return 0.0
    size = xp.abs(x)
    largest = float(xp.max(size))
    return float(xp.max(xp.where(xp.isnan(size), xp.zeros_like(size), size))) if isnan(largest) else largest
