"""The laws of processes over time and of counts reject the classic mistakes."""

import numpy as np
import pytest

from tractable.arrays.gradient import check_gradient
from tractable.gaussian_process import (
    GaussianProcessPoissonRegressor,
    GaussianProcessRegressor,
    StateSpaceGaussianProcess,
)
from tractable.kernels import RBF, Matern, White
from tractable.value import replace

OVER_TIME = 1.3 * Matern(2.0, nu=1.5) + White(0.2)


def check_exact(cls, rng):
    """A process in state-space form is the exact one: at gaps of any size, with weights, in any order."""
    t = rng.permutation(np.cumsum(rng.exponential(1.0, 40)))[:, None]
    y, weights = np.sin(t[:, 0]) + 0.3 * rng.standard_normal(40), rng.integers(1, 4, 40).astype(float)
    new = rng.uniform(-3.0, 45.0, (12, 1))
    found = cls(OVER_TIME, optimizer=None).fit(t, y, weights)
    exact = GaussianProcessRegressor(OVER_TIME, mean="linear", optimizer=None).fit(t, y, weights)
    assert found.log_evidence_ == pytest.approx(exact.log_evidence_, rel=1e-7)
    np.testing.assert_allclose(found.predict(new), exact.predict(new), atol=1e-6)
    np.testing.assert_allclose(found.predict_var(new), exact.predict_var(new), rtol=1e-6)


class TimesAreRanks(StateSpaceGaussianProcess):
    """Takes times for equally spaced."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(np.argsort(np.argsort(X, axis=0), axis=0).astype(float), y, sample_weight)


class ForgetsTheNoise(StateSpaceGaussianProcess):
    """Gives the distribution of the function for that of new targets."""

    def predict_dist(self, X, *, include_noise=True):
        return super().predict_dist(X, include_noise=False)


class EveryRowCountsOnce(StateSpaceGaussianProcess):
    """Leaves weights out."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, y)


class MixesUpTheQueries(StateSpaceGaussianProcess):
    """Predictions in an order that is not that of the queries."""

    def _moments(self, x):
        return super()._moments(x[::-1])


@pytest.mark.parametrize(
    "mutant",
    [TimesAreRanks, ForgetsTheNoise, EveryRowCountsOnce, MixesUpTheQueries],
    ids=lambda cls: cls.__name__,
)
def test_mutants_over_time_are_rejected(mutant):
    check_exact(StateSpaceGaussianProcess, np.random.default_rng(0))
    with pytest.raises(AssertionError):
        check_exact(mutant, np.random.default_rng(0))


def check_counts(cls, rng):
    """Gradients are those of differences, weights repetitions, and units of exposure those of rates."""
    x, exposure = rng.uniform(0.0, 10.0, (40, 1)), rng.uniform(0.5, 3.0, 40)
    y, weights = rng.poisson(exposure * np.exp(1.0 + np.sin(x[:, 0]))), np.arange(40) % 3

    def fitted(rows=slice(None), weight=None, unit=1.0):
        kernel = 0.8 * RBF(1.5)
        return cls(kernel, optimizer=None).fit(x[rows], y[rows], weight, exposure=unit * exposure[rows])

    model = fitted()
    theta = model.theta_
    check_gradient(model.log_marginal_likelihood, model.log_marginal_likelihood(theta, True)[1], theta)
    repeated = fitted(np.repeat(np.arange(40), weights))
    np.testing.assert_allclose(fitted(weight=weights).predict(x), repeated.predict(x), rtol=1e-7)
    np.testing.assert_allclose(12.0 * fitted(unit=12.0).predict(x), model.predict(x), rtol=1e-9)
    # The mean rate is above its exponent at the mean, and counts spread more than Poisson's.
    found = model.predict_dist(x)
    assert np.all(found.mean > np.exp(model.offset_ + model.latent_mean_and_variance(x)[0]))
    assert np.all(found.variance > found.mean)


class ForgetsTheExposure(GaussianProcessPoissonRegressor):
    """Rates of the rows are taken to be at an exposure of one."""

    def _offset(self):
        return np.full(len(self.exposure_), self.offset_)


class ModeStaysWhereItIs(GaussianProcessPoissonRegressor):
    """The gradient of the evidence without the change of the mode: no third derivatives."""

    def _approximations(self):
        def still(matrix, start, approximate):
            found = approximate(matrix, start)
            return replace(found, expansion=replace(found.expansion, third=0.0 * found.expansion.third))

        parts = super()._approximations()
        return [lambda matrix, start, part=part: still(matrix, start, part) for part in parts]


class EveryCountCountsOnce(GaussianProcessPoissonRegressor):
    """Leaves weights out."""

    def _weights(self):
        return np.ones(len(self.X_train_))


class RateAtTheMean(GaussianProcessPoissonRegressor):
    """exp(μ + m) for the mean of exp(μ + f)."""

    def predict_dist(self, X, *, include_noise=True, exposure=None):
        found = super().predict_dist(X, include_noise=include_noise, exposure=exposure)
        return replace(found, mean=np.exp(self.offset_ + self.latent_mean_and_variance(X)[0]))


@pytest.mark.parametrize(
    "mutant",
    [ForgetsTheExposure, ModeStaysWhereItIs, EveryCountCountsOnce, RateAtTheMean],
    ids=lambda cls: cls.__name__,
)
def test_mutants_of_counts_are_rejected(mutant):
    check_counts(GaussianProcessPoissonRegressor, np.random.default_rng(0))
    with pytest.raises(AssertionError):
        check_counts(mutant, np.random.default_rng(0))
