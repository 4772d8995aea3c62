"""How many directions a spectrum has beside noise: evidence, BIC, thresholds; and intrinsic dimensions."""

from typing import Any

import numpy as np

from tractable.arrays.gamma import gammaln
from tractable.base import check_number, check_table
from tractable.engines import principal_components
from tractable.spatial import choose_index
from tractable.value import value

LOG_2PI = float(np.log(2.0 * np.pi))


def noise_variances(variances: np.ndarray) -> np.ndarray:
    """Return the mean of the eigenvalues after the first k = 0, …, d - 1, (d,): σ² of each model."""
    left = np.cumsum(variances[::-1])[::-1]
    return left / np.arange(len(variances), 0, -1)


def log_likelihoods(variances: np.ndarray, n: float) -> np.ndarray:
    """Return the greatest log-likelihood of probabilistic PCA with k = 0, …, d - 1 components, (d,).

    -n/2 (d log 2π + Σ_{i≤k} log λ_i + (d - k) log σ²_k + d), Tipping and Bishop (1999). Infinite where noise
    has no variance left.

    Parameters
    ----------
    variances : array (d,)
        All eigenvalues of the maximum-likelihood covariance, the largest first.
    n : float
        Number of rows.
    """
    d = len(variances)
    noise, k = noise_variances(variances), np.arange(d)
    with np.errstate(divide="ignore"):
        logs = np.concatenate([[0.0], np.cumsum(np.log(variances[:-1]))])
        return -0.5 * n * (d * LOG_2PI + logs + (d - k) * np.log(noise) + d)


def n_parameters(d: int, k: Any) -> Any:
    """Return the number of free parameters of probabilistic PCA: a mean, k orthogonal directions and σ²."""
    return d + d * k + 1 - k * (k - 1) // 2


def bic_scores(variances: np.ndarray, n: float) -> np.ndarray:
    """Return the Bayesian information criterion of k = 0, …, d - 1 components, (d,); least is best."""
    return n_parameters(len(variances), np.arange(len(variances))) * np.log(n) - 2.0 * log_likelihoods(
        variances, n
    )


def log_evidences(variances: np.ndarray, n: float) -> np.ndarray:
    """Return the log evidence of k = 1, …, d - 1 components, by Laplace's approximation, (d - 1,).

    Minka (2000): the directions integrated out over the Stiefel manifold, with a uniform prior, the variances
    and the noise about their estimates. Eigenvalues must be distinct and positive; -inf where they are not.

    Parameters
    ----------
    variances, n
        As in `log_likelihoods`.
    """
    d = len(variances)
    noise = noise_variances(variances)
    found = np.full(d - 1, -np.inf)
    for k in range(1, d):
        lam, v = variances[:k], noise[k]
        if not (v > 0.0 and lam[-1] > 0.0):
            continue
        half = 0.5 * (d - np.arange(k))
        log_directions = float(np.sum(gammaln(half) - half * np.log(np.pi))) - k * np.log(2.0)
        # A pair (i, j) of directions, j left out or not: (1/λ̂_j - 1/λ̂_i)(λ_i - λ_j) n.
        inverse = np.concatenate([1.0 / lam, np.full(d - k, 1.0 / v)])
        pairs = (inverse[None, :] - inverse[:k, None]) * (variances[:k, None] - variances[None, :]) * n
        above = np.triu_indices(k, 1, d)
        if not np.all(pairs[above] > 0.0):
            continue
        m = d * k - k * (k + 1) / 2
        found[k - 1] = (
            log_directions
            - 0.5 * n * float(np.sum(np.log(lam)))
            - 0.5 * n * (d - k) * np.log(v)
            + 0.5 * (m + k) * LOG_2PI
            - 0.5 * float(np.sum(np.log(pairs[above])))
            - 0.5 * k * np.log(n)
        )
    return found


def optimal_threshold(singular: np.ndarray, shape: tuple[float, int]) -> float:
    """Return the singular value above which a direction is worth keeping, of rows with unknown noise.

    Gavish and Donoho (2014): ω(β) times the median singular value, with β the ratio of the sides, minimises
    the asymptotic squared error of what is kept; of square matrices it is 2.858 times the median.

    Parameters
    ----------
    singular : array (min(n, d),)
        All singular values of the centred rows.
    shape : (n, d)
        Rows and columns.

    Examples
    --------
    >>> round(optimal_threshold(np.ones(100), (100, 100)), 2)
    2.86
    """
    beta = min(shape) / max(shape)
    known = np.sqrt(2.0 * (beta + 1.0) + 8.0 * beta / (beta + 1.0 + np.sqrt(beta**2 + 14.0 * beta + 1.0)))
    return float(known / np.sqrt(_median_marchenko_pastur(beta)) * np.median(singular))


