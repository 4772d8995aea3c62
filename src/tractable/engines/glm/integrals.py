"""Class probabilities where the linear predictor is Gaussian: E[σ(a)], E[Φ(a)] and E[softmax(a)]."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from tractable.arrays.log_space import LOG_2PI, log_sigmoid, log_softmax, sigmoid

__all__ = [
    "drawn_in",
    "hermite",
    "in_blocks",
    "legendre",
    "log_expected_of_three",
    "log_expected_probit",
    "log_expected_sigmoid",
    "log_expected_softmax",
]

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


Integrand = Callable[[np.ndarray, np.ndarray], np.ndarray]

N_NODES = 10
#: What halves of a panel may differ from it, by the whole: they are better than it by many digits.
TOLERANCE = 1e-9
#: The integrand is looked at where it is above e^-DEPTH of its largest.
DEPTH = 38.0
#: Numbers made for one row: bounds the memory.
WIDTH = 200
#: A sigmoid is bent this far to each side.
BENT = 20.0
GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)


def log_expected_of_three(centre: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return log E[softmax(centre + spread z)] for standard normal z (2,), to 10 digits of the probability.

    With u and v the leads of the other classes over class k, of which v is the more uncertain,
    1 / (1 + e^u + e^v) = σ(-v) σ(log(1 + e^v) - u): of Gaussian u given v the mean is
    `log_expected_sigmoid`. What is left is an integral over v of a function whose logarithm is concave, with
    one peak; panels from it to where nothing is left are halved until halves agree with the whole.

    Parameters
    ----------
    centre : array (n, 3)
    spread : array (n, 3, 2)

    Examples
    --------
    >>> spread = np.array([[[3.0, 0.0], [0.0, 3.0], [0.0, 0.0]]])
    >>> np.exp(log_expected_of_three(np.zeros((1, 3)), spread)).round(6)
    array([[0.364966, 0.364966, 0.270067]])
    """
    found = [in_blocks(_of_first, WIDTH, centre[:, turn], spread[:, turn]) for turn in TURNS]
    return np.stack(found, axis=1)


#: Each class first, and the others.
TURNS = ([0, 1, 2], [1, 0, 2], [2, 0, 1])


