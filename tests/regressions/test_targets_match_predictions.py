"""Targets that do not match the predictions were broadcast against them, and scored by others' rows."""

import numpy as np
import pytest

from tractable import (
    LinearRegression,
    Normal,
    calibration_curve,
    crps,
    interval_coverage,
    log_predictive_density,
    pit_values,
)
from tractable.metrics import crps_values

SCORES = [crps, crps_values, interval_coverage, calibration_curve, pit_values, log_predictive_density]


@pytest.fixture
def predicted(rng):
    X = rng.standard_normal((60, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.standard_normal(60)
    return LinearRegression().fit(X, y).predict_dist(X), y


@pytest.mark.parametrize("score", SCORES)
def test_targets_of_another_shape_are_refused(score, predicted):
    d, y = predicted
    for bad in (y[:, None], y[None, :], y[:1], y[:59], np.stack([y, y])):
        with pytest.raises(ValueError, match=r"y must have the shape of the predictions, \(60,\)"):
            score(d, bad)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_targets_that_are_not_finite_are_refused(score, bad, predicted):
    d, y = predicted
    y[7] = bad
    with pytest.raises(ValueError, match="y contains NaN or infinity"):
        score(d, y)


@pytest.mark.parametrize("score", [crps, crps_values])
def test_draws_and_intervals_are_no_different(score, predicted, rng):
    d, y = predicted
    draws = d.sample(11, rng=rng)
    assert np.all(np.isfinite(score(draws, y)))
    for bad in (y[:, None], y[:1], y * np.nan):
        with pytest.raises(ValueError, match=r"^y "):
            score(draws, bad)
    bounds = np.stack(d.interval(0.9), axis=-1)
    for bad in (y[:, None], y[:1]):
        with pytest.raises(ValueError, match=r"^y must have the shape"):
            interval_coverage(bounds, bad)


@pytest.mark.parametrize("score", [crps, interval_coverage, calibration_curve, log_predictive_density])
def test_a_single_number_is_no_batch_of_targets(score, predicted):
    with pytest.raises(ValueError, match=r"^y must have"):
        score(predicted[0], 1.0)


def test_one_distribution_serves_all_targets_and_one_target_all_distributions():
    d, y = Normal(mean=0.0, stddev=1.0), np.array([0.0, 1.0, 2.0])
    assert crps(d, y) == pytest.approx(crps(Normal(mean=np.zeros(3), stddev=1.0), y), rel=1e-14)
    np.testing.assert_allclose(crps_values(Normal(mean=y, stddev=1.0), 0.0), crps_values(d, y), rtol=1e-14)
    pool = [-1.0, 0.5, 2.0]
    np.testing.assert_allclose(crps_values(pool, y), [crps_values(pool, t) for t in y], rtol=1e-14)
