"""One pass over rows for linear classifiers: softmax loss, gradient and Hessian; the perceptron's updates."""

import math
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array, is_sparse, namespace_of
from tractable.primitives import as_double, runs_compiled
from tractable.primitives.glm import agnostic
from tractable.primitives.sparse_rows import StandardizedSparse

__all__ = [
    "perceptron_pass",
    "softmax_curvature",
    "softmax_expansion",
    "softmax_loss",
]

#: Rows of a block of wide rows, and of others whose curvature is summed.
WIDE_BLOCK, CURVATURE_BLOCK = 1024, 128


def softmax_loss(
    x: Array, targets: Array, weights: Array | None, shift: Array, scale: Array, coef: Array
) -> tuple[Any, Array]:
    """Return -Σ_n w_n Σ_k t_nk log p(k | x_n) and its gradient, for p(k | x) ∝ exp(coef_k · z).

    z is ``(x - shift) * scale``, behind a leading 1 where `coef` has one more column than x. Both halves are
    matrix products on a block of rows that stays in cache; no array of the size of the data is made.

    Parameters
    ----------
    x : array (n, d), or sparse rows (CSR)
    targets : array (n,) of int, or (n, K)
        The class of each row, or its probability of each class; of sparse rows the class.
    weights : array (n,) or None
    shift, scale : arrays (d,)
    coef : array (K, d) or (K, 1 + d)

    Returns
    -------
    loss : float
    gradient : array, like `coef`
        Σ_n w_n (|t_n| p_nk - t_nk) z_n, with |t_n| the sum of a row of targets.

    Examples
    --------
    >>> rows, classes = np.array([[1.0], [1.0], [1.0]]), np.array([0, 0, 1])
    >>> softmax_loss(rows, classes, None, np.zeros(1), np.ones(1), np.zeros((2, 1)))[1].tolist()
    [[-0.5], [0.5]]
    """
    if is_sparse(x):
        z = StandardizedSparse(X=x, shift=shift, scale=scale, intercept=coef.shape[1] > x.shape[1])
        return agnostic.design_loss(z, targets, weights, coef)
    if not runs_compiled(x, 8 * x.shape[0] * sum(coef.shape)):
        return agnostic.softmax_loss(as_double(x), targets, weights, shift, scale, coef)
    if len(coef) == 2:
        from tractable.primitives.glm.compiled import two_class_loss as compiled
    else:
        from tractable.primitives.glm.compiled import softmax_loss as compiled

    hard = (targets, None) if targets.ndim == 1 else (None, targets)
    return compiled(x, *hard, weights, shift, scale, coef, _block(coef))


def softmax_curvature(x: Array, mass: Array | None, shift: Array, scale: Array, coef: Array) -> Array:
    """Return Σ_n mass_n p_na p_nb z_n z_nᵀ for each pair of classes a < b, (K (K - 1) / 2, p, p).

    They are minus the blocks of the Hessian of `softmax_loss` beside the diagonal; the blocks on it are the
    sums of the pairs that a class is in, p_a (1 - p_a) without cancellation.

    Parameters
    ----------
    x : array (n, d)
    mass : array (n,) or None
        Weight of each row, times the sum of its targets.
    shift, scale : arrays (d,)
    coef : array (K, p), p = d or 1 + d

    Examples
    --------
    >>> softmax_curvature(np.ones((3, 1)), None, np.zeros(1), np.ones(1), np.zeros((2, 1))).tolist()
    [[[0.75]]]
    """
    k, p = coef.shape
    if p > agnostic.MOST_PAIRED and is_numpy_array(x):
        return _wide_curvature(x, mass, shift, scale, coef)
    if not runs_compiled(x, 2 * x.shape[0] * k * k * p):
        return agnostic.softmax_curvature(as_double(x), mass, shift, scale, coef)
    from tractable.primitives.glm.compiled import softmax_curvature as compiled
    from tractable.primitives.glm.compiled import two_class_expansion

    if k == 2:
        return two_class_expansion(x, None, None, mass, shift, scale, coef, CURVATURE_BLOCK)[2][None]
    return compiled(x, mass, shift, scale, coef, CURVATURE_BLOCK)


