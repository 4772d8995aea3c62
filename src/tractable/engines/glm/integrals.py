"""Class probabilities where the linear predictor is Gaussian: E[σ(a)], E[Φ(a)] and E[softmax(a)].

The predictive integrals of a Gaussian (Laplace) posterior, as logarithms: two classes to 12 digits, three to
10, however small the probability; more by a fixed quasi-Monte Carlo rule.
"""

import math
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from tractable.arrays.devices import beside, on_accelerator
from tractable.arrays.error_function import erfc, log_ndtr
from tractable.arrays.log_space import LOG_2PI, log1p_exp, log_sigmoid, log_softmax, sigmoid
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.engines.mode_search import Ascent, golden_section, newton_ascent
from tractable.engines.quadrature import gauss_hermite, gauss_legendre, integrate
from tractable.engines.roots import bisect
from tractable.primitives import as_double

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

#: Of more classes than this each is rarer, in proportion, before it counts as rare.
FEW_CLASSES = 10

#: Dimensions of the Halton sequence; and how far from 0 and 1 points are kept.
MOST_HALTON, TINY = 40, 1e-12
#: The last Newton step to the mode of the integrand of a rare class, the most that are tried, and the part of
#: its curvature that is rounding.
SHORT, N_STEPS, ROUNDING = 1e-9, 100, 64.0 * np.finfo(float).eps

#: Standardised rows are shrunk to this size at most.
LARGEST = 1e8
#: Numbers that stay in cache; and of a block on an accelerator, 256 MB.
BLOCK, DEVICE_BLOCK = 100_000, 2**25

SQRT_2PI = math.sqrt(2.0 * math.pi)


def log_expected_sigmoid(mean: Array, stddev: Array) -> Array:
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
    xp = namespace_of(mean, stddev)
    shape = np.broadcast_shapes(np.shape(mean), np.shape(stddev))
    mean, stddev = (xp.reshape(x, (-1,)) for x in xp.broadcast_arrays(as_double(mean), as_double(stddev)))
    low = -xp.abs(mean)
    with np.errstate(over="ignore", invalid="ignore"):
        square = stddev * stddev
        tilted = low < -0.5 * square
        near = xp.where(tilted, -(low + square), low)
        log_factor = xp.where(tilted, low + 0.5 * square, 0.0)
    narrow, width = stddev <= MOST_HERMITE, N_LEGENDRE * (len(PANELS) - 1)
    rules = (
        (narrow, partial(_in_blocks, _by_hermite, N_HERMITE)),
        (~narrow & (near <= 0.0), partial(_in_blocks, _below_step, width)),
        (~narrow & (near > 0.0), partial(_in_blocks, _above_step, width)),
    )
    found = _piecewise(rules, near, stddev) + log_factor
    found = xp.where(mean > 0.0, xp.log1p(-xp.exp(xp.clip(found, max=0.0))), found)
    return xp.reshape(found, shape)


def _log_expected_bound(mean: Array, stddev: Array) -> Array:
    """Return log E[min(1, e^a)] of a ~ N(mean, stddev²), which is log-concave in the mean.

    σ(a) is between half of min(1, e^a) and all of it.
    """
    xp = namespace_of(mean, stddev)
    s = xp.clip(stddev, min=TINY)
    ratio = mean / s
    return xp.logaddexp(log_ndtr(ratio), mean + 0.5 * s * s + log_ndtr(-ratio - s))


def log_expected_probit(mean: Array, stddev: Array) -> Array:
    """Return log ∫ Φ(a) N(a | mean, stddev²) da = log Φ(mean / √(1 + stddev²)), which is exact.

    Examples
    --------
    >>> np.exp(log_expected_probit(np.array([1.0]), np.array([0.0]))).round(4)
    array([0.8413])
    """
    xp = namespace_of(stddev)
    return log_ndtr(mean / xp.hypot(xp.ones_like(stddev), stddev))


