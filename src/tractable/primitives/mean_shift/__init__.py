"""Mean shift: from every start to the mean of the points in the window about it, until it stands still.

Points lie in leaves of a k-d tree. A step opens the leaves within reach; the flat window takes those that are
wholly inside as one. Everything is in units of the bandwidth.
"""

import math
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.primitives.mean_shift import agnostic
from tractable.primitives.neighbors import kd_build
from tractable.primitives.threads import ordered_map
from tractable.value import value

__all__ = ["Climbs", "Terrain", "climb", "expand", "terrain_of"]

#: The share of a Gaussian sum that may be left out, in climbs and in expansions.
TRUNCATION, EXACT = 1e-10, 1e-16

#: Starts that a thread is handed at a time.
BLOCK = 128


@value
class Terrain:
    """Weighted points in leaves, as the compiled loops want them."""

    points: Array  # (n, d)
    weights: Array  # (n,)
    leaves: tuple[np.ndarray, ...] = ()  # columns, weights, first, low, high, sums about low, masses
    reach: float = math.inf  # of a Gaussian window in climbs
    exact_reach: float = math.inf  # and in expansions
    floor: float = 0.0  # a Gaussian sum below it is summed over all points


@value
class Climbs:
    """Where climbs ended."""

    ends: Any  # (m, d)
    masses: Any  # (m,), Σ w k in the window of the last step
    steps: Any  # (m,)
    settled: Any  # (m,), whether the last step was as short as asked, or a mode known to be its own
    basins: Any = None  # (m,), in which ball of a mode it stopped, or -1


def terrain_of(points: Array, weights: Array | None = None, leaf_size: int = 48) -> Terrain:
    """Arrange points, in units of the bandwidth, for climbs.

    Parameters
    ----------
    points : array (n, d)
    weights : array (n,), optional
        Positive.
    leaf_size : int
    """
    if not is_numpy_array(points):
        ones = namespace_of(points).ones_like(points[:, 0]) if weights is None else weights
        return Terrain(points=points, weights=ones)
    points = np.ascontiguousarray(points, dtype=np.float64)
    w = np.ones(len(points)) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    tree = kd_build(points, leaf_size)
    first = tree.nodes[tree.nodes[:, 2] == 0, 0]
    rows, mine = points[tree.order], w[tree.order]
    low, high = np.minimum.reduceat(rows, first), np.maximum.reduceat(rows, first)
    sizes = np.diff(first, append=len(rows))
    sums = np.add.reduceat(mine[:, None] * (rows - np.repeat(low, sizes, axis=0)), first)
    bounds = np.append(first, len(rows))
    leaves = np.ascontiguousarray(rows.T), mine, bounds, low, high, sums, np.add.reduceat(mine, first)
    return Terrain(
        points=points,
        weights=w,
        leaves=leaves,
        reach=_reach(w, TRUNCATION),
        exact_reach=_reach(w, EXACT),
        floor=float(w.min()),
    )


def _reach(weights: np.ndarray, share: float) -> float:
    """Return how far off all points together weigh less than a share of the lightest alone."""
    lightness = math.log(math.fsum(weights)) - math.log(float(weights.min()))
    return math.sqrt(2.0 * (lightness - math.log(share)))


def climb(
    terrain: Terrain,
    starts: Array,
    *,
    flat: bool,
    tol: float,
    max_iter: int,
    modes: np.ndarray | None = None,
    radii: np.ndarray | None = None,
) -> Climbs:
    """Repeat x ← Σ w_i k(|x_i - x|²) x_i / Σ w_i k(|x_i - x|²) until a step is no longer than `tol`.

    k is 1 up to a distance of one and 0 beyond (flat), or exp(-|x_i - x|²/2), whose sums are certified to
    1e-10. A start with no point in its flat window stays, with mass 0. Every start climbs on its own, so the
    answer does not depend on threads.

    Parameters
    ----------
    terrain : Terrain
    starts : array (m, d)
    flat : bool
    tol : float
    max_iter : int
    modes, radii : arrays (K, d) and (K,), optional
        Balls from which Gaussian windows are known to climb to the modes: climbs stop there.

    Examples
    --------
    >>> hill = terrain_of(np.array([[0.0], [0.5], [5.0]]))
    >>> found = climb(hill, np.array([[0.6], [5.5], [9.0]]), flat=True, tol=1e-9, max_iter=9)
    >>> found.ends.ravel().tolist(), found.masses.tolist(), found.settled.tolist()
    ([0.25, 5.0, 9.0], [2.0, 1.0, 0.0], [True, True, False])
    """
    if not terrain.leaves:
        ends, masses, steps, settled = agnostic.climb(
            terrain.points, terrain.weights, starts, flat=flat, tol=tol, max_iter=max_iter
        )
        return Climbs(ends=ends, masses=masses, steps=steps, settled=settled)
    from tractable.primitives.mean_shift.compiled import climb_flat, climb_gaussian

    ends = np.array(starts, dtype=np.float64, order="C")
    masses, steps = np.zeros(len(ends)), np.zeros(len(ends), np.int64)
    basins = np.full(len(ends), -1)
    known = (np.empty((0, ends.shape[1])), np.empty(0)) if modes is None or radii is None else (modes, radii)

    def task(start: int) -> None:
        part = slice(start, start + BLOCK)
        out = ends[part], masses[part], steps[part]
        if flat:
            climb_flat(*terrain.leaves, tol, max_iter, *out)
        else:
            limits = terrain.reach, terrain.floor, tol, max_iter
            climb_gaussian(*terrain.leaves[:5], *limits, *known, *out, basins[part])

    for _ in ordered_map(task, range(0, len(ends), BLOCK)):
        pass
    return Climbs(
        ends=ends, masses=masses, steps=np.abs(steps), settled=(steps > 0) | (basins >= 0), basins=basins
    )


def expand(terrain: Terrain, x: Array, tilt: float = 0.0) -> tuple[Any, Any, Any]:
    """Return log Σ w k at each x for Gaussian windows, the mean-shift step, and the points' covariance C.

    The step is the gradient of log Σ w k, and I - C minus its Hessian.

    Parameters
    ----------
    terrain : Terrain
    x : array (m, d)
    tilt : float
        With windows k(s) = exp(-s/2 + tilt √s).

    Returns
    -------
    heights, steps, spreads : arrays (m,), (m, d) and (m, d, d)

    Examples
    --------
    >>> height, step, spread = expand(terrain_of(np.array([[-1.0], [1.0]])), np.zeros((1, 1)))
    >>> height.round(6).tolist(), step.tolist(), spread.tolist()  # a mode that is about to split
    ([0.193147], [[0.0]], [[[1.0]]])
    """
    if not terrain.leaves:
        return agnostic.expand(terrain.points, terrain.weights, x, tilt)
    from tractable.primitives.mean_shift.compiled import expand as compiled

    x = np.ascontiguousarray(x, dtype=np.float64)
    m, d = x.shape
    heights, steps, spreads = np.empty(m), np.empty((m, d)), np.empty((m, d, d))

    def task(start: int) -> None:
        part = slice(start, start + BLOCK)
        out = heights[part], steps[part], spreads[part]
        compiled(*terrain.leaves[:5], terrain.exact_reach, terrain.floor, tilt, x[part], *out)

    for _ in ordered_map(task, range(0, m, BLOCK)):
        pass
    return heights, steps, spreads
