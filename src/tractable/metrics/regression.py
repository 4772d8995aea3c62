"""Scores of predicted numbers: squared and absolute errors, and the fraction of variance explained."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.metrics.checks import as_pair, averaged, over_targets, with_source_targets


@with_source_targets
def mean_squared_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Return the mean squared error, (1/n) Σ (y - ŷ)².

    Parameters
    ----------
    y_true : array of shape (n_samples,) or (n_samples, n_targets), or source
        Targets; a source's own, and its weights where none are given.
    y_pred : array of the same shape
        Predictions.
    sample_weight : array of shape (n_samples,), optional
        How often each row counts.
    multioutput : {"uniform_average", "raw_values"} or array of shape (n_targets,)
        The mean over the targets, one score for each, or the mean with these weights.

    Returns
    -------
    float, or array of shape (n_targets,)

    Examples
    --------
    >>> mean_squared_error([3.0, -0.5, 2.0, 7.0], [2.5, 0.0, 2.0, 8.0])
    0.375
    """
    y_true, y_pred = as_pair(y_true, y_pred)
    return over_targets(averaged((y_true - y_pred) ** 2, sample_weight), multioutput)


@with_source_targets
def root_mean_squared_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Return the root of the mean squared error, √MSE: an error in the units of the target.

    Roots are taken before the mean over the targets.

    Parameters
    ----------
    y_true : array of shape (n_samples,) or (n_samples, n_targets), or source
        Targets; a source's own, and its weights where none are given.
    y_pred : array of the same shape
        Predictions.
    sample_weight : array of shape (n_samples,), optional
        Frequencies of the rows; one each by default.
    multioutput : {"uniform_average", "raw_values"} or array of shape (n_targets,)
        The mean over the targets, one score for each, or the mean with these weights.

    Examples
    --------
    >>> root_mean_squared_error([1.0, 2.0], [4.0, 6.0], sample_weight=[0.0, 1.0])
    4.0
    """
    y_true, y_pred = as_pair(y_true, y_pred)
    mean = averaged((y_true - y_pred) ** 2, sample_weight)
    return over_targets(namespace_of(mean).sqrt(mean), multioutput)


@with_source_targets
def mean_absolute_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Return the mean absolute error, (1/n) Σ |y - ŷ|.

    Parameters
    ----------
    y_true : array of shape (n_samples,) or (n_samples, n_targets), or source
        Targets; a source's own, and its weights where none are given.
    y_pred : array of the same shape
        Predictions.
    sample_weight : array of shape (n_samples,), optional
        Frequencies of the rows; one each by default.
    multioutput : {"uniform_average", "raw_values"} or array of shape (n_targets,)
        The mean over the targets, one score for each, or the mean with these weights.

    Examples
    --------
    >>> mean_absolute_error([3.0, -0.5, 2.0, 7.0], [2.5, 0.0, 2.0, 8.0])
    0.5
    """
    y_true, y_pred = as_pair(y_true, y_pred)
    return over_targets(averaged(namespace_of(y_true).abs(y_true - y_pred), sample_weight), multioutput)


@with_source_targets
def normalized_rmse(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Return the root mean squared error over the target's standard deviation, √(MSE / Var(y)).

    The variance is the mean squared deviation, 1/n, so that predicting the mean scores 1 exactly. A
    constant target scores 0 where it is predicted exactly, and infinity elsewhere.

    Parameters
    ----------
    y_true : array of shape (n_samples,) or (n_samples, n_targets), or source
        Targets; a source's own, and its weights where none are given.
    y_pred : array of the same shape
        Predictions.
    sample_weight : array of shape (n_samples,), optional
        Frequencies of the rows; one each by default.
    multioutput : {"uniform_average", "raw_values"} or array of shape (n_targets,)
        The mean over the targets, one score for each, or the mean with these weights.

    Examples
    --------
    >>> normalized_rmse([1.0, 2.0, 3.0], [2.0, 2.0, 2.0])
    1.0
    """
    ratio = _unexplained(y_true, y_pred, sample_weight)
    return over_targets(namespace_of(ratio).sqrt(ratio), multioutput)


@with_source_targets
def r2_score(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Return R² = 1 - MSE / Var(y) = 1 - NRMSE²: 1 for exact predictions, 0 for predicting the mean.

    A constant target scores 1 where it is predicted exactly and -inf elsewhere, as scikit-learn's
    `r2_score` does with ``force_finite=False``.

    Parameters
    ----------
    y_true : array of shape (n_samples,) or (n_samples, n_targets), or source
        Targets; a source's own, and its weights where none are given.
    y_pred : array of the same shape
        Predictions.
    sample_weight : array of shape (n_samples,), optional
        Frequencies of the rows; one each by default.
    multioutput : {"uniform_average", "raw_values"} or array of shape (n_targets,)
        The mean over the targets, one score for each, or the mean with these weights.

    Examples
    --------
    >>> r2_score([1.0, 2.0, 3.0], [1.5, 2.0, 2.5])
    0.75
    """
    return over_targets(1.0 - _unexplained(y_true, y_pred, sample_weight), multioutput)


def _unexplained(y_true: Any, y_pred: Any, sample_weight: Any) -> Array:
    """Return MSE / Var(y), with 0/0 = 0."""
    y_true, y_pred = as_pair(y_true, y_pred)
    xp = namespace_of(y_true)
    error = averaged((y_true - y_pred) ** 2, sample_weight)
    variance = averaged((y_true - averaged(y_true, sample_weight)) ** 2, sample_weight)
    constant = variance == 0
    with np.errstate(over="ignore"):  # errors of 1e100 over a variance of 1e-200
        ratio = error / xp.where(constant, xp.ones_like(variance), variance)
    return xp.where(constant & (error > 0), xp.full_like(ratio, xp.inf), ratio)
