"""How many neighbours shape a window: how well places that were left out are foretold."""

from collections.abc import Callable

import numpy as np

from tractable.density.local_windows import (
    balloon,
    index_of,
    local_covariances,
    neighbours_of_places,
    sample_point,
)
from tractable.density.places import Places
from tractable.density.probes import probes_of
from tractable.spatial.counted import nearest_counted

__all__ = ["balloon_scores", "candidates", "climbed", "cross_validated", "sample_point_scores"]

N_FOLDS = 5
N_CANDIDATES = 12

#: Places left out in all, about, where there are more: likelihoods differ alike in a thousand.
N_LEFT_OUT = 1000

#: Candidates judged by one search; where the best is not among the last of them, larger ones are not tried.
#: Likelihoods of large samples are smoother than those of small ones; squared errors are rougher than both.
TOGETHER = 3
LAST, LAST_OF_MANY, LAST_OF_ERRORS = 2, 1, 4

Scores = Callable[[Places, np.ndarray, np.ndarray, float], list[np.ndarray]]


def candidates(places: Places) -> np.ndarray:
    """Return numbers of neighbours to try: from one more than columns to half of the rows, by equal factors.

    Examples
    --------
    >>> from tractable.base import Rows
    >>> from tractable.density.places import places_of
    >>> candidates(places_of(Rows(data=np.arange(20.0)[:, None]))).tolist()
    [2, 3, 4, 5, 6, 7, 9, 10]
    """
    rows = places.weights.sum()
    most = max(1.0, np.floor(rows / 2.0))
    least = min(places.points.shape[1] + 1.0, most)
    return np.unique(np.rint(np.geomspace(least, most, N_CANDIDATES)).astype(np.int64))


def climbed(places: Places, shrinkage: float, *, normalized: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of neighbours tried, from small to large, and their scores, until these fall.

    Scores are likelihoods of the sample-point form, and squared errors, negative, of the balloon form.
    """
    every, found = candidates(places), np.zeros(0)
    scores: Scores = sample_point_scores if normalized else balloon_scores
    many = len(places.points) > 2 * N_LEFT_OUT
    last = LAST_OF_ERRORS if not normalized else LAST_OF_MANY if many else LAST
    while len(found) < len(every) and not (len(found) and np.argmax(found) < len(found) - last):
        some = every[len(found) : len(found) + TOGETHER]
        found = np.concatenate([found, cross_validated(places, some, shrinkage, scores)])
    return every[: len(found)], found


def cross_validated(places: Places, tried: np.ndarray, shrinkage: float, scores: Scores) -> np.ndarray:
    """Return the mean score of rows left out, for each number of neighbours, (k,).

    Places are dealt to five folds, always the same ones: copies of a row never tell of each other. Of many
    places only as many folds are left out as hold a thousand.
    """
    fold, n_used = _folds(len(places.points))
    totals = np.zeros(len(tried))
    for left_out in range(n_used):
        out = fold == left_out
        found = scores(places.some(~out), places.points[out], tried, shrinkage)
        totals += [places.weights[out] @ log_density for log_density in found]
    return totals / places.weights[fold < n_used].sum()


def _folds(m: int) -> tuple[np.ndarray, int]:
    """Return the fold of each place, and how many of them are left out in turn."""
    n_folds = min(m, max(N_FOLDS, -(-m // N_LEFT_OUT)))
    return np.random.default_rng(0).permutation(m) % n_folds, min(n_folds, -(-N_LEFT_OUT * n_folds // m))


def sample_point_scores(
    places: Places, x: np.ndarray, tried: np.ndarray, shrinkage: float
) -> list[np.ndarray]:
    """Return the log densities of rows under windows of each number of neighbours, by one search."""
    near = neighbours_of_places(places, index_of(places), int(tried[-1]))
    windows = (local_covariances(places.points, places.points, near.first(k), shrinkage) for k in tried)
    return [sample_point(x, places, covariances) for covariances in windows]


def balloon_scores(places: Places, x: np.ndarray, tried: np.ndarray, shrinkage: float) -> list[np.ndarray]:
    """Return 2 p(x) - ∫ p² of the balloon form: windows are shaped by the neighbours of x.

    Over rows left out its mean is minus the integrated squared error, up to a constant. The form is no
    density, and its likelihood is greatest where its mass is, with few neighbours.
    """
    probes, n = probes_of(places), len(x)
    every = np.concatenate([x, probes.points])
    most = min(int(tried[-1]), int(places.weights.sum()))
    near = nearest_counted(index_of(places), every, most, places.weights)
    windows = (local_covariances(every, places.points, near.first(k), shrinkage) for k in tried)
    found = (balloon(every, places, covariances) for covariances in windows)
    return [2.0 * np.exp(logs[:n]) - np.exp(probes.log_integral(2.0 * logs[n:])) for logs in found]