def log_expected_softmax(mean: Array, root: Array, contrasts: Array) -> Array:
    """Return log E[softmax(contrasts @ a)] for a ~ N(mean, root rootᵀ), row by row.

    Three classes: a product of Gauss-Hermite rules up to a total standard deviation of 1.2, one axis in
    closed form and the other by adaptive quadrature beyond; both have 10 digits, however small the
    probability is.

    More classes: 8,192 points of the Halton sequence (of more than 41 classes, Sobol's), transformed to the
    mean and covariance of the normal.
    The error of a probability is of the order of 1e-5 at a standard deviation of 0.3, 2e-4 at 1 and 1e-3 at
    5. A class less probable than 0.01 (of K > 10 classes, 0.1 / K) has 1,024 points of its own about the mode
    of its integrand, with importance weights: the error of its logarithm is about 0.01, and 0.1 at standard
    deviations of 5. The rules are deterministic.

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
    xp = namespace_of(root)
    width, below, rules = xp.sqrt(xp.sum(root**2, axis=(1, 2))), -np.inf, []
    for most, n_nodes in PRODUCT_NODES:
        rules.append(((width > below) & (width <= most), partial(_by_product, n_nodes=n_nodes)))
        below = most
    return _piecewise((*rules, (~(width <= below), _of_three)), center, spread)


def limit_rows(z: Array) -> Array:
    """Return standardised rows (n, p), those with entries beyond 1e8 shrunk along their own directions.

    So far out a sigmoid is a step function, whose expectation depends on the direction alone up to 1e-8.
    """
    xp = namespace_of(z)
    largest = xp.max(xp.abs(z), axis=1, keepdims=True) if z.shape[1] else 0.0 * z
    return z / xp.clip(largest / LARGEST, min=1.0)


def _by_hermite(mean: Array, stddev: Array) -> Array:
    xp, (nodes, weights) = namespace_of(mean), beside(gauss_hermite(N_HERMITE), mean)
    found = xp.log(sigmoid(mean[:, None] + stddev[:, None] * nodes) @ weights)
    return xp.where(stddev > 0.0, found, log_sigmoid(mean))


def _below_step(mean: Array, stddev: Array) -> Array:
    """Return the logarithm for -s²/2 <= mean <= 0, relative to the density at 0."""
    xp, (t, weights) = namespace_of(mean), beside(_step_remainder(), mean)
    x, ratio = t / stddev[:, None], mean / stddev
    with np.errstate(under="ignore"):
        rest = (xp.exp(-0.5 * x * x) * xp.sinh(-x * ratio[:, None])) @ (2.0 * weights)
        rest = rest / (SQRT_2PI * stddev)
    with np.errstate(divide="ignore"):
        return xp.logaddexp(log_ndtr(ratio), xp.log(rest) - 0.5 * ratio * ratio)


def _above_step(mean: Array, stddev: Array) -> Array:
    xp, (t, weights) = namespace_of(mean), beside(_step_remainder(), mean)
    m, s = mean[:, None], stddev[:, None]
    with np.errstate(under="ignore", over="ignore"):
        below, above = (xp.exp(-0.5 * ((sign * t - m) / s) ** 2) for sign in (-1.0, 1.0))
    step = 0.5 * erfc(-mean / stddev / 2.0**0.5)
    return xp.log(step + ((below - above) @ weights) / (SQRT_2PI * stddev))


def _by_product(center: Array, spread: Array, n_nodes: int) -> Array:
    """Return log Σ_q weight_q softmax(center + spread · node_q) over a product rule on two axes."""
    xp, (points, weights) = namespace_of(center), beside(_product_rule(n_nodes), center)

    def of(c: Array, r: Array) -> Array:
        c = c - xp.max(c, axis=1, keepdims=True)
        # The factor exp(c) is taken out of the sum: it may be too small for a number.
        p = xp.exp(r @ points.T)
        with np.errstate(under="ignore"):
            p = p / (xp.exp(c)[:, None, :] @ p)
        return c + xp.log(p @ weights)

    return _in_blocks(of, points.shape[0] * center.shape[1], center, spread)


def _of_three(center: Array, spread: Array) -> Array:
    """Return log E[softmax] of three classes, each of them as the first."""
    xp, n = namespace_of(center), center.shape[0]
    orders = beside(np.array([0, 1, 2, 1, 0, 2, 2, 0, 1]), center)
    first = xp.reshape(xp.take(center, orders, axis=1), (3 * n, 3))
    found = _in_blocks(
        _first_of_three, 200, first, xp.reshape(xp.take(spread, orders, axis=1), (3 * n, 3, 2))
    )
    return xp.reshape(found, (n, 3))


def _first_of_three(center: Array, spread: Array) -> Array:
    """Return log E[1 / (1 + e^u + e^v)], u and v the differences of the other classes to the first.

    With v the one of larger variance, 1 / (1 + e^u + e^v) = σ(-v) σ(log(1 + e^v) - u), and the expectation
    over Gaussian u given v is `log_expected_sigmoid`. What is left is an integral over v of a log-concave
    function; panels between its ends are halved until the halves agree with the whole.
    """
    xp = namespace_of(center)
    differences, roots = center[:, 1:] - center[:, :1], spread[:, 1:, :] - spread[:, :1, :]
    sizes = xp.sum(roots**2, axis=2)
    second = sizes[:, 1] > sizes[:, 0]
    (m, r), (mu, q) = (
        (
            xp.where(mine, differences[:, 1], differences[:, 0]),
            xp.where(mine[:, None], roots[:, 1, :], roots[:, 0, :]),
        )
        for mine in (second, ~second)
    )
    s = xp.sqrt(xp.sum(r * r, axis=1))
    slope = xp.sum(q * r, axis=1) / s
    rest = xp.abs(q[:, 0] * r[:, 1] - q[:, 1] * r[:, 0]) / s

    def logs(z: Array, own: Any = (m, s, mu, slope, rest), expected: Any = log_expected_sigmoid) -> Array:
        m_i, s_i, mu_i, slope_i, rest_i = own
        soft = log1p_exp(m_i + s_i * z)
        return expected(soft - mu_i - slope_i * z, rest_i) - soft - 0.5 * z * z

    # Where the integrand is large, a bound that is at most twice as large tells.
    bound = partial(logs, expected=_log_expected_bound)
    mode = golden_section(bound, -2.0 * s - 1.0, 2.0 * s + 1.0, 36)
    highest, largest = bound(mode), logs(mode)

    def end(side: float) -> Array:
        """Return where the integrand has fallen by DEPTH: at most 9 away from its mode, as a normal."""
        near, far = (xp.full_like(mode, math.log(distance)) for distance in (1e-7, 9.0))
        fallen = bisect(lambda t: ~(bound(mode + side * xp.exp(t)) > highest - DEPTH), near, far, max_iter=16)
        return mode + side * xp.exp(fallen)

    low, high = end(-1.0), end(1.0)
    # The integrand bends about v = 0, and where the two terms of the argument of u are equal.
    with np.errstate(divide="ignore", invalid="ignore"):
        bends = xp.stack([-m / s, -mu / slope, (mu - m) / (s - slope)])
    bends = xp.clip(xp.where(xp.isnan(bends), 0.0, bends), -1e9, 1e9)
    reach = BEND * xp.stack([xp.ones_like(s), *[xp.clip(rest, min=1.0)] * 2]) / s
    breaks = xp.concat([xp.stack([low, high, mode]), bends - reach, bends + reach])
    breaks = xp.minimum(xp.maximum(breaks, low), high)
    # Terms that are subtracted have no more digits than this.
    size = xp.abs(m) + xp.abs(mu) + s * (xp.abs(mode) + 9.0)
    tolerance = xp.clip(64.0 * float(np.finfo(float).eps) * size, min=TOLERANCE)

    def relative(z: Array, i: Array) -> Array:
        own = [xp.take(x, i) for x in (m, s, mu, slope, rest)]
        return xp.exp(logs(z, own) - xp.take(largest, i))

    found = integrate(relative, xp.sort(breaks.T, axis=1), rtol=tolerance, n_nodes=N_NODES)
    return largest + xp.log(found.value) - 0.5 * LOG_2PI


def _by_points(center: Array, spread: Array) -> Array:
    """Return log E[softmax(center + spread z)] by the Halton sequence, of rare classes by another."""
    xp, k = namespace_of(center), center.shape[1]
    points = beside(_normal_points(spread.shape[2], N_POINTS), center)

    def of(c: Array, r: Array) -> Array:
        p = r @ points.T  # classes first: sums over them are sums of long rows
        p += c[:, :, None]
        p -= xp.max(p, axis=1, keepdims=True)
        p = xp.exp(p)
        p /= xp.sum(p, axis=1, keepdims=True)
        return xp.mean(p, axis=2)

    def rare(_: Array, cell: Array) -> Array:
        row = cell // k
        return _in_blocks(
            _rare, N_RARE * k, xp.take(center, row, axis=0), xp.take(spread, row, axis=0), cell % k
        )

    p = xp.reshape(_in_blocks(of, points.shape[0] * k, center, spread), (-1,))
    scarce, cells = p < RARE * min(1.0, FEW_CLASSES / k), xp.arange(p.shape[0], device=device(p))
    found = _piecewise(((~scarce, lambda own, _: xp.log(own)), (scarce, rare)), p, cells)
    return log_softmax(xp.reshape(found, center.shape))  # two rules do not sum to one exactly


def _rare(center: Array, spread: Array, classes: Array) -> Array:
    """Return log E[softmax_k] of a class a row, by points about the mode z* of softmax_k times the normal.

    E[h(z)] = E[h(z + z*) e^(-z*·z - z*²/2)] of standard normal z.
    """
    xp, mode = namespace_of(center), _rare_mode(center, spread, classes)
    points = beside(_normal_points(spread.shape[2], N_RARE), center)
    a = spread @ points.T + (center + (spread @ mode[:, :, None])[..., 0])[:, :, None]
    own = xp.sum(_one_of(classes, center)[:, :, None] * a, axis=1)
    peak = xp.max(a, axis=1)
    logs = own - peak - xp.log(xp.sum(xp.exp(a - peak[:, None, :]), axis=1)) - mode @ points.T
    most = xp.max(logs, axis=1)
    average = xp.mean(xp.exp(logs - most[:, None]), axis=1)
    return most + xp.log(average) - 0.5 * xp.sum(mode * mode, axis=1)


def _one_of(classes: Array, center: Array) -> Array:
    """Return ones for the class of each row, and zeros for the others, (n, K)."""
    xp = namespace_of(center)
    return xp.astype(classes[:, None] == xp.arange(center.shape[1], device=device(center)), center.dtype)


def _rare_mode(center: Array, spread: Array, classes: Array) -> Array:
    """Return argmax_z log softmax_k(center + spread z) - z²/2 of each row, by Newton's method."""
    xp, own = namespace_of(center), _one_of(classes, center)
    identity = xp.eye(spread.shape[2], dtype=center.dtype, device=device(center))

    def ascent(z: Array, rows: Array) -> Ascent:
        middle, root, one = (xp.take(x, rows, axis=0) for x in (center, spread, own))
        logs = log_softmax(middle + (root @ z[:, :, None])[..., 0])
        p = xp.exp(logs)
        gradient = ((one - p)[:, None, :] @ root)[:, 0, :] - z
        away = xp.sqrt(p)[:, :, None] * (root - p[:, None, :] @ root)
        curvature = xp.matrix_transpose(away) @ away
        # Beside a curvature of 1e16 that of the normal is lost to rounding: no matrix may be singular.
        ridge = 1.0 + ROUNDING * xp.linalg.trace(curvature)
        step = xp.linalg.solve(curvature + ridge[:, None, None] * identity, gradient[:, :, None])[..., 0]
        return Ascent(xp.sum(logs * one, axis=1) - 0.5 * xp.sum(z * z, axis=1), gradient, step)

    return newton_ascent(ascent, xp.zeros_like(spread[:, 0, :]), tol=SHORT, max_iter=N_STEPS)[0]


