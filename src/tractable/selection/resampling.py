"""Splits of rows for validation and test, and bias and variance over many training sets."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from tractable.arrays.random import as_generator, either_seed_name
from tractable.base import check_count, check_table
from tractable.distributions import Normal
from tractable.metrics import BiasVariance, decompose


@either_seed_name
def train_val_test_split(
    *arrays: Any, val: float = 0.15, test: float = 0.15, stratify: Any = None, random_state: Any = None
) -> list[Any]:
    """Split rows into three parts: to train, to choose (validation), and to judge once at the end (test).

    Scikit-learn's `train_test_split`, twice. The parts are disjoint and together are everything.

    Parameters
    ----------
    *arrays : arrays, frames or lists of the same length
        What to split.
    val, test : float
        Shares of all rows; together below 1.
    stratify : array, optional
        Labels whose proportions each part keeps.
    random_state : None, int or RandomState
        Source of randomness; with a seed the result is repeatable.

    Returns
    -------
    list
        Training, validation and test part of the first array, then of the second, and so on.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.arange(20).reshape(10, 2), np.arange(10)
    >>> X_train, X_val, X_test, y_train, y_val, y_test = train_val_test_split(
    ...     X, y, val=0.2, test=0.2, random_state=0
    ... )
    >>> len(X_train), len(X_val), len(X_test)
    (6, 2, 2)
    >>> sorted([*y_train, *y_val, *y_test]) == sorted(y)
    True
    """
    if not arrays:
        raise ValueError("arrays must hold at least one array to split")
    if not (0.0 < val < 1.0 and 0.0 < test < 1.0 and val + test < 1.0):
        raise ValueError(
            f"val and test must be fractions that together are below 1, got {val!r} and {test!r}"
        )
    with_labels = (*arrays, *(() if stratify is None else (stratify,)))
    n_val, n_test = (_rows_of(fraction, arrays[0]) for fraction in (val, test))
    apart = train_test_split(*with_labels, test_size=n_test, stratify=stratify, random_state=random_state)
    rest, tests = apart[0::2], apart[1::2]
    labels = None if stratify is None else rest[-1]
    again = train_test_split(*rest, test_size=n_val, stratify=labels, random_state=random_state)
    return [part for i in range(len(arrays)) for part in (again[2 * i], again[2 * i + 1], tests[i])]


def _rows_of(fraction: float, array: Any) -> int:
    """Return the number of rows of a fraction, rounded up; 0.07 of 100 is seven despite rounding."""
    n = array.shape[0] if hasattr(array, "shape") else len(array)
    return math.ceil(round(fraction * n, 9))


@either_seed_name
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
    """Estimate bias and variance of a model, E[(y - ŷ)²] = bias² + variance + noise.

    The model is fitted to `n_repeats` training sets of targets f(x) + noise and predicts at the points; fresh
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
        Where the model predicts; the rows of the training sets where these are fixed.
    n_repeats : int
        Number of training sets, three or more.
    rng : None, int or Generator
        Source of randomness; with a seed the result is repeatable.

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
