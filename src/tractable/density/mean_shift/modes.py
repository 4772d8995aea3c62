"""Modes of kernel density estimates by mean shift and Newton's method, all in units of the bandwidth."""

from functools import partial

import numpy as np

from tractable.engines.mode_search import FLAT, Ascent, Expansion, newton_ascent, newton_step
from tractable.primitives.mean_shift import KernelField, ascend, expand, kernel_field
from tractable.value import replace, value

#: The longest step of an ascent that has ended: at a flat mode, or near a Gaussian one.
STILL, NEAR = 1e-9, 1e-4

#: Modes of flat windows within one bandwidth are one, of Gaussian ones within this share of it.
FLAT_SAME, GAUSSIAN_SAME = 1.0, 1e-2

#: Gaussian ascents of the first round, whose modes stop those of the next, and the growth of each round.
FIRST_ROUND, GROWTH = 256, 4

#: The longest step of Newton's method, how many saddle points an ascent may meet before it is given up, and
#: the length of the step that leads off one.
LONGEST, N_SADDLES, PUSH = 0.25, 10, 0.1

#: Radii of balls about modes, the first of which that is proven to belong to the mode is taken.
RADII = (0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03)


@value
class Modes:
    """Modes, the highest first."""

    centers: np.ndarray  # (K, d)
    log_masses: np.ndarray  # (K,), log Σ w k at each
    radii: np.ndarray  # (K,), of the balls from which ascents end there; 0 where none is known
    n_iter: int  # the most steps of an ascent
    converged: bool  # whether all ascents ended before `max_iter`


def flat_modes(field: KernelField, starts: np.ndarray, max_iter: int) -> tuple[Modes, np.ndarray]:
    """Ascend from all starts with a flat window; return the modes and where ascents ended.

    Of ends within one bandwidth, the one with most weight in its window is the mode (of equals the last in
    dictionary order), as in scikit-learn. Starts with nothing in their window are left out.
    """
    found = ascend(field, starts, flat=True, tol=STILL, max_iter=max_iter)
    some = found.masses > 0.0
    ends, masses = found.ends[some], found.masses[some]
    order = np.lexsort((*ends.T[::-1], masses))[::-1]
    selected = order[thinned(ends[order], FLAT_SAME)[0]]
    modes = Modes(
        centers=ends[selected],
        log_masses=np.log(masses[selected]),
        radii=np.zeros(len(selected)),
        n_iter=int(found.steps.max()),
        converged=bool(np.all(found.converged[some])),
    )
    return modes, found.ends


def gaussian_modes(field: KernelField, starts: np.ndarray, max_iter: int) -> tuple[Modes, np.ndarray]:
    """Ascend from all starts with a Gaussian window; return the modes and the mode of each start.

    In rounds: modes found in one stop the ascents of the next, as soon as these enter a ball about a mode
    that is proven to belong to it. The rounds are the same whatever the number of threads. Of more columns
    than rows, all is done within the span of the rows, where every step leads.
    """
    if span := _span(field):
        modes, reached = gaussian_modes(span.field, span.within(starts), max_iter)
        return replace(modes, centers=span.outside(modes.centers)), reached
    d = starts.shape[1]
    centers, radii, labels = np.empty((0, d)), np.empty(0), np.empty(len(starts), np.int64)
    n_iter, converged, first, size = 0, True, 0, FIRST_ROUND
    while first < len(starts):
        part = slice(first, first + size)
        found = ascend(
            field, starts[part], flat=False, tol=NEAR, max_iter=max_iter, modes=centers, radii=radii
        )
        new = np.flatnonzero(found.basins < 0)
        basins = found.basins.copy()
        if len(new):
            centers, basins[new], fine = joined(centers, *refine_modes(field, found.ends[new]))
            radii = np.concatenate([radii, capture_radii(field, centers[len(radii) :])])
            converged &= fine
        labels[part] = basins
        n_iter = max(n_iter, int(found.steps.max()))
        first, size = first + size, size * GROWTH
    heights = expand(field, centers)[0]
    order = np.lexsort((*centers.T[::-1], heights))[::-1]
    modes = Modes(
        centers=centers[order],
        log_masses=heights[order],
        radii=radii[order],
        n_iter=max(n_iter, 1),
        converged=converged,
    )
    return modes, np.argsort(order)[labels]


def assign_to_modes(
    field: KernelField, modes: Modes, x: np.ndarray, *, flat: bool, max_iter: int
) -> tuple[np.ndarray, np.ndarray]:
    """Ascend from x; return the modes known to be reached, or -1, and where ascents ended."""
    if flat:
        found = ascend(field, x, flat=True, tol=STILL, max_iter=max_iter)
        return found.basins, found.ends
    if span := _span(field):
        inside = replace(modes, centers=span.within(modes.centers))
        basins, ends = assign_to_modes(span.field, inside, span.within(x), flat=False, max_iter=max_iter)
        return basins, span.outside(ends)
    known = {"modes": modes.centers, "radii": modes.radii}
    found = ascend(field, x, flat=False, tol=NEAR, max_iter=max_iter, **known)
    open_ = np.flatnonzero(found.basins < 0)
    if len(open_):
        tops, owner, _ = refine_modes(field, found.ends[open_])
        found.ends[open_] = tops[owner]
    return found.basins, found.ends


