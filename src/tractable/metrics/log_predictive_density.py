"""The log score: how probable a predictive distribution held what happened."""

from typing import Any

from tractable.arrays.namespace import namespace_of
from tractable.distributions import Distribution
from tractable.metrics.checks import as_targets, averaged

__all__ = ["log_predictive_density"]


def log_predictive_density(distribution: Distribution, y: Any, *, sample_weight: Any = None) -> float:
    """Return the mean log predictive density of the targets, (1/n) Σ log p(y_i | x_i).

    The larger, the better. Several targets are judged together: their log densities add up.

    Parameters
    ----------
    distribution : Distribution
        One batch entry a row, as `predict_dist` gives.
    y : array of shape (n_samples,) or (n_samples, n_targets)
    sample_weight : array of shape (n_samples,), optional
        How often each row counts.

    Examples
    --------
    >>> from tractable import Normal
    >>> round(log_predictive_density(Normal(mean=[0.0, 1.0], stddev=1.0), [0.0, 1.0]), 4)
    -0.9189
    """
    if not isinstance(distribution, Distribution):
        raise ValueError(f"distribution must be a distribution, got {type(distribution).__name__}")
    as_targets(y, (*distribution.batch_shape, *distribution.event_shape) if distribution.batch_shape else ())
    each = distribution.log_prob(y)
    xp = namespace_of(each)
    if not each.ndim or not each.shape[0]:
        raise ValueError(
            f"y must have rows on its first axis, got log densities of shape {tuple(each.shape)}"
        )
    if bool(xp.any(xp.isnan(each))):
        raise ValueError("y contains NaN")
    return float(averaged(xp.sum(xp.reshape(each, (each.shape[0], -1)), axis=1), sample_weight))
