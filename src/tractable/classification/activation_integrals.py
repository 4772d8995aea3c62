"""Probabilities of classes where the activation is uncertain: E[σ(a)] and E[softmax(Ca)] of Gaussian a."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from tractable.arrays.log_space import sigmoid

__all__ = ["expected_probit", "expected_sigmoid", "expected_softmax"]

#: Up to this standard deviation Hermite's nodes follow a sigmoid; beyond it, a step and what it lacks.
MOST_HERMITE = 1.0
N_HERMITE = 40
#: What a sigmoid lacks to a step is below 1e-17 from here on.
REACH = 40.0
PANELS = (0.0, 1.0, 3.0, 7.0, 15.0, REACH)
#: Nodes on each of two axes, by the largest standard deviation of an activation.
PLANE_NODES = ((0.7, 24), (1.5, 48), (np.inf, 96))
#: Points of Halton's sequence, where there are more than two axes.
N_POINTS = 8192
#: Numbers that stay in cache.
BLOCK = 100_000


def expected_sigmoid(mean: np.ndarray, stddev: np.ndarray) -> np.ndarray:
    """Return ∫ σ(a) N(a | mean, stddev²) da, to about 1e-13.

    Hermite's rule where the activation is sure. Where it is not, a sigmoid is a step and what it lacks:
    Φ(m/s) + ∫₀^∞ σ(-t) [N(-t) - N(t)] dt, whose integrand is smooth and short.

    Examples
    --------
    >>> expected_sigmoid(np.array([1.0, 1.0]), np.array([0.0, 3.0])).round(8)
    array([0.73105858, 0.61324739])
    """
    mean, stddev = np.broadcast_arrays(np.asarray(mean, np.float64), np.asarray(stddev, np.float64))
    found = np.empty(mean.shape)
    sure = stddev <= MOST_HERMITE
    found[sure] = _in_blocks(_by_hermite, N_HERMITE, mean[sure], stddev[sure])
    found[~sure] = _in_blocks(_by_step, 16 * (len(PANELS) - 1), mean[~sure], stddev[~sure])
    return found


def expected_probit(mean: np.ndarray, stddev: np.ndarray) -> np.ndarray:
    """Return ∫ Φ(a) N(a | mean, stddev²) da = Φ(mean / √(1 + stddev²)), which is exact.

    Examples
    --------
    >>> expected_probit(np.array([1.0]), np.array([0.0])).round(4)
    array([0.8413])
    """
    from scipy.special import ndtr

    return ndtr(mean / np.hypot(1.0, stddev))


def expected_softmax(mean: np.ndarray, root: np.ndarray, planes: np.ndarray) -> np.ndarray:
    """Return E[softmax(planes · a)] for a ~ N(mean, root rootᵀ), one row at a time.

    Two axes: the product of two of Hermite's rules, of 24, 48 or 96 nodes by how wide the activation is; the
    error is below 1e-11 up to a standard deviation of 2, and of the order of 1e-5 at 10. More axes: 8,192
    points of Halton's sequence, moved and turned so that their mean and covariance are the normal's; the
    error is of the order of 1e-5 at a standard deviation of 0.3, 2e-4 at 1 and 1e-3 at 5. Both rules are
    fixed: the same rows have the same answer.

    Parameters
    ----------
    mean : array (n, m)
    root : array (n, m, m)
    planes : array (K, m)

    Examples
    --------
    >>> sure, planes = np.zeros((1, 2, 2)), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> expected_softmax(np.array([[np.log(2.0), 0.0]]), sure, planes).round(12)
    array([[0.5 , 0.25, 0.25]])
    """
    found = np.empty((len(mean), len(planes)))
    if mean.shape[1] != 2:
        points, shares = _halton(mean.shape[1])
        return _averaged(mean, root, planes, points, shares)
    spread = np.sqrt((root**2).sum(axis=-1).max(axis=-1, initial=0.0))
    below = -np.inf
    for most, n_nodes in PLANE_NODES:
        own = (spread > below) & (spread <= most)
        found[own] = _averaged(mean[own], root[own], planes, *_plane(n_nodes))
        below = most
    return found


def _by_hermite(mean: np.ndarray, stddev: np.ndarray) -> np.ndarray:
    nodes, shares = _hermite(N_HERMITE)
    return sigmoid(mean[:, None] + stddev[:, None] * nodes) @ shares


def _by_step(mean: np.ndarray, stddev: np.ndarray) -> np.ndarray:
    from scipy.special import ndtr

    t, widths = _legendre()
    lacks = widths * sigmoid(-t) / np.sqrt(2.0 * np.pi)
    m, s = mean[:, None], stddev[:, None]
    with np.errstate(under="ignore"):
        below, above = (np.exp(-0.5 * ((sign * t - m) / s) ** 2) for sign in (-1.0, 1.0))
    return ndtr(mean / stddev) + ((below - above) @ lacks) / stddev


def _averaged(
    mean: np.ndarray, root: np.ndarray, planes: np.ndarray, points: np.ndarray, shares: np.ndarray
) -> np.ndarray:
    """Return Σ_q share_q softmax(planes · (mean + root · point_q)) of each row."""

    def of(m: np.ndarray, r: np.ndarray) -> np.ndarray:
        p = np.matmul(planes @ r, points.T)  # classes first: sums over them are sums of long rows
        p += (m @ planes.T)[:, :, None]
        p -= p.max(axis=1, keepdims=True)
        np.exp(p, out=p)
        p /= p.sum(axis=1, keepdims=True)
        return p @ shares

    found = _in_blocks(of, len(points) * len(planes), mean, root)
    return found.reshape(len(mean), len(planes))


def _in_blocks(of: Callable[..., np.ndarray], width: int, *arrays: np.ndarray) -> np.ndarray:
    """Apply a function of rows that makes `width` numbers of each, a few rows at a time."""
    step = max(1, BLOCK // width)
    parts = [of(*(a[i : i + step] for a in arrays)) for i in range(0, len(arrays[0]), step)]
    return np.concatenate(parts) if parts else np.empty(0)


@lru_cache
def _hermite(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and shares for the average over a standard normal."""
    nodes, shares = np.polynomial.hermite_e.hermegauss(n)
    return nodes, shares / shares.sum()


@lru_cache
def _legendre() -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and widths on the panels of what a sigmoid lacks."""
    nodes, widths = np.polynomial.legendre.leggauss(16)
    low, high = np.array(PANELS[:-1])[:, None], np.array(PANELS[1:])[:, None]
    half = 0.5 * (high - low)
    return (0.5 * (low + high) + half * nodes).ravel(), (half * widths).ravel()


@lru_cache
def _plane(n: int) -> tuple[np.ndarray, np.ndarray]:
    nodes, shares = _hermite(n)
    points = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2)
    product = np.outer(shares, shares).ravel()
    some = product > 1e-20  # the corners of the square weigh nothing
    return points[some], product[some] / product[some].sum()


@lru_cache
def _halton(m: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points of a standard normal in m dimensions, with its mean and covariance."""
    from scipy.special import ndtri

    points = ndtri(np.column_stack([_radical_inverse(base) for base in _primes(m)]))
    points = points - points.mean(axis=0)
    root = np.linalg.cholesky(points.T @ points / N_POINTS)
    return np.linalg.solve(root, points.T).T, np.full(N_POINTS, 1.0 / N_POINTS)


def _radical_inverse(base: int) -> np.ndarray:
    """Return the digits of 1, 2, … mirrored at the point, (n,)."""
    left, found, size = np.arange(1, N_POINTS + 1), np.zeros(N_POINTS), 1.0
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
