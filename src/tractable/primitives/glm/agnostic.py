"""The functions of `tractable.primitives.glm` in the array API."""

import math
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of, to_numpy
from tractable.primitives import SILENT
from tractable.primitives.sparse_rows import StandardizedSparse

#: With more columns, products of all pairs of them would not stay in cache.
MOST_PAIRED = 64

#: Entries of the products of pairs of columns that are made at once.
PAIRED_ENTRIES = 2**20

#: Bytes of weighted rows that are made at once: in cache, and no pages of memory that are new.
SQUARE_BYTES = 2**18


def features(x: Array, shift: Array, scale: Array, width: int) -> Array:
    """Return the design matrix: standardised rows, behind a column of ones where it is wider than x."""
    xp, first = namespace_of(x), width - x.shape[1]
    if is_numpy_array(x):  # one array alone is made
        z = np.empty((x.shape[0], width))
        z[:, :first] = 1.0
        np.subtract(x, shift, out=z[:, first:])
        z[:, first:] *= scale
        return z
    z = (x - shift) * scale
    return xp.concat([xp.ones_like(z[:, :1]), z], axis=1) if first else z


def softmax_loss(
    x: Array, targets: Array, weights: Any, shift: Array, scale: Array, coef: Array
) -> tuple[Any, Array]:
    return design_loss(features(x, shift, scale, coef.shape[1]), targets, weights, coef)


@SILENT
def design_loss(z: Any, targets: Array, weights: Any, coef: Array) -> tuple[Any, Array]:
    """Return loss and gradient of the rows of a design matrix, which may be a `StandardizedSparse`."""
    xp = namespace_of(coef)
    if coef.shape[0] == 2 and targets.ndim == 1:
        return _two_class_loss(xp, z, targets, weights, coef)
    scores = _scores(z, coef)
    if targets.ndim == 1 and is_numpy_array(scores):
        loss, wrong = _row_losses(scores, targets, weights)
        return loss, wrong @ z
    if targets.ndim == 1:
        t = xp.astype(xp.arange(coef.shape[0], device=device(coef))[:, None] == targets, coef.dtype)
        target = 1.0
    else:
        t = xp.matrix_transpose(targets)
        target = xp.sum(t, axis=0)
    top = xp.max(scores, axis=0)
    raised = xp.exp(scores - top)
    total = xp.sum(raised, axis=0)
    # A class that a row has no share in costs nothing, however improbable it is.
    behind = xp.sum(xp.where(t > 0, t * (top - scores), xp.zeros_like(t)), axis=0)
    losses, wrong = behind + target * xp.log(total), raised * (target / total) - t
    if weights is None:
        return xp.sum(losses), wrong @ z
    return xp.sum(weights * losses), (weights * wrong) @ z


@SILENT
def _row_losses(
    scores: np.ndarray, codes: np.ndarray, weights: np.ndarray | None
) -> tuple[float, np.ndarray]:
    """Return Σ w log 1/p of the classes of rows, and its derivatives by linear predictors.

    Parameters
    ----------
    scores : array (K, n)
        Linear predictors, which are overwritten.
    codes : array (n,) of int
        The class of each row.
    weights : array (n,) or None
    """
    rows = np.arange(scores.shape[1])
    top, own = np.max(scores, axis=0), scores[codes, rows]
    scores -= top
    np.exp(scores, out=scores)
    total = np.sum(scores, axis=0)
    losses = (top - own) + np.log(total)
    scores /= total
    scores[codes, rows] -= 1.0
    if weights is None:
        return float(np.sum(losses, dtype=np.float64)), scores
    scores *= weights
    return float(weights @ losses), scores


def _two_class_loss(xp: Any, z: Any, codes: Array, weights: Any, coef: Array) -> tuple[Any, Array]:
    """Return -Σ w log σ(m) of the margins m = ±η of rows, and its gradient: one linear predictor."""
    sign = 2.0 * xp.astype(codes, coef.dtype) - 1.0
    margin = sign * (z @ (coef[1, :] - coef[0, :]))
    small, wrong = xp.exp(-xp.abs(margin)), margin < 0.0
    losses = xp.log1p(small) + xp.where(wrong, -margin, xp.zeros_like(margin))
    slope = -sign * xp.where(wrong, xp.ones_like(small), small) / (1.0 + small)
    gradient = (slope if weights is None else weights * slope) @ z
    return xp.sum(losses if weights is None else weights * losses), xp.stack([-gradient, gradient])


