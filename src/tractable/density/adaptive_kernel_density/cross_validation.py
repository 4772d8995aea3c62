"""The number of neighbours that shape a window, by cross-validation."""

import math
from collections.abc import Callable

import numpy as np

from tractable.density.adaptive_kernel_density.windows import (
    UniqueRows,
    balloon,
    local_covariances,
    sample_point,
    window_covariances,
)
from tractable.smoothing import WINDOWS, WindowSums
from tractable.spatial.choose import as_index
from tractable.spatial.counted import nearest_counted
from tractable.value import value


def lattice(n: int, dim: int) -> np.ndarray:
    """Return n points of the unit cube, (n, dim): cells' middles on a line, else multiples of one step.

    The step is (1/g, 1/g², …) with g^(dim + 1) = g + 1, whose multiples, less their whole parts, are spread
    evenly however many are taken (Roberts 2018).

    Examples
    --------
    >>> lattice(2, 1).ravel().tolist()
    [0.25, 0.75]
    """
    if dim == 1:
        return ((np.arange(n) + 0.5) / n)[:, None]
    g = 2.0
    for _ in range(60):
        g = (1.0 + g) ** (1.0 / (dim + 1.0))
    return (0.5 + np.arange(1, n + 1)[:, None] * g ** -np.arange(1.0, dim + 1.0)) % 1.0


#: Half of the points.
N_EACH = 512


@value
class Probes:
    """Points drawn from a density q: ∫ f is the mean of f / q over them."""

    points: np.ndarray  # (s, d)
    log_density: np.ndarray  # (s,)

    def log_integral(self, log_f: np.ndarray) -> float:
        """Return log ∫ f from log f at the points."""
        ratio = log_f - self.log_density
        top = float(np.max(ratio))
        return top + math.log(float(np.mean(np.exp(ratio - top))))


def probes_of(unique: UniqueRows) -> Probes:
    """Return points of which half fill a box about the rows evenly, and half are rows plus Gaussian noise.

    Of a box in many dimensions hardly a point falls where the density is; rows plus noise all do. The same
    points are drawn every time.

    Examples
    --------
    >>> from tractable.base import Rows
    >>> from tractable.density.adaptive_kernel_density.windows import unique_rows
    >>> probes = probes_of(unique_rows(Rows(data=np.arange(20.0)[:, None])))
    >>> round(probes.log_integral(-0.5 * probes.points[:, 0] ** 2), 1)  # log √(2π) = 0.92
    0.9
    """
    low, high = box_about(unique)
    rng, (m, dim) = np.random.default_rng(0), unique.points.shape
    h = (4.0 / ((dim + 2.0) * unique.weights.sum())) ** (1.0 / (dim + 4.0))
    below = np.cumsum(unique.weights)
    chosen = np.searchsorted(below, below[-1] * (np.arange(N_EACH) + 0.5) / N_EACH)
    blurred = unique.points[np.minimum(chosen, m - 1)] + h * rng.standard_normal((N_EACH, dim))
    points = np.concatenate([low + (high - low) * lattice(N_EACH, dim), blurred])
    sums = WindowSums(points=unique.points / h, weights=unique.weights, window=WINDOWS["gaussian"])
    log_scale = WINDOWS["gaussian"].log_normaliser(dim) + dim * math.log(h) + math.log(below[-1])
    inside = np.all((points >= low) & (points <= high), axis=1)
    even = np.where(inside, -float(np.sum(np.log(high - low))), -np.inf)
    log_density = np.logaddexp(even, sums.log_sums(points / h) - log_scale) - math.log(2.0)
    return Probes(points=points, log_density=log_density)


