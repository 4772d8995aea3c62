"""See `tractable.primitives.signed_support`: coordinate descent, the obvious way to the same minimum."""

from typing import Any

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["duality_gap", "settle"]


def settle(
    gram: Array,
    moment: Array,
    square: Any,
    penalty: float,
    ridge: float,
    tol: float,
    positive: bool,
    max_iter: int,
    w: Array,
) -> tuple[Array, int, float]:
    """Minimise one coefficient after the other; return the coefficients, the sweeps and the gap."""
    xp = namespace_of(gram)
    q = moment - gram @ w
    gap = duality_gap(moment, square, penalty, ridge, positive, w, q)
    for sweep in range(max_iter):
        if gap <= tol:
            return w, sweep, gap
        for j in range(w.shape[0]):
            curvature = float(gram[j, j])
            if curvature == 0.0:
                continue
            here = float(w[j])
            pull = float(q[j]) + curvature * here
            size = max((pull if positive else abs(pull)) - penalty, 0.0) / (curvature + ridge)
            change = (size if pull > 0.0 else -size) - here
            if change != 0.0:
                w = xp.where(xp.arange(w.shape[0], device=w.device) == j, w + change, w)
                q = q - change * gram[j, :]
        gap = duality_gap(moment, square, penalty, ridge, positive, w, q)
    return w, max_iter, gap


def duality_gap(
    moment: Array, square: Any, penalty: float, ridge: float, positive: bool, w: Array, q: Array
) -> float:
    """Return primal less dual objective; the dual point is the residual, shrunk until it is feasible."""
    xp = namespace_of(w)
    slope = q - ridge * w
    top = float(xp.max(slope if positive else xp.abs(slope))) if w.shape[0] else 0.0
    fit, square = float(xp.sum(w * moment)), float(square)
    rest = max(square - fit - float(xp.sum(w * q)), 0.0) + ridge * float(xp.sum(w * w))
    share = min(1.0, penalty / top) if top > 0.0 else 1.0
    size = penalty * float(xp.sum(xp.abs(w)))
    return 0.5 * rest * (1.0 + share * share) + size - share * (square - fit)
