"""The functions of `tractable.primitives.sparse` in the array API."""

from functools import cache
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of

#: A pivot below this fraction of its column's own square says that the column follows from the others:
#: products of columns are known to little more.
DEPENDENT = 1e-13


@cache
def _lapack() -> Any:
    """SciPy's LAPACK, which is imported when it is first used: a statement of import in a step takes time."""
    from scipy.linalg import lapack

    return lapack


def append_row(factor: np.ndarray, k: int, cross: np.ndarray, own: float) -> bool:
    if k:
        factor[k, :k] = _lapack().dtrtrs(factor[:k, :k].T, cross, lower=0, trans=1)[0]
    row = factor[k, :k]
    pivot = float(own - row @ row)
    if not pivot > DEPENDENT * own:
        return False
    factor[k, k] = pivot**0.5
    return True


def whole_factor(gram: np.ndarray, which: np.ndarray, ridge: float) -> np.ndarray | None:
    """Return the Cholesky factor of some columns at once; None where one of them follows from the others."""
    system = gram[which[:, None], which]
    system.flat[:: len(which) + 1] += ridge
    own = system.diagonal().copy()
    # Its transpose, which is in the order of Fortran, is the same matrix.
    factor, info = _lapack().dpotrf(system.T, lower=1, overwrite_a=1) if len(which) else (system, 0)
    return factor if info == 0 and (factor.diagonal() ** 2 > DEPENDENT * own).all() else None


def solve_rows(factor: np.ndarray, b: np.ndarray, k: int) -> np.ndarray:
    return _lapack().dpotrs(factor[:k, :k].T, b, lower=0)[0] if k else b


def weighted_rows(matrix: Array, which: Array, weights: Array) -> Array:
    return weights @ namespace_of(matrix).take(matrix, which, axis=0)


#: Lines that close in more slowly than this never meet.
PARALLEL = 1e-13

#: The two signs with which a line may meet the level.
SIDES = np.array([[1.0], [-1.0]])


def first_to_enter(
    heights: Array, slopes: Array, free: Array, level: float, positive: bool
) -> tuple[int, float]:
    xp = namespace_of(heights)
    if xp is np:
        return _first_to_enter(heights, slopes, free, level, positive)
    sides = xp.asarray([[1.0]] if positive else [[1.0], [-1.0]], dtype=heights.dtype, device=device(heights))
    closing, left = 1.0 - sides * slopes, level - sides * heights
    may = free & (closing > PARALLEL)
    ways = xp.where(may, xp.clip(left, 0.0, None) / xp.where(may, closing, 1.0), float("inf"))
    soonest = xp.min(ways, axis=0)
    j = int(xp.argmin(soonest))
    return j, float(soonest[j])


def _first_to_enter(
    heights: np.ndarray, slopes: np.ndarray, free: np.ndarray, level: float, positive: bool
) -> tuple[int, float]:
    """The same in NumPy, in half of the operations, of which each takes a microsecond."""
    sides = SIDES[:1] if positive else SIDES
    closing = 1.0 - sides * slopes
    ways = np.full(closing.shape, np.inf)
    np.divide(np.maximum(level - sides * heights, 0.0), closing, out=ways, where=free & (closing > PARALLEL))
    soonest = ways.min(axis=0)
    j = int(soonest.argmin())
    return j, float(soonest[j])


def solve_lasso(
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
            correlation = float(q[j]) + curvature * here
            size = max((correlation if positive else abs(correlation)) - penalty, 0.0) / (curvature + ridge)
            change = (size if correlation > 0.0 else -size) - here
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
    dual_scale = min(1.0, penalty / top) if top > 0.0 else 1.0
    size = penalty * float(xp.sum(xp.abs(w)))
    return 0.5 * rest * (1.0 + dual_scale * dual_scale) + size - dual_scale * (square - fit)


def coordinate_sweeps(
    hessian: Array, slope: Array, penalty_weights: Array, x: Array, n_sweeps: int, positive: bool
) -> tuple[Array, Array]:
    xp = namespace_of(hessian)
    u, q = xp.asarray(x, copy=True), xp.asarray(slope, copy=True)
    for _ in range(n_sweeps):
        for j in range(u.shape[0]):
            a = hessian[j, j]
            if not bool(a > 0):
                continue
            correlation = a * u[j] - q[j]
            size = correlation if positive else xp.abs(correlation)
            rest = xp.sign(correlation) * xp.clip(size - penalty_weights[j], 0.0, None) / a
            q = q + (rest - u[j]) * hessian[j, :]
            u[j] = rest
    return u, q
