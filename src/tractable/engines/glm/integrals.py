"""Class probabilities where the linear predictor is Gaussian: E[σ(a)], E[Φ(a)] and E[softmax(a)].

The predictive integrals of a Gaussian (Laplace) posterior, as logarithms: two classes to 12 digits, three to
10, however small the probability; more by a fixed quasi-Monte Carlo rule.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from tractable.arrays.log_space import LOG_2PI, log_sigmoid, log_softmax, sigmoid
from tractable.engines.mode_search import Ascent, golden_section, newton_ascent
from tractable.engines.quadrature import gauss_hermite, gauss_legendre, integrate
from tractable.engines.roots import bisect

#: Up to this standard deviation a sigmoid is integrated by Gauss-Hermite quadrature with so many nodes.
MOST_HERMITE, N_HERMITE = 1.0, 40
#: Beyond it, by Gauss-Legendre panels over t of σ(-t), the difference of a sigmoid and a step function.
PANELS, N_LEGENDRE = (0.0, 1.0, 3.0, 7.0, 15.0, 40.0, 80.0), 16

#: Three classes: nodes on each of two axes up to a total standard deviation; adaptive quadrature beyond.
PRODUCT_NODES = ((0.7, 24), (1.2, 48))
#: Adaptive quadrature: nodes of a panel, relative difference of a panel and its halves, and the logarithm of
#: the part of the peak below which the integrand is left out.
N_NODES, TOLERANCE, DEPTH = 10, 1e-9, 38.0
#: A sigmoid differs from its asymptotes up to this far on each side.
BEND = 20.0

#: More classes: points of the Halton sequence, and of that for a class of probability below RARE.
N_POINTS, N_RARE, RARE = 8192, 1024, 0.01
#: The last Newton step to the mode of the integrand of a rare class, the most that are tried, and the part of
#: its curvature that is rounding.
SHORT, N_STEPS, ROUNDING = 1e-9, 100, 64.0 * np.finfo(float).eps

#: Standardised rows are shrunk to this size at most.
LARGEST = 1e8
#: Numbers that stay in cache.
BLOCK = 100_000


def log_expected_sigmoid(mean: np.ndarray, stddev: np.ndarray) -> np.ndarray:
    """Return log ∫ σ(a) N(a | mean, stddev²) da: the integral has 12 digits, however small it is.

    Gauss-Hermite quadrature for small standard deviations s. For larger ones σ is a step function and a
    remainder: E[σ(a)] = Φ(m/s) + ∫₀^∞ σ(-t) [N(-t) - N(t)] dt, whose integrand is smooth, and positive for
    m < 0. Below m = -s²/2 most of the integral is where σ(a) ≈ e^a: with the square completed, E[σ(a)] over
    N(m, s²) is e^(m + s²/2) E[σ(-a)] over N(m + s², s²), which is not small. Above 0 it is 1 - E[σ(-a)].

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
    near, log_factor = low.copy(), np.zeros(low.shape)
    near[tilted] = -(low[tilted] + square[tilted])
    log_factor[tilted] = low[tilted] + 0.5 * square[tilted]
    found = np.empty(low.shape)
    narrow = stddev <= MOST_HERMITE
    found[narrow] = _in_blocks(_by_hermite, N_HERMITE, near[narrow], stddev[narrow])
    for rule, own in ((_below_step, ~narrow & (near <= 0.0)), (_above_step, ~narrow & (near > 0.0))):
        found[own] = _in_blocks(rule, N_LEGENDRE * (len(PANELS) - 1), near[own], stddev[own])
    found += log_factor
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


