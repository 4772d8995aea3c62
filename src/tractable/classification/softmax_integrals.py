"""Probabilities of several classes where activations are uncertain: log E[softmax(Ca)] of Gaussian a."""

from functools import lru_cache

import numpy as np

from tractable.arrays.log_space import log_softmax
from tractable.classification.activation_integrals import hermite, in_blocks
from tractable.classification.three_class_integrals import log_expected_of_three

__all__ = ["log_expected_softmax"]

#: Nodes on each of two axes, by the standard deviation of the activation as a whole; one axis exactly beyond.
PLANE_NODES = ((0.7, 24), (1.2, 48))
#: Points of Halton's sequence, where there are more than two axes; and for a class that is rarer than RARE.
N_POINTS, N_RARE, RARE = 8192, 1024, 0.01
#: Steps towards where a class that is rare is most probable.
N_STEPS = 40


def log_expected_softmax(mean: np.ndarray, root: np.ndarray, planes: np.ndarray) -> np.ndarray:
    """Return log E[softmax(planes · a)] for a ~ N(mean, root rootᵀ), one row at a time.

    Two axes: the product of two of Hermite's rules, of 24 or 48 nodes, up to a standard deviation of 1.2, and
    beyond it `log_expected_of_three`; both have 10 digits, however small the probability is.

    More axes: 8,192 points of Halton's sequence, moved and turned so that their mean and covariance are the
    normal's. The error of a probability is of the order of 1e-5 at a standard deviation of 0.3, 2e-4 at 1 and
    1e-3 at 5. A class less probable than 0.01 has 1,024 points of its own about where it is most probable,
    with the weights that this asks for: its logarithm is then off by about 0.01, at standard deviations of 5
    by 0.1. The rules are fixed: the same rows have the same answer.

    Parameters
    ----------
    mean : array (n, m)
    root : array (n, m, m)
    planes : array (K, m)

    Examples
    --------
    >>> sure, planes = np.zeros((1, 2, 2)), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> np.exp(log_expected_softmax(np.array([[np.log(2.0), 0.0]]), sure, planes)).round(12)
    array([[0.5 , 0.25, 0.25]])
    """
    centre, spread = mean @ planes.T, planes @ root
    if mean.shape[1] != 2:
        return _by_points(centre, spread)
    found = np.empty(centre.shape)
    width = np.sqrt((root**2).sum(axis=(1, 2)))
    below = -np.inf
    for most, n_nodes in PLANE_NODES:
        own = (width > below) & (width <= most)
        found[own] = _by_product(centre[own], spread[own], n_nodes)
        below = most
    wide = ~(width <= below)
    found[wide] = log_expected_of_three(centre[wide], spread[wide])
    return found


def _by_product(centre: np.ndarray, spread: np.ndarray, n_nodes: int) -> np.ndarray:
    """Return log Σ_q share_q softmax(centre + spread · point_q) of each row, where spreads are small."""
    points, shares = _plane(n_nodes)

    def of(c: np.ndarray, r: np.ndarray) -> np.ndarray:
        c = c - c.max(axis=1, keepdims=True)
        # What the classes have of the middle is taken out: it may be too small for a number.
        p = np.exp(np.matmul(r, points.T))
        with np.errstate(under="ignore"):
            p /= np.matmul(np.exp(c)[:, None, :], p)
        return c + np.log(p @ shares)

    return in_blocks(of, len(points) * centre.shape[1], centre, spread).reshape(centre.shape)


