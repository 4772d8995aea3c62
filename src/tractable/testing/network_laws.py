"""Laws of Bayesian networks: products of tables, evidence, missing entries, and separation in the graph."""

from functools import reduce
from itertools import combinations
from operator import mul
from typing import Any

import numpy as np

from tractable.distributions import ProbabilityTable
from tractable.graph import d_separated
from tractable.testing.assertions import check_laws, laws_above


def the_joint_is_the_product_of_the_tables(network: Any, rng: np.random.Generator) -> None:
    """Marginals, and the probability of rows, are those of Π p(x_j | parents) given the evidence."""
    joint = _product(network)
    for size in (1, 2):
        for names in combinations(network.names, size):
            _assert_close(network.marginal(names).probabilities, joint.marginal(names).probabilities)
    x = joint.sample(20, rng=rng)
    _assert_close(network.log_prob(x), joint.log_prob(x))


def evidence_is_divided_by(network: Any, rng: np.random.Generator) -> None:
    """p(x | e) = p(x, e) / p(e) for an observed level of any variable, and the most probable x is of it."""
    joint = _product(network)
    for name in network.names if network.dim > 1 else ():
        levels = network.levels(name)
        seen = {name: levels[int(rng.integers(len(levels)))]}
        given, there = network.condition(seen), joint.condition(seen)
        assert given.names == there.names
        _assert_close(given.log_evidence - network.log_evidence, np.log(float(joint.probability(seen))))
        for other in given.names:
            _assert_close(given.marginal(other).probabilities, there.marginal(other).probabilities)
        _assert_close(float(given.log_prob(given.mode)), float(there.log_prob(there.mode)))


def missing_entries_are_summed_out(network: Any, rng: np.random.Generator) -> None:
    """The probability of a row with missing entries is that of what was observed."""
    joint = _product(network)
    x = joint.sample(40, rng=rng)
    x[rng.random(x.shape) < 0.5] = np.nan
    for row, found in zip(x, network.log_prob(x), strict=True):
        seen = np.flatnonzero(~np.isnan(row))
        wanted = float(joint.marginal(seen).log_prob(row[seen])) if len(seen) else 0.0
        _assert_close(found, wanted)


def separation_is_independence(network: Any, rng: np.random.Generator) -> None:
    """What the graph separates is independent; variables of sets drawn at random, given the evidence."""
    joint, observed = _product(network), [name for name, _ in network.evidence]
    for _ in range(20 if network.dim > 1 else 0):
        role = rng.integers(0, 3, network.dim)
        x, y, given = ([n for n, r in zip(network.names, role, strict=True) if r == k] for k in range(3))
        if x and y and d_separated(network.graph, x, y, [*given, *observed]):
            assert joint.is_independent(x, y, given, tol=1e-9)


NETWORK_LAWS = laws_above(globals())


def check_network(network: Any, rng: Any = 0) -> None:
    """Run every law of Bayesian networks on a small one."""
    check_laws(NETWORK_LAWS, network, rng)


def _product(network: Any) -> ProbabilityTable:
    """Return the joint table as the product of all tables at the evidence, and nothing else."""
    seen = dict(network.evidence)
    product = reduce(mul, (table.factor.reduce(seen) for table in network.tables))
    return ProbabilityTable.from_factor(product.transpose(network.names))


def _assert_close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-9, atol=1e-12)
