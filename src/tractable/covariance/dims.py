"""Which coordinates are meant: integers, slices or column names become positions."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from operator import index
from typing import Any

__all__ = ["other_dims", "resolve_dims"]


def resolve_dims(dims: Any, dim: int, names: Sequence[str] | None = None) -> tuple[int, ...]:
    """Return the positions that `dims` means among `dim` coordinates, in the order given.

    Parameters
    ----------
    dims : int, str, slice, or a sequence of ints and names
        Negative integers count from the end.
    dim : int
        How many coordinates there are.
    names : sequence of str, optional
        What the coordinates are called.

    Examples
    --------
    >>> resolve_dims([0, -1], 4)
    (0, 3)
    >>> resolve_dims(slice(1, None), 3)
    (1, 2)
    >>> resolve_dims("width", 2, names=("length", "width"))
    (1,)
    """
    if isinstance(dims, slice):
        return tuple(range(dim)[dims])
    one = isinstance(dims, str) or not isinstance(dims, Iterable)
    positions = tuple(_position(d, dim, names) for d in ([dims] if one else dims))
    if len(set(positions)) < len(positions):
        raise ValueError(f"dims must be distinct, got {dims!r}")
    return positions


def other_dims(dims: Sequence[int], dim: int) -> tuple[int, ...]:
    """Return the positions that are not in `dims`, in increasing order."""
    return tuple(i for i in range(dim) if i not in set(dims))


def _position(given: Any, dim: int, names: Sequence[str] | None) -> int:
    if isinstance(given, str):
        return _named(given, names)
    try:
        position = index(given)
    except TypeError:
        raise ValueError(f"dims must be integers, names or a slice, got {given!r}") from None
    if isinstance(given, bool) or not -dim <= position < dim:
        raise ValueError(f"dims must be integers from {-dim} to {dim - 1}, got {given!r}")
    return position % dim


def _named(given: str, names: Sequence[str] | None) -> int:
    if names is None:
        raise ValueError(f"dims has the name {given!r}, but the coordinates have no names; use integers")
    if given in names:
        return list(names).index(given)
    near = get_close_matches(given, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"dims has no coordinate {given!r} among {', '.join(map(repr, names))}{hint}")
