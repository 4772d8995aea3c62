"""Sums over whole numbers: term by term where they are few, by quadrature where they are many and smooth."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of

__all__ = ["sum_over_counts"]

_FEW = 2**15  # so many terms are added one by one
_EDGE = 1024  # terms added one by one at either end of a longer sum, where the summand may have a singularity
_CHUNK = 2**18  # numbers held at a time
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)

Summand = Callable[[Array], Array]


def sum_over_counts(f: Summand, low: Array, high: Array, center: Array, spread: Array) -> Array:
    """Return Σ f(k) over k = low, …, high, for arrays of ranges of one shape.

    Long sums are integrals by the midpoint rule read backwards (Euler and Maclaurin), Σ f(k) = ∫ f(x) dx -
    f'(x)/24 between half-integers, over panels that double in length away from both ends and are at most
    `spread` wide about the centre. What is left out is of the order of f''''/f at `_EDGE` terms from the end,
    below rounding.

    Parameters
    ----------
    f : callable
        ``f(k)`` takes an array (m, *shape), also of numbers that are not whole, and returns one like it.
    low, high : array (*shape)
        Whole numbers; the sum over an empty range is 0.
    center, spread : array (*shape)
        Where f has its bulk and how wide that is.
    """
    xp = namespace_of(low)
    longest = float(xp.max(high - low)) + 1.0 if prod(low.shape) else 0.0
    if longest <= _FEW:
        return _one_by_one(f, low, high, int(longest))
    is_long = high - low >= 2 * _EDGE
    first, last = low + _EDGE, high - _EDGE
    # A short range among long ones has its ends meet, and no middle.
    first, last = xp.where(is_long, first, high + 1.0), xp.where(is_long, last, high)
    ends = _one_by_one(f, low, first - 1.0, 2 * _EDGE + 1) + _one_by_one(f, last + 1.0, high, _EDGE)
    inner = _smooth(f, first, xp.where(is_long, last, first), _edges(low, high, center, spread))
    return ends + xp.where(is_long, inner, xp.zeros_like(inner))


def _one_by_one(f: Summand, low: Array, high: Array, n: int) -> Array:
    xp = namespace_of(low)
    total = xp.zeros_like(low)
    step = max(1, _CHUNK // max(1, prod(low.shape)))
    for start in range(0, n, step):
        k = low + _column(np.arange(start, min(start + step, n)), low)
        inside = k <= high
        terms = f(xp.where(inside, k, low))
        total = total + xp.sum(xp.where(inside, terms, xp.zeros_like(terms)), axis=0)
    return total


def _smooth(f: Summand, first: Array, last: Array, edges: Array) -> Array:
    """Return Σ f(k) over first, …, last as an integral over the panels that the edges cut."""
    xp = namespace_of(first)
    a, b = first - 0.5, last + 0.5
    cuts = xp.concat([a[None, ...], xp.sort(xp.clip(edges, a, b), axis=0), b[None, ...]], axis=0)
    half, middle = (0.5 * (cuts[1:, ...] + sign * cuts[:-1, ...]) for sign in (-1.0, 1.0))
    nodes, weights = (_column(rule, first)[:, None, ...] for rule in (_NODES, _WEIGHTS))
    points, measure = (xp.reshape(x, (-1, *first.shape)) for x in (middle + nodes * half, weights * half))
    total = xp.zeros_like(first)
    step = max(1, _CHUNK // max(1, prod(first.shape)))
    for start in range(0, points.shape[0], step):
        some = slice(start, min(start + step, points.shape[0]))
        total = total + xp.sum(measure[some, ...] * f(points[some, ...]), axis=0)
    slopes = f(xp.stack([b + 0.5, b - 0.5, a + 0.5, a - 0.5]))
    return total - ((slopes[0, ...] - slopes[1, ...]) - (slopes[2, ...] - slopes[3, ...])) / 24.0


def _edges(low: Array, high: Array, center: Array, spread: Array) -> Array:
    """Return where panels end: at doubling distances from both ends, and every spread about the centre."""
    xp = namespace_of(low)
    far = _column(_EDGE * 2.0 ** np.arange(1, 52), low)
    near = _column(np.arange(-40, 41), low)
    return xp.concat([low + far, high - far, center + near * spread], axis=0)


def _column(steps: np.ndarray, like: Array) -> Array:
    """Return steps on a first axis, in front of the shape of `like`."""
    xp: Any = namespace_of(like)
    column = xp.asarray(steps.astype(np.float64), dtype=like.dtype, device=device(like))
    return xp.reshape(column, (-1,) + (1,) * like.ndim)