def _by_points(centre: np.ndarray, spread: np.ndarray) -> np.ndarray:
    points = _halton(spread.shape[2], N_POINTS)

    def of(c: np.ndarray, r: np.ndarray) -> np.ndarray:
        p = np.matmul(r, points.T)  # classes first: sums over them are sums of long rows
        p += c[:, :, None]
        p -= p.max(axis=1, keepdims=True)
        np.exp(p, out=p)
        p /= p.sum(axis=1, keepdims=True)
        return p.mean(axis=2)

    shares = in_blocks(of, len(points) * centre.shape[1], centre, spread).reshape(centre.shape)
    rows, classes = np.nonzero(shares < RARE)
    with np.errstate(divide="ignore"):
        found = np.log(shares)
    width = N_RARE * centre.shape[1]
    found[rows, classes] = in_blocks(_rare, width, centre[rows], spread[rows], classes)
    return log_softmax(found)  # rules of their own do not make one in sum


def _rare(centre: np.ndarray, spread: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return log E[softmax_k] of a class a row, by points about z*, where it and the normal are largest.

    E[h(z)] = E[h(z + z*) e^(-z*·z - z*²/2)] of standard normal z.
    """
    top = _peak(centre, spread, classes)
    points = _halton(spread.shape[2], N_RARE)
    a = np.matmul(spread, points.T) + (centre + np.matmul(spread, top[:, :, None])[..., 0])[:, :, None]
    own = np.take_along_axis(a, classes[:, None, None], axis=1)[:, 0]
    peak = a.max(axis=1)
    logs = own - peak - np.log(np.exp(a - peak[:, None, :]).sum(axis=1)) - top @ points.T
    most = logs.max(axis=1)
    average = np.exp(logs - most[:, None]).mean(axis=1)
    return most + np.log(average) - 0.5 * np.sum(top * top, axis=1)


def _peak(centre: np.ndarray, spread: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the z of the largest log softmax_k(centre + spread z) - z²/2, by Newton's steps."""
    z, size = np.zeros((len(centre), spread.shape[2])), np.ones(len(centre))
    one = np.eye(centre.shape[1])[classes]

    def height(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logs = log_softmax(centre + np.matmul(spread, z[:, :, None])[..., 0])
        return np.sum(logs * one, axis=1) - 0.5 * np.sum(z * z, axis=1), np.exp(logs)

    best, p = height(z)
    for _ in range(N_STEPS):
        slope = np.matmul((one - p)[:, None, :], spread)[:, 0] - z
        mean = np.matmul(p[:, None, :], spread)
        bend = np.swapaxes(spread, 1, 2) @ (p[:, :, None] * spread) - np.swapaxes(mean, 1, 2) @ mean
        step = np.linalg.solve(bend + np.eye(z.shape[1]), slope[:, :, None])[..., 0]
        tried = z + size[:, None] * step
        new, shares = height(tried)
        climbed = new > best
        z, p = np.where(climbed[:, None], tried, z), np.where(climbed[:, None], shares, p)
        best, size = np.where(climbed, new, best), np.where(climbed, np.minimum(1.0, 2.0 * size), 0.25 * size)
    return z


@lru_cache
def _plane(n: int) -> tuple[np.ndarray, np.ndarray]:
    nodes, shares = hermite(n)
    points = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2)
    product = np.outer(shares, shares).ravel()
    some = product > 1e-20  # the corners of the square weigh nothing
    return points[some], product[some] / product[some].sum()


@lru_cache
def _halton(m: int, n: int) -> np.ndarray:
    """Return n points of a standard normal in m dimensions, with its mean and covariance."""
    from scipy.special import ndtri

    points = ndtri(np.column_stack([_radical_inverse(base, n) for base in _primes(m)]))
    points = points - points.mean(axis=0)
    root = np.linalg.cholesky(points.T @ points / n)
    return np.linalg.solve(root, points.T).T


def _radical_inverse(base: int, n: int) -> np.ndarray:
    """Return the digits of 1, 2, … mirrored at the point, (n,)."""
    left, found, size = np.arange(1, n + 1), np.zeros(n), 1.0
    while np.any(left):
        size /= base
        found += size * (left % base)
        left //= base
    return found


def _primes(m: int) -> list[int]:
    found: list[int] = []
    candidate = 2
    while len(found) < m:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return found
