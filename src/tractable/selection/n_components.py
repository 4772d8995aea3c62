"""How many principal components: several criteria side by side."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator, either_seed_name
from tractable.base import check_number, check_table
from tractable.decomposition.spectrum import (
    DimensionChoice,
    bic_scores,
    log_evidences,
    noise_variances,
    optimal_threshold,
)
from tractable.engines.principal_components import components_of
from tractable.statistics import ScatterFactor

#: The criteria, in the order in which they are reported.
CRITERIA = ("cross_validation", "parallel_analysis", "optimal_threshold", "evidence", "bic", "variance")


@either_seed_name
def select_n_components(
    X: Any,
    *,
    criterion: str | Iterable[str] = CRITERIA,
    variance: float = 0.9,
    n_folds: int = 5,
    n_draws: int = 20,
    random_state: Any = None,
) -> DimensionChoice:
    """Choose the number of principal components, by several criteria side by side.

    - ``"cross_validation"``: the fewest whose log-likelihood of rows that were left out, under probabilistic
      PCA, is within one standard error of the largest. The moments of the other folds add, so that every
      row is read once.
    - ``"parallel_analysis"``: the eigenvalues above the 95 % quantile of those of columns shuffled
      independently (Horn 1965), up to the first that is not.
    - ``"optimal_threshold"``: the singular values above that of Gavish and Donoho (2014), which are worth
      keeping under noise of unknown variance.
    - ``"evidence"``: the largest evidence, by Laplace's approximation (Minka 2000).
    - ``"bic"``: the least Bayesian information criterion of probabilistic PCA.
    - ``"variance"``: as few as have 90 % of the variance.

    Columns are taken as they are: standardize them where their units differ.

    Parameters
    ----------
    X : array (n, d)
        Complete rows, more than there are columns.
    criterion : str or iterable of str
        The first decides; all are reported.
    variance : float
        The fraction of "variance".
    n_folds : int
        Folds of cross-validation.
    n_draws : int
        Shuffles of parallel analysis.
    random_state : None, int or Generator
        Source of randomness; with a seed the result is repeatable.

    Returns
    -------
    DimensionChoice
        With `best`, `choices`, `scores` and the spectrum; `tractable.plot` draws it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 6)) * 3.0 + rng.normal(size=(300, 6))
    >>> found = select_n_components(X, random_state=0)
    >>> found.best, found.choices["bic"]
    (2, 2)
    """
    asked = (criterion,) if isinstance(criterion, str) else tuple(criterion)
    unknown = [name for name in asked if name not in CRITERIA]
    if unknown or not asked:
        raise ValueError(f"criterion must be one or several of {[*CRITERIA]}, got {criterion!r}")
    x = check_table(X)
    n, d = x.shape
    check_number("variance", variance, above=0.0, below=1.0)
    if n <= d or d < 2:
        raise ValueError(f"X must have two columns at least and more rows than columns, got shape {x.shape}")
    check_number("n_folds", n_folds, least=2, most=n, whole=True)
    check_number("n_draws", n_draws, least=1, whole=True)
    rng = as_generator(random_state, name="random_state")
    found = components_of(ScatterFactor.of(x))
    variances = found.variances()
    if not variances[-1] > 1e-14 * variances[0]:
        raise ValueError("X must vary in every direction: leave out columns that follow from others")
    scores: dict[str, np.ndarray] = {}
    choices: dict[str, int] = {}
    chance = None
    for name in asked:
        if name == "cross_validation":
            folds = held_out(x, n_folds, rng)
            scores[name] = folds.mean(axis=0)
            below = folds[:, [np.argmax(scores[name])]] - folds
            error = below.std(axis=0, ddof=1) / np.sqrt(n_folds)
            choices[name] = int(np.argmax(below.mean(axis=0) <= error)) + 1
        elif name == "parallel_analysis":
            chance = shuffled_spectrum(x, n_draws, rng)
            above = variances > chance
            choices[name] = d if above.all() else int(np.argmin(above))
        elif name == "optimal_threshold":
            choices[name] = int(
                np.sum(found.singular_values > optimal_threshold(found.singular_values, (n, d)))
            )
        elif name == "evidence":
            scores[name] = log_evidences(variances, n)
            choices[name] = int(np.argmax(scores[name])) + 1
        elif name == "bic":
            scores[name] = bic_scores(variances, n)[1:]
            choices[name] = int(np.argmin(scores[name])) + 1
        else:
            reached = np.cumsum(found.explained_variance_ratio) >= variance * (1.0 - 1e-12)
            choices[name] = int(np.argmax(reached)) + 1
    return DimensionChoice(
        variances=variances, chance=chance, scores=scores, choices=choices, criterion=asked[0]
    )


def held_out(x: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """Return the mean log-likelihood of the rows of each fold left out, with 1, …, d - 1 components.

    The statistic of all rows but a fold is a sum of statistics; one decomposition of it gives every number of
    components, and a fold's own scatter its likelihood under all of them.
    """
    n, d = x.shape
    parts = [ScatterFactor.of(x[rows]) for rows in np.array_split(rng.permutation(n), n_folds)]
    total = np.zeros((n_folds, d - 1))
    for i, part in enumerate(parts):
        others = [other for j, other in enumerate(parts) if j != i]
        rest = others[0]
        for other in others[1:]:
            rest = rest + other
        found = components_of(rest)
        variances, noise = found.variances(), noise_variances(found.variances())
        noise = np.maximum(noise, 1e-12 * variances[0])
        about = part.moments().scatter_about(rest.mean)
        along = np.einsum("ki,ij,kj->k", found.components, about, found.components)
        weight = float(part.weight)
        for k in range(1, d):
            inside = np.sum(along[:k] / variances[:k]) + np.sum(along[k:]) / noise[k]
            log_det = np.sum(np.log(variances[:k])) + (d - k) * np.log(noise[k])
            total[i, k - 1] = -0.5 * (log_det + d * np.log(2.0 * np.pi) + inside / weight)
    return total


def shuffled_spectrum(x: np.ndarray, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """Return the 95 % quantile of each eigenvalue of the covariance, with the columns shuffled, (d,)."""
    draws = [components_of(ScatterFactor.of(rng.permuted(x, axis=0))).variances() for _ in range(n_draws)]
    return np.quantile(draws, 0.95, axis=0)
