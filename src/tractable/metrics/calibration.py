"""Whether predictive distributions mean what they say: targets below a quantile as often as it promises."""

from typing import Any

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.random import as_generator, uniform
from tractable.distributions import Univariate
from tractable.metrics.checks import as_targets, averaged, row_count
from tractable.value import value

__all__ = ["CalibrationCurve", "calibration_curve", "pit_values"]


@value
class CalibrationCurve:
    """How often the target fell below each quantile, beside how often it should have.

    Parameters
    ----------
    levels : array (k,)
    observed : array (k,)
        The share of the targets below the quantile of that level.
    standard_errors : array (k,)
        Of those shares, if the distributions were right: √(q (1 - q) / n).
    """

    levels: Array
    observed: Array
    standard_errors: Array


def pit_values(distribution: Univariate, y: Any, *, rng: Any = None) -> Array:
    """Return the probability integral transform of each target, F(y): uniform if the distributions are right.

    Parameters
    ----------
    distribution : Distribution of numbers
    y : array of shape (n_samples,) or (n_samples, n_targets)
    rng : None, int or Generator
        For counts only: where F jumps at y, a value is drawn from the jump, so that it is uniform too.

    Returns
    -------
    array of the shape of y

    Examples
    --------
    >>> from tractable import Normal
    >>> pit_values(Normal(mean=0.0, stddev=1.0), [0.0, 1.0]).round(3)
    array([0.5  , 0.841])
    """
    _check(distribution)
    y = as_targets(y, distribution.batch_shape, like=distribution.mean)
    found = distribution.cdf(y)
    if not distribution.discrete:
        return found
    return found - distribution.prob(y) * uniform(as_generator(rng), tuple(found.shape), like=found)


def calibration_curve(
    distribution: Univariate, y: Any, *, levels: Any = 9, sample_weight: Any = None, rng: Any = None
) -> CalibrationCurve:
    """Return how often the targets fell below the quantiles of their predictive distributions.

    Parameters
    ----------
    distribution : Distribution of numbers
        One batch entry a target, as `predict_dist` gives.
    y : array of shape (n_samples,) or (n_samples, n_targets)
    levels : int or array
        The probabilities to look at; a number of them is spread evenly between 0 and 1.
    sample_weight : array of shape (n_samples,), optional
        How often each row counts.
    rng : None, int or Generator
        For counts only; see `pit_values`.

    Examples
    --------
    >>> import numpy as np
    >>> from tractable import Normal
    >>> y = np.random.default_rng(0).normal(size=1000)
    >>> curve = calibration_curve(Normal(mean=0.0, stddev=2.0), y, levels=[0.1, 0.5, 0.9])
    >>> curve.observed.round(2), curve.standard_errors.round(3)
    (array([0.01, 0.53, 1.  ]), array([0.009, 0.016, 0.009]))

    The distributions are too wide: less than a tenth of the targets lies below the lowest tenth.
    """
    pit = pit_values(distribution, y, rng=rng)
    if not pit.ndim:
        raise ValueError("y must have rows on its first axis, got one number")
    xp = namespace_of(pit)
    q = _levels(levels, pit)
    below = xp.astype(pit[..., None] <= q, pit.dtype)
    observed = averaged(xp.reshape(below, (pit.shape[0], -1, q.shape[0])), sample_weight)
    n = row_count(sample_weight, pit) * int(observed.shape[0])
    return CalibrationCurve(
        levels=q, observed=xp.mean(observed, axis=0), standard_errors=xp.sqrt(q * (1.0 - q) / n)
    )


def _levels(levels: Any, like: Array) -> Array:
    xp = namespace_of(like)
    if isinstance(levels, int) and levels > 0:
        return xp.arange(1, levels + 1, dtype=like.dtype, device=device(like)) / (levels + 1)
    q = as_reals("levels", levels, like)
    if q.ndim != 1 or not bool(xp.all((q > 0) & (q < 1))):
        raise ValueError(f"levels must be a positive number of them, or probabilities, got {levels!r}")
    return q


def _check(distribution: Any) -> None:
    if not isinstance(distribution, Univariate):
        raise ValueError(f"distribution must be of numbers, got {type(distribution).__name__}")
