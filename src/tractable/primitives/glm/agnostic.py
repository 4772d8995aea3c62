"""The functions of `tractable.primitives.glm` in the array API."""

from typing import Any

from tractable.arrays.log_space import log_softmax
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.primitives import SILENT

#: Rows that a perceptron scores at once: as far as it goes without a mistake, as a rule.
AHEAD = 128


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
    n, classes = rows.shape[0], xp.eye(start.shape[0], dtype=start.dtype, device=device(start))
    own = codes[:, None] == xp.arange(start.shape[0], device=device(start))[None, :]
    counts, blank = weights > 0.0, xp.all(rows == 0.0, axis=1)
    coef, late, mistakes, visits, begun = start, xp.zeros_like(start), 0.0, xp.cumulative_sum(weights), 0
    while begun < n:
        # Between two mistakes the coefficients do not change: the rows ahead are scored at once.
        ahead = slice(begun, min(begun + AHEAD, n))
        rivals, wrong = _rivals(rows[ahead, :] @ coef.T, own[ahead, :])
        wrong = wrong & counts[ahead]
        first = int(xp.argmax(xp.astype(wrong, xp.int64)))
        if not bool(wrong[first]):
            begun = ahead.stop
            continue
        i, rival = begun + first, rivals[first, :]
        left = float(weights[i])
        while left > 0.0:
            share = left if bool(blank[i]) else min(left, 1.0)
            step = xp.astype(own[i, :], start.dtype) - classes[int(xp.argmax(rival)), :]
            change = share * step[:, None] * rows[i, :]
            coef, late = coef + change, late + (float(visits[i]) - left) * change
            mistakes, left = mistakes + share, left - share
            if left > 0.0:
                rivals, wrong = _rivals((coef @ rows[i, :])[None, :], own[i : i + 1, :])
                rival, left = rivals[0, :], left if bool(wrong[0]) else 0.0
        begun = i + 1
    # A step made after m visits is in all sums but the first m.
    total = float(visits[-1]) if n else 0.0
    return coef, total * coef - late, mistakes, total


def _rivals(scores: Array, own: Array) -> tuple[Array, Array]:
    """Return the scores of the other classes, and whether one of them is not below that of the own."""
    xp = namespace_of(scores)
    others = xp.where(own, -xp.inf, scores)
    return others, xp.max(others, axis=1) >= xp.max(xp.where(own, scores, -xp.inf), axis=1)
