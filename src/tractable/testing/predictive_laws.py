"""Laws of predictive distributions: every summary tells the same story as `predict_dist`."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tractable.testing.estimator_answers import example
from tractable.testing.refusals import refused

__all__ = ["PREDICTIVE_LAWS"]


def _fitted(estimator: Any, rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    X, y = example(estimator, rng)
    return estimator.fit(X, y), X[:7]


def summaries_come_from_the_distribution(estimator: Any, rng: np.random.Generator) -> None:
    """`predict`, its standard deviation and `predict_var` are the distribution's own."""
    fitted, X = _fitted(estimator, rng)
    dist = fitted.predict_dist(X)
    mean, stddev = fitted.predict(X, return_std=True)
    np.testing.assert_allclose(mean, dist.mean)
    np.testing.assert_allclose(fitted.predict(X), dist.mean)
    np.testing.assert_allclose(stddev, dist.stddev)
    np.testing.assert_allclose(fitted.predict_var(X), dist.variance)


def quantiles_invert_the_cdf(estimator: Any, rng: np.random.Generator) -> None:
    """`predict_quantiles` is (n, len(alpha)), and the cdf at a quantile is its level."""
    fitted, X = _fitted(estimator, rng)
    levels = [0.05, 0.5, 0.9]
    quantiles = fitted.predict_quantiles(X, levels)
    assert quantiles.shape == (len(X), 3)
    for level, column in zip(levels, quantiles.T, strict=True):
        np.testing.assert_allclose(fitted.predict_dist(X).cdf(column), level, rtol=1e-9)


def intervals_are_equal_tailed(estimator: Any, rng: np.random.Generator) -> None:
    """`predict_interval` is (n, 2), holds its coverage, and leaves as much above as below."""
    fitted, X = _fitted(estimator, rng)
    interval = fitted.predict_interval(X, coverage=0.8)
    assert interval.shape == (len(X), 2)
    np.testing.assert_allclose(fitted.predict_quantiles(X, [0.1, 0.9]), interval)
    wide = fitted.predict_interval(X, coverage=0.99)
    assert np.all((wide[:, 0] < interval[:, 0]) & (interval[:, 1] < wide[:, 1]))


def noise_widens_the_prediction(estimator: Any, rng: np.random.Generator) -> None:
    """A new observation is less certain than the function behind it, and is the default."""
    fitted, X = _fitted(estimator, rng)
    noisy, smooth = fitted.predict_var(X), fitted.predict_var(X, include_noise=False)
    assert np.all(noisy > smooth)
    np.testing.assert_allclose(fitted.predict_var(X, include_noise=True), noisy)


def levels_are_checked(estimator: Any, rng: np.random.Generator) -> None:
    """Coverages and levels outside (0, 1) are one clear error."""
    fitted, X = _fitted(estimator, rng)
    for bad in (0.0, 1.0, -1.0, float("nan")):
        refused(partial(fitted.predict_interval, X, coverage=bad), "coverage")
        refused(partial(fitted.predict_quantiles, X, [0.5, bad]), "alpha")


PREDICTIVE_LAWS: tuple[Callable[[Any, np.random.Generator], None], ...] = (
    summaries_come_from_the_distribution,
    quantiles_invert_the_cdf,
    intervals_are_equal_tailed,
    noise_widens_the_prediction,
    levels_are_checked,
)
