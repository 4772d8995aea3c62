"""The laws of EM reject what usually goes wrong with mixtures of regressions."""

import numpy as np
import pytest

from rows.mixture_regression import em_problem
from tractable.mixture.regression.steps import RegressionProblem
from tractable.testing import em_laws
from tractable.value import replace


class PrintedNoise(RegressionProblem):
    """Σ_k Σ_i γ_ki |y - f_k(X)|² / N: the squared error of all rows for every row (E000-55)."""

    def maximize(self, expected):
        good = super().maximize(expected)
        x, y = self.units.columns(self.rows.data), self.units.targets(self.rows.y)
        whole = np.sum((y[:, None] - good.heights(x)) ** 2, axis=0)
        return replace(good, noise=np.full(2, expected.mass @ whole / self.total))


class ForgetsTheGate(RegressionProblem):
    """Shares rows out as if every plane were as likely everywhere."""

    def _shares(self, params, x, y):
        x, y, _, log_p = super()._shares(params, x, y)
        joint = params.log_joint(x, y) - params.log_shares(x)
        shares = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
        return x, y, shares, log_p


class TurnsTheGateRound(RegressionProblem):
    """Trusts each plane where the other one's rows are."""

    def _gate(self, before):
        return super()._gate(before)[::-1]


class WinnerTakesAll(RegressionProblem):
    """Gives every row whole to the plane most responsible for it."""

    def _shares(self, params, x, y):
        x, y, shares, log_p = super()._shares(params, x, y)
        return x, y, np.eye(2)[np.argmax(shares, axis=1)], log_p


class ForgetsThePenalty(RegressionProblem):
    """Planes at a price, and an objective without it."""

    def penalty(self, params):
        return 0.0


class NoiseOfAllRows(RegressionProblem):
    """Divides what a plane leaves by all rows, not by its own."""

    def _noise(self, squares, mass, before):
        return super()._noise(squares, np.full(2, np.sum(mass)), before)


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
