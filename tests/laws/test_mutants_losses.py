"""The laws of losses must reject planted bugs."""

import numpy as np
import pytest

from rows.losses import codes, counts, made, numbers
from tractable.arrays.log_space import sigmoid
from tractable.distributions import Bernoulli, Poisson
from tractable.engines.glm import losses
from tractable.engines.glm.losses import LossTerms
from tractable.testing import loss_laws
from tractable.value import replace


class SlopeOfTheOtherClass(losses.Logistic):
    def terms(self, eta, y):
        found = super().terms(eta, y)
        return replace(found, slope=-found.slope)


class ThirdOfOneSign(losses.Logistic):
    def terms(self, eta, y):
        found = super().terms(eta, y)
        return replace(found, third=np.abs(found.third))


class ForgetsTheFactorial(losses.Poisson):
    def log_base_measure(self, y):
        return 0.0 * y


class CalledConvex(losses.Tukey):
    convex = True


class OverflowingMargins(losses.Logistic):
    """log(1 + e^-m) and its derivatives as they are printed."""

    def terms(self, eta, y):
        sign = 2.0 * y - 1.0
        large = np.exp(-sign * eta)
        p = large / (1.0 + large)
        curvature = p * (1.0 - p)
        third = sign * curvature * (2.0 * p - 1.0)
        return LossTerms(value=np.log1p(large), slope=-sign * p, curvature=curvature, third=third)


class InformationOfTheMean(losses.Poisson):
    """The variance of the target for the information of the linear predictor, of a square root."""

    def expected_curvature(self, eta):
        return np.sqrt(self.mean(eta))


class ZeroCountsHoldToo(losses.Poisson):
    """No count lets its mean go to zero."""

    def margins(self, eta, y):
        return -np.abs(eta)[:, None]


class WeightsInTheValueAlone(losses.Huber):
    def expand(self, x, y, weights, scaling, coef, curvature):
        found = super().expand(x, y, None, scaling, coef, curvature)
        return replace(found, value=super().expand(x, y, weights, scaling, coef, None).value)


MUTANTS = [
    (loss_laws.derivatives_are_those_of_the_value, made(SlopeOfTheOtherClass(), codes(2))),
    (loss_laws.derivatives_are_those_of_the_value, made(ThirdOfOneSign(), codes(2))),
    (
        loss_laws.value_is_minus_the_log_density,
        made(ForgetsTheFactorial(), counts, lambda eta: Poisson(rate=np.exp(eta))),
    ),
    (loss_laws.convex_losses_have_no_negative_curvature, made(CalledConvex(), numbers)),
    (loss_laws.far_predictors_have_terms, made(OverflowingMargins(), codes(2))),
    (
        loss_laws.information_is_the_mean_of_curvatures,
        made(InformationOfTheMean(), counts, lambda eta: Poisson(rate=np.exp(eta))),
    ),
    (loss_laws.margins_tell_where_the_loss_falls, made(ZeroCountsHoldToo(), counts)),
    (loss_laws.rows_add, made(WeightsInTheValueAlone(), numbers)),
    (
        loss_laws.value_is_minus_the_log_density,
        made(losses.Probit(), codes(2), lambda eta: Bernoulli(probability=sigmoid(eta))),
    ),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("law", "broken"), MUTANTS)
def test_laws_of_losses_have_power(law, broken, rng):
    with pytest.raises(AssertionError):
        law(broken(), rng)


def test_every_law_has_a_mutant():
    assert {law.__name__ for law in set(loss_laws.LOSS_LAWS) - {law for law, _ in MUTANTS}} == set()
