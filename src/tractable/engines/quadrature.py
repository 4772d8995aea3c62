"""Integrals over a line: Gauss-Legendre panels, halved where they have not settled."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.value import value

N_NODES = 16
MAX_PANELS = 2**14


@value
class Integral:
    """An integral and a bound on its error; `size` is the integral of the absolute value, roughly."""

    value: Array
    error: float
    size: float
    converged: bool

    def __add__(self, other: "Integral") -> "Integral":
        """Return the integral over both ranges."""
        return Integral(
            value=self.value + other.value,
            error=self.error + other.error,
            size=self.size + other.size,
            converged=self.converged and other.converged,
        )

    def __mul__(self, factor: float) -> "Integral":
        """Return the integral of so many times as much."""
        return Integral(
            value=self.value * factor,
            error=self.error * abs(factor),
            size=self.size * abs(factor),
            converged=self.converged,
        )


def integrate(
    f: Callable[[Array], Array], breaks: Array, *, rtol: float = 1e-12, max_depth: int = 48
) -> Integral:
    """Return ∫ f(x) dx from the first break to the last.

    Every panel is measured whole and in halves by Gauss and Legendre's rule of sixteen points; where the two
    differ by more than `rtol` of the whole integral's size, the halves are panels in turn. All panels of a
    round are evaluated in one call.

    Parameters
    ----------
    f : callable
        ``f(x)`` takes an array (m,) and returns (m, *shape): a number, or an array of them, at each point.
    breaks : array (n,)
        Increasing; the ends, and points where f bends. f is never evaluated at a break.
    rtol : float
        How far the halves of a panel may differ, relative to the size of the integral.
    max_depth : int
        How often a panel may be halved.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(integrate(np.sqrt, np.array([0.0, 1.0])).value), 12)
    0.666666666667
    >>> integrate(lambda x: x[:, None] ** np.array([1, 2]), np.array([0.0, 6.0])).value.round(9)
    array([18., 72.])
    """
    xp = namespace_of(breaks)
    rtol = max(rtol, 8.0 * float(xp.finfo(breaks.dtype).eps))
    low, high = breaks[:-1], breaks[1:]
    whole, size = _panels(f, low, high)
    total, error, settled_size = 0.0, 0.0, 0.0
    for _ in range(max_depth):
        middle = 0.5 * (low + high)
        low, high = _interleaved(low, middle), _interleaved(middle, high)
        parts, sizes = _panels(f, low, high)
        halves = parts[0::2, ...] + parts[1::2, ...]
        with np.errstate(invalid="ignore"):  # infinity less infinity
            gap = _largest(xp.abs(halves - whole))
        size = settled_size + float(xp.sum(sizes))
        if not bool(xp.all(xp.isfinite(gap))):
            value = total + xp.sum(parts, axis=0)
            return Integral(value=value, error=math.inf, size=size, converged=False)
        # Rounding of the nodes themselves makes a panel too narrow to be halved again settle as it is.
        narrow = (high - low)[0::2] <= 8.0 * xp.finfo(low.dtype).eps * xp.abs(middle)
        good = (gap <= rtol * size) | narrow
        total = total + xp.sum(xp.take(halves, _where(good), axis=0), axis=0)
        error += float(xp.sum(xp.take(gap, _where(good), axis=0)))
        bad = _interleaved(~good, ~good)
        settled_size += float(xp.sum(xp.take(sizes, _where(~bad), axis=0)))
        low, high, whole = (xp.take(x, _where(bad), axis=0) for x in (low, high, parts))
        if not low.shape[0]:
            return Integral(value=total, error=error, size=size, converged=True)
        if low.shape[0] > MAX_PANELS:
            break
    value = total + xp.sum(whole, axis=0)
    return Integral(
        value=value, error=error + float(xp.sum(_largest(xp.abs(whole)))), size=size, converged=False
    )


def _panels(f: Callable[[Array], Array], low: Array, high: Array) -> tuple[Array, Array]:
    """Return the integral over each panel, (n, *shape), and the largest entry of that of |f|, (n,)."""
    xp = namespace_of(low)
    place: dict[str, Any] = {"dtype": low.dtype, "device": device(low)}
    nodes, weights = (xp.asarray(a, **place) for a in np.polynomial.legendre.leggauss(N_NODES))
    half = 0.5 * (high - low)
    x = (0.5 * (low + high))[:, None] + half[:, None] * nodes
    found = f(xp.reshape(x, (-1,)))
    found = xp.reshape(found, (*x.shape, *found.shape[1:]))
    mass = xp.reshape(half[:, None] * weights, (*x.shape, *(1,) * (found.ndim - 2)))
    return xp.sum(found * mass, axis=1), _largest(xp.sum(xp.abs(found) * mass, axis=1))


def _largest(x: Array) -> Array:
    """Return the largest entry of each row, whatever its shape."""
    xp = namespace_of(x)
    return xp.max(xp.reshape(x, (x.shape[0], -1)), axis=1) if x.shape[0] else xp.reshape(x, (0,))


def _interleaved(a: Array, b: Array) -> Array:
    xp = namespace_of(a)
    return xp.reshape(xp.stack([a, b], axis=1), (-1,))


def _where(mask: Array) -> Array:
    return namespace_of(mask).nonzero(mask)[0]
