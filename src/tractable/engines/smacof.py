"""Metric scaling by majorisation of stress (SMACOF)."""

import numpy as np

from tractable.primitives.stress import guttman_transform
from tractable.value import value


@value
class StressFit:
    """A map of least stress.

    Parameters
    ----------
    points : array (n, p)
        The map, of weighted mean zero.
    trace : array (n_iter + 1,)
        The stress Σ_{i<j} w_i w_j (δ_ij - d_ij)² at the start, and after each step; it never rises.
    converged : bool
        Whether the last step reduced the stress by less than the tolerance.
    interrupted : bool
        Whether it ended by Ctrl-C: use what is here, then raise KeyboardInterrupt again.
    """

    points: np.ndarray
    trace: np.ndarray
    converged: bool
    interrupted: bool = False

    @property
    def stress(self) -> float:
        """The stress of the map."""
        return float(self.trace[-1])


def smacof(
    distances: np.ndarray, start: np.ndarray, weights: np.ndarray, *, max_iter: int, tol: float
) -> StressFit:
    """Reduce the stress of a map by z_i ← Σ_j w_j (δ_ij / d_ij)(z_i - z_j) / Σ_j w_j until it settles.

    Parameters
    ----------
    distances : array (n, n)
        δ, symmetric.
    start : array (n, p)
        The map to begin with.
    weights : array (n,)
        How often each point counts.
    max_iter : int
        The most steps.
    tol : float
        The search ends where a step reduces the stress by less than this fraction of Σ_{i<j} w_i w_j δ_ij².

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> delta = np.linalg.norm(square[:, None] - square, axis=2)
    >>> found = smacof(delta, square * [2.0, 1.0], np.ones(4), max_iter=100, tol=1e-12)
    >>> found.converged, round(found.stress, 6)
    (True, 0.0)
    """
    total = weights.sum()
    points = start - weights @ start / total
    enough = tol * 0.5 * float(weights @ (distances**2 @ weights))
    sums, each = guttman_transform(distances, points, weights, points)
    trace, settled, interrupted = [0.5 * float(weights @ each)], False, False
    try:
        while not settled and len(trace) <= max_iter:
            moved = sums / total
            moved -= weights @ moved / total
            sums, each = guttman_transform(distances, moved, weights, moved)
            points = moved
            trace.append(0.5 * float(weights @ each))
            settled = trace[-2] - trace[-1] <= enough
    except KeyboardInterrupt:
        interrupted = True
    return StressFit(points=points, trace=np.array(trace), converged=settled, interrupted=interrupted)


def embed_by_stress(
    distances: np.ndarray, references: np.ndarray, weights: np.ndarray, *, max_iter: int, tol: float
) -> np.ndarray:
    """Return points (m, p) of least stress Σ_j w_j (δ_ij - |y_i - z_j|)², each by itself, about fixed ones.

    Each starts where squared distances, which are linear in y_i but for |y_i|², place it, and moves by
    majorisation until a step is shorter than √tol times the mean δ.

    Parameters
    ----------
    distances : array (m, n)
        δ, of each point from all references.
    references : array (n, p)
        z, of weighted mean zero.
    weights : array (n,)
        How often each reference counts.
    max_iter : int
        The most steps.
    tol : float
        See above.

    Examples
    --------
    >>> square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    >>> delta = np.linalg.norm(np.array([[0.5, 0.2]])[:, None] - square, axis=2)
    >>> embed_by_stress(delta, square, np.ones(4), max_iter=100, tol=1e-12).round(4).tolist()
    [[0.5, 0.2]]
    """
    total = weights.sum()
    spread = (weights * references.T) @ references
    squares = np.sum(references**2, axis=1) - distances**2
    points = 0.5 * ((weights * squares) @ references) @ np.linalg.pinv(spread, rcond=1e-12, hermitian=True)
    mean = weights @ references / total
    reach = distances @ weights / total  # no point of least stress is farther from their mean
    size = np.abs(points).max(axis=1)
    points *= (reach / np.maximum(size, reach))[:, None] if np.all(reach > 0.0) else 1.0
    short = tol * reach**2
    moving = np.arange(len(points))
    for _ in range(max_iter):
        sums, _ = guttman_transform(distances[moving], points[moving], weights, references)
        moved = sums / total + mean
        far = np.sum((moved - points[moving]) ** 2, axis=1) > short[moving]
        points[moving] = moved
        moving = moving[far]
        if not len(moving):
            break
    return points