def softmax_expansion(
    x: Array, targets: Array, weights: Array | None, shift: Array, scale: Array, coef: Array
) -> tuple[Any, Array, Array]:
    """Return what `softmax_loss` and `softmax_curvature` do; of two classes, in one pass over the rows.

    Parameters
    ----------
    x, targets, weights, shift, scale, coef
        As for `softmax_loss`; x is dense.

    Examples
    --------
    >>> rows, classes = np.array([[1.0], [1.0], [1.0]]), np.array([0, 0, 1])
    >>> softmax_expansion(rows, classes, None, np.zeros(1), np.ones(1), np.zeros((2, 1)))[1:]
    (array([[-0.5],
           [ 0.5]]), array([[[0.75]]]))
    """
    (k, p), soft = coef.shape, targets.ndim == 2
    if not (k == 2 and p <= agnostic.MOST_PAIRED and runs_compiled(x, 8 * x.shape[0] * p)):
        mass = weights
        if soft:
            share = namespace_of(targets).sum(targets, axis=1)
            mass = share if weights is None else weights * share
        loss, gradient = softmax_loss(x, targets, weights, shift, scale, coef)
        return loss, gradient, softmax_curvature(x, mass, shift, scale, coef)
    from tractable.primitives.glm.compiled import two_class_expansion

    hard = (None, targets) if soft else (targets, None)
    loss, gradient, curvature = two_class_expansion(x, *hard, weights, shift, scale, coef, CURVATURE_BLOCK)
    return loss, gradient, curvature[None]


def _wide_curvature(
    x: np.ndarray,
    mass: np.ndarray | None,
    shift: np.ndarray,
    scale: np.ndarray,
    coef: np.ndarray,
) -> np.ndarray:
    """Return `softmax_curvature` of wide rows, whose products of columns fill the cache, by blocks."""
    parts = (slice(start, start + WIDE_BLOCK) for start in range(0, max(1, len(x)), WIDE_BLOCK))
    masses = ((part, None if mass is None else mass[part]) for part in parts)
    of = agnostic.softmax_curvature
    return reduce(add, (of(as_double(x[part]), own, shift, scale, coef) for part, own in masses))


def _block(coef: np.ndarray) -> int:
    # The small-matrix kernels of BLAS copy nothing while m·n·k stays below a million.
    return min(max(1_000_000 // max(coef.size, 1) // 32 * 32, 64), 256)


def perceptron_pass(
    rows: Array, codes: Array, weights: Array, start: Array
) -> tuple[Array, Array, float, float]:
    """Return the coefficients after one pass of the multi-class perceptron over the rows, in order.

    A mistake, a row whose class does not score above every other, adds the row to the coefficients of its
    class and subtracts it from those of the best other class, the first of tied ones. A row of weight m is
    visited m times in a row, the last time in part: with a step in proportion.

    Parameters
    ----------
    rows : array (n, p)
    codes : array (n,) of int
        The class of each row, from 0 to K - 1.
    weights : array (n,)
        How often each row counts.
    start : array (K, p)
        The coefficients before the first row.

    Returns
    -------
    array (K, p), array (K, p), float, float
        The coefficients after the last row; their sum over visits, each after its correction; the weight of
        the mistakes, and of the visits.

    Examples
    --------
    >>> import numpy as np
    >>> rows, codes = np.array([[1.0, 2.0], [1.0, -1.0]]), np.array([1, 0])
    >>> coef, total, mistakes, visits = perceptron_pass(rows, codes, np.ones(2), np.zeros((2, 2)))
    >>> coef[1], total[1], mistakes, visits
    (array([1., 2.]), array([2., 4.]), 1.0, 2.0)
    """
    if not runs_compiled(rows, 64 * rows.shape[0] * math.prod(start.shape)):
        return agnostic.perceptron_pass(rows, codes, weights, start)
    from tractable.primitives.glm.compiled import perceptron_pass as compiled

    coef, total, mistakes, visits = compiled(rows, codes, weights, start)
    return coef, total, float(mistakes), float(visits)
