"""Randomness comes from `rng` alone."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array, is_torch_array, namespace_of, to_numpy

__all__ = [
    "as_generator",
    "either_seed_name",
    "log_standard_gamma",
    "moved",
    "row_uniforms",
    "standard_gamma",
    "standard_normal",
    "uniform",
]

R = TypeVar("R")


def either_seed_name(function: Callable[..., R]) -> Callable[..., R]:
    """Let a function that takes `rng`, or `random_state`, be given it by either name.

    Examples
    --------
    >>> @either_seed_name
    ... def draw(n, *, rng=None):
    ...     return as_generator(rng).random(n)
    >>> bool((draw(3, rng=1) == draw(3, random_state=1)).all())
    True
    """
    own = "rng" if "rng" in signature(function).parameters else "random_state"
    other = "random_state" if own == "rng" else "rng"

    @wraps(function)
    def called(*args: Any, **given: Any) -> R:
        if other in given:
            if own in given:
                raise ValueError("rng and random_state name the same thing: give one of them")
            given[own] = given.pop(other)
        return function(*args, **given)

    called.seed_names = (own, other)  # type: ignore[attr-defined]  # decorators around it keep it
    return called


def as_generator(rng: Any = None, *, name: str = "rng") -> np.random.Generator:
    """Return a NumPy Generator from None (fresh entropy), a seed, a RandomState or a Generator.

    `name` is what an error calls it.

    Examples
    --------
    >>> as_generator(3).random() == as_generator(3).random()
    True
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, np.random.RandomState):
        return np.random.default_rng(rng.randint(np.iinfo(np.int32).max))
    if rng is None or (isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0):
        return np.random.default_rng(rng)
    raise ValueError(
        f"{name} must be None, a non-negative integer, a RandomState or a Generator, got {rng!r}"
    )


def row_uniforms(x: np.ndarray, seed: int) -> np.ndarray:
    """Return a number in [0, 1) for every row, a hash of its bits and of a seed (splitmix64).

    Equal rows have equal numbers, wherever they stand.

    Examples
    --------
    >>> found = row_uniforms(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]), 0)
    >>> bool(found[0] == found[2]), bool(found[0] == found[1])
    (True, False)
    """
    state = np.full(len(x), seed, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in np.ascontiguousarray(x.T):
            state = (state ^ column.view(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
            state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            state ^= state >> np.uint64(31)
    return (state >> np.uint64(11)) * 2.0**-53


def standard_normal(rng: Any, shape: tuple[int, ...], like: Array) -> Array:
    """Draw standard normals as an array of `like`'s library, dtype and device."""
    return moved(as_generator(rng).standard_normal(shape), like)


def uniform(rng: Any, shape: tuple[int, ...], like: Array) -> Array:
    """Draw from [0, 1) as an array of `like`'s library, dtype and device."""
    return moved(as_generator(rng).random(shape), like)


def standard_gamma(rng: Any, shape: Array, n: int) -> Array:
    """Draw n times from each Gamma(shape, 1), (n, *shape.shape), as arrays like `shape`."""
    a = to_numpy(shape)
    return moved(as_generator(rng).standard_gamma(a, size=(n, *a.shape)), like=shape)


def log_standard_gamma(rng: Any, shape: Array, n: int) -> Array:
    """Draw logarithms of Gamma(shape, 1) variables, (n, *shape.shape), however small the shape.

    If g ~ Gamma(a + 1, 1) and u is uniform, then g u^(1/a) ~ Gamma(a, 1); its logarithm does not underflow.

    Examples
    --------
    >>> import numpy as np
    >>> bool(np.isfinite(log_standard_gamma(0, np.array([1e-6]), 100)).all())
    True
    """
    rng = as_generator(rng)
    a = to_numpy(shape).astype(np.float64)
    size = (n, *a.shape)
    draws = np.log(rng.standard_gamma(a + 1.0, size=size)) - rng.standard_exponential(size) / a
    return moved(draws, like=shape)


def moved(draws: np.ndarray, like: Array) -> Array:
    """Return draws as an array of `like`'s library, dtype and device.

    They are made on the host for every library, so that one seed gives one answer whatever the device.
    """
    if is_numpy_array(like):
        return draws.astype(like.dtype, copy=False)
    xp = namespace_of(like)
    if is_torch_array(like):
        return xp.asarray(draws, dtype=like.dtype, device=like.device)
    return xp.astype(xp.asarray(draws), like.dtype)
