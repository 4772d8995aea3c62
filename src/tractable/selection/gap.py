"""The gap statistic: scatter within clusters, beside that of rows without any."""

from collections.abc import Iterator

import numpy as np

from tractable.engines.kmeans import kmeans
from tractable.statistics import Moments

__all__ = ["gap_statistic"]

#: Rows of a reference; more tell its scatter no better than the draws differ.
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

    References are even over the box of the rows in their principal directions, Tibshirani, Walther and
    Hastie (2001), section 3 (b). Scatters are taken per row, so that references may have fewer.

    Parameters
    ----------
    x : array (n, d)
    weights : array (n,) or None
    inertias : array (m,)
        W_K of the rows.
    numbers : array (m,) of int
    rng : numpy.random.Generator
    n_init, n_draws : int

    Returns
    -------
    gap, standard_error : arrays (m,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = np.concatenate([rng.normal(size=(40, 2)), 9 + rng.normal(size=(40, 2))])
    >>> inertias = np.array([kmeans(x, None, k, rng).inertia for k in (1, 2)])
    >>> gap, error = gap_statistic(x, None, inertias, np.array([1, 2]), rng, n_init=1, n_draws=10)
    >>> bool(gap[1] > gap[0] + error[0])
    True
    """
    w = np.ones(len(x)) if weights is None else weights
    logs = np.array(
        [
            [
                np.log(kmeans(rows, None, k, rng, n_init=n_init, max_iter=300).inertia / len(rows))
                for k in numbers
            ]
            for rows in _references(x[w > 0], w[w > 0], rng, n_draws, least=int(numbers[-1]) + 1)
        ]
    )
    gap = logs.mean(axis=0) - np.log(inertias / w.sum())
    return gap, logs.std(axis=0) * np.sqrt(1.0 + 1.0 / n_draws)


def _references(
    x: np.ndarray, w: np.ndarray, rng: np.random.Generator, n_draws: int, least: int
) -> Iterator[np.ndarray]:
    """Yield rows spread evenly over the box of x in its principal directions, as many as x counts.

    Only the sides of the box matter: k-means does not see where it stands, nor how it is turned.
    """
    size = np.abs(x - x[0]).max()  # squares of extreme units would leave the range of numbers
    moments = Moments.of((x - x[0]) / size, w)
    turn = np.linalg.eigh(moments.scatter)[1]
    turned = ((x - x[0]) / size) @ turn
    sides = size * (turned.max(axis=0) - turned.min(axis=0))
    n = max(least, min(MOST_ROWS, max(len(x), round(w.sum()))))
    for _ in range(n_draws):
        yield sides * rng.random((n, x.shape[1]))
