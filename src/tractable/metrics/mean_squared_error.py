"""Squared errors: their mean, and the root of it."""

from typing import Any

from tractable.arrays.namespace import namespace_of
from tractable.metrics.checks import as_pair, averaged, over_targets, unit_of

__all__ = ["mean_squared_error", "root_mean_squared_error"]


def mean_squared_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Return the mean squared error, (1/n) Σ (y - ŷ)².

    Parameters
    ----------
    y_true, y_pred : array of shape (n_samples,) or (n_samples, n_targets)
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


def root_mean_squared_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Return the root of the mean squared error, √MSE: an error in the units of the target.

    Parameters
    ----------
    y_true, y_pred : array of shape (n_samples,) or (n_samples, n_targets)
    sample_weight : array of shape (n_samples,), optional
    multioutput : {"uniform_average", "raw_values"} or array of shape (n_targets,)
        Roots are taken before the mean over the targets.

    Returns
    -------
    float, or array of shape (n_targets,)

    Examples
    --------
    >>> root_mean_squared_error([1.0, 2.0], [4.0, 6.0], sample_weight=[0.0, 1.0])
    4.0
    """
    y_true, y_pred = as_pair(y_true, y_pred)
    error = y_true - y_pred
    unit = unit_of(error)
    mean = averaged((error / unit) ** 2, sample_weight)
    return over_targets(unit * namespace_of(mean).sqrt(mean), multioutput)
