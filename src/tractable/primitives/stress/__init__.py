"""Stress of a map: how far its distances are from those it should have, and the step that reduces it."""

import numpy as np

from tractable.primitives import runs_compiled
from tractable.primitives.stress import agnostic
from tractable.primitives.threads import even_blocks, ordered_map

__all__ = ["guttman_transform"]

#: Rows that a thread is handed at a time.
BLOCK = 128


def guttman_transform(
    distances: np.ndarray, points: np.ndarray, weights: np.ndarray, references: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return Σ_j w_j (δ_ij / d_ij) (y_i - z_j) of each point y_i, and its stress Σ_j w_j (δ_ij - d_ij)².

    d_ij = |y_i - z_j|; where it is 0 the ratio counts as 0. Divided by Σ_j w_j, the sums are the step of
    majorisation (de Leeuw 1977), which never increases the stress: the new y_i, about the mean of the z_j.

    Parameters
    ----------
    distances : array (m, n)
        δ, the distances that points should have.
    points : array (m, p)
        y, the points that move.
    weights : array (n,)
        w.
    references : array (n, p)
        z: the points themselves, or points that stay.

    Returns
    -------
    sums, stress : arrays (m, p) and (m,)

    Examples
    --------
    >>> line = np.array([[0.0], [1.0]])
    >>> guttman_transform(np.array([[0.0, 3.0], [3.0, 0.0]]), line, np.ones(2), line)
    (array([[-3.],
           [ 3.]]), array([4., 4.]))
    """
    if not runs_compiled(distances, 2.0 * distances.size):
        return agnostic.guttman_transform(distances, points, weights, references)
    from tractable.primitives.stress.compiled import guttman_transform as compiled

    columns = np.ascontiguousarray(references.T)
    sums, stress = np.empty(points.shape), np.empty(len(points))

    def task(part: slice) -> None:
        compiled(distances[part], points[part], weights, columns, sums[part], stress[part])

    for _ in ordered_map(task, even_blocks(len(points), BLOCK)):
        pass
    return sums, stress
