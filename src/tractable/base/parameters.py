"""Checks of constructor parameters: one ValueError that names the parameter."""

import inspect
from functools import cache
from typing import Any

import numpy as np

from tractable.arrays import cholesky
from tractable.arrays.numbers import check_count, check_number

__all__ = [
    "check_choice",
    "check_count",
    "check_flags",
    "check_number",
    "check_numbers",
    "check_values",
    "plain_numbers",
]


def check_numbers(name: str, given: Any, *, least: int = 1) -> list[int]:
    """Return whole numbers to try, each once and in order; refuse others.

    Examples
    --------
    >>> check_numbers("n_clusters", [3, 2, 3])
    [2, 3]
    """
    try:
        numbers = sorted({check_count(name, k, least=least) for k in given})
    except (TypeError, ValueError):
        numbers = []
    if not numbers:
        raise ValueError(f"{name} must be whole numbers from {least}, one at least, got {given!r}")
    return numbers


def check_values(name: str, given: Any, shape: tuple[int, ...], *, definite: bool = False) -> np.ndarray:
    """Return finite numbers of a shape, positive `definite` matrices where asked for, or refuse them.

    Examples
    --------
    >>> check_values("mean_prior", [0, 1], (2,))
    array([0., 1.])
    """
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers of shape {shape}, got {given!r}") from None
    if found.shape != shape or not np.all(np.isfinite(found)):
        raise ValueError(f"{name} must be finite numbers of shape {shape}, got shape {found.shape}")
    if definite:
        cholesky(found, name=name)
    return found


def check_choice(name: str, given: Any, choices: Any) -> None:
    """Refuse what is not one of the names.

    Examples
    --------
    >>> check_choice("solver", "qr", ["qr", "svd"])
    """
    if not (isinstance(given, str) and given in choices):
        raise ValueError(f"{name} must be one of {[*choices]}, got {given!r}")


def check_flags(estimator: Any) -> None:
    """Refuse what is neither True nor False for a parameter that is one of them when not given.

    Words such as "no" are true for Python, so that a slip would go unseen.

    Examples
    --------
    >>> import tractable
    >>> check_flags(tractable.Ridge(fit_intercept="no"))
    Traceback (most recent call last):
    ...
    ValueError: fit_intercept must be True or False, got 'no'
    """
    for name in _flags(estimator.__class__):
        given = getattr(estimator, name)
        if given is not True and given is not False and not isinstance(given, np.bool_):
            raise ValueError(f"{name} must be True or False, got {given!r}")


@cache
def _flags(kind: Any) -> tuple[str, ...]:
    own = inspect.signature(kind).parameters.values()
    return tuple(p.name for p in own if isinstance(p.default, bool))


def plain_numbers(estimator: Any) -> dict[str, Any]:
    """Return the parameters that are numbers of NumPy, as numbers of Python.

    Examples
    --------
    >>> import tractable
    >>> plain_numbers(tractable.GaussianMixture(np.int8(2)))
    {'n_components': 2}
    """
    return {
        name: x.item()
        for name, x in vars(estimator).items()
        if isinstance(x, np.generic)  # few are: the rest is asked of these alone
        and isinstance(x, (np.integer, np.floating, np.bool_))
        and not name.endswith("_")
    }
