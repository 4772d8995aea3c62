"""Bugs of density estimates, planted: each is rejected by a law."""

import numpy as np
import pytest

from tractable.distributions import SmoothedEmpirical
from tractable.testing.distribution_laws import check_distribution
from tractable.testing.joint_laws import check_joint

POINTS = [0.1, 0.4, 2.0, 2.5]


class ForgetsTheBandwidth(SmoothedEmpirical):
    """Not divided by h."""

    def _log_density(self, rows):
        return super()._log_density(rows) + np.log(float(self.bandwidth))


class CutsAtTheWall(SmoothedEmpirical):
    """Mass beyond a wall is lost, not reflected."""

    def _density(self, rows):
        return np.where(rows[:, 0] >= 0, self._log_density(rows), -np.inf)


class DrawsThePoints(SmoothedEmpirical):
    """A bootstrap, not a smoothed one."""

    def _sample(self, n, rng):
        return rng.choice(self.points, n)


class VarianceOfTheSample(SmoothedEmpirical):
    """Without that of the window."""

    @property
    def variance(self):
        return np.var(self.points)


class SquaresTheWindow(SmoothedEmpirical):
    """The bandwidth taken for a variance."""

    def _tail_sums(self, x, *, upper):
        return super()._tail_sums(x * float(self.bandwidth), upper=upper)


class CountsNoWeights(SmoothedEmpirical):
    """Draws every point alike."""

    def _sample(self, n, rng):
        return rng.choice(self.points, n) + float(self.bandwidth) * rng.standard_normal(n)


class LeavesOtherPeriods(SmoothedEmpirical):
    """Points of other periods than the first are beyond the reach of every image."""

    @property
    def _rows(self):
        return self.points[:, None] + 70.0


class CancelsAtFarWalls(SmoothedEmpirical):
    """Reflects about the middle of the walls, whose rounding is that of the farther."""

    def _density(self, rows):
        low, high = self.bounds
        image = (low + high + (low - high)) - rows
        both = np.logaddexp(self._log_density(rows), self._log_density(image))
        return np.where(rows[:, 0] >= low, both, -np.inf)


@pytest.mark.parametrize(
    ("mutant", "given"),
    [
        (ForgetsTheBandwidth, {}),
        pytest.param(CutsAtTheWall, {"bounds": (0.0, np.inf)}, marks=pytest.mark.slow),
        (DrawsThePoints, {}),
        (VarianceOfTheSample, {}),
        pytest.param(SquaresTheWindow, {}, marks=pytest.mark.slow),
        pytest.param(LeavesOtherPeriods, {"period": 7.0}, marks=pytest.mark.slow),
        pytest.param(CancelsAtFarWalls, {"bounds": (0.1, 1e16)}, marks=pytest.mark.slow),
        (CountsNoWeights, {"weights": np.array([5.0, 1.0, 1.0, 1.0])}),
    ],
)
def test_laws_reject(mutant, given):
    with pytest.raises((AssertionError, RuntimeWarning)):
        check_distribution(mutant(points=np.array(POINTS), bandwidth=0.5, **given))


class KeepsTheWeights(SmoothedEmpirical):
    """Conditions the points without asking how they explain the values."""

    def _log_explained(self, given, values):
        return np.zeros((*values.shape[:-1], len(self.points)))


def test_joint_laws_reject(rng):
    with pytest.raises(AssertionError):
        check_joint(KeepsTheWeights(points=rng.standard_normal((6, 2)), bandwidth=0.5))
