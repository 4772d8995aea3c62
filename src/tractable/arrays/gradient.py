"""Derivatives by differences: what every hand-written gradient is checked against."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, as_float_array, device, namespace_of, to_numpy

__all__ = ["check_gradient", "numerical_gradient"]

_LEVELS = 6


def numerical_gradient(f: Callable[[Array], Any], x: Array) -> Array:
    r"""Return ∂f/∂x by central differences, extrapolated to a step of zero (Richardson; Ridders 1982).

    Steps are tried both relative to each coordinate and of order one, and the steadier answer is kept, so
    that neither tiny nor huge coordinates need a hint. Steps to where f refuses the point (ValueError) or is
    not finite are given up.

    Parameters
    ----------
    f : callable
        A number, or an array, of x.
    x : array
        Where to differentiate.

    Returns
    -------
    array (\*f(x).shape, \*x.shape)

    Examples
    --------
    >>> import numpy as np
    >>> numerical_gradient(lambda x: x @ x, np.array([1.0, -2.0])).round(9)
    array([ 2., -4.])
    """
    xp = namespace_of(x)
    x = as_float_array(x, xp)
    estimate, _ = _gradient_and_error(f, x)
    return xp.asarray(estimate, dtype=x.dtype, device=device(x))


def check_gradient(
    f: Callable[[Array], Any],
    gradient: Callable[[Array], Array] | Array,
    x: Array,
    *,
    rtol: float = 1e-7,
    atol: float = 0.0,
) -> None:
    r"""Raise an AssertionError unless `gradient` is the derivative of f at x.

    Parameters
    ----------
    f : callable
        A number, or an array, of x.
    gradient : callable or array
        The derivative, or its value at x, of shape (\*f(x).shape, \*x.shape).
    x : array
        Where to compare.
    rtol, atol : float
        Allowed difference, over and above the error of the differences themselves.

    Examples
    --------
    >>> import numpy as np
    >>> check_gradient(np.sin, np.cos, np.array(1.0))
    >>> check_gradient(np.sin, np.sin, np.array(1.0))
    Traceback (most recent call last):
    AssertionError: gradient at index () is 0.8414..., but differences say 0.5403...
    """
    x = as_float_array(x)
    expected, error = _gradient_and_error(f, x)
    given = to_numpy(gradient(x) if callable(gradient) else namespace_of(gradient).asarray(gradient))
    assert given.shape == expected.shape, f"gradient has shape {given.shape}, not {expected.shape}"
    excess = np.abs(given - expected) - (10.0 * error + atol + rtol * np.abs(expected))
    worst = np.unravel_index(np.argmax(np.where(np.isnan(excess), np.inf, excess)), excess.shape)
    assert excess[worst] <= 0.0, (
        f"gradient at index {tuple(map(int, worst))} is {given[worst]}, "
        f"but differences say {expected[worst]} ± {error[worst]:.1g}"
    )


def _gradient_and_error(f: Callable[[Array], Any], x: Array) -> tuple[np.ndarray, np.ndarray]:
    at_x = _value(f, x)
    if not np.all(np.isfinite(at_x)):
        raise ValueError("f must be finite at x")
    host = to_numpy(x)
    with np.errstate(all="ignore"):
        columns = [_partial(f, x, index, float(host[index]), at_x) for index in np.ndindex(host.shape)]
    shape = at_x.shape + host.shape
    estimate = np.stack([c[0] for c in columns], axis=-1) if columns else np.zeros(shape)
    error = np.stack([c[1] for c in columns], axis=-1) if columns else np.zeros(shape)
    return estimate.reshape(shape), error.reshape(shape)


def _partial(
    f: Callable[[Array], Any], x: Array, index: tuple[int, ...], at: float, at_x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Differentiate along one coordinate, for the better of two scales of steps."""
    relative = 2.0 ** np.floor(np.log2(abs(at))) if at else 1.0
    found = [_ridders(f, x, index, scale, at_x) for scale in sorted({relative, max(relative, 1.0)})]
    best, error = found[0]
    for other, other_error in found[1:]:
        better = other_error < error
        best, error = np.where(better, other, best), np.where(better, other_error, error)
    return best, error


def _ridders(
    f: Callable[[Array], Any], x: Array, index: tuple[int, ...], scale: float, at_x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Extrapolate differences over halved steps; the error is how much the last corrections disagree."""
    steps = scale * 0.5 ** np.arange(3, 3 + _LEVELS)
    differences = [_difference(f, x, index, h, at_x) for h in steps]
    column, sizes = (np.stack(parts) for parts in zip(*differences, strict=True))
    best, error = column[-1], np.full(at_x.shape, np.inf)
    noise = float(namespace_of(x).finfo(x.dtype).eps) * sizes[-1] / steps[-1]
    for order in range(1, _LEVELS):
        finer = column[1:] + (column[1:] - column[:-1]) / (4.0**order - 1.0)
        spread = np.maximum(np.abs(finer - column[1:]), np.abs(finer - column[:-1])) + noise
        spread = np.where(np.isfinite(spread), spread, np.inf)
        row = np.argmin(spread, axis=0)[None]
        guess = np.take_along_axis(spread, row, axis=0)[0]
        best = np.where(guess < error, np.take_along_axis(finer, row, axis=0)[0], best)
        error = np.minimum(guess, error)
        column = finer
    return best, error


def _difference(
    f: Callable[[Array], Any], x: Array, index: tuple[int, ...], step: float, at_x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the central difference over a step, and the size of the values it was taken from."""
    xp = namespace_of(x)
    unit = np.zeros(tuple(x.shape))
    unit[index] = step
    shift = xp.asarray(unit, dtype=x.dtype, device=device(x))
    ahead, behind = x + shift, x - shift
    width = float(to_numpy(ahead)[index]) - float(to_numpy(behind)[index])
    try:
        above, below = _value(f, ahead), _value(f, behind)
    except ValueError:
        above = below = np.full(at_x.shape, np.nan)
    return (above - below) / width, np.maximum(np.abs(above), np.abs(below))


def _value(f: Callable[[Array], Any], x: Array) -> np.ndarray:
    value = f(x)
    return np.asarray(to_numpy(namespace_of(value).asarray(value)), dtype=np.float64)