@value
class Span:
    """The span of the points of a field, and the field in coordinates of it."""

    field: KernelField
    origin: np.ndarray  # (d,)
    basis: np.ndarray  # (d, n), orthonormal columns

    def within(self, x: np.ndarray) -> np.ndarray:
        """Return the coordinates of the nearest points of the span: what is off it scales windows alike."""
        return (x - self.origin) @ self.basis

    def outside(self, z: np.ndarray) -> np.ndarray:
        """Return points of the span in all columns."""
        return self.origin + z @ self.basis.T


def _span(field: KernelField) -> Span | None:
    """Return the span of points that are fewer than their columns; None of others."""
    n, d = field.points.shape
    if n >= d:
        return None
    origin = field.points.mean(axis=0)
    basis = np.linalg.qr((field.points - origin).T)[0]
    inside = kernel_field((field.points - origin) @ basis, field.weights)
    return Span(field=inside, origin=origin, basis=basis)


def refine_modes(field: KernelField, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Refine ends of Gaussian ascents; return the modes, the mode of each end, and whether all converged.

    By Newton's method, which may end at a saddle: from there to a side, and on. Where |H|⁻¹ ∇ log p is the
    step, its length estimates the distance to the mode.
    """
    selected, owner = thinned(ends, GAUSSIAN_SAME)
    x, open_, converged = ends[selected], np.arange(len(selected)), True
    for _ in range(N_SADDLES):
        x[open_], ended = newton_ascent(partial(_ascent, field), x[open_], tol=STILL)
        converged &= bool(np.all(ended))
        curvature = _expansion(field, x[open_]).curvature
        # No eigenvalue of C is above its trace, which is small where a mode stands alone.
        spread = curvature.shape[-1] - np.trace(curvature, axis1=1, axis2=2)
        unsure = np.flatnonzero(spread > 1.0 - FLAT)
        values, vectors = np.linalg.eigh(curvature[unsure])
        saddle = values[:, 0] < -FLAT
        open_ = open_[unsure[saddle]]
        if not len(open_):
            break
        x[open_] += _saddle_steps(field, x[open_], vectors[saddle, :, 0])
    return x, owner, converged and not len(open_)


def _expansion(field: KernelField, x: np.ndarray) -> Expansion:
    """Return log Σ w k and its derivatives: I - C is minus the Hessian, C the covariance in the window."""
    height, shift, spread = expand(field, x)
    identity = np.eye(x.shape[1])
    return Expansion(height, shift, identity - spread, np.broadcast_to(identity, spread.shape))


def _ascent(field: KernelField, x: np.ndarray, _: np.ndarray) -> Ascent:
    at = _expansion(field, x)
    step = newton_step(at)[1]
    length = np.sqrt(np.sum(step**2, axis=1, keepdims=True))
    return Ascent(at.log_density, at.gradient, step * (LONGEST / np.maximum(length, LONGEST)))


def _saddle_steps(field: KernelField, x: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Return the step off a saddle to its higher side, of equals the one with the larger coordinates."""
    largest = np.take_along_axis(along, np.argmax(np.abs(along), axis=1)[:, None], axis=1)
    step = PUSH * np.sign(largest) * along
    up, down = expand(field, x + step)[0], expand(field, x - step)[0]
    return np.where((up >= down)[:, None], step, -step)


def capture_radii(field: KernelField, centers: np.ndarray) -> np.ndarray:
    """Return radii of balls in which every mean-shift step comes nearer to the mode in their middle.

    The map has the Jacobian C(x), the covariance of the points in the window. With y = x_i - c at a mode c,
    E y = 0, so by Jensen's inequality C(c + δ) ≤ E[exp(δ·y) y yᵀ] ≤ E[exp(r |y|) y yᵀ] for |δ| ≤ r. Where the
    largest eigenvalue of that is below one, the map contracts.
    """
    radii = np.zeros(len(centers))
    height, open_ = expand(field, centers)[0], np.arange(len(centers))
    for r in RADII:
        if not len(open_):
            break
        tilted, shift, spread = expand(field, centers[open_], tilt=r)
        second, scale = spread + shift[:, :, None] * shift[:, None, :], np.exp(tilted - height[open_])
        bound = scale * np.trace(second, axis1=1, axis2=2)  # above every eigenvalue, and cheap
        unsure = ~(bound < 0.999)
        bound[unsure] = scale[unsure] * np.linalg.eigvalsh(second[unsure])[:, -1]
        radii[open_[bound < 0.999]] = r
        open_ = open_[~(bound < 0.999)]
    return radii


def joined(
    known: np.ndarray, found: np.ndarray, owner: np.ndarray, fine: bool
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Add modes to those that are known; return all, and the mode of each end."""
    everything = np.concatenate([known, found])
    selected, owner_of = thinned(everything, GAUSSIAN_SAME)
    return everything[selected], owner_of[len(known) :][owner], fine


def thinned(x: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Select points, in order, that are not within the radius of one selected before; return which, whose.

    Examples
    --------
    >>> thinned(np.array([[0.0], [0.5], [2.0]]), 1.0)
    (array([0, 2]), array([0, 0, 1]))
    """
    selected: list[int] = []
    owner, left = np.full(len(x), -1), np.arange(len(x))
    while len(left):
        near = np.sum((x[left] - x[left[0]]) ** 2, axis=1) <= radius**2
        owner[left[near]] = len(selected)
        selected.append(int(left[0]))
        left = left[~near]
    return np.array(selected, dtype=np.int64), owner
