"""Bayesian linear models before any row has come."""

import numpy as np
import pytest

from tractable import ARDRegression, BayesianLinearRegression, BayesianRidge
from tractable.statistics import LinearFactor


@pytest.mark.spec("BLR-05")
@pytest.mark.parametrize("noise", [{"noise_variance": 0.5}, {"noise_shape": 2.0, "noise_scale": 1.0}])
def test_without_rows_the_posterior_is_the_prior(noise, rng):
    model = BayesianLinearRegression(
        prior_mean=[1.0, 2.0], prior_covariance=3.0, penalize_intercept=True, **noise
    ).from_statistic(LinearFactor.empty(1))
    np.testing.assert_allclose([model.intercept_, *model.coef_], [1.0, 2.0])
    noise_mean = 0.5 if "noise_variance" in noise else 1.0  # E[σ²] = scale / (shape - 1)
    unit = 1.0 if "noise_variance" in noise else noise_mean
    np.testing.assert_allclose(model.posterior_.covariance, 3.0 * unit * np.eye(2), rtol=1e-12)
    np.testing.assert_allclose(model.predict_var([[1.0]]), 6.0 * unit + noise_mean, rtol=1e-12)
    assert model.log_evidence_ == pytest.approx(0.0, abs=1e-15)
    # Rows that come later find it where rows that come at once would.
    X, y = rng.standard_normal((9, 1)), rng.standard_normal(9)
    once = BayesianLinearRegression(**model.get_params()).fit(X, y)
    model.partial_fit(X, y)
    np.testing.assert_allclose(model.posterior_.covariance, once.posterior_.covariance, rtol=1e-12)
    assert model.log_evidence_ == pytest.approx(once.log_evidence_, rel=1e-12)


@pytest.mark.parametrize(
    "model", [BayesianRidge(), ARDRegression(), BayesianLinearRegression(noise_variance="ml")]
)
def test_noise_is_not_learned_from_no_rows(model):
    with pytest.raises(ValueError, match="statistic must be of some rows"):
        model.from_statistic(LinearFactor.empty(2))
