"""Gaussian processes with every kind of mean, kernel and noise obey their laws; the laws reject mutants."""

import numpy as np
import pytest

from catalogue import cross
from rows.row import Row
from tractable.gaussian_process import GaussianProcessRegressor
from tractable.kernels import RBF, Constant, Linear, Matern, Periodic, Polynomial, White
from tractable.linear_model import FunctionBasis
from tractable.testing import check_process
from tractable.testing.process_laws import PROCESS_LAWS

SUM = 0.5 * RBF([1.0, 2.0]) + 0.2 * Linear() + White(0.2)


def known(kernel, **options):
    return lambda: GaussianProcessRegressor(kernel, optimizer=None, **options)


ROWS = [
    Row("zero", known(RBF() + White(0.1), mean="zero")),
    Row("constant", known(SUM)),
    Row("linear", known(Matern(1.5, nu=1.5) + White(0.2), mean="linear")),
    Row("basis", known(RBF(0.7), mean=FunctionBasis(["square", "sin"]), noise_variance=0.3)),
    Row("product", known(RBF(3.0) * Periodic(1.0, periodicity=2.0) + Constant(2.0), noise_variance=0.2)),
    Row("scaled-noise", known(2.0 * (RBF() + White(0.1)))),
    Row("noise-in-a-product", known(RBF() * (Constant(1.0) + White(0.2)), mean="linear")),
    Row("features", known(Linear() + Polynomial(2) + White(0.3))),
    Row("features-linear", known(0.3 * Polynomial(2), noise_variance=0.3, mean="linear")),
]


@pytest.mark.parametrize(("law", "make"), cross(PROCESS_LAWS, ROWS))
@pytest.mark.spec("GP-01", "GP-04", "GP-06", "GP-09")
def test_process_law(law, make, rng):
    law(make(), rng)


class IgnoresTheMean(GaussianProcessRegressor):
    """Takes the coefficients of the mean for known: the variances lack theirs."""

    def predict_joint(self, X, *, include_noise=True):
        model = GaussianProcessRegressor(self.kernel, mean="zero", optimizer=None)
        centred = model.fit(self.X_train_, self.y_train_ - np.mean(self.y_train_))
        return centred.predict_joint(X, include_noise=include_noise)


class ForgetsTheNoise(GaussianProcessRegressor):
    """Gives the distribution of the function for that of new targets."""

    def predict_dist(self, X, *, include_noise=True):
        return super().predict_dist(X, include_noise=False)


class HalvesTheGradient(GaussianProcessRegressor):
    """∂ log p = αᵀ∂Cα - tr(C⁻¹∂C), without the half."""

    def log_marginal_likelihood(self, theta=None, eval_gradient=False):
        found = super().log_marginal_likelihood(theta, eval_gradient)
        return (found[0], 2.0 * found[1]) if eval_gradient else found


class LeavesNothingOut(GaussianProcessRegressor):
    """Predicts rows that it has learned from."""

    def leave_one_out(self):
        return self.predict_dist(self.X_train_)


class AppendsWithoutTheOldRows(GaussianProcessRegressor):
    """Later rows take the place of the first."""

    def partial_fit(self, X, y=None, sample_weight=None, *, noise_variance=None):
        return self.fit(X, y, sample_weight, noise_variance=noise_variance)


MUTANTS = [IgnoresTheMean, ForgetsTheNoise, HalvesTheGradient, LeavesNothingOut, AppendsWithoutTheOldRows]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda cls: cls.__name__)
def test_mutants_are_rejected(mutant):
    check_process(GaussianProcessRegressor(SUM, optimizer=None))
    with pytest.raises(AssertionError):
        check_process(mutant(SUM, optimizer=None))
