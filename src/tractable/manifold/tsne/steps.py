"""t-SNE: joint probabilities of neighbours, the descent to a map with the same, and points added to it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.data.progress import progress
from tractable.primitives.blocks import over_blocks
from tractable.primitives.tsne import potential
from tractable.value import value

#: A quarter of the gradient of KL(P‖Q) at a map, with P exaggerated, and the normaliser Z.
Forces = Callable[[np.ndarray, float], tuple[np.ndarray, float]]

#: The longest step of a coordinate, and the least gain.
LONGEST, LEAST_GAIN = 5.0, 0.01

#: How much of the last step is repeated, in phases before the last and in the last.
EARLY_MOMENTUM, MOMENTUM = 0.8, 0.9

#: Iterations after which the search looks whether it may end, and shows how far it is.
LOOK = 50

#: Pairs of neighbours whose divergence is summed at a time, so that what is on the way stays in the cache.
BLOCK_PAIRS = 2**14

#: Neighbours whose positions a new point tries first.
STARTS = 5


@value
class JointProbabilities:
    """Probabilities of pairs of points, of which each may be several equal ones, as a sparse matrix (CSR).

    Parameters
    ----------
    indptr, indices, values : arrays
        P_ij = P_ji of different points.
    own : array (n,)
        The probability of pairs among the equal points that each point stands for.
    weights : array (n,)
        How many equal points each is.
    """

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    own: np.ndarray
    weights: np.ndarray

    def dense(self) -> np.ndarray:
        """Return P, (n, n), zero on the diagonal."""
        n = len(self.own)
        full = np.zeros((n, n))
        full[np.repeat(np.arange(n), np.diff(self.indptr)), self.indices] = self.values
        return full

    def local_order(self) -> np.ndarray:
        """Return an order of the points, (n,), in which neighbours are near each other (Cuthill-McKee)."""
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        return reverse_cuthill_mckee(self._graph, symmetric_mode=True)

    def take(self, order: np.ndarray) -> "JointProbabilities":
        """Return the probabilities of the points in another order."""
        graph, place = self._graph[order], np.empty_like(order)
        place[order] = np.arange(len(order))
        return JointProbabilities(
            indptr=graph.indptr,
            indices=place[graph.indices],
            values=graph.data,
            own=self.own[order],
            weights=self.weights[order],
        )

    @property
    def _graph(self) -> Any:
        from scipy.sparse import csr_matrix

        n = len(self.own)
        return csr_matrix((self.values, self.indices, self.indptr), shape=(n, n))

    def kl_divergence(self, y: np.ndarray, z: float) -> float:
        """Return Σ P log(P/Q) over all pairs, with q_ij = 1 / (Z (1 + |y_i - y_j|²)).

        Parameters
        ----------
        y : array (n, p)
            A map.
        z : float
            Z = Σ_{k≠l} 1 / (1 + |y_k - y_l|²): q is normalised over all pairs.
        """
        weights, columns = self.weights, np.ascontiguousarray(y.T)

        def part(rows: slice) -> float:
            ends = self.indptr[rows.start : rows.stop + 1]
            pairs = slice(int(ends[0]), int(ends[-1]))
            p, j = self.values[pairs], self.indices[pairs]
            i = np.repeat(np.arange(rows.start, rows.stop), np.diff(ends))
            apart = sum((column[i] - column[j]) ** 2 for column in columns)
            some = p > 0.0
            ratio = np.where(some, p, 1.0) * (1.0 + apart) * (z / (weights[i] * weights[j]))
            return float(np.sum(np.where(some, p * np.log(ratio), 0.0)))

        a_row = max(1, len(self.values) // max(1, len(y)))
        total = sum(over_blocks(part, len(y), BLOCK_PAIRS // a_row))
        copies = (self.own > 0.0) & (self.weights > 1.0)
        several = self.weights[copies] * (self.weights[copies] - 1.0)
        return float(total + np.sum(self.own[copies] * np.log(self.own[copies] * z / several)))


def joint_probabilities(
    conditional: np.ndarray, indices: np.ndarray, weights: np.ndarray
) -> JointProbabilities:
    """Return P_ij = (p_{j|i} + p_{i|j}) / 2N of neighbours, symmetric and of sum one.

    Parameters
    ----------
    conditional : array (n, k)
        p_{j|i} of the neighbours of each point; the point itself may be among them, for its copies.
    indices : array (n, k) of int
        The neighbours; -1 where there is none.
    weights : array (n,)
        How many equal points each point is, N in all; p_{j|i} is of one of those of i.

    Examples
    --------
    >>> p = np.array([[0.75, 0.25], [0.5, 0.5], [1.0, 0.0]])
    >>> joint = joint_probabilities(p, np.array([[1, 2], [0, 2], [1, 0]]), np.ones(3))
    >>> joint.dense().round(4).tolist()
    [[0.0, 0.2083, 0.0417], [0.2083, 0.0, 0.25], [0.0417, 0.25, 0.0]]
    """
    from scipy.sparse import csr_matrix

    n, k = indices.shape
    masses = np.where(indices >= 0, conditional, 0.0) * (weights / (2.0 * weights.sum()))[:, None]
    mine = indices == np.arange(n)[:, None]
    own = 2.0 * np.sum(np.where(mine, masses, 0.0), axis=1)
    masses = np.where(mine, 0.0, masses)
    ends = np.arange(0, n * k + 1, k)
    half = csr_matrix((masses.ravel(), np.maximum(indices, 0).ravel(), ends), shape=(n, n))
    both = (half + half.T).tocsr()
    both.eliminate_zeros()
    return JointProbabilities(
        indptr=both.indptr, indices=both.indices, values=both.data, own=own, weights=weights
    )


@value
class Descent:
    """The map at the end of a descent.

    Parameters
    ----------
    points : array (n, p)
        The map, of weighted mean zero.
    z : float
        The normaliser Z of its probabilities.
    n_iter : int
        The number of steps.
    converged : bool
        Whether the gradient vanished before the last step.
    interrupted : bool
        Whether it ended by Ctrl-C: use what is here, then raise KeyboardInterrupt again.
    """

    points: np.ndarray
    z: float
    n_iter: int
    converged: bool
    interrupted: bool


def descend(
    forces: Forces,
    start: np.ndarray,
    joint: JointProbabilities,
    *,
    phases: list[tuple[int, float, float]],
    tol: float,
) -> Descent:
    """Move points along the gradient of KL(P‖Q), with momentum and a gain for each coordinate.

    A gain grows by 0.2 where the gradient still points along the last step, and shrinks by a fifth where it
    does not (Jacobs 1988).

    Parameters
    ----------
    forces : callable
        A quarter of the gradient at a map, and Z, given the map and an exaggeration of P.
    start : array (n, p)
        The map to begin with.
    joint : JointProbabilities
        P, of which progress is reported.
    phases : list of (int, float, float)
        Steps, exaggeration and learning rate of each phase. Early ones exaggerate P, so that clusters form
        while the map is small.
    tol : float
        The last phase ends where no coordinate of the gradient is larger.
    """
    weights, y, taken = joint.weights, start.copy(order="F"), 0  # coordinates are read by columns
    converged, interrupted, note = False, False, ""
    total, total_weight = sum(steps for steps, _, _ in phases), weights.sum()
    try:
        with progress("t-SNE", total=total) as line:
            for number, (steps, exaggeration, rate) in enumerate(phases):
                if np.max(np.abs(y)) < np.max(np.abs(start)):  # it has collapsed: too much attraction
                    y = start.copy(order="F")
                speed, gains = np.zeros_like(y), np.ones_like(y)
                last = number == len(phases) - 1
                momentum = MOMENTUM if last else EARLY_MOMENTUM
                for _ in range(steps):
                    slope, z = forces(y, exaggeration)
                    if last and taken % LOOK == 0 and np.max(np.abs(slope)) <= tol:
                        converged = True
                        break
                    along = slope * speed < 0.0
                    gains = np.where(along, gains + 0.2, np.maximum(0.8 * gains, LEAST_GAIN))
                    slope *= gains
                    slope *= rate
                    speed *= momentum
                    speed -= slope
                    np.clip(speed, -LONGEST, LONGEST, out=speed)
                    y += speed
                    y -= weights @ y / total_weight
                    taken += 1
                    if line.watched and taken % LOOK == 0:
                        note = f"KL {joint.kl_divergence(y, z):.3f}"
                    line.advance(1.0, note)
    except KeyboardInterrupt:
        interrupted = True
    _, z = forces(y, 1.0)
    return Descent(points=y, z=z, n_iter=taken, converged=converged, interrupted=interrupted)


def embed_points(
    conditional: np.ndarray,
    indices: np.ndarray,
    references: np.ndarray,
    weights: np.ndarray,
    *,
    max_iter: int = 100,
    tol: float = 1e-6,
) -> np.ndarray:
    """Return where new points belong in a map whose points stay, (m, p), each by itself.

    Each minimises Σ_j p_j log(p_j / q_j) over its position y, with q_j ∝ 1 / (1 + |y - z_j|²) over all points
    of the map. It starts where that is least among the positions of its nearest neighbours and their mean,
    and takes steps of the curvature of the attraction, halved until they descend.

    Parameters
    ----------
    conditional : array (m, k)
        p, of sum one over the neighbours of each new point.
    indices : array (m, k) of int
        The neighbours, the nearest first; -1 where there is none.
    references : array (n, p)
        z, the map.
    weights : array (n,)
        How many equal points each is.
    max_iter : int
        The most steps.
    tol : float
        A point rests where a step is shorter.

    Examples
    --------
    >>> corners = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 9.0]])
    >>> found = embed_points(np.array([[0.5, 0.5]]), np.array([[0, 1]]), corners, np.ones(3))
    >>> bool(abs(found[0, 0]) < 1e-3), bool(found[0, 1] < 0.0)
    (True, True)
    """
    p = np.where(indices >= 0, conditional, 0.0)
    near = references[np.maximum(indices, 0)]  # (m, k, p)

    def cost(y: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the divergence up to a constant, its gradient, and the curvature of the attraction."""
        apart = y[:, None, :] - near[rows]
        squares = np.einsum("mkp,mkp->mk", apart, apart)
        pulls = p[rows] / (1.0 + squares)
        fields, driven = potential(y, references, weights)
        slope = 2.0 * np.einsum("mk,mkp->mp", pulls, apart) - 2.0 * driven / fields[:, None]
        values = np.sum(p[rows] * np.log1p(squares), axis=1) + np.log(fields)
        return values, slope, 2.0 * pulls.sum(axis=1)

    every = np.arange(len(p))
    starts = [near[:, j] for j in range(min(STARTS, near.shape[1])) if np.all(indices[:, j] >= 0)]
    starts.append(np.einsum("mk,mkp->mp", p, near))
    tried = np.stack([cost(start, every)[0] for start in starts])
    y = np.stack(starts)[np.argmin(tried, axis=0), every]
    value_, slope, curvature = cost(y, every)
    moving, size = every, np.ones(len(y))
    for _ in range(max_iter):
        step = -size[moving, None] * slope[moving] / curvature[moving, None]
        moved = y[moving] + step
        found, new_slope, new_curvature = cost(moved, moving)
        better = found <= value_[moving]
        kept = moving[better]
        y[kept], value_[kept] = moved[better], found[better]
        slope[kept], curvature[kept] = new_slope[better], new_curvature[better]
        size[kept] = np.minimum(2.0 * size[kept], 1.0)
        size[moving[~better]] *= 0.5
        moving = moving[np.max(np.abs(step), axis=1) > tol]
        if not len(moving):
            break
    return y
