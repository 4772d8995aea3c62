"""Choice of the number of clusters of k-means by a cluster index, the gap statistic or the elbow."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator, either_seed_name
from tractable.arrays.weights import check_weights
from tractable.base import check_count, check_numbers, check_table
from tractable.engines.kmeans import kmeans
from tractable.metrics import calinski_harabasz_score, davies_bouldin_score, silhouette_score
from tractable.mixture.selection import RULES, NumberOfClusters
from tractable.statistics import Moments
from tractable.statistics.rows import counts

INDICES = {
    "calinski_harabasz": calinski_harabasz_score,
    "silhouette": silhouette_score,
    "davies_bouldin": davies_bouldin_score,
}


@either_seed_name
def select_n_clusters(
    X: Any,
    n_clusters: Iterable[int] = range(2, 11),
    *,
    criterion: str | Sequence[str] = "calinski_harabasz",
    sample_weight: Any = None,
    n_init: int = 10,
    n_references: int = 20,
    random_state: Any = None,
) -> NumberOfClusters:
    """Choose the number of clusters of k-means, by one criterion or several side by side.

    - ``"calinski_harabasz"``: the largest scatter between clusters over that within.
    - ``"silhouette"``: the largest mean silhouette; its cost is that of all pairs of rows.
    - ``"davies_bouldin"``: the smallest mean similarity of each cluster to the most similar other one.
    - ``"gap"``: Gap(K) = E log W*_K - log W_K, with W*_K the scatter within clusters of rows spread evenly
      over the box of the data in their principal directions, drawn `n_references` times; the smallest K with
      Gap(K) ≥ Gap(K + 1) - s_{K+1}, where K + 1 is the next number tried and s its standard error, the
      deviation of log W* times √(1 + 1/n_references); the last number if there is none. Tibshirani, Walther
      and Hastie (2001). It alone may choose K = 1.
    - ``"elbow"``: where the curve of W_K is farthest below its chord, both axes from 0 to 1.

    Parameters
    ----------
    X : array (n, d)
        Columns are taken as they are: scale them where their units differ.
    n_clusters : iterable of int
        The numbers to try, below the number of different rows.
    criterion : str or sequence of str
        The first decides; all are reported.
    sample_weight : array (n,), optional
        How often each row counts. The gap's references have as many rows as these count, 200,000 at most.
    n_init : int
        Starts of k-means for every fit, the references' too; the best is kept.
    n_references : int
        Draws behind each gap.
    random_state : None, int or Generator
        Source of randomness; with a seed the result is repeatable.

    Returns
    -------
    NumberOfClusters
        With `best`, `scores`, `choices` and the `fits`; `tractable.plot` draws it.

    Examples
    --------
    >>> X = [[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]]
    >>> found = select_n_clusters(X, range(2, 8), n_init=20, random_state=0)
    >>> found.best
    5
    >>> found
    K  inertia  calinski_harabasz
    2    51.47             5.745
    3    14.33             15.07
    4    8.667             14.17
    5    3.667             19.86*
    6        2             19.75
    7        1             16.62
    5 clusters: the largest ratio of scatter between to scatter within
    """
    asked = _criteria(criterion)
    x = check_table(X)
    # Rows of weight zero stay, with the label of the nearest centre.
    w = None
    if sample_weight is not None:
        w = check_weights(sample_weight, len(x), name="sample_weight", some=True)
    numbers = _numbers(n_clusters, asked, x if w is None else x[w > 0])
    starts, draws = check_count("n_init", n_init, least=1), check_count("n_references", n_references, least=2)
    rng = as_generator(random_state)
    fits = tuple(kmeans(x, w, k, rng, n_init=starts, max_iter=300) for k in numbers)
    inertias = np.array([fit.inertia for fit in fits])
    scores, errors = {}, None
    for name in asked:
        if name == "elbow":
            across = (numbers - numbers[0]) / (numbers[-1] - numbers[0])
            fall = inertias[0] - inertias[-1]
            up = (inertias - inertias[-1]) / (fall if fall > 0 else 1.0)
            scores[name] = (1.0 - across - up) / np.sqrt(2.0)  # how far the curve is below its chord
        elif name == "gap":
            scores[name], errors = gap_statistic(x, w, inertias, numbers, rng, n_init=starts, n_draws=draws)
        else:
            index = INDICES[name]
            scores[name] = np.array([index(x, fit.labels, sample_weight=w) for fit in fits])
    return NumberOfClusters(
        n_clusters=numbers,
        scores=scores,
        choices={name: int(numbers[_chosen(name, scores[name], errors)]) for name in asked},
        criterion=asked[0],
        inertias=inertias,
        gap_errors=errors,
        fits=fits,
    )


def _chosen(name: str, score: np.ndarray, errors: np.ndarray | None) -> int:
    """Return the position of the number that a criterion chooses."""
    if name == "gap" and errors is not None:
        enough = np.flatnonzero(score[:-1] >= score[1:] - errors[1:])
        return int(enough[0]) if len(enough) else len(score) - 1
    return int(np.argmin(score) if name == "davies_bouldin" else np.argmax(score))


def _criteria(criterion: Any) -> list[str]:
    asked = [criterion] if isinstance(criterion, str) else list(criterion)
    unknown = [name for name in asked if name not in RULES]
    if unknown or not asked:
        raise ValueError(f"criterion must be of {', '.join(RULES)}, one or several; got {criterion!r}")
    return list(dict.fromkeys(asked))


def _numbers(n_clusters: Any, asked: list[str], x: np.ndarray) -> np.ndarray:
    least = 2 if set(asked) & set(INDICES) else 1
    found = np.array(check_numbers("n_clusters", n_clusters, least=least), dtype=np.int64)
    if "elbow" in asked and len(found) < 3:
        raise ValueError(f"n_clusters must be at least 3 numbers for an elbow, got {n_clusters!r}")
    different = len(np.unique(x, axis=0))
    if found[-1] >= different:
        raise ValueError(f"n_clusters must stay below the {different} different rows, got {found[-1]}")
    return found


#: Rows of a reference: with more, its scatter varies less than that of the draws.
MOST_ROWS = 200_000


def gap_statistic(
    x: np.ndarray,
    weights: np.ndarray | None,
    inertias: np.ndarray,
    numbers: np.ndarray,
    rng: np.random.Generator,
    *,
    n_init: int,
    n_draws: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return Gap(K) = E log W*_K - log W_K and its standard error, for every K.

    References are uniform over the box of the rows in their principal directions, Tibshirani, Walther and
    Hastie (2001), section 3 (b). Scatters are taken per row, so that references may have fewer. Rows x (n, d)
    count `weights` (n,) times; `inertias` (m,) are their W_K for the `numbers` (m,) of clusters.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = np.concatenate([rng.normal(size=(40, 2)), 9 + rng.normal(size=(40, 2))])
    >>> inertias = np.array([kmeans(x, None, k, rng).inertia for k in (1, 2)])
    >>> gap, error = gap_statistic(x, None, inertias, np.array([1, 2]), rng, n_init=1, n_draws=10)
    >>> bool(gap[1] > gap[0] + error[0])
    True
    """
    w = counts(weights, x)
    references = _references(x[w > 0], w[w > 0], rng, n_draws, least=int(numbers[-1]) + 1)
    scatters = [
        [kmeans(rows, None, k, rng, n_init=n_init, max_iter=300).inertia / len(rows) for k in numbers]
        for rows in references
    ]
    logs = np.log(scatters)
    gap = logs.mean(axis=0) - np.log(inertias / w.sum())
    return gap, logs.std(axis=0) * np.sqrt(1.0 + 1.0 / n_draws)


def _references(
    x: np.ndarray, w: np.ndarray, rng: np.random.Generator, n_draws: int, least: int
) -> Iterator[np.ndarray]:
    """Yield rows spread evenly over the box of x in its principal directions, as many as x counts.

    Only the sides of the box matter: k-means is invariant to shifts and rotations.
    """
    size = np.abs(x - x[0]).max()  # squares of extreme units would leave the range of numbers
    moments = Moments.of((x - x[0]) / size, w)
    axes = np.linalg.eigh(moments.scatter)[1]
    principal = ((x - x[0]) / size) @ axes
    sides = size * (principal.max(axis=0) - principal.min(axis=0))
    n = max(least, min(MOST_ROWS, max(len(x), round(w.sum()))))
    for _ in range(n_draws):
        yield sides * rng.random((n, x.shape[1]))