def log_expected_softmax(mean: np.ndarray, root: np.ndarray, contrasts: np.ndarray) -> np.ndarray:
    """Return log E[softmax(contrasts @ a)] for a ~ N(mean, root rootᵀ), row by row.

    Three classes: a product of Gauss-Hermite rules up to a total standard deviation of 1.2, one axis in
    closed form and the other by adaptive quadrature beyond; both have 10 digits, however small the
    probability is.

    More classes: 8,192 points of the Halton sequence, transformed to the mean and covariance of the normal.
    The error of a probability is of the order of 1e-5 at a standard deviation of 0.3, 2e-4 at 1 and 1e-3 at
    5. A class less probable than 0.01 has 1,024 points of its own about the mode of its integrand, with
    importance weights: the error of its logarithm is about 0.01, and 0.1 at standard deviations of 5. The
    rules are deterministic.

    Parameters
    ----------
    mean : array (n, m)
        Mean of a for each row.
    root : array (n, m, m)
        A factor of the covariance of a for each row.
    contrasts : array (K, m)
        The linear predictors of the K classes as combinations of a.

    Examples
    --------
    >>> certain, contrasts = np.zeros((1, 2, 2)), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> np.exp(log_expected_softmax(np.array([[np.log(2.0), 0.0]]), certain, contrasts)).round(12)
    array([[0.5 , 0.25, 0.25]])
    """
    center, spread = mean @ contrasts.T, contrasts @ root
    if mean.shape[1] != 2:
        return _by_points(center, spread)
    found = np.empty(center.shape)
    width = np.sqrt((root**2).sum(axis=(1, 2)))
    below = -np.inf
    for most, n_nodes in PRODUCT_NODES:
        own = (width > below) & (width <= most)
        found[own] = _by_product(center[own], spread[own], n_nodes)
        below = most
    wide = ~(width <= below)
    orders = [[0, 1, 2], [1, 0, 2], [2, 0, 1]]  # each class first
    each = center[wide][:, orders].reshape(-1, 3), spread[wide][:, orders].reshape(-1, 3, 2)
    found[wide] = _in_blocks(_first_of_three, 200, *each).reshape(-1, 3)
    return found


def limit_rows(z: np.ndarray) -> np.ndarray:
    """Return standardised rows (n, p), those with entries beyond 1e8 shrunk along their own directions.

    So far out a sigmoid is a step function, whose expectation depends on the direction alone up to 1e-8.
    """
    largest = np.max(np.abs(z), axis=1, keepdims=True, initial=0.0)
    return z / np.maximum(largest / LARGEST, 1.0)


def _by_hermite(mean: np.ndarray, stddev: np.ndarray) -> np.ndarray:
    nodes, weights = gauss_hermite(N_HERMITE)
    found = np.log(sigmoid(mean[:, None] + stddev[:, None] * nodes) @ weights)
    return np.where(stddev > 0.0, found, log_sigmoid(mean))


def _below_step(mean: np.ndarray, stddev: np.ndarray) -> np.ndarray:
    """Return the logarithm for -s²/2 <= mean <= 0, relative to the density at 0."""
    from scipy.special import log_ndtr

    t, weights = _step_remainder()
    x, ratio = t / stddev[:, None], mean / stddev
    with np.errstate(under="ignore"):
        rest = (np.exp(-0.5 * x * x) * np.sinh(-x * ratio[:, None])) @ (2.0 * weights)
        rest = rest / (np.sqrt(2.0 * np.pi) * stddev)
    with np.errstate(divide="ignore"):
        return np.logaddexp(log_ndtr(ratio), np.log(rest) - 0.5 * ratio * ratio)


def _above_step(mean: np.ndarray, stddev: np.ndarray) -> np.ndarray:
    from scipy.special import ndtr

    t, weights = _step_remainder()
    m, s = mean[:, None], stddev[:, None]
    with np.errstate(under="ignore", over="ignore"):
        below, above = (np.exp(-0.5 * ((sign * t - m) / s) ** 2) for sign in (-1.0, 1.0))
    return np.log(ndtr(mean / stddev) + ((below - above) @ weights) / (np.sqrt(2.0 * np.pi) * stddev))


def _by_product(center: np.ndarray, spread: np.ndarray, n_nodes: int) -> np.ndarray:
    """Return log Σ_q weight_q softmax(center + spread · node_q) over a product rule on two axes."""
    points, weights = _product_rule(n_nodes)

    def of(c: np.ndarray, r: np.ndarray) -> np.ndarray:
        c = c - c.max(axis=1, keepdims=True)
        # The factor exp(c) is taken out of the sum: it may be too small for a number.
        p = np.exp(np.matmul(r, points.T))
        with np.errstate(under="ignore"):
            p /= np.matmul(np.exp(c)[:, None, :], p)
        return c + np.log(p @ weights)

    return _in_blocks(of, len(points) * center.shape[1], center, spread).reshape(center.shape)