def _median_marchenko_pastur(beta: float) -> float:
    """Return the median of the Marčenko-Pastur distribution of ratio β, of unit variance."""
    low, high = (1.0 - np.sqrt(beta)) ** 2, (1.0 + np.sqrt(beta)) ** 2
    # x = m - r cos t makes the density smooth at both ends.
    m, r = 0.5 * (low + high), 0.5 * (high - low)
    t = (np.arange(20_000) + 0.5) * np.pi / 20_000
    x = m - r * np.cos(t)
    density = (r * np.sin(t)) ** 2 / (2.0 * np.pi * beta * x)
    mass = np.cumsum(density)
    return float(np.interp(0.5 * mass[-1], mass, x))


@value
class IntrinsicDimension:
    """Estimates of how many dimensions rows fill, side by side.

    Parameters
    ----------
    participation_ratio : float
        (Σλ)² / Σλ² of the variances along the principal directions: d where all are equal, 1 where one has
        all.
    effective_rank : float
        exp(-Σ p log p) of p = λ / Σλ (Roy and Vetterli 2007).
    maximum_likelihood : float
        From the distances of neighbours (Levina and Bickel 2004, inverses averaged as MacKay and Ghahramani
        do): for curved surfaces too.
    two_nearest : float
        From the ratio of the distances of the two nearest neighbours alone (Facco and others 2017).
    n_features : int
        Number of columns.
    """

    participation_ratio: float
    effective_rank: float
    maximum_likelihood: float
    two_nearest: float
    n_features: int


def intrinsic_dimension(X: Any, *, n_neighbors: int = 20) -> IntrinsicDimension:
    """Return estimates of how many dimensions the rows of a table fill: usually fewer than it has columns.

    The first two are of the spectrum, and count directions of a flat subspace; the others look at neighbours,
    and see a curve or a surface, however it is bent. Rows that are repeated are taken once.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Rows, of columns in comparable units.
    n_neighbors : int
        How many neighbours the estimate by maximum likelihood looks at.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> t = np.random.default_rng(0).uniform(0, 9, size=500)
    >>> spiral = np.column_stack([t * np.cos(t), t * np.sin(t), t])
    >>> found = tractable.intrinsic_dimension(spiral)
    >>> round(found.participation_ratio, 1), round(found.maximum_likelihood, 1)
    (2.0, 1.0)
    """
    x = np.unique(check_table(X), axis=0)
    check_number("n_neighbors", n_neighbors, least=2, whole=True)
    if len(x) < 4:
        raise ValueError(f"X must have four different rows at least, and has {len(x)}")
    variances = principal_components(x).singular_values ** 2
    p = variances[variances > 0.0] / variances.sum()
    k = min(n_neighbors, len(x) - 1)
    distances, _ = choose_index(x, k=k + 1).query(x, k + 1)
    distances = distances[:, 1:]  # each row is its own nearest
    logs = np.log(distances[:, -1:] / distances[:, :-1])
    inverse = float(np.mean(logs)) if k > 1 else np.nan
    ratio = np.log(distances[:, 1] / distances[:, 0])
    return IntrinsicDimension(
        participation_ratio=float(1.0 / np.sum(p**2)),
        effective_rank=float(np.exp(-np.sum(p * np.log(p)))),
        maximum_likelihood=1.0 / inverse,
        two_nearest=_two_nearest(ratio),
        n_features=x.shape[1],
    )


def _two_nearest(log_ratio: np.ndarray) -> float:
    """Return the slope of -log(1 - F(μ)) against log μ through the origin, the largest tenth left out."""
    log_ratio = np.sort(log_ratio)
    n = len(log_ratio)
    kept = max(int(0.9 * n), 2)
    y = -np.log1p(-np.arange(1, kept + 1) / (n + 1.0))
    x = log_ratio[:kept]
    return float(x @ y / (x @ x))
