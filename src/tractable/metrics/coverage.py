"""How often predictive intervals hold the target."""

from math import nan, sqrt
from typing import Any

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import namespace_of
from tractable.distributions import Univariate
from tractable.distributions.checks import check_coverage
from tractable.metrics.checks import as_targets, averaged, row_count
from tractable.value import value

__all__ = ["Coverage", "interval_coverage"]


@value
class Coverage:
    """How often intervals held the target, beside how often they should have.

    Parameters
    ----------
    nominal : float
        The probability that was asked for; NaN where nobody said.
    observed : float
        The share of the targets inside.
    standard_error : float
        Of that share, if the intervals were right: √(c (1 - c) / n) with the nominal c.
    mean_width : float
    """

    nominal: float
    observed: float
    standard_error: float
    mean_width: float


def interval_coverage(
    distribution: Any, y: Any, coverage: float | None = None, *, sample_weight: Any = None
) -> Coverage:
    """Return how often equal-tailed intervals of a given probability held the target, and how wide they are.

    Parameters
    ----------
    distribution : Distribution of numbers, or array of shape (n_samples, 2)
        The predictive distributions, or the intervals themselves, as `predict_interval` gives.
    y : array of shape (n_samples,) or (n_samples, n_targets)
    coverage : float, optional
        The probability of the intervals. Of distributions, 0.9 when not given. Intervals do not say what
        they were made for: without it, there is no nominal coverage to compare with, and no standard error.
    sample_weight : array of shape (n_samples,), optional
        How often each row counts.

    Examples
    --------
    >>> from tractable import Normal
    >>> found = interval_coverage(Normal(mean=0.0, stddev=1.0), [-2.0, -1.0, 0.0, 1.0], 0.9)
    >>> found.observed, round(found.mean_width, 2)
    (0.75, 3.29)
    """
    drawn = isinstance(distribution, Univariate)
    nominal = (0.9 if drawn else nan) if coverage is None else check_coverage(coverage)
    if drawn:
        low, high = distribution.interval(nominal)
    else:
        bounds = as_reals("distribution", distribution)
        if not bounds.ndim or bounds.shape[-1] != 2:
            raise ValueError(
                f"distribution must be of numbers, or intervals (..., 2), got {tuple(bounds.shape)}"
            )
        low, high = bounds[..., 0], bounds[..., 1]
    xp = namespace_of(low)
    y = as_targets(y, low.shape, like=low)
    if not y.ndim:
        raise ValueError("y must have rows on its first axis, got one number")
    inside = xp.astype((low <= y) & (y <= high), y.dtype)
    width = xp.broadcast_to(high - low, inside.shape)
    share, mean_width = (averaged(xp.reshape(x, (x.shape[0], -1)), sample_weight) for x in (inside, width))
    n = row_count(sample_weight, inside) * int(share.shape[0])
    return Coverage(
        nominal=nominal,
        observed=float(xp.mean(share)),
        standard_error=sqrt(nominal * (1.0 - nominal) / n),
        mean_width=float(xp.mean(mean_width)),
    )
