"""Integrals over a line: Gauss-Legendre panels, halved where they have not settled."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tractable.arrays.grouping import weighted_counts
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.value import value

N_NODES = 16
MAX_PANELS = 2**14


@value
class Integral:
    """An integral and a bound on its error, or arrays.

    Parameters
    ----------
    value : float or array
        The integral.
    error : float or array
        A bound on its error.
    size : float or array
        The integral of |f|, roughly.
    converged : bool or array
        Whether all panels were halved until their halves agreed.
    """

    value: Array
    error: Any
    size: Any
    converged: Any

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
    f: Callable[..., Array],
    breaks: Array,
    *,
    rtol: Any = 1e-12,
    max_depth: int = 48,
    n_nodes: int = N_NODES,
) -> Integral:
    """Return ∫ f(x) dx from the first break to the last, or of each row of breaks.

    Every panel is measured whole and in halves by Gauss and Legendre's rule; where the two differ by more
    than `rtol` of the whole integral's size, the halves are panels in turn. All panels of a round are
    evaluated in one call.

    Parameters
    ----------
    f : callable
        ``f(x)`` takes an array (m,) and returns (m, *shape): a number, or an array of them, at each point. Of
        rows ``f(x, rows)`` takes two arrays (m,), and returns the integrands of these rows, (m,).
    breaks : array (b,), or (n, b)
        Increasing; the ends, and points where f bends. f is never evaluated at a break. Rows are integrals of
        their own: value, error, size and converged are then arrays (n,).
    rtol : float, or array (n,)
        How far the halves of a panel may differ, relative to the size of the integral.
    max_depth : int
        How often a panel may be halved.
    n_nodes : int
        Nodes of a panel.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(integrate(np.sqrt, np.array([0.0, 1.0])).value), 12)
    0.666666666667
    >>> integrate(lambda x: x[:, None] ** np.array([1, 2]), np.array([0.0, 6.0])).value.round(9)
    array([18., 72.])
    >>> integrate(lambda x, rows: x**rows, np.array([[0.0, 6.0], [0.0, 2.0]])).value.round(9)
    array([6., 2.])
    """
    if breaks.ndim == 1:
        options = {"rtol": rtol, "max_depth": max_depth, "n_nodes": n_nodes}
        found = integrate(lambda x, _: f(x), breaks[None, :], **options)
        numbers = {"error": float(found.error[0]), "size": float(found.size[0])}
        return Integral(value=found.value[0, ...], converged=bool(found.converged[0]), **numbers)
    xp, n = namespace_of(breaks), breaks.shape[0]
    eps, error = float(xp.finfo(breaks.dtype).eps), xp.zeros_like(breaks[:, 0])
    rtol, settled_size = xp.clip(rtol + error, min=8.0 * eps), error
    low, high = (xp.reshape(ends, (-1,)) for ends in (breaks[:, :-1], breaks[:, 1:]))
    some = _where(~(high <= low))
    low, high, rows = xp.take(low, some), xp.take(high, some), some // (breaks.shape[1] - 1)
    whole, sizes = _panels(f, rows, low, high, n_nodes)
    total, size = xp.zeros_like(_row_sums(whole, rows, n)), _row_sums(sizes, rows, n)
    for _ in range(max_depth):
        middle, both = 0.5 * (low + high), _interleaved(rows, rows)
        # Rounding of the nodes themselves makes a panel too narrow to be halved again settle as it is.
        narrow = high - low <= 16.0 * eps * xp.abs(middle)
        low, high = _interleaved(low, middle), _interleaved(middle, high)
        parts, sizes = _panels(f, both, low, high, n_nodes)
        halves, sizes = (x[0::2, ...] + x[1::2, ...] for x in (parts, sizes))
        with np.errstate(invalid="ignore"):  # infinity less infinity
            gap = _largest(xp.abs(halves - whole))
        gap = xp.where(xp.isfinite(gap), gap, xp.full_like(gap, xp.inf))
        size = settled_size + _row_sums(sizes, rows, n)
        lost = xp.isinf(_row_sums(gap, rows, n))  # it will not settle
        good = (gap <= xp.take(rtol * size, rows)) | narrow | xp.take(lost, rows)
        owners, *settled = (xp.take(x, _where(good), axis=0) for x in (rows, halves, gap, sizes))
        added = (_row_sums(x, owners, n) for x in settled)
        total, error, settled_size = (a + b for a, b in zip((total, error, settled_size), added, strict=True))
        bad = _where(_interleaved(~good, ~good))
        low, high, whole, rows = (xp.take(x, bad, axis=0) for x in (low, high, parts, both))
        if not 0 < rows.shape[0] <= MAX_PANELS * n:
            break
    return Integral(
        value=total + _row_sums(whole, rows, n),
        error=error + _row_sums(_largest(xp.abs(whole)), rows, n),
        size=size,
        converged=xp.isfinite(error) & (_row_sums(high - low, rows, n) == 0.0),
    )


def _panels(
    f: Callable[[Array, Array], Array], rows: Array, low: Array, high: Array, n_nodes: int
) -> tuple[Array, Array]:
    """Return the integral over each panel, (m, *shape), and the largest entry of that of |f|, (m,)."""
    xp = namespace_of(low)
    x, weights = gauss_legendre(low, high, n_nodes)
    owners = xp.broadcast_to(rows[:, None], tuple(x.shape))
    found = f(xp.reshape(x, (-1,)), xp.reshape(owners, (-1,)))
    found = xp.reshape(found, (*x.shape, *found.shape[1:]))
    weights = xp.reshape(weights, (*x.shape, *(1,) * (found.ndim - 2)))
    return xp.sum(found * weights, axis=1), _largest(xp.sum(xp.abs(found) * weights, axis=1))


def _row_sums(x: Array, rows: Array, n: int) -> Array:
    """Return the sums of the entries x (m, …) that belong to each of n rows, (n, …)."""
    return namespace_of(x).sum(x, axis=0)[None, ...] if n == 1 else weighted_counts(rows, x, n)


def gauss_legendre(low: Array, high: Array, n_nodes: int) -> tuple[Array, Array]:
    """Return nodes and weights of Gauss and Legendre's rule from low to high, (*shape, n_nodes).

    Examples
    --------
    >>> import numpy as np
    >>> x, weights = gauss_legendre(np.array([0.0]), np.array([2.0]), 2)
    >>> np.sum(x**3 * weights, axis=-1).round(12)
    array([4.])
    """
    xp = namespace_of(low, high)
    place: dict[str, Any] = {"dtype": high.dtype, "device": device(high)}
    nodes, weights = (xp.asarray(a, **place) for a in _legendre(n_nodes))
    half = (0.5 * (high - low))[..., None]
    return (0.5 * (low + high))[..., None] + half * nodes, half * weights


@cache
def gauss_hermite(n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights, (n_nodes,), of Gauss and Hermite's rule for means over a standard normal."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(n_nodes)
    return nodes, weights / weights.sum()


@cache
def _legendre(n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(n_nodes)


def _largest(x: Array) -> Array:
    """Return the largest entry of each row, whatever its shape."""
    xp = namespace_of(x)
    return xp.max(xp.reshape(x, (x.shape[0], -1)), axis=1) if x.shape[0] else xp.reshape(x, (0,))


def _interleaved(a: Array, b: Array) -> Array:
    xp = namespace_of(a)
    return xp.reshape(xp.stack([a, b], axis=1), (-1,))


def _where(mask: Array) -> Array:
    return namespace_of(mask).nonzero(mask)[0]
