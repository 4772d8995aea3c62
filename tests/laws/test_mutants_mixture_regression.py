"""The laws of EM reject what usually goes wrong with mixtures of regressions."""

import numpy as np
import pytest

from rows.mixture_regression import em_problem
from tractable.mixture.regression.steps import RegressionEStep, RegressionProblem, standardized
from tractable.testing import em_laws
from tractable.value import parameters, replace


class PrintedNoise(RegressionProblem):
    """Σ_k Σ_i γ_ki |y - f_k(X)|² / N: the squared error of all rows for every row (E000-55)."""

    def maximize(self, expected):
        good = super().maximize(expected)
        x, y = standardized(self.standardizer, self.data.X, self.data.y)
        whole = np.sum((y[:, None] - good.means(x)) ** 2, axis=0)
        return replace(good, noise=np.full(2, expected.weight @ whole / self.total))


class GatelessStep(RegressionEStep):
    """Responsibilities as if every component were as likely everywhere."""

    def responsibilities(self, block):
        x, y, _, log_p = super().responsibilities(block)
        joint = self.params.log_joint(x, y) - self.params.log_weights(x)
        return x, y, np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None]), log_p


class ForgetsTheGate(RegressionProblem):
    """E-steps without the mixing weights."""

    def expect(self, params):
        return GatelessStep(**parameters(super().expect(params)))


class TurnsTheGateRound(RegressionProblem):
    """Each component has the mixing weights of the other one."""

    def _gate(self, before):
        return super()._gate(before)[::-1]


class HardStep(RegressionEStep):
    """Gives every row whole to the component most responsible for it."""

    def responsibilities(self, block):
        x, y, r, log_p = super().responsibilities(block)
        return x, y, np.eye(2)[np.argmax(r, axis=1)], log_p


class WinnerTakesAll(RegressionProblem):
    """E-steps with labels in place of responsibilities."""

    def expect(self, params):
        return HardStep(**parameters(super().expect(params)))


class ForgetsThePenalty(RegressionProblem):
    """Penalised coefficients, and an objective without the penalty."""

    def penalty(self, params):
        return 0.0


class NoiseOfAllRows(RegressionProblem):
    """Divides the residual sum of squares by all rows, not by those of the component."""

    def _noise(self, squares, weight, before):
        return super()._noise(squares, np.full(2, np.sum(weight)), before)


@pytest.mark.spec("E000-55", "E000-56", "MIX-04", "MIX-06", "MIX-08")
@pytest.mark.parametrize(
    ("broken", "options"),
    [
        (PrintedNoise, {}),
        (ForgetsTheGate, {"gate_alpha": 0.01}),
        (TurnsTheGateRound, {"gate_alpha": 0.01}),
        (WinnerTakesAll, {}),
        (ForgetsThePenalty, {"alpha": 20.0}),
        (NoiseOfAllRows, {"shared": False}),
    ],
)
def test_the_objective_tells(broken, options, rng):
    em_laws.the_objective_never_decreases(em_problem(**options), rng)
    with pytest.raises(AssertionError):
        em_laws.the_objective_never_decreases(em_problem(kind=broken, **options), rng)
