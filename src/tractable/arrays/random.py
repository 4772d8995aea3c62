"""Randomness comes from `rng` alone."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

import numpy as np

from tractable.arrays.namespace import (
    Array,
    is_numpy_array,
    is_sparse,
    is_torch_array,
    namespace_of,
    to_numpy,
)

__all__ = [
    "as_generator",
    "either_seed_name",
    "log_standard_gamma",
    "moved",
    "row_hashes",
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


#: The constants of splitmix64.
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def row_hashes(x: Array, seed: int) -> np.ndarray:
    """Return a hash of 64 bits for every row, of its numbers and of a seed.

    It is Σ_j (h_j(x_j) - h_j(0)), mixed once more, with h_j the function of splitmix64 for column j. Equal
    rows have equal hashes wherever they are: in any order, in 32 or 64 bits, sparse or dense, on a device.

    Examples
    --------
    >>> found = row_hashes(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]), 0)
    >>> bool(found[0] == found[2]), bool(found[0] == found[1])
    (True, False)
    """
    keys = _mixed(np.uint64(seed) + np.arange(1, x.shape[1] + 1, dtype=np.uint64) * np.uint64(_STEP))
    if is_torch_array(x):
        total = _torch_sums(x, keys)
    elif is_sparse(x):
        entries = _mixed(_bits(x.data) ^ keys[x.indices]) - _mixed(keys[x.indices])
        ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries)])
        total = ends[x.indptr[1:]] - ends[x.indptr[:-1]]
    else:
        columns = _bits(np.ascontiguousarray(to_numpy(x).T))
        total = np.zeros(x.shape[0], np.uint64) - np.sum(_mixed(keys))
        for column, key in zip(columns, keys, strict=True):
            total += _mixed(column ^ key)
    return _mixed(total ^ np.uint64(seed))


def row_uniforms(x: Array, seed: int) -> np.ndarray:
    """Return a number in [0, 1) for every row, from its hash; see `row_hashes`."""
    return (row_hashes(x, seed) >> np.uint64(11)) * 2.0**-53


def _bits(x: np.ndarray) -> np.ndarray:
    """Return the bits of numbers in double precision, with one zero and one NaN."""
    x = x.astype(np.float64) + 0.0
    x[np.isnan(x)] = np.nan
    return x.view(np.uint64)


def _mixed(state: np.ndarray) -> np.ndarray:
    """Return the last step of splitmix64."""
    state = state ^ (state >> np.uint64(30))
    state *= np.uint64(_FIRST)
    state ^= state >> np.uint64(27)
    state *= np.uint64(_SECOND)
    state ^= state >> np.uint64(31)
    return state


def _torch_sums(x: Array, keys: np.ndarray) -> np.ndarray:
    """Return Σ_j (h_j(x_j) - h_j(0)) of rows on a device; torch has no shifts of numbers without a sign."""
    import torch

    def mixed(state: Any) -> Any:
        state = (state ^ ((state >> 30) & (2**34 - 1))) * (_FIRST - 2**64)
        state = (state ^ ((state >> 27) & (2**37 - 1))) * (_SECOND - 2**64)
        return state ^ ((state >> 31) & (2**33 - 1))

    total = torch.zeros(x.shape[0], dtype=torch.int64, device=x.device)
    total -= int(np.sum(_mixed(keys)).astype(np.int64))
    for j, key in enumerate(keys.astype(np.int64).tolist()):
        column = x[:, j].to(torch.float64) + 0.0
        column = torch.where(torch.isnan(column), torch.nan, column)
        total += mixed(column.view(torch.int64) ^ key)
    return total.cpu().numpy().view(np.uint64)


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
