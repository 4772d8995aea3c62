"""The functions of `tractable.primitives.tsne` in NumPy."""

import numpy as np

from tractable.primitives import squared_distances

#: Degree of the B-splines of a grid, and the nodes of a spline before the cell of its point.
DEGREE, BEFORE = 5, 2

#: Positions in a cell, along an axis, for which the potential of a point at itself is known.
BINS = 32

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
    drawn: np.ndarray,
    weights: np.ndarray,
    y: np.ndarray,
    exaggeration: float,
    room: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, float]:
    ones, squares, (near, pulls) = np.ones(len(y)), np.einsum("ij,ij->i", y, y), room
    # 1 + |y_i - y_j|² as one product; maps are small, and digits enough.
    left, right = np.column_stack([-2.0 * y, squares + 1.0, ones]), np.column_stack([y, ones, squares])
    np.matmul(left, right.T, out=near)
    np.maximum(near, 1.0, out=near)
    np.reciprocal(near, out=near)
    z = normaliser(weights, near @ weights)
    np.multiply(drawn, exaggeration, out=pulls)
    pulls *= near
    near *= near
    near *= weights / z
    pulls -= near
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
    return np.stack([np.bincount(rows - part.start, pull, minlength=n) for pull in pulls])


def spread(at: np.ndarray, weights: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    (rows, across, _), (columns, up, _) = (splines(x) for x in at)
    shares = weights[:, None, None] * across[:, :, None] * up[:, None, :]
    flat = (rows[:, :, None] * nodes[1] + columns[:, None, :]).ravel()
    return np.bincount(flat, shares.ravel(), minlength=int(np.prod(nodes))).reshape(tuple(nodes))


def read(
    at: np.ndarray, weights: np.ndarray, phi: np.ndarray, own: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    (rows, across, d_across), (columns, up, d_up) = (splines(x) for x in at)
    around = phi[rows[:, :, None], columns[:, None, :]]
    pairs = (across, up), (d_across, up), (across, d_up)
    found = np.stack([np.einsum("nab,na,nb->n", around, a, b) for a, b in pairs])
    bins = (at % 1.0 * len(own)).astype(np.int64)
    found -= weights * own[bins[0], bins[1]].T
    return found[1:], found[0]


def splines(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the nodes about points of a line, B-splines there, and their slopes, each (n, degree + 1)."""
    cell = np.floor(x)
    t = x - cell
    values = [np.ones_like(t)]
    for d in range(1, DEGREE + 1):
        last = values
        inner = [((t + d - j) * last[j - 1] + (1.0 - t + j) * last[j]) / d for j in range(1, d)]
        values = [(1.0 - t) * last[0] / d, *inner, t * last[-1] / d]
    slopes = [-last[0], *(last[j - 1] - last[j] for j in range(1, DEGREE)), last[-1]]
    nodes = cell.astype(np.int64)[:, None] - BEFORE + np.arange(DEGREE + 1)
    return nodes, np.column_stack(values), np.column_stack(slopes)


def spline_spectrum(m: int) -> np.ndarray:
    """Return the discrete Fourier transform of a B-spline on a circle of 2m nodes, (m + 1,): it is even."""
    nodes, values, _ = splines(np.array([float(BEFORE)]))
    angles = np.pi / m * np.arange(m + 1.0)
    return np.cos(angles[:, None] * (nodes[0] - BEFORE)) @ values[0]


def own_field(kernel: np.ndarray) -> np.ndarray:
    """Return the potential that a point has at itself beyond 1, and its slopes, (bins, bins, 3).

    Parameters
    ----------
    kernel : array
        The potential of a node of unit mass at the nodes from it on, as coefficients of a spline.
    """
    _, values, slopes = splines((np.arange(BINS) + 0.5) / BINS)
    far = np.subtract.outer(np.arange(DEGREE + 1), np.arange(DEGREE + 1))
    # By axis, the products of the splines of two nodes, summed over all pairs that are as far apart.
    lags = np.abs(far)[:, :, None] == np.arange(DEGREE + 1)
    same, slope = (np.einsum("na,nb,abk->nk", left, values, lags) for left in (values, slopes))
    near = kernel[: DEGREE + 1, : DEGREE + 1]
    return np.stack([same @ near @ same.T - 1.0, slope @ near @ same.T, same @ near @ slope.T], axis=-1)


def potential(y: np.ndarray, references: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    near = 1.0 / (1.0 + squared_distances(y, references))
    pushes = weights * near**2
    return near @ weights, pushes.sum(axis=1)[:, None] * y - pushes @ references