def _first_of_three(center: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return log E[1 / (1 + e^u + e^v)], u and v the differences of the other classes to the first.

    With v the one of larger variance, 1 / (1 + e^u + e^v) = σ(-v) σ(log(1 + e^v) - u), and the expectation
    over Gaussian u given v is `log_expected_sigmoid`. What is left is an integral over v of a log-concave
    function; panels between its ends are halved until the halves agree with the whole.
    """
    differences, roots = center[:, 1:] - center[:, :1], spread[:, 1:] - spread[:, :1]
    wider = np.argmax(np.sum(roots**2, axis=2), axis=1)
    rows = np.arange(len(differences))
    (m, r), (mu, q) = ((differences[rows, j], roots[rows, j]) for j in (wider, 1 - wider))
    s = np.linalg.norm(r, axis=1)
    slope = np.sum(q * r, axis=1) / s
    rest = np.abs(q[:, 0] * r[:, 1] - q[:, 1] * r[:, 0]) / s

    def logs(z: np.ndarray, i: np.ndarray = rows) -> np.ndarray:
        soft = np.logaddexp(0.0, m[i] + s[i] * z)
        return log_expected_sigmoid(soft - mu[i] - slope[i] * z, rest[i]) - soft - 0.5 * z * z

    mode = golden_section(logs, -2.0 * s - 1.0, 2.0 * s + 1.0, 36)
    largest = logs(mode)

    def end(side: float) -> np.ndarray:
        """Return where the integrand has fallen by DEPTH: at most 9 away from its mode, as a normal."""
        near, far = (np.full(len(mode), np.log(distance)) for distance in (1e-7, 9.0))
        fallen = bisect(lambda t: ~(logs(mode + side * np.exp(t)) > largest - DEPTH), near, far, max_iter=16)
        return mode + side * np.exp(fallen)

    low, high = end(-1.0), end(1.0)
    # The integrand bends about v = 0, and where the two terms of the argument of u are equal.
    with np.errstate(divide="ignore", invalid="ignore"):
        bends = np.nan_to_num([-m / s, -mu / slope, (mu - m) / (s - slope)], posinf=1e9, neginf=-1e9)
    reach = BEND * np.stack([np.ones(len(s)), *[np.maximum(1.0, rest)] * 2]) / s
    breaks = np.clip(np.stack([low, high, mode, *(bends - reach), *(bends + reach)]), low, high)
    # Terms that are subtracted have no more digits than this.
    size = np.abs(m) + np.abs(mu) + s * (np.abs(mode) + 9.0)
    tolerance = np.maximum(TOLERANCE, 64.0 * np.finfo(float).eps * size)

    def relative(z: np.ndarray, i: np.ndarray) -> np.ndarray:
        return np.exp(logs(z, i) - largest[i])

    found = integrate(relative, np.sort(breaks.T, axis=1), rtol=tolerance, n_nodes=N_NODES)
    return largest + np.log(found.value) - 0.5 * LOG_2PI


def _by_points(center: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return log E[softmax(center + spread z)] by the Halton sequence, of rare classes by another."""
    points = _halton(spread.shape[2], N_POINTS)

    def of(c: np.ndarray, r: np.ndarray) -> np.ndarray:
        p = np.matmul(r, points.T)  # classes first: sums over them are sums of long rows
        p += c[:, :, None]
        p -= p.max(axis=1, keepdims=True)
        np.exp(p, out=p)
        p /= p.sum(axis=1, keepdims=True)
        return p.mean(axis=2)

    p = _in_blocks(of, len(points) * center.shape[1], center, spread).reshape(center.shape)
    rows, classes = np.nonzero(p < RARE)
    with np.errstate(divide="ignore"):
        found = np.log(p)
    width = N_RARE * center.shape[1]
    found[rows, classes] = _in_blocks(_rare, width, center[rows], spread[rows], classes)
    return log_softmax(found)  # two rules do not sum to one exactly


def _rare(center: np.ndarray, spread: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return log E[softmax_k] of a class a row, by points about the mode z* of softmax_k times the normal.

    E[h(z)] = E[h(z + z*) e^(-z*·z - z*²/2)] of standard normal z.
    """
    mode = _rare_mode(center, spread, classes)
    points = _halton(spread.shape[2], N_RARE)
    a = np.matmul(spread, points.T) + (center + np.matmul(spread, mode[:, :, None])[..., 0])[:, :, None]
    own = np.take_along_axis(a, classes[:, None, None], axis=1)[:, 0]
    peak = a.max(axis=1)
    logs = own - peak - np.log(np.exp(a - peak[:, None, :]).sum(axis=1)) - mode @ points.T
    most = logs.max(axis=1)
    average = np.exp(logs - most[:, None]).mean(axis=1)
    return most + np.log(average) - 0.5 * np.sum(mode * mode, axis=1)


def _rare_mode(center: np.ndarray, spread: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return argmax_z log softmax_k(center + spread z) - z²/2 of each row, by Newton's method."""
    own = np.eye(center.shape[1])[classes]
    identity = np.eye(spread.shape[2])

    def ascent(z: np.ndarray, rows: np.ndarray) -> Ascent:
        root, one = spread[rows], own[rows]
        logs = log_softmax(center[rows] + np.matmul(root, z[:, :, None])[..., 0])
        p = np.exp(logs)
        gradient = np.matmul((one - p)[:, None, :], root)[:, 0] - z
        away = np.sqrt(p)[:, :, None] * (root - np.matmul(p[:, None, :], root))
        curvature = np.swapaxes(away, 1, 2) @ away
        # Beside a curvature of 1e16 that of the normal is lost to rounding: no matrix may be singular.
        ridge = 1.0 + ROUNDING * np.trace(curvature, axis1=1, axis2=2)
        step = np.linalg.solve(curvature + ridge[:, None, None] * identity, gradient[:, :, None])[..., 0]
        return Ascent(np.sum(logs * one, axis=1) - 0.5 * np.sum(z * z, axis=1), gradient, step)

    return newton_ascent(ascent, np.zeros((len(center), spread.shape[2])), tol=SHORT, max_iter=N_STEPS)[0]


def _in_blocks(of: Callable[..., np.ndarray], width: int, *arrays: np.ndarray) -> np.ndarray:
    """Apply a function of rows that makes `width` numbers of each, a few rows at a time."""
    step = max(1, BLOCK // width)
    parts = [of(*(a[i : i + step] for a in arrays)) for i in range(0, len(arrays[0]), step)]
    return np.concatenate(parts) if parts else np.empty(0)


@lru_cache
def _step_remainder() -> tuple[np.ndarray, np.ndarray]:
    """Return nodes t > 0, and weights times σ(-t), the difference of a step function and a sigmoid."""
    t, weights = gauss_legendre(np.array(PANELS[:-1]), np.array(PANELS[1:]), N_LEGENDRE)
    return t.ravel(), (weights * sigmoid(-t)).ravel()


@lru_cache
def _product_rule(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes (q, 2) and weights (q,) of a Gauss-Hermite rule on two axes."""
    nodes, weights = gauss_hermite(n)
    points = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2)
    product = np.outer(weights, weights).ravel()
    some = product > 1e-20  # the corners of the square weigh nothing
    return points[some], product[some] / product[some].sum()


@lru_cache
def _halton(m: int, n: int) -> np.ndarray:
    """Return n points of a standard normal in m dimensions, with its mean and covariance."""
    from scipy.special import ndtri
    from scipy.stats.qmc import Halton

    points = ndtri(Halton(m, scramble=False).fast_forward(1).random(n))
    points = points - points.mean(axis=0)
    root = np.linalg.cholesky(points.T @ points / n)
    return np.linalg.solve(root, points.T).T
