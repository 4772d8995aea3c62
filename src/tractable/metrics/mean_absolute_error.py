"""Absolute errors."""

from typing import Any

from tractable.arrays.namespace import namespace_of
from tractable.metrics.checks import as_pair, averaged, over_targets

__all__ = ["mean_absolute_error"]


def mean_absolute_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Return the mean absolute error, (1/n) Σ |y - ŷ|.

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
    >>> mean_absolute_error([3.0, -0.5, 2.0, 7.0], [2.5, 0.0, 2.0, 8.0])
    0.5
    """
    y_true, y_pred = as_pair(y_true, y_pred)
    return over_targets(averaged(namespace_of(y_true).abs(y_true - y_pred), sample_weight), multioutput)
