"""Events of any kind, for laws: an array, or a tuple of arrays with the same leading axes."""

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["at", "each", "flat", "length", "parts", "shapes"]


def parts(x: Any) -> tuple[Any, ...]:
    """Return the arrays that events are made of."""
    return tuple(x) if isinstance(x, tuple) else (x,)


def shapes(d: Any) -> tuple[tuple[int, ...], ...]:
    """Return the shape of each part of one event.

    Examples
    --------
    >>> import tractable
    >>> shapes(tractable.Normal(mean=0.0, variance=1.0))
    ((),)
    """
    nested = any(isinstance(size, tuple) for size in d.event_shape)
    return tuple(d.event_shape) if nested else (d.event_shape,)


def each(function: Callable[..., Any], x: Any, *others: Any) -> Any:
    """Apply a function of arrays to each part of events, and return events."""
    if not isinstance(x, tuple):
        return function(x, *others)
    changed = [function(*arrays) for arrays in zip(x, *others, strict=True)]
    return type(x)(*changed) if hasattr(x, "_fields") else type(x)(changed)


def at(x: Any, index: Any) -> Any:
    """Return some of the events by an index of their leading axes.

    Examples
    --------
    >>> import numpy as np
    >>> at((np.arange(3), np.ones((3, 2))), 1)
    (np.int64(1), array([1., 1.]))
    """
    return each(lambda part: part[index], x)


def length(x: Any) -> int:
    """Return how many events there are on the first axis."""
    return len(parts(x)[0])


def flat(d: Any, x: Any) -> np.ndarray:
    """Return events as one array with all entries of an event on the last axis.

    Examples
    --------
    >>> import numpy as np
    >>> import tractable
    >>> d = tractable.Normal(mean=0.0, variance=1.0)
    >>> flat(d, d.sample(5, rng=0)).shape
    (5, 1)
    """
    entries = []
    for part, shape in zip(parts(x), shapes(d), strict=True):
        part = np.asarray(part)  # noqa: PLW2901
        entries.append(part.reshape((*part.shape[: part.ndim - len(shape)], int(np.prod(shape)))))
    return np.concatenate(entries, axis=-1)
