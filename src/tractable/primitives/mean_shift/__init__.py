"""Mean shift: from every start to the mean of the points in the window about it, until a step is short.

Points lie in leaves of a k-d tree. A step opens the leaves within reach; the flat window takes those that are
wholly inside as one. Everything is in units of the bandwidth.
"""

import math
from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.primitives import few_pairs
from tractable.primitives.mean_shift import agnostic
from tractable.primitives.neighbors.kd_tree import kd_build, kd_leaves
from tractable.primitives.threads import ordered_map
from tractable.value import value

__all__ = ["Ascents", "KernelField", "ascend", "expand", "kernel_field"]

#: The fraction of a Gaussian sum that may be left out, in ascents and in expansions.
TRUNCATION, EXACT = 1e-10, 1e-16

#: Points of a leaf.
LEAF = 48

#: Starts that a thread is handed at a time.
BLOCK = 128


@value
class KernelField:
    """A sum of windows on weighted points (n, d), in units of the bandwidth."""

    points: Array  # (n, d)
    weights: Array  # (n,)

    @cached_property
    def leaves(self) -> tuple[np.ndarray, ...]:
        """Columns, weights, first, low, high, sums about low and masses of leaves, as compiled loops want."""
        tree = kd_build(self.points, LEAF)
        rows, first, low, high = kd_leaves(tree, self.points)
        mine, about_low = self.weights[tree.order], rows - np.repeat(low, np.diff(first), axis=0)
        sums = np.add.reduceat(mine[:, None] * about_low, first[:-1])
        masses = np.add.reduceat(mine, first[:-1])
        return np.ascontiguousarray(rows.T), mine, first, low, high, sums, masses

    @cached_property
    def floor(self) -> float:
        """A Gaussian sum below it is summed over all points."""
        return float(self.weights.min())

    @cached_property
    def log_ratio(self) -> float:
        """The logarithm of the weight of all points, relative to the lightest."""
        return math.log(math.fsum(self.weights)) - math.log(self.floor)

    def reach(self, fraction: float) -> float:
        """Return the distance at which all points weigh less than `fraction` of the lightest alone."""
        return math.sqrt(2.0 * (self.log_ratio - math.log(fraction)))


@value
class Ascents:
    """Where ascents ended."""

    ends: Any  # (m, d)
    masses: Any  # (m,), Σ w k in the window of the last step
    steps: Any  # (m,)
    converged: Any  # (m,), whether the last step was short enough, or a known mode was reached
    basins: Any  # (m,), in which ball of a mode it stopped, or -1


def kernel_field(points: Array, weights: Array | None = None) -> KernelField:
    """Return the sum of windows on points (n, d) of positive weights, in units of the bandwidth."""
    if not is_numpy_array(points):
        ones = namespace_of(points).ones_like(points[:, 0]) if weights is None else weights
        return KernelField(points=points, weights=ones)
    points = np.ascontiguousarray(points, dtype=np.float64)
    w = np.ones(len(points)) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    return KernelField(points=points, weights=w)


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
    if few_pairs(starts, field.points):
        given = field.points, field.weights, starts
        return Ascents(
            **agnostic.ascend(*given, flat=flat, tol=tol, max_iter=max_iter, modes=modes, radii=radii)
        )
    from tractable.primitives.mean_shift.compiled import ascend_flat, ascend_gaussian

    ends = np.array(starts, dtype=np.float64, order="C")
    masses, steps = np.zeros(len(ends)), np.zeros(len(ends), np.int64)
    basins = np.full(len(ends), -1)
    leaves, reach = field.leaves, field.reach(TRUNCATION)

    def task(start: int) -> None:
        part = slice(start, start + BLOCK)
        out = ends[part], masses[part], steps[part]
        if flat:
            ascend_flat(*leaves, tol, max_iter, *out)
        else:
            limits = reach, field.floor, tol, max_iter
            ascend_gaussian(*leaves[:5], *limits, modes, radii, *out, basins[part])

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
    if few_pairs(x, field.points):
        return agnostic.expand(field.points, field.weights, x, tilt)
    from tractable.primitives.mean_shift.compiled import expand as compiled

    x = np.ascontiguousarray(x, dtype=np.float64)
    m, d = x.shape
    heights, steps, spreads = np.empty(m), np.empty((m, d)), np.empty((m, d, d))
    leaves, reach = field.leaves, field.reach(EXACT)

    def task(start: int) -> None:
        part = slice(start, start + BLOCK)
        out = heights[part], steps[part], spreads[part]
        compiled(*leaves[:5], reach, field.floor, tilt, x[part], *out)

    for _ in ordered_map(task, range(0, m, BLOCK)):
        pass
    return heights, steps, spreads
