"""The functions of `tractable.primitives.glm` in the array API."""

from typing import Any

from tractable.arrays.log_space import log_softmax
from tractable.arrays.namespace import Array, device, namespace_of
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
    none = xp.zeros((d, d), dtype=x.dtype, device=device(x))
    blocks = [[none for _ in range(k)] for _ in range(k)]
    for a in range(k):
        for b in range(a + 1, k):
            blocks[a][b] = blocks[b][a] = -((m * p[:, a] * p[:, b])[:, None] * z).T @ z
    for a in range(k):
        blocks[a][a] = -sum((blocks[a][b] for b in range(k) if b != a), none)
    return xp.stack([xp.stack(row) for row in blocks])


def perceptron_pass(
    rows: Array, codes: Array, weights: Array, start: Array
) -> tuple[Array, Array, float, float]:
    xp = namespace_of(rows)
    classes = xp.arange(start.shape[0], device=device(start))
    coef, total, mistakes = start, xp.zeros_like(start), 0.0
    for i in range(rows.shape[0]):
        left, own = float(weights[i]), int(codes[i])
        blank = not bool(xp.any(rows[i, :] != 0.0))
        while left > 0.0:
            scores = coef @ rows[i, :]
            others = xp.where(classes == own, -xp.inf, scores)
            rival = int(xp.argmax(others))
            wrong = float(others[rival]) >= float(scores[own])
            share = min(left, 1.0) if wrong and not blank else left
            mistakes += share if wrong else 0.0
            if wrong and not blank:
                step = xp.astype(classes == own, rows.dtype) - xp.astype(classes == rival, rows.dtype)
                coef = coef + share * step[:, None] * rows[i, :]
            total = total + share * coef
            left -= share
    return coef, total, mistakes, float(xp.sum(weights))
