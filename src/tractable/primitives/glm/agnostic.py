"""The functions of `tractable.primitives.glm` in the array API."""

import math
from operator import mul
from typing import Any

from tractable.arrays.log_space import log_softmax
from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.primitives import SILENT


def _features(x: Array, shift: Array, scale: Array, width: int) -> Array:
    xp = namespace_of(x)
    z = (x - shift) * scale
    return z if z.shape[1] == width else xp.concat([xp.ones_like(z[:, :1]), z], axis=1)


@SILENT
def softmax_loss(
    x: Array, targets: Array, weights: Any, shift: Array, scale: Array, coef: Array
) -> tuple[Any, Array]:
    xp = namespace_of(x)
    t = targets
    if t.ndim == 1:
        t = xp.astype(xp.arange(coef.shape[0], device=device(x))[None, :] == t[:, None], x.dtype)
    w = xp.ones_like(x[:, 0]) if weights is None else weights
    z = _features(x, shift, scale, coef.shape[1])
    log_p = log_softmax(z @ coef.T)
    mass = w * xp.sum(t, axis=1)
    # A class that a row has no share in costs nothing, however improbable it is.
    lost = xp.where(t > 0, t * xp.where(t > 0, log_p, xp.zeros_like(log_p)), xp.zeros_like(t))
    value = -xp.sum(w * xp.sum(lost, axis=1))
    return value, (mass[:, None] * xp.exp(log_p) - w[:, None] * t).T @ z


@SILENT
def softmax_curvature(x: Array, mass: Any, shift: Array, scale: Array, coef: Array) -> Array:
    xp = namespace_of(x)
    z = _features(x, shift, scale, coef.shape[1])
    p = xp.exp(log_softmax(z @ coef.T))
    m = xp.ones_like(x[:, 0]) if mass is None else mass
    k, d = coef.shape
    zeros = xp.zeros((d, d), dtype=x.dtype, device=device(x))
    blocks = [[zeros] * k for _ in range(k)]
    for a in range(k):
        for b in range(a + 1, k):
            between = ((m * p[:, a] * p[:, b])[:, None] * z).T @ z
            blocks[a][b] = blocks[b][a] = -between
            blocks[a][a] = blocks[a][a] + between
            blocks[b][b] = blocks[b][b] + between
    return xp.stack([xp.stack(row) for row in blocks])


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
