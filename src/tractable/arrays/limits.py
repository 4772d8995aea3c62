"""Numbers too large or too small to square: the one limit, and the one check of it."""

from math import frexp, isnan, ldexp
from typing import Any

from numpy import errstate, float64, ndarray, vdot

from tractable.arrays.namespace import Array, is_torch_array, namespace_of

__all__ = [
    "LARGEST",
    "check_coefficients",
    "check_squarable",
    "extremes",
    "is_squarable",
    "plainly_squarable",
    "power_of_two",
    "reciprocals",
    "too_large",
]

#: Squares of differences of numbers up to this size, and sums of millions of such squares, do not overflow;
#: squares of numbers down to its inverse do not underflow.
LARGEST = 1e150

#: Entries whose squares are summed before the extremes are looked for: BLAS wakes no other thread for them.
FEW_ENTRIES = 10_000


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
    if plainly_squarable(x):
        return x
    size = _largest(x)
    if size > LARGEST:
        raise too_large(name)
    if nonzero and 0.0 < size < 1.0 / LARGEST:
        raise ValueError(f"{name} has values so small that their squares underflow; rescale {name}")
    return x


def plainly_squarable(x: Any) -> bool:
    """Return whether the sum of all squares of a few numbers shows, in one pass, that nothing is wrong.

    They are finite then, and neither too large nor all too small to square.

    Examples
    --------
    >>> import numpy as np
    >>> plainly_squarable(np.ones(2)), plainly_squarable(np.array([1e200])), plainly_squarable(np.zeros(2))
    (True, False, False)
    """
    if type(x) is not ndarray or x.dtype != float64 or x.size > FEW_ENTRIES:
        return False
    return bool(1e10 / LARGEST**2 < vdot(x, x) < LARGEST**2)


def too_large(name: str) -> ValueError:
    """Return the error of an argument whose squares overflow."""
    return ValueError(f"{name} has values so large that their squares overflow; rescale {name}")


def is_squarable(size: Any) -> bool:
    """Return whether sizes are positive, and their squares and those of their inverses numbers.

    Examples
    --------
    >>> is_squarable(1e-100), is_squarable(1e-160)
    (True, False)
    """
    xp = namespace_of(size)
    size = xp.asarray(size, dtype=xp.float64)
    return bool(xp.all((size > 1.0 / LARGEST) & (size < LARGEST)))


def reciprocals(width: Any) -> Any:
    """Return 1 / width of the columns of X, or refuse columns so small that these are not numbers.

    Examples
    --------
    >>> import numpy as np
    >>> reciprocals(np.array([2.0])).tolist()
    [0.5]
    """
    xp = namespace_of(width)
    with errstate(over="ignore"):
        found = 1.0 / width
    if bool(xp.any(xp.isinf(found))):
        raise ValueError("X has columns so small that their reciprocals overflow; rescale its columns")
    return found


def check_coefficients(coef: Any) -> Any:
    """Return coefficients in the units of X, or refuse columns so small that these are not numbers.

    Examples
    --------
    >>> import numpy as np
    >>> check_coefficients(np.array([2.0])).tolist()
    [2.0]
    """
    xp = namespace_of(coef)
    if not bool(xp.all(xp.isfinite(coef))):
        raise ValueError("X has columns so small that their coefficients overflow; rescale its columns")
    return coef


def power_of_two(size: Any) -> Any:
    """Return the power of two at or below a size, or each of an array: division by it is exact. 1 for 0.

    Examples
    --------
    >>> power_of_two(5.0), power_of_two(0.3), power_of_two(0.0)
    (4.0, 0.25, 1.0)
    """
    if isinstance(size, float):
        return ldexp(0.5, frexp(size)[1]) if size > 0.0 else 1.0
    xp = namespace_of(size)
    return 2.0 ** xp.floor(xp.log2(xp.where(size > 0, size, xp.ones_like(size))))


def extremes(x: Array) -> tuple[float, float]:
    """Return the least and the greatest entry, NaN where one is NaN; of a tensor in one pass.

    Examples
    --------
    >>> import numpy as np
    >>> extremes(np.array([3.0, -1.0, 2.0]))
    (-1.0, 3.0)
    """
    xp = namespace_of(x)
    low, high = x.aminmax() if is_torch_array(x) else (xp.min(x), xp.max(x))
    return float(low), float(high)


def _largest(x: Any) -> float:
    """Return max |x| over the entries that are not missing; 0 of none."""
    if isinstance(x, float):
        return abs(x)
    xp = namespace_of(x)
    if 0 in x.shape:
        return 0.0
    low, high = extremes(x)  # without an array of absolute values
    largest = max(high, -low)
    if not isnan(largest):
        return largest
    size = xp.abs(x)
    return float(xp.max(xp.where(xp.isnan(size), xp.zeros_like(size), size)))