def _scores(z: Any, coef: Array) -> Array:
    """Return the linear predictors, (K, n): sums over classes then run along rows."""
    if isinstance(z, StandardizedSparse):
        return np.ascontiguousarray((z @ coef.T).T)
    return coef @ namespace_of(z).matrix_transpose(z)


@SILENT
def softmax_curvature(x: Array, mass: Any, shift: Array, scale: Array, coef: Array) -> Array:
    xp, (k, p) = namespace_of(x), coef.shape
    z = features(x, shift, scale, p)
    if k == 2:
        small = xp.exp(-xp.abs(z @ (coef[1, :] - coef[0, :])))
        root = xp.sqrt(small if mass is None else mass * small) / (1.0 + small)
        return weighted_square(xp, root, z)[None, ...]
    scores = _scores(z, coef)
    raised = xp.exp(scores - xp.max(scores, axis=0))
    probability = raised / xp.sum(raised, axis=0)
    first, second = (xp.asarray(i, device=device(x)) for i in np.triu_indices(k, 1))
    both = xp.take(probability, first, axis=0) * xp.take(probability, second, axis=0)
    both = both if mass is None else mass * both
    left, right = np.triu_indices(p)
    if p > MOST_PAIRED or z.shape[0] * len(left) > PAIRED_ENTRIES:
        root = xp.sqrt(both)
        parts = [weighted_square(xp, root[q, :], z) for q in range(both.shape[0])]
        return xp.stack(parts) if parts else xp.zeros((0, p, p), dtype=z.dtype, device=device(z))
    # One product of pairs of classes with pairs of columns.
    i, j = (xp.asarray(each, device=device(x)) for each in (left, right))
    sums = both @ (xp.take(z, i, axis=1) * xp.take(z, j, axis=1))
    place = np.zeros((p, p), dtype=np.int64)
    place[left, right] = place[right, left] = np.arange(len(left))
    found = xp.take(sums, xp.asarray(place.reshape(-1), device=device(x)), axis=1)
    return xp.reshape(found, (both.shape[0], p, p))


def weighted_square(xp: Any, root: Array, z: Array) -> Array:
    """Return Σ_n root_n² z_n z_nᵀ: a matrix times its own transpose, of which BLAS does half the products."""
    n, p = z.shape
    step = max(p, SQUARE_BYTES // (p * z.itemsize)) if is_numpy_array(z) else max(n, 1)
    halves = (root[a : a + step, None] * z[a : a + step, :] for a in range(0, max(n, 1), step))
    return reduce(add, (xp.matrix_transpose(half) @ half for half in halves))


def perceptron_pass(
    rows: Array, codes: Array, weights: Array, start: Array
) -> tuple[Array, Array, float, float]:
    xp = namespace_of(start)
    # One row after the other, of few numbers each: lists take a tenth of the time of arrays.
    coef, late = to_numpy(start).tolist(), [[0.0] * start.shape[1] for _ in range(start.shape[0])]
    mistakes, visits = 0.0, 0.0
    for row, own, weight in zip(*(to_numpy(part).tolist() for part in (rows, codes, weights)), strict=True):
        left = weight
        while left > 0.0:
            scores = [sum(map(mul, coef_k, row)) for coef_k in coef]
            own_score, scores[own] = scores[own], -math.inf
            best = max(scores)
            wrong = best >= own_score
            # A row that is right, or all zeros, changes nothing however often it is visited.
            share = min(left, 1.0) if wrong and any(row) else left
            if wrong:
                mistakes += share
                for k, sign in ((own, share), (scores.index(best), -share)):
                    coef[k] = [a + sign * x for a, x in zip(coef[k], row, strict=True)]
                    late[k] = [a + visits * sign * x for a, x in zip(late[k], row, strict=True)]
            visits += share
            left -= share
    place = {"dtype": start.dtype, "device": device(start)}
    last = xp.asarray(coef, **place)
    # A step made after m visits is in all coefficients but the first m.
    return last, visits * last - xp.asarray(late, **place), mistakes, visits
