"""Probabilities of two classes where the activation a is Gaussian: log E[σ(a)] and log E[Φ(a)]."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from tractable.arrays.log_space import log_sigmoid, sigmoid

__all__ = ["drawn_in", "hermite", "in_blocks", "legendre", "log_expected_probit", "log_expected_sigmoid"]

#: Up to this standard deviation Hermite's nodes follow a sigmoid; beyond it, a step and what it lacks.
MOST_HERMITE = 1.0
N_HERMITE = 40
#: What a sigmoid lacks to a step is e^-t, times e^(t/2) at most where it is used.
PANELS = (0.0, 1.0, 3.0, 7.0, 15.0, 40.0, 80.0)
N_LEGENDRE = 16
#: Rows farther out than this are drawn in.
_FARTHEST = 1e8
#: Numbers that stay in cache.
BLOCK = 100_000


def log_expected_sigmoid(mean: np.ndarray, stddev: np.ndarray) -> np.ndarray:
    """Return log ∫ σ(a) N(a | mean, stddev²) da: the integral has 12 digits, however small it is.

    Hermite's rule where the activation is sure. Where it is not, a sigmoid is a step and what it lacks:
    Φ(m/s) + ∫₀^∞ σ(-t) [N(-t) - N(t)] dt, whose integrand is smooth and short, and whose terms are positive
    for m < 0. Below m = -s²/2 most of the integral is where σ(a) is e^a: with the square completed,
    E[σ(a)] of N(m, s²) is e^(m + s²/2) E[σ(-a)] of N(m + s², s²), which is not small. Above 0 it is
    1 - E[σ(-a)].

    Examples
    --------
    >>> np.exp(log_expected_sigmoid(np.array([1.0, 1.0]), np.array([0.0, 3.0]))).round(8)
    array([0.73105858, 0.61324739])
    >>> log_expected_sigmoid(np.array([-1000.0]), np.array([3.0]))  # e^(-1000 + 9/2)
    array([-995.5])
    """
    mean, stddev = np.broadcast_arrays(np.asarray(mean, np.float64), np.asarray(stddev, np.float64))
    low = -np.abs(mean)
    with np.errstate(over="ignore"):
        square = stddev * stddev
    tilted = low < -0.5 * square
    near, lift = low.copy(), np.zeros(low.shape)
    near[tilted] = -(low[tilted] + square[tilted])
    lift[tilted] = low[tilted] + 0.5 * square[tilted]
    found = np.empty(low.shape)
    sure = stddev <= MOST_HERMITE
    found[sure] = in_blocks(_by_hermite, N_HERMITE, near[sure], stddev[sure])
    for rule, own in ((_below_step, ~sure & (near <= 0.0)), (_above_step, ~sure & (near > 0.0))):
        found[own] = in_blocks(rule, N_LEGENDRE * (len(PANELS) - 1), near[own], stddev[own])
    found += lift
    return np.where(mean > 0.0, np.log1p(-np.exp(np.minimum(found, 0.0))), found)


def log_expected_probit(mean: np.ndarray, stddev: np.ndarray) -> np.ndarray:
    """Return log ∫ Φ(a) N(a | mean, stddev²) da = log Φ(mean / √(1 + stddev²)), which is exact.

    Examples
    --------
    >>> np.exp(log_expected_probit(np.array([1.0]), np.array([0.0]))).round(4)
    array([0.8413])
    """
    from scipy.special import log_ndtr

    return log_ndtr(mean / np.hypot(1.0, stddev))


def _by_hermite(mean: np.ndarray, stddev: np.ndarray) -> np.ndarray:
    nodes, shares = hermite(N_HERMITE)
    found = np.log(sigmoid(mean[:, None] + stddev[:, None] * nodes) @ shares)
    return np.where(stddev > 0.0, found, log_sigmoid(mean))


def _below_step(mean: np.ndarray, stddev: np.ndarray) -> np.ndarray:
    """Return the logarithm for -s²/2 <= mean <= 0, in units of the density of the activation at 0."""
    from scipy.special import log_ndtr

    t, widths = _lack()
    x, ratio = t / stddev[:, None], mean / stddev
    with np.errstate(under="ignore"):
        rest = (np.exp(-0.5 * x * x) * np.sinh(-x * ratio[:, None])) @ (2.0 * widths)
        rest = rest / (np.sqrt(2.0 * np.pi) * stddev)
    with np.errstate(divide="ignore"):
        return np.logaddexp(log_ndtr(ratio), np.log(rest) - 0.5 * ratio * ratio)


def _above_step(mean: np.ndarray, stddev: np.ndarray) -> np.ndarray:
    from scipy.special import ndtr

    t, widths = _lack()
    m, s = mean[:, None], stddev[:, None]
    with np.errstate(under="ignore", over="ignore"):
        below, above = (np.exp(-0.5 * ((sign * t - m) / s) ** 2) for sign in (-1.0, 1.0))
    return np.log(ndtr(mean / stddev) + ((below - above) @ widths) / (np.sqrt(2.0 * np.pi) * stddev))


def in_blocks(of: Callable[..., np.ndarray], width: int, *arrays: np.ndarray) -> np.ndarray:
    """Apply a function of rows that makes `width` numbers of each, a few rows at a time."""
    step = max(1, BLOCK // width)
    parts = [of(*(a[i : i + step] for a in arrays)) for i in range(0, len(arrays[0]), step)]
    return np.concatenate(parts) if parts else np.empty(0)


@lru_cache
def hermite(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and shares for the average over a standard normal."""
    nodes, shares = np.polynomial.hermite_e.hermegauss(n)
    return nodes, shares / shares.sum()


@lru_cache
def legendre(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and widths for the integral from -1 to 1."""
    return np.polynomial.legendre.leggauss(n)


@lru_cache
def _lack() -> tuple[np.ndarray, np.ndarray]:
    """Return nodes of t > 0, and their widths times σ(-t), what a sigmoid lacks to a step."""
    nodes, widths = legendre(N_LEGENDRE)
    low, high = np.array(PANELS[:-1])[:, None], np.array(PANELS[1:])[:, None]
    half = 0.5 * (high - low)
    t = (0.5 * (low + high) + half * nodes).ravel()
    return t, (half * widths).ravel() * sigmoid(-t)


def drawn_in(z: np.ndarray) -> np.ndarray:
    """Return rows (n, p), in standard units, with those beyond 1e8 drawn in along their own directions.

    So far out a sigmoid is a step, whose average depends on the direction alone but for a part of 1e-8.
    """
    far = np.max(np.abs(z), axis=1, keepdims=True, initial=0.0)
    return z / np.maximum(far / _FARTHEST, 1.0)
