"""Mean shift: from every start to the mean of the points in the window about it, until a step is short.

Points lie in leaves of a k-d tree. A step opens the leaves within reach; the flat window takes those that are
wholly inside as one. Everything is in units of the bandwidth.
"""

import math
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.primitives.mean_shift import agnostic
from tractable.primitives.neighbors.kd_tree import kd_build, kd_leaves
from tractable.primitives.threads import ordered_map
from tractable.value import value

__all__ = ["Ascents", "KernelField", "ascend", "expand", "kernel_field"]

#: The fraction of a Gaussian sum that may be left out, in ascents and in expansions.
TRUNCATION, EXACT = 1e-10, 1e-16

#: Starts that a thread is handed at a time.
BLOCK = 128


@value
class KernelField:
    """A sum of windows on weighted points, in leaves as the compiled loops want them."""

    points: Array  # (n, d)
    weights: Array  # (n,)
    leaves: tuple[np.ndarray, ...] = ()  # columns, weights, first, low, high, sums about low, masses
    reach: float = math.inf  # of a Gaussian window in ascents
    exact_reach: float = math.inf  # and in expansions
    floor: float = 0.0  # a Gaussian sum below it is summed over all points


@value
class Ascents:
    """Where ascents ended."""

    ends: Any  # (m, d)
    masses: Any  # (m,), Σ w k in the window of the last step
    steps: Any  # (m,)
    converged: Any  # (m,), whether the last step was short enough, or a known mode was reached
    basins: Any = None  # (m,), in which ball of a mode it stopped, or -1


def kernel_field(points: Array, weights: Array | None = None, leaf_size: int = 48) -> KernelField:
    """Arrange points (n, d) of positive weights, in units of the bandwidth, for ascents."""
    if not is_numpy_array(points):
        ones = namespace_of(points).ones_like(points[:, 0]) if weights is None else weights
        return KernelField(points=points, weights=ones)
    points = np.ascontiguousarray(points, dtype=np.float64)
    w = np.ones(len(points)) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    tree = kd_build(points, leaf_size)
    rows, first, low, high = kd_leaves(tree, points)
    mine, about_low = w[tree.order], rows - np.repeat(low, np.diff(first), axis=0)
    sums = np.add.reduceat(mine[:, None] * about_low, first[:-1])
    leaves = np.ascontiguousarray(rows.T), mine, first, low, high, sums, np.add.reduceat(mine, first[:-1])
    return KernelField(
        points=points,
        weights=w,
        leaves=leaves,
        reach=_reach(w, TRUNCATION),
        exact_reach=_reach(w, EXACT),
        floor=float(w.min()),
    )


def _reach(weights: np.ndarray, fraction: float) -> float:
    """Return the distance at which all points together weigh less than `fraction` of the lightest alone."""
    log_ratio = math.log(math.fsum(weights)) - math.log(float(weights.min()))
    return math.sqrt(2.0 * (log_ratio - math.log(fraction)))


def ascend(
    field: KernelField,
    starts: Array,
    *,
    flat: bool,
    tol: float,
    max_iter: int,
    modes: np.ndarray | None = None,
    radii: np.ndarray | None = None,
) -> Ascents:
    """Repeat x ← Σ w_i k(|x_i - x|²) x_i / Σ w_i k(|x_i - x|²) until a step is no longer than `tol`.

    k is 1 up to a distance of one and 0 beyond (flat), or exp(-|x_i - x|²/2), whose sums are certified to
    1e-10. A start with no point in its flat window stays, with mass 0. Every ascent is on its own, so the
    answer does not depend on threads.

    Parameters
    ----------
    field : KernelField
    starts : array (m, d)
    flat : bool
    tol : float
    max_iter : int
    modes, radii : arrays (K, d) and (K,), optional
        Balls from which Gaussian ascents are known to end at the modes: they stop there.

    Examples
    --------
    >>> field = kernel_field(np.array([[0.0], [0.5], [5.0]]))
    >>> found = ascend(field, np.array([[0.6], [5.5], [9.0]]), flat=True, tol=1e-9, max_iter=9)
    >>> found.ends.ravel().tolist(), found.masses.tolist(), found.converged.tolist()
    ([0.25, 5.0, 9.0], [2.0, 1.0, 0.0], [True, True, False])
    """
    if not field.leaves:
        ends, masses, steps, converged = agnostic.ascend(
            field.points, field.weights, starts, flat=flat, tol=tol, max_iter=max_iter
        )
        return Ascents(ends=ends, masses=masses, steps=steps, converged=converged)
    from tractable.primitives.mean_shift.compiled import ascend_flat, ascend_gaussian

    ends = np.array(starts, dtype=np.float64, order="C")
    masses, steps = np.zeros(len(ends)), np.zeros(len(ends), np.int64)
    basins = np.full(len(ends), -1)
    known = (np.empty((0, ends.shape[1])), np.empty(0)) if modes is None or radii is None else (modes, radii)

    def task(start: int) -> None:
        part = slice(start, start + BLOCK)
        out = ends[part], masses[part], steps[part]
        if flat:
            ascend_flat(*field.leaves, tol, max_iter, *out)
        else:
            limits = field.reach, field.floor, tol, max_iter
            ascend_gaussian(*field.leaves[:5], *limits, *known, *out, basins[part])

    for _ in ordered_map(task, range(0, len(ends), BLOCK)):
        pass
    return Ascents(
        ends=ends, masses=masses, steps=np.abs(steps), converged=(steps > 0) | (basins >= 0), basins=basins
    )


def expand(field: KernelField, x: Array, tilt: float = 0.0) -> tuple[Any, Any, Any]:
    """Return log Σ w k at each x for Gaussian windows, the mean-shift step, and the points' covariance C.

    The step is the gradient of log Σ w k, and I - C minus its Hessian.

    Parameters
    ----------
    field : KernelField
    x : array (m, d)
    tilt : float
        With windows k(s) = exp(-s/2 + tilt √s).

    Returns
    -------
    heights, steps, spreads : arrays (m,), (m, d) and (m, d, d)

    Examples
    --------
    >>> height, step, spread = expand(kernel_field(np.array([[-1.0], [1.0]])), np.zeros((1, 1)))
    >>> height.round(6).tolist(), step.tolist(), spread.tolist()  # a mode that is about to split
    ([0.193147], [[0.0]], [[[1.0]]])
    """
    if not field.leaves:
        return agnostic.expand(field.points, field.weights, x, tilt)
    from tractable.primitives.mean_shift.compiled import expand as compiled

    x = np.ascontiguousarray(x, dtype=np.float64)
    m, d = x.shape
    heights, steps, spreads = np.empty(m), np.empty((m, d)), np.empty((m, d, d))

    def task(start: int) -> None:
        part = slice(start, start + BLOCK)
        out = heights[part], steps[part], spreads[part]
        compiled(*field.leaves[:5], field.exact_reach, field.floor, tilt, x[part], *out)

    for _ in ordered_map(task, range(0, m, BLOCK)):
        pass
    return heights, steps, spreads