def _in_blocks(of: Callable[..., Array], width: int, *arrays: Array) -> Array:
    """Apply a function of rows that makes `width` numbers of each, a few rows at a time."""
    n = arrays[0].shape[0]
    step = max(1, (DEVICE_BLOCK if on_accelerator(arrays[0]) else BLOCK) // width)
    parts = [of(*(a[i : min(i + step, n), ...] for a in arrays)) for i in range(0, max(n, 1), step)]
    return namespace_of(arrays[0]).concat(parts)


def _piecewise(rules: Iterable[tuple[Array, Callable[..., Array]]], *arrays: Array) -> Array:
    """Apply to each row the one of several functions whose condition (n,) holds for it."""
    xp, found, rows = namespace_of(arrays[0]), [], []
    for condition, rule in rules:
        own = xp.nonzero(condition)[0]
        if own.shape[0]:
            found.append(rule(*(xp.take(a, own, axis=0) for a in arrays)))
            rows.append(own)
    if len(rows) < 2:
        return found[0] if rows else arrays[0]
    return xp.take(xp.concat(found), xp.argsort(xp.concat(rows)), axis=0)


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
def _normal_points(m: int, n: int) -> np.ndarray:
    """Return n points of a standard normal in m dimensions, with its mean and covariance.

    The Halton sequence; in many dimensions, where its coordinates follow from each other, Sobol's, scrambled.
    """
    from scipy.special import ndtri
    from scipy.stats.qmc import Halton, Sobol

    few = m <= MOST_HALTON
    sequence = Halton(m, scramble=False).fast_forward(1) if few else Sobol(m, rng=np.random.default_rng(0))
    points = ndtri(np.clip(sequence.random(n), TINY, 1.0 - TINY))
    points = points - points.mean(axis=0)
    root = np.linalg.cholesky(points.T @ points / n)
    return np.linalg.solve(root, points.T).T
