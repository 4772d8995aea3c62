"""The laws reject what usually goes wrong in mixtures."""

import numpy as np
import pytest

from rows.gaussian_mixture import em_problem
from tractable.mixture import GaussianMixture
from tractable.mixture.gaussian.steps import GaussianProblem
from tractable.testing import em_laws, estimator_laws
from tractable.value import replace


def changed(change, **parameters):
    """Steps whose expected sums are changed before they are averaged."""
    problem = em_problem(parameters.pop("given", {}), **parameters)
    return replace(problem, maximize=lambda sums: problem.maximize(change(sums)))


def forgets_the_conditional_covariance(sums):
    """Missing entries counted as if they had been seen at their conditional means."""
    return replace(sums, second=0.8 * sums.second)


def averages_over_all_rows(sums):
    """Σ_k over N and not N_k."""
    return replace(sums, second=sums.second * (sums.weight / sums.weight.sum())[:, None, None])


def raw_second_moments(sums):
    """The scatter about the origin, taken for that about the means."""
    return replace(sums, origin=sums.means, first=np.zeros_like(sums.first))


@pytest.mark.parametrize(
    ("change", "holes"),
    [(forgets_the_conditional_covariance, 0.3), (averages_over_all_rows, 0.3), (raw_second_moments, 0.0)],
)
def test_em_laws_reject(change, holes, rng):
    with pytest.raises(AssertionError):
        em_laws.the_objective_never_decreases(changed(change, holes=holes), rng)


def test_a_floor_that_the_objective_does_not_know_is_rejected(monkeypatch, rng):
    """As scikit-learn has it: reg_covar in the M-step alone."""
    honest = GaussianProblem.expect

    def expect(self, params):
        return honest(replace(self, floor=np.zeros_like(self.floor)), params)

    monkeypatch.setattr(GaussianProblem, "expect", expect)
    with pytest.raises(AssertionError):
        em_laws.the_objective_never_decreases(em_problem({"reg_covar": 0.3}), rng)


class UnweightedStart(GaussianMixture):
    """Begins at rows drawn without regard to their weights."""

    def fit(self, X, y=None, sample_weight=None):
        rng = np.random.default_rng(0)
        self.means_init = np.asarray(X)[rng.integers(len(X), size=self.n_components)]
        return super().fit(X, sample_weight=sample_weight)


def test_starts_must_weigh_rows(rng):
    with pytest.raises(AssertionError):
        estimator_laws.weights_are_repetitions(UnweightedStart(3, random_state=0, max_iter=2), rng)
