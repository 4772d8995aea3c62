"""The functions of `tractable.primitives.tsne` in NumPy."""

import numpy as np

from tractable.primitives import squared_distances

#: Steps of the search for a width, and the range of its logarithm in units of the mean squared distance.
STEPS, WIDEST, NARROWEST = 100, -40.0, 100.0


def neighbor_probabilities(squared: np.ndarray, counts: np.ndarray, perplexity: float) -> np.ndarray:
    some = counts > 0.0
    u = np.where(some, squared, np.inf)
    u = u - u.min(axis=1, keepdims=True)
    mean = np.sum(np.where(some, u, 0.0), axis=1, keepdims=True) / np.maximum(
        some.sum(axis=1, keepdims=True), 1
    )
    u = np.where(some, u, 0.0) / np.where(mean > 0.0, mean, 1.0)
    target, log_beta = np.log(perplexity), np.zeros((len(u), 1))
    low, high = np.full_like(log_beta, WIDEST), np.full_like(log_beta, NARROWEST)
    for _ in range(STEPS):
        v = np.exp(log_beta) * u
        e = counts * np.exp(-v)
        total = e.sum(axis=1, keepdims=True)
        first = np.sum(e * v, axis=1, keepdims=True) / total
        gap = np.log(total) + first - target
        if np.max(np.abs(gap) * (high - low > 1e-9)) < 1e-12:
            break
        low, high = np.where(gap > 0.0, log_beta, low), np.where(gap > 0.0, high, log_beta)
        slope = np.sum(e * v * v, axis=1, keepdims=True) / total - first**2
        newton = log_beta + gap / np.where(slope > 1e-300, slope, 1e-300)
        log_beta = np.where((newton > low) & (newton < high), newton, 0.5 * (low + high))
    return e / total


def pair_forces(
    drawn: np.ndarray, weights: np.ndarray, y: np.ndarray, exaggeration: float
) -> tuple[np.ndarray, float]:
    ones, squares = np.ones(len(y)), np.einsum("ij,ij->i", y, y)
    # 1 + |y_i - y_j|² as one product; maps are small, and digits enough.
    near = np.column_stack([-2.0 * y, squares + 1.0, ones]) @ np.column_stack([y, ones, squares]).T
    np.maximum(near, 1.0, out=near)
    np.reciprocal(near, out=near)
    z = normaliser(weights, near @ weights)
    pulls = near * (-weights / z)
    pulls += drawn if exaggeration == 1.0 else exaggeration * drawn
    pulls *= near
    sums = pulls @ np.column_stack([ones, y])
    return sums[:, :1] * y - sums[:, 1:], z


def normaliser(weights: np.ndarray, fields: np.ndarray) -> float:
    """Return Z of points and of the copies they stand for: one of weight w has w² - w pairs of its own."""
    return max(float(weights @ fields - np.sum(np.minimum(weights, weights**2))), 1e-300)


def attraction(
    indptr: np.ndarray, indices: np.ndarray, drawn: np.ndarray, y: np.ndarray, part: slice
) -> np.ndarray:
    ends = indptr[part.start : part.stop + 1]
    edges = slice(ends[0], ends[-1])
    rows = np.repeat(np.arange(part.start, part.stop), np.diff(ends))
    apart = (y[:, rows] - y[:, indices[edges]]).astype(np.float64)
    pulls = drawn[edges] / (1.0 + np.sum(apart**2, axis=0)) * apart
    n = part.stop - part.start
    return np.column_stack([np.bincount(rows - part.start, pull, minlength=n) for pull in pulls])


def spread(at: np.ndarray, weights: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    cells, (across, up), _ = _splines(at)
    shares = weights[:, None, None] * across[:, :, None] * up[:, None, :]
    flat = (cells[0][:, :, None] * nodes[1] + cells[1][:, None, :]).ravel()
    return np.bincount(flat, shares.ravel(), minlength=int(np.prod(nodes))).reshape(tuple(nodes))


def read(at: np.ndarray, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    cells, (across, up), (d_across, d_up) = _splines(at)
    around = phi[cells[0][:, :, None], cells[1][:, None, :]]
    slopes = [np.einsum("nab,na,nb->n", around, a, b) for a, b in ((d_across, up), (across, d_up))]
    return np.column_stack(slopes), np.einsum("nab,na,nb->n", around, across, up)


def _splines(at: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """Return four nodes about each point along both axes, (n, 4), and cubic B-splines and slopes there."""
    cells, values, slopes = [], [], []
    for column in at.T:
        cell = column.astype(np.int64)
        t = column - cell
        u = 1.0 - t
        cells.append(cell[:, None] - 1 + np.arange(4))
        values.append(np.column_stack([u**3, 4 - 6 * t**2 + 3 * t**3, 4 - 6 * u**2 + 3 * u**3, t**3]) / 6.0)
        slopes.append(np.column_stack([-(u**2), 3 * t**2 - 4 * t, 4 * u - 3 * u**2, t**2]) / 2.0)
    return cells, values, slopes


def potential(y: np.ndarray, references: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    near = 1.0 / (1.0 + squared_distances(y, references))
    pushes = weights * near**2
    return near @ weights, pushes.sum(axis=1)[:, None] * y - pushes @ references
