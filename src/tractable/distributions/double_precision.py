"""Double precision inside, the caller's precision outside: for quadrature at every scale of the numbers."""

from collections.abc import Callable
from typing import Any, TypeVar

from tractable.arrays.namespace import Array, namespace_of
from tractable.value import parameters

__all__ = ["as_double", "found_in_double"]

T = TypeVar("T")


def found_in_double(divergence: Callable[[T, T], Array], p: T, q: T) -> Array:
    """Return a number of two distributions, found in double precision and rounded to their own."""
    xp = namespace_of(p.mean, q.mean)  # type: ignore[attr-defined]
    dtype = xp.result_type(p.mean, q.mean)  # type: ignore[attr-defined]
    return xp.astype(divergence(as_double(p), as_double(q)), dtype)


def as_double(x: Any) -> Any:
    """Return the same value with arrays of float64.

    Examples
    --------
    >>> import numpy as np
    >>> from tractable import Normal
    >>> as_double(Normal(mean=np.float32(1.0), variance=np.ones(2, dtype="float32"))).mean.dtype.name
    'float64'
    """
    if hasattr(x, "__dataclass_fields__"):
        return type(x)(**{name: as_double(part) for name, part in parameters(x).items()})
    if not hasattr(x, "dtype"):
        return x
    xp = namespace_of(x)
    return xp.astype(x, xp.float64) if xp.isdtype(x.dtype, "real floating") else x
