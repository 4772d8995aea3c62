"""Medians of rows: of each coordinate, and the point with the least mean distance."""

from typing import Any

from tractable.arrays.linalg import symmetrize
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.engines.newton import newton

__all__ = ["coordinate_medians", "geometric_median"]


def coordinate_medians(X: Array, weights: Array) -> Array:
    """Return a weighted median of each column, (d,): the middle of the interval where there is a choice.

    Examples
    --------
    >>> import numpy as np
    >>> coordinate_medians(np.array([[0.0, 5.0], [1.0, 6.0], [9.0, 7.0]]), np.array([1.0, 1.0, 2.0]))
    array([5. , 6.5])
    """
    xp = namespace_of(X)
    half = 0.5 * xp.sum(weights)
    middles = []
    for j in range(X.shape[1]):
        order = xp.argsort(X[:, j])
        column, below = X[:, j][order], xp.cumulative_sum(weights[order])
        low, high = (
            int(xp.sum(xp.astype(below < half, xp.int64))),
            int(xp.sum(xp.astype(below <= half, xp.int64))),
        )
        middles.append(0.5 * column[low] + 0.5 * column[min(high, X.shape[0] - 1)])
    return xp.stack(middles)


def geometric_median(X: Array, weights: Array, *, n_steps: int = 50) -> Array:
    """Return the point with the least weighted sum of Euclidean distances to the rows.

    Weiszfeld's steps, mended by Vardi and Zhang (2000) for points that coincide with a row, lead near it;
    then Newton's method finds its digits, unless it is a row, which is known by its pull: the other rows
    together pull no more than its own weight.

    Examples
    --------
    >>> import numpy as np
    >>> corners = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    >>> geometric_median(corners, np.ones(4)).round(9)
    array([1., 1.])
    """
    xp = namespace_of(X)
    weights = weights / xp.sum(weights)
    point = weights @ X
    for _ in range(n_steps):
        point = _step(X, weights, point)
    if _is_median(X, weights, nearest := _nearest(X, point)):
        return nearest
    point = newton(lambda y: _expansion(X, weights, y), point, tol=1e-15, max_iter=200).x
    nearest = _nearest(X, point)
    return nearest if _is_median(X, weights, nearest) else point


def _pull(X: Array, weights: Array, point: Array) -> tuple[Array, Array, Array]:
    """Return weights over distances, the sum of unit vectors to rows, and the weight of rows at the point."""
    xp = namespace_of(X)
    gap = X - point
    distance = _length(gap)
    away = distance > 0
    inverse = xp.where(away, weights / xp.where(away, distance, xp.ones_like(distance)), 0.0 * weights)
    return inverse, inverse @ gap, xp.sum(xp.where(away, 0.0 * weights, weights))


def _step(X: Array, weights: Array, point: Array) -> Array:
    xp = namespace_of(X)
    inverse, pull, here = _pull(X, weights, point)
    total, strength = xp.sum(inverse), _length(pull)
    if float(strength) <= float(here) or not float(total) > 0:
        return point
    return point + (1.0 - here / strength) * pull / total


def _is_median(X: Array, weights: Array, row: Array) -> bool:
    """Say whether a row is the median: the others pull at it no more than it holds."""
    _, pull, here = _pull(X, weights, row)
    return bool(_length(pull) <= here)


def _nearest(X: Array, point: Array) -> Array:
    return X[int(namespace_of(X).argmin(_length(X - point))), :]


def _expansion(X: Array, weights: Array, point: Array) -> tuple[Any, Array, Array]:
    """Return the mean distance from a point, its gradient and its Hessian."""
    xp = namespace_of(X)
    inverse, pull, _ = _pull(X, weights, point)
    gap = X - point
    distance = _length(gap)
    unit = gap / xp.where(distance > 0, distance, xp.ones_like(distance))[:, None]
    identity = xp.eye(X.shape[1], dtype=X.dtype, device=device(X))
    across = xp.matrix_transpose(unit) @ (inverse[:, None] * unit)
    return xp.sum(weights * distance), -pull, symmetrize(xp.sum(inverse) * identity - across)


def _length(x: Array) -> Array:
    xp = namespace_of(x)
    return xp.sqrt(xp.sum(x * x, axis=-1))