def box_about(unique: UniqueRows) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the range of the rows, widened to three times its size."""
    low, high = unique.points.min(axis=0), unique.points.max(axis=0)
    reach = np.where(high > low, high - low, 1.0)
    return low - reach, high + reach


N_FOLDS = 5
N_CANDIDATES = 12

#: UniqueRows left out in all, about, where there are more: likelihoods differ alike in a thousand.
N_LEFT_OUT = 1000

#: Candidates judged by one search; where the best is not among the last of them, larger ones are not tried.
#: Likelihoods of large samples are smoother than those of small ones; squared errors are rougher than both.
TOGETHER = 3
LAST, LAST_OF_MANY, LAST_OF_ERRORS = 2, 1, 4

#: From so many neighbours on, a search costs more than what candidates share: they are judged one by one.
MANY_NEIGHBORS = 200

Scores = Callable[[UniqueRows, np.ndarray, np.ndarray, float], list[np.ndarray]]


def candidates(unique: UniqueRows) -> np.ndarray:
    """Return numbers of neighbours to try: from one more than columns to half of the rows, by equal factors.

    Examples
    --------
    >>> from tractable.base import Rows
    >>> from tractable.density.adaptive_kernel_density.windows import unique_rows
    >>> candidates(unique_rows(Rows(data=np.arange(20.0)[:, None]))).tolist()
    [2, 3, 4, 5, 6, 7, 9, 10]
    """
    rows = unique.weights.sum()
    most = max(1.0, np.floor(rows / 2.0))
    least = min(unique.points.shape[1] + 1.0, most)
    return np.unique(np.rint(np.geomspace(least, most, N_CANDIDATES)).astype(np.int64))


def search_n_neighbors(
    unique: UniqueRows, shrinkage: float, *, normalized: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of neighbours tried, from small to large, and their scores, until these fall.

    Scores are likelihoods of the sample-point form, and squared errors, negative, of the balloon form.
    """
    every, found = candidates(unique), np.zeros(0)
    scores: Scores = sample_point_scores if normalized else balloon_scores
    many = len(unique.points) > 2 * N_LEFT_OUT
    last = LAST_OF_ERRORS if not normalized else LAST_OF_MANY if many else LAST
    while len(found) < len(every) and not (len(found) and np.argmax(found) < len(found) - last):
        together = TOGETHER if every[len(found)] < MANY_NEIGHBORS else 1
        some = every[len(found) : len(found) + together]
        found = np.concatenate([found, cross_validated(unique, some, shrinkage, scores)])
    return every[: len(found)], found


def cross_validated(unique: UniqueRows, tried: np.ndarray, shrinkage: float, scores: Scores) -> np.ndarray:
    """Return the mean score of rows left out, for each number of neighbours, (k,).

    Unique rows are dealt to five folds, always the same ones, so that copies of a row are left out together.
    Of many rows only as many folds are left out as hold a thousand.
    """
    fold, n_used = _folds(len(unique.points))
    totals = np.zeros(len(tried))
    for left_out in range(n_used):
        out = fold == left_out
        found = scores(unique.select(~out), unique.points[out], tried, shrinkage)
        totals += [unique.weights[out] @ log_density for log_density in found]
    return totals / unique.weights[fold < n_used].sum()


def _folds(m: int) -> tuple[np.ndarray, int]:
    """Return the fold of each unique row, and how many folds are left out in turn."""
    n_folds = min(m, max(N_FOLDS, -(-m // N_LEFT_OUT)))
    return np.random.default_rng(0).permutation(m) % n_folds, min(n_folds, -(-N_LEFT_OUT * n_folds // m))


def sample_point_scores(
    unique: UniqueRows, x: np.ndarray, tried: np.ndarray, shrinkage: float
) -> list[np.ndarray]:
    """Return the log densities of rows under windows of each number of neighbours, by one search."""
    windows = window_covariances(unique, as_index(unique.points, name="X"), tried, shrinkage)
    return [sample_point(x, unique, covariances) for covariances in windows]


def balloon_scores(
    unique: UniqueRows, x: np.ndarray, tried: np.ndarray, shrinkage: float
) -> list[np.ndarray]:
    """Return 2 p(x) - ∫ p² of the balloon form: windows are shaped by the neighbours of x.

    Over rows left out its mean is minus the integrated squared error, up to a constant. The form is no
    density, and its likelihood is greatest where its mass is, with few neighbours.
    """
    probes, n = probes_of(unique), len(x)
    every = np.concatenate([x, probes.points])
    most = min(int(tried[-1]), int(unique.weights.sum()))
    near = nearest_counted(as_index(unique.points, name="X"), every, most, unique.weights)
    windows = (local_covariances(every, unique.points, near.first(k), shrinkage) for k in tried)
    found = (balloon(every, unique, covariances) for covariances in windows)
    return [2.0 * np.exp(logs[:n]) - np.exp(probes.log_integral(2.0 * logs[n:])) for logs in found]
