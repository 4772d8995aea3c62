"""What laws have in common: refusals of bad input, comparisons to rounding and sampling error, events."""

from collections.abc import Callable, Iterable
from inspect import isfunction, signature
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator
from tractable.value import parameters


def refused(call: Callable[[], Any], named: str) -> None:
    """Raise AssertionError unless the call raises a ValueError that names the argument."""
    try:
        call()
    except ValueError as error:
        assert named in str(error), f"the error does not name {named!r}: {error}"
    else:
        raise AssertionError(f"bad {named} was accepted")


#: A law: raises AssertionError when the instance breaks it.
Law = Callable[[Any, np.random.Generator], None]


def laws_above(module: dict[str, Any]) -> tuple[Law, ...]:
    """Return the laws that a module, given by its `globals()`, has defined and put in no tuple so far.

    A law is a public function ``law(instance, rng) -> None``.
    """
    listed = [law for found in module.values() if isinstance(found, tuple) for law in found]
    own = [f for name, f in module.items() if isfunction(f) and f.__module__ == module["__name__"]]
    return tuple(f for f in own if _is_law(f) and f not in listed)


def check_laws(laws: Iterable[Law], instance: Any, rng: Any) -> None:
    """Run laws on an instance, each with the generator of `rng`; the first that is broken raises."""
    for law in laws:
        law(instance, as_generator(rng))


def _is_law(function: Callable[..., Any]) -> bool:
    found = signature(function)
    needed = [p.name for p in found.parameters.values() if p.default is p.empty]
    public = not function.__name__.startswith("_")
    return public and needed[1:] == ["rng"] and found.return_annotation is None


#: How many standard errors away counts as wrong: one chance in two million.
SIGMAS = 5.0


def assert_frozen(record: Any) -> None:
    """Raise unless no parameter of a value can be set, nor its arrays be written to."""
    for name, x in parameters(record).items():
        assert not (isinstance(x, np.ndarray) and x.flags.writeable), f"{name} can be written"
        try:
            setattr(record, name, x)
        except AttributeError:
            continue
        raise AssertionError(f"{name} can be set")


def correlations(covariance: np.ndarray) -> np.ndarray:
    """Return covariance matrices divided by the standard deviations of their rows and columns."""
    scale = np.sqrt(np.einsum("...ii->...i", covariance))
    return covariance / scale[..., :, None] / scale[..., None, :]


def rounding_error(covariance: np.ndarray) -> float:
    """Return a bound on relative rounding errors: machine epsilon times the condition of the correlations."""
    condition = np.max(np.linalg.cond(correlations(covariance)))
    return float(100.0 * covariance.shape[-1] * np.finfo(np.float64).eps * condition)


def assert_same_matrix(found: np.ndarray, expected: np.ndarray, within: float = 1e-13) -> None:
    """Raise unless covariance matrices agree, relative to the standard deviations of rows and columns."""
    scale = np.sqrt(np.einsum("...ii->...i", expected))
    error = np.abs(found - expected)
    assert np.all(error <= within * scale[..., :, None] * scale[..., None, :]), f"{found} is not {expected}"


def assert_mean(draws: np.ndarray, expected: Any, what: str) -> None:
    """Raise unless the mean of independent draws is within five standard errors of what it should be."""
    draws = np.asarray(draws, dtype=np.float64)
    error = np.abs(draws.mean(axis=0) - expected)
    standard_error = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
    rounding = 1e-12 * (1.0 + np.abs(expected))
    worst = np.max(error - SIGMAS * standard_error - rounding)
    assert worst <= 0, f"{what}: mean {draws.mean(axis=0)}, expected {expected}, s.e. {standard_error}"


def largest_ks_distance(n: int) -> float:
    """Return the distance of an empirical distribution function that counts as wrong (Massart's bound)."""
    chance = 5.7e-7
    return float(np.sqrt(np.log(2.0 / chance) / (2.0 * n)))


def standardized(x: np.ndarray, mean: np.ndarray, stddev: np.ndarray) -> np.ndarray:
    """Return (x - mean) / stddev, and 0 for entries that have no finite, positive standard deviation."""
    known = np.isfinite(mean) & np.isfinite(stddev) & (stddev > 0)
    safe = np.where(known, stddev, 1.0)
    return np.where(known, (x - np.where(known, mean, 0.0)) / safe, 0.0)


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