def _of_first(centre: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return log E[1 / (1 + e^u + e^v)] of the leads of the second and the third class over the first."""
    leads, roots = centre[:, 1:] - centre[:, :1], spread[:, 1:] - spread[:, :1]
    wider = np.argmax(np.sum(roots**2, axis=2), axis=1)
    place = np.arange(len(leads))
    (m, r), (mu, q) = ((leads[place, j], roots[place, j]) for j in (wider, 1 - wider))
    s = np.linalg.norm(r, axis=1)
    along = np.sum(q * r, axis=1) / s
    rest = np.abs(q[:, 0] * r[:, 1] - q[:, 1] * r[:, 0]) / s

    def logs(i: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return the logarithm of the integrand of rows i at z (len(i), …)."""
        i = i.reshape(-1, *(1,) * (z.ndim - 1))
        bend = np.logaddexp(0.0, m[i] + s[i] * z)
        return log_expected_sigmoid(bend - mu[i] - along[i] * z, rest[i]) - bend - 0.5 * z * z

    top = _golden_section(logs, 2.0 * s + 1.0)
    most = logs(place, top)
    ends = [_end(logs, top, most, side) for side in (-1.0, 1.0)]
    # The numbers that are subtracted have no more digits than this.
    size = np.abs(m) + np.abs(mu) + s * (np.abs(top) + 9.0)
    tolerance = np.maximum(TOLERANCE, 64.0 * np.finfo(float).eps * size)
    cuts = np.column_stack([*ends, top, *_bends(m, s, mu, along, rest)])
    cuts = np.sort(np.clip(cuts, ends[0][:, None], ends[1][:, None]), axis=1)
    return most + np.log(_integral(logs, most, cuts, tolerance)) - 0.5 * LOG_2PI


def _bends(
    m: np.ndarray, s: np.ndarray, mu: np.ndarray, along: np.ndarray, rest: np.ndarray
) -> list[np.ndarray]:
    """Return the sides of what is bent sharply: about v = 0, and where the two factors of u are even."""
    with np.errstate(divide="ignore", invalid="ignore"):
        places = [-m / s, -mu / along, (mu - m) / (s - along)]
    found = []
    for place, width in zip(places, (1.0, np.maximum(1.0, rest), np.maximum(1.0, rest)), strict=True):
        centre = np.nan_to_num(place, nan=0.0, posinf=1e9, neginf=-1e9)
        found += [centre - BENT * width / s, centre + BENT * width / s]
    return found


def _golden_section(logs: Integrand, reach: np.ndarray) -> np.ndarray:
    """Return about where each integrand is largest, within ± reach, by golden section."""
    place = np.arange(len(reach))
    low, high = -reach, reach
    points = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
    values = [logs(place, z) for z in points]
    for _ in range(36):
        left = values[0] > values[1]
        low, high = np.where(left, low, points[0]), np.where(left, points[1], high)
        new = np.where(left, high - GOLDEN * (high - low), low + GOLDEN * (high - low))
        value = logs(place, new)
        points = [np.where(left, new, points[1]), np.where(left, points[0], new)]
        values = [np.where(left, value, values[1]), np.where(left, values[0], value)]
    return np.where(values[0] > values[1], points[0], points[1])


def _end(logs: Integrand, top: np.ndarray, most: np.ndarray, side: float) -> np.ndarray:
    """Return where the integrand has fallen by DEPTH on a side of its peak: at most 9 away, as a normal."""
    near, far = np.full(len(top), np.log(1e-7)), np.full(len(top), np.log(9.0))
    place = np.arange(len(top))
    for _ in range(16):
        middle = 0.5 * (near + far)
        within = logs(place, top + side * np.exp(middle)) > most - DEPTH
        near, far = np.where(within, middle, near), np.where(within, far, middle)
    return top + side * np.exp(far)


def _integral(logs: Integrand, most: np.ndarray, cuts: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
    """Return ∫ e^(logs - most) over the cuts, by Legendre's rule on panels that are halved where it needs."""
    nodes, widths = legendre(N_NODES)

    def panels(i: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        half = 0.5 * (high - low)
        z = (0.5 * (low + high))[:, None] + half[:, None] * nodes
        return half * (np.exp(logs(i, z) - most[i][:, None]) @ widths)

    n = len(most)
    i, j = np.nonzero(np.diff(cuts, axis=1) > 0.0)
    low, high = cuts[i, j], cuts[i, j + 1]
    whole = panels(i, low, high)
    total = np.bincount(i, whole, minlength=n)
    found = np.zeros(n)
    for _ in range(40):
        middle = 0.5 * (low + high)
        left, right = panels(i, low, middle), panels(i, middle, high)
        settled = np.abs(left + right - whole) <= tolerance[i] * np.maximum(total[i], left + right)
        found += np.bincount(i[settled], (left + right)[settled], minlength=n)
        open_ = ~settled
        if not np.any(open_):
            return found
        low, middle, high = low[open_], middle[open_], high[open_]
        i, whole = np.tile(i[open_], 2), np.concatenate([left[open_], right[open_]])
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    return found + np.bincount(i, whole, minlength=n)


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
    top = _newton_peak(centre, spread, classes)
    points = _halton(spread.shape[2], N_RARE)
    a = np.matmul(spread, points.T) + (centre + np.matmul(spread, top[:, :, None])[..., 0])[:, :, None]
    own = np.take_along_axis(a, classes[:, None, None], axis=1)[:, 0]
    peak = a.max(axis=1)
    logs = own - peak - np.log(np.exp(a - peak[:, None, :]).sum(axis=1)) - top @ points.T
    most = logs.max(axis=1)
    average = np.exp(logs - most[:, None]).mean(axis=1)
    return most + np.log(average) - 0.5 * np.sum(top * top, axis=1)


def _newton_peak(centre: np.ndarray, spread: np.ndarray, classes: np.ndarray) -> np.ndarray:
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
