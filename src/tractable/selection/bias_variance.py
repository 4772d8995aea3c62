"""The bias and the variance of a model, measured: fit it to many training sets of a known function."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from tractable.arrays.random import as_generator
from tractable.base import check_count, check_table
from tractable.distributions import Normal
from tractable.metrics import BiasVariance, decompose

__all__ = ["bias_variance"]


def bias_variance(
    estimator: Any,
    f: Callable[[np.ndarray], Any],
    noise: Any,
    X: Any,
    *,
    points: Any = None,
    n_repeats: int = 200,
    rng: Any = None,
) -> BiasVariance:
    """Measure where a model's squared error comes from, E[(y - ŷ)²] = bias² + variance + noise.

    The model is fitted to `n_repeats` training sets of targets f(x) + noise and asked at the points; fresh
    targets there measure the error that the three parts add up to.

    Parameters
    ----------
    estimator : regressor
        Cloned for every training set; pipelines and searches do.
    f : callable
        ``f(X)`` is the function behind the targets, (n, d) to (n,).
    noise : float or Distribution
        The noise's standard deviation, for Gaussian noise, or its distribution, of mean zero.
    X : array (n, d) or callable
        The rows of every training set; ``X(rng)`` draws new ones for each.
    points : array (m, d), optional
        Where the model is asked; the rows of the training sets where these are fixed.
    n_repeats : int
        Number of training sets, three or more.
    rng : None, int or Generator

    Returns
    -------
    BiasVariance
        With the parts at each point (`pointwise`) and on average (`average`), each with its standard error.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> x = np.linspace(0, 1, 25)[:, None]
    >>> wave = lambda x: np.sin(2 * np.pi * x[:, 0])
    >>> found = bias_variance(tractable.LinearRegression(), wave, 0.3, x, rng=0).average
    >>> round(float(found.bias2), 2), round(float(found.variance), 3), float(found.noise)
    (0.22, 0.007, 0.09)
    """
    if not callable(f):
        raise ValueError(f"f must be a function of rows, got {f!r}")
    rng = as_generator(rng)
    noise = _as_noise(noise)
    rows = check_table(X(rng) if callable(X) else X)
    if points is None and callable(X):
        raise ValueError("points must be given where X draws new rows for every training set")
    points = rows if points is None else check_table(points, "points")
    truth = _values(f, points)
    predictions, targets = np.empty((2, check_count("n_repeats", n_repeats, least=3), len(points)))
    for r in range(n_repeats):
        rows = check_table(X(rng)) if callable(X) and r else rows
        y = _values(f, rows) + noise.sample(len(rows), rng=rng)
        predictions[r] = np.asarray(clone(estimator).fit(rows, y).predict(points)).reshape(-1)
        targets[r] = truth + noise.sample(len(points), rng=rng)
    return decompose(points, truth, predictions, targets, float(noise.variance))


def _as_noise(noise: Any) -> Any:
    if hasattr(noise, "cdf"):
        if noise.batch_shape or float(noise.mean) != 0.0 or not np.isfinite(float(noise.variance)):
            raise ValueError("noise must be one distribution of mean zero and finite variance")
        return noise
    try:
        return Normal(mean=0.0, stddev=float(noise))
    except (TypeError, ValueError):
        raise ValueError(f"noise must be a positive number or a distribution, got {noise!r}") from None


def _values(f: Callable[[np.ndarray], Any], x: np.ndarray) -> np.ndarray:
    found = np.asarray(f(x), dtype=float)
    if found.shape != (len(x),):
        raise ValueError(f"f must return one number a row, shape ({len(x)},), got {found.shape}")
    return found
