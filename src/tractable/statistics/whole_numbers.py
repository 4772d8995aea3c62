"""What statistics of counts and labels ask of a block."""

from typing import Any

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["as_whole_numbers"]


def as_whole_numbers(x: Any) -> Array:
    """Return a block of counts or labels as float64, rows on the first axis: 0, 1, 2, … and nothing else."""
    xp = namespace_of(x)
    x = xp.asarray(x)
    if x.ndim < 1:
        raise ValueError("X must be a block of rows, got a single number")
    if not xp.isdtype(x.dtype, ("bool", "numeric")):
        raise ValueError(f"X must be whole numbers, got an array of {x.dtype}")
    x = x if x.dtype == xp.float64 else xp.astype(x, xp.float64)
    # Written so that NaN is rejected too.
    if not bool(xp.all((x >= 0) & (x == xp.floor(x)) & xp.isfinite(x))):
        raise ValueError("X must be whole numbers from 0 on, with no NaN")
    return x
