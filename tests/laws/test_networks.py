"""Laws of Bayesian networks, and planted bugs that they find."""

import numpy as np
import pytest

from catalogue import cross
from rows.networks import DIAMOND, ROWS, network_problem, random_network
from tractable.graph import BayesianNetwork, BayesianNetworkDensity
from tractable.graph.estimator import CountExpectation, NetworkCounts
from tractable.testing import em_laws, estimator_laws, network_laws
from tractable.testing.network_laws import NETWORK_LAWS, check_network
from tractable.value import replace


@pytest.mark.spec("GRAPH-01", "GRAPH-02", "GRAPH-03", "GRAPH-05")
@pytest.mark.parametrize(("law", "make"), cross(NETWORK_LAWS, ROWS, most=4))
def test_network_law(law, make, rng):
    law(make(), rng)


def test_all_laws_at_once():
    check_network(ROWS[1].make())


class ForgetsParents(BayesianNetwork):
    """Multiplies the marginals of the variables."""

    def marginal(self, dims):
        parts = [super(ForgetsParents, self).marginal(self.names[i]) for i in self._resolved(dims)]
        for part in parts[1:]:
            parts[0] = parts[0] * part
        return parts[0]


class ForgetsToDivide(BayesianNetwork):
    """Observes one variable at a time, and forgets what it knew."""

    def condition(self, dims, values=None):
        found = super().condition(dims, values)
        return BayesianNetwork(tables=found.tables[::-1], evidence=found.evidence)


class HolesAreTheFirstLevel(BayesianNetwork):
    """Takes a missing entry for level 0."""

    def log_prob(self, x):
        return super().log_prob(np.nan_to_num(np.asarray(x, dtype=float)))


class TurnsAnArrowAround(BayesianNetwork):
    """Says that a collider is a chain."""

    @property
    def graph(self):
        from tractable.graph import DirectedGraph

        return DirectedGraph.of("b -> d; c -> d; e -> a; d -> e")


@pytest.mark.parametrize(("bad", "law"), [
    (ForgetsParents, network_laws.the_joint_is_the_product_of_the_tables),
    (ForgetsToDivide, network_laws.evidence_is_divided_by),
    (HolesAreTheFirstLevel, network_laws.missing_entries_are_summed_out),
    (TurnsAnArrowAround, network_laws.separation_is_independence),
])  # fmt: skip
def test_planted_bugs_are_found(bad, law, rng):
    good = random_network(DIAMOND, rng)
    law(good, rng)
    with pytest.raises(AssertionError):
        law(bad(tables=good.tables), rng)


class ExpectsTheOpposite(CountExpectation):
    """Expects what is improbable in place of what was not observed."""

    def __call__(self, block):
        found = super().__call__(block)
        odd = replace(self, cells=self.families.normalized(1.0 / self.cells), penalty=0.0)
        return NetworkCounts(
            counts=CountExpectation.__call__(odd, block).counts,
            log_likelihood=found.log_likelihood,
            penalty=found.penalty,
        )


def test_a_wrong_expectation_is_found(rng):
    case = network_problem()
    em_laws.the_objective_never_decreases(case, rng)

    def wrong(params):
        right = case.expect(params)
        return ExpectsTheOpposite(families=right.families, cells=right.cells, penalty=right.penalty)

    with pytest.raises(AssertionError):
        em_laws.the_objective_never_decreases(replace(case, expect=wrong), rng)


class IgnoresWeights(BayesianNetworkDensity):
    """Counts every row once."""

    def _em_problem(self, rows, *, fitted):
        return super()._em_problem(replace(rows, weights=None), fitted=fitted)


def test_forgotten_weights_are_found(rng):
    estimator_laws.weights_are_repetitions(BayesianNetworkDensity(), rng)
    with pytest.raises(AssertionError):
        estimator_laws.weights_are_repetitions(IgnoresWeights(), rng)
