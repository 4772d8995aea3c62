"""See `tractable.primitives.mixture_pass`."""

from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.special import log_sum_exp

__all__ = ["features", "mixture_pass"]


def features(x: Array, kind: int) -> Array:
    """Return T(x) = [1, x, second-order terms], (n, P)."""
    xp = namespace_of(x)
    one = xp.ones_like(x[:, :1])
    if kind == 0:
        return xp.concat([one, x], axis=1)
    if kind == 1:
        return xp.concat([one, x, xp.sum(x * x, axis=1, keepdims=True)], axis=1)
    if kind == 2:
        return xp.concat([one, x, x * x], axis=1)
    d = x.shape[1]
    products = [x[:, i : i + 1] * x[:, i:] for i in range(d)]
    return xp.concat([one, x, *products], axis=1)


def mixture_pass(x: Array, w: Any, shift: Array, scale: Array, natural: Array, kind: int) -> Any:
    """See `tractable.primitives.mixture_pass.mixture_pass`."""
    xp = namespace_of(x)
    t = features((x - shift) * scale, kind)
    log_joint = t @ natural.T
    evidence = log_sum_exp(log_joint, axis=1)
    shares = xp.exp(log_joint - evidence[:, None])
    if w is not None:
        shares, evidence = shares * w[:, None], evidence * w
    return shares.T @ t, xp.sum(evidence)
