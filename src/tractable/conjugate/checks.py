"""Checks of rows, statistics and hyper-parameters of conjugate models."""

from math import floor, isfinite
from typing import Any

from tractable.arrays.batched import as_reals
from tractable.arrays.limits import check_squarable
from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.checks import check_finite, check_positive
from tractable.statistics.moments import Moments
from tractable.statistics.rows import as_whole_numbers


def check_statistic(statistic: Any, *kinds: type[Any]) -> None:
    """Refuse what is no statistic of this model."""
    if not isinstance(statistic, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"statistic must be a {names}, as summarize returns, got {type(statistic).__name__}")


def check_columns(statistic: Any, dim: int) -> None:
    """Refuse the statistic of other columns."""
    if statistic.dim != dim:
        raise ValueError(f"statistic must be of {dim} columns, got {statistic.dim}")


def check_moments(statistic: Any, dim: int) -> None:
    """Refuse what are no finite moments of these columns."""
    check_statistic(statistic, Moments)
    check_columns(statistic, dim)
    check_finite("statistic", statistic.scatter)


def as_numbers(X: Any, dim: int) -> Array:
    """Return finite rows of `dim` columns, two-dimensional; where there is one column, numbers will do."""
    X = as_reals("X", X)
    if X.ndim == 1 and dim == 1:
        X = namespace_of(X).reshape(X, (-1, 1))
    if X.ndim != 2 or X.shape[1] != dim:
        raise ValueError(f"X must have shape (n, {dim}), got {tuple(X.shape)}")
    check_finite("X", X)
    return check_squarable("X", X)


def as_counts(X: Any, most: float | None = None) -> Array:
    """Return one whole number a row, from 0 to `most`, one-dimensional; a single column will do."""
    X = as_whole_numbers(X)
    xp = namespace_of(X)
    if X.ndim == 2 and X.shape[1] == 1:
        X = xp.reshape(X, (-1,))
    if X.ndim != 1:
        raise ValueError(f"X must have shape (n,), got {tuple(X.shape)}")
    if most is not None and not bool(xp.all(most >= X)):
        raise ValueError(f"X must be at most {most:g}, got {float(xp.max(X)):g}")
    return X


def one_number(name: str, x: Any) -> Array:
    """Return one number, as an array without axes of its own library."""
    x = as_reals(name, x)
    if x.ndim:
        raise ValueError(f"{name} must be one number, got shape {tuple(x.shape)}")
    return x


def check_strength(strength: Any) -> float:
    """Return how many observations a prior is worth, a positive number."""
    number = one_number("strength", strength)
    check_positive("strength", number)
    return float(number)


def check_whole_number(name: str, x: Any) -> int:
    """Return one of the numbers 1, 2, 3, …"""
    number = float(one_number(name, x))
    if isinstance(x, bool) or not isfinite(number) or number != floor(number) or number < 1.0:
        raise ValueError(f"{name} must be a positive whole number, got {x!r}")
    return int(x)


def some_weight(statistic: Any) -> float:
    """Return the weight of a statistic of some rows."""
    weight = float(statistic.weight)
    if not weight > 0.0:
        raise ValueError("statistic must have a weight above 0")
    return weight
