"""Bayesian networks: every answer equals the one of the joint table."""

from fractions import Fraction
from importlib.util import find_spec
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from benchmarks.rows.alarm_marginal import of_pgmpy

import tractable
from catalogue import cross
from rows.networks import DIAMOND, ROWS, random_network
from tractable import BayesianNetwork, ProbabilityTable
from tractable.graph import LinearGaussianNetwork, chow_liu_tree, d_separated, fit_network
from tractable.testing.joint_laws import JOINT_LAWS


@pytest.mark.spec("GRAPH-01", "GRAPH-02", "GRAPH-03")
@pytest.mark.parametrize(("law", "make"), cross(JOINT_LAWS, ROWS, most=2))
def test_joint_law(law, make, rng):
    law(make(), rng)


@pytest.fixture
def network(rng):
    return random_network("a -> b -> d <- c <- a; d -> e; c -> f <- g", rng, sizes={"b": 3, "d": 3})


def brute(network):
    """The joint table as the product of all tables, and nothing else."""
    product = network.tables[0].factor
    for table in network.tables[1:]:
        product = product * table.factor
    return ProbabilityTable.from_factor(product.transpose(network.names))


def test_marginals_conditionals_and_the_mode_are_those_of_the_joint(network):
    joint = brute(network)
    for size in (1, 2, 3):
        for names in combinations(network.names, size):
            np.testing.assert_allclose(
                network.marginal(names).probabilities, joint.marginal(names).probabilities, rtol=1e-12
            )
    for evidence in ({"e": 1}, {"e": 0, "f": 1}, {"a": 1, "g": 0, "d": 2}):
        seen, slow = network.condition(evidence), joint.condition(evidence)
        assert np.isclose(seen.log_evidence, np.log(joint.probability(evidence)), rtol=1e-12)
        for name in seen.names:
            np.testing.assert_allclose(
                seen.marginal(name).probabilities, slow.marginal(name).probabilities, rtol=1e-12
            )
        np.testing.assert_array_equal(seen.mode, slow.mode)
        np.testing.assert_allclose(seen.entropy(), slow.entropy(), rtol=1e-12)
        np.testing.assert_allclose(seen.covariance, slow.covariance, atol=1e-14)
    assert network.elimination("a").order == ()  # descendants matter to nothing that is asked
    assert network.elimination("d").width == 2


def test_conditional_draws_follow_the_conditional(network, rng):
    seen = network.condition({"e": 1, "f": 0})
    x, slow = seen.sample(20_000, rng=rng), seen.joint()
    p = slow.probabilities.ravel()
    counts = np.array([np.sum(np.all(x == atom, axis=1)) for atom in slow.atoms])
    assert np.all(np.abs(counts - 20_000 * p) < 5.0 * np.sqrt(20_000 * p * (1.0 - p)) + 1e-9)


def test_labels_go_in_and_come_out(rng):
    network = random_network("sky -> umbrella", rng, labels=True)
    frame = pd.DataFrame({"umbrella": ["umbrella1", "umbrella0"], "sky": ["sky0", "sky1"]})
    x = network.encode(frame)
    np.testing.assert_array_equal(x, [[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(network.log_prob(frame), network.log_prob(x))
    assert network.decode(x).tolist() == [["sky0", "umbrella1"], ["sky1", "umbrella0"]]
    assert network.condition({"sky": "sky1"}).names == ("umbrella",)
    assert set(network.most_probable()) == {"sky", "umbrella"}
    assert np.isneginf(network.log_prob([0.0, 7.0]))
    tractable.plot(network.condition({"sky": "sky1"}))


def test_exact_tables_stay_exact():
    third = Fraction(1, 3)
    a = ProbabilityTable(probabilities=[third, 1 - third], axes={"a": 2})
    b = ProbabilityTable(
        probabilities=[[third, 1 - third], [Fraction(1, 2)] * 2], axes={"b": 2}, given={"a": 2}
    )
    network = BayesianNetwork(tables=[a, b])
    assert network.marginal("b").probabilities.tolist() == [Fraction(4, 9), Fraction(5, 9)]
    assert network.condition({"b": 0}).marginal("a").probabilities.tolist() == [
        Fraction(1, 4),
        Fraction(3, 4),
    ]


def test_long_chains_underflow_nowhere(rng):
    names = [f"x{i}" for i in range(400)]
    network = random_network(list(pairwise(names)), rng)
    evidence = dict.fromkeys(names[1:], 1)
    seen = network.condition(evidence)
    tables = {table.names[0]: table for table in network.tables}
    ones = sum(float(np.log(tables[name].probabilities[1, 1])) for name in names[2:])
    first = float(np.log(network.marginal("x1").probabilities[1]))
    assert np.isclose(seen.log_evidence, ones + first, rtol=1e-12)
    x = network.sample(3, rng=rng)
    x[0, ::2] = np.nan
    assert np.all(np.isfinite(network.log_prob(x)))
    with pytest.raises(ValueError, match=r"cells: .*`marginal` of some"):
        network.joint()


def test_marginals_of_a_chain_of_many_variables(rng):
    names = [f"x{i}" for i in range(120)]
    network = random_network(list(pairwise(names)), rng)
    first, *steps = [table.probabilities for table in network.tables]
    forward = [first]
    for step in steps:
        forward.append(forward[-1] @ step)
    backward = np.linalg.multi_dot(steps)[:, 1]
    seen = network.condition({"x119": 1})
    assert np.isclose(seen.log_evidence, np.log(forward[-1][1]), rtol=1e-12)
    wanted = first * backward / forward[-1][1]
    np.testing.assert_allclose(seen.marginal("x0").probabilities, wanted, rtol=1e-12)
    np.testing.assert_allclose(network.marginal("x90").probabilities, forward[90], rtol=1e-12)


def test_many_improbable_observations_are_possible():
    n = 15
    rare = [[1.0 - 1e-30, 1e-30], [1.0 - 3e-30, 3e-30]]
    tables = [ProbabilityTable(probabilities=[0.9, 0.1], axes={"cause": 2})]
    tables += [ProbabilityTable(probabilities=rare, axes={f"x{i}": 2}, given={"cause": 2}) for i in range(n)]
    seen = BayesianNetwork(tables=tables).condition({f"x{i}": 1 for i in range(n)})
    odds = 3.0**n / 9.0
    assert np.isclose(seen.log_evidence, n * np.log(1e-30) + np.log(0.9 + 0.1 * 3.0**n), rtol=1e-12)
    np.testing.assert_allclose(
        seen.marginal("cause").probabilities, [1 / (1 + odds), odds / (1 + odds)], rtol=1e-12
    )


def test_divergence_of_networks_over_other_graphs(rng):
    p, q = random_network(DIAMOND, rng), random_network("e -> d -> c -> b -> a", rng)
    q = BayesianNetwork(tables=sorted(q.tables, key=lambda table: p.names.index(table.names[0])))
    np.testing.assert_allclose(p.kl_divergence(q), p.joint().kl_divergence(q.joint()), rtol=1e-12)


def table(name, p, **given):
    return ProbabilityTable(probabilities=p, axes={name: 2}, given=given)


HALVES = [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize(("call", "match"), [
    (lambda: BayesianNetwork(tables=[]), "tables must be"),
    (lambda: BayesianNetwork(tables=[3]), "tables must be"),
    (lambda: BayesianNetwork(tables=[table("a", [0.5, 0.5]), table("a", [0.1, 0.9])]), "'a' has several"),
    (lambda: BayesianNetwork(tables=[table("b", HALVES, a=2)]), "must have one of 'a'"),
    (lambda: BayesianNetwork(tables=[table("a", [0.5, 0.5]), table("b", HALVES, a=["x", "y"])]), "agree on"),
    (lambda: BayesianNetwork(tables=[table("a", HALVES, b=2), table("b", HALVES, a=2)]), "no cycle"),
    (lambda: BayesianNetwork(tables=[table("a", HALVES)]), "must not be batches"),
    (lambda: BayesianNetwork(tables=[table("a", [0.5, 0.5])], evidence={"a": 1}), "leave at least one"),
    (lambda: BayesianNetwork(tables=[table("a", [0.5, 0.5])], evidence={"z": 1}), "no variable 'z'"),
    (lambda: BayesianNetwork(tables=[table("a", [0.5, 0.5])], evidence="a"), "evidence must map names"),
    (lambda: BayesianNetwork(tables=[table("a", [0.5, 0.5])], evidence=3), "evidence must map names"),
    (lambda: certain().condition({"a": 0}), "a=0 has none"),
    (lambda: certain().condition({"a": 5}), "has no level 5"),
    (lambda: certain().condition(["a"]), "values must be the observed levels"),
    (lambda: certain().condition({"z": 5}), "z"),
    (lambda: certain().marginal([]), "at least one"),
])  # fmt: skip
def test_bad_networks_are_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call()


def certain():
    return BayesianNetwork(tables=[table("a", [0.0, 1.0]), table("b", HALVES, a=2)])


def test_frequencies_are_the_most_likely_tables(rng):
    truth = random_network(DIAMOND, rng, sizes={"b": 3}, labels=True)
    rows = pd.DataFrame(truth.decode(truth.sample(400, rng=rng)), columns=truth.names)
    weights = rng.integers(0, 4, len(rows))
    found = fit_network(DIAMOND, rows, weights)
    again = fit_network(DIAMOND, rows.loc[np.repeat(rows.index, weights)])
    best = weights @ found.log_prob(rows)
    for table, other in zip(found.tables, again.tables, strict=True):
        np.testing.assert_allclose(table.probabilities, other.probabilities, rtol=1e-12)
    assert best > weights @ truth.log_prob(rows)
    for name in found.names:  # a step towards any other table lowers the likelihood
        tables = [
            ProbabilityTable(
                probabilities=0.99 * t.probabilities + 0.01 / len(t.levels(name)), axes=t.axes, given=t.given
            )
            if t.names[0] == name
            else t
            for t in found.tables
        ]
        assert weights @ BayesianNetwork(tables=tables).log_prob(rows) < best
    smooth = fit_network("a -> b", rows[["a", "b"]], pseudocounts=1.0)
    assert np.all(smooth.tables[1].probabilities > 0.0)


def test_the_tree_has_the_greatest_likelihood_of_all_trees(rng):
    truth = random_network("a -> b -> c; b -> d", rng)
    x = truth.sample(300, rng=rng)
    rows = pd.DataFrame(x.astype(int), columns=truth.names)
    tree = chow_liu_tree(rows)
    best = fit_network(tree, rows).log_prob(rows).sum()
    pairs = list(combinations(truth.names, 2))
    for edges in combinations(pairs, 3):
        other = nx.Graph(edges)
        if len(other) == 4 and nx.is_tree(other):
            directed = nx.bfs_tree(other, "a")
            assert fit_network(directed, rows).log_prob(rows).sum() <= best + 1e-9
    assert chow_liu_tree(rows, root="d").parents("d") == ()


def test_linear_gaussian_networks_are_normal(rng):
    model = LinearGaussianNetwork(
        coefficients={"z": {"x": 1.0, "y": -2.0}, "x": {}, "y": {"x": 0.5}},
        intercepts={"y": 3.0},
        noise_variances={"x": 4.0, "z": 0.25},
    )
    joint = model.joint()
    x = 2.0 * rng.standard_normal(200_000)
    y = 3.0 + 0.5 * x + rng.standard_normal(len(x))
    z = x - 2.0 * y + 0.5 * rng.standard_normal(len(x))
    draws = np.stack([z, x, y])
    error = np.sqrt(np.diag(joint.covariance) / len(x))
    assert np.all(np.abs(draws.mean(axis=1) - joint.mean) < 5.0 * error)
    scale = np.sqrt(np.outer(np.diag(joint.covariance), np.diag(joint.covariance)) * 2.0 / len(x))
    assert np.all(np.abs(np.cov(draws) - joint.covariance) < 5.0 * scale)
    assert joint.names == ("z", "x", "y")
    assert d_separated(model.graph, "x", "z") is False
    chain = LinearGaussianNetwork(coefficients={"a": {}, "b": {"a": 2.0}, "c": {"b": -1.0}}).joint()
    assert abs(chain.condition({"b": 0.3}).covariance[0, 1]) < 1e-15  # a and c given b


#: Networks that pgmpy carries, where it is installed (it is a peer of the benchmarks).
PGMPYS = ("asia", "cancer", "earthquake", "sachs", "survey", "alarm", "child") if find_spec("pgmpy") else ()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_answers_are_those_of_pgmpy(rng):
    for name in PGMPYS:
        from pgmpy.inference import VariableElimination
        from pgmpy.utils import get_example_model

        theirs = get_example_model(name)
        ours, elimination = of_pgmpy(theirs), VariableElimination(theirs)
        for n_seen in (0, 1, 3):
            row = ours.decode(ours.sample(1, rng=rng))[0]
            where = rng.choice(ours.dim, n_seen, replace=False)
            seen = {ours.names[i]: row[i] for i in where}
            given = ours.condition(seen) if seen else ours
            for asked in rng.choice(given.names, 2, replace=False).tolist():
                found = elimination.query([asked], evidence=seen, show_progress=False)
                wanted = dict(zip(found.state_names[asked], found.values, strict=True))
                np.testing.assert_allclose(
                    given.marginal(asked).probabilities, [wanted[v] for v in given.levels(asked)], atol=1e-9
                )


@pytest.mark.parametrize(("call", "match"), [
    (lambda: fit_network("a -> z", {"a": [0, 1]}), "X must have a column 'z'"),
    (lambda: chow_liu_tree({"a": [0, 1], "b": [0, 1]}, root="z"), "root must be a column"),
    (lambda: chow_liu_tree({"a": [], "b": []}), "X must have at least one row"),
    (lambda: LinearGaussianNetwork(coefficients={}), "at least one node"),
    (lambda: LinearGaussianNetwork(coefficients={"y": {"x": 1.0}}), "entry of the parent 'x'"),
    (lambda: LinearGaussianNetwork(coefficients={"y": {"y": 1.0}}), "no cycle"),
    (lambda: LinearGaussianNetwork(coefficients={"y": {}}, noise_variances={"y": 0.0}), "noise_variances"),
    (lambda: LinearGaussianNetwork(coefficients={"y": {}}, intercepts={"z": 0.0}), "got 'z'"),
    (lambda: LinearGaussianNetwork(coefficients={"y": {}}, intercepts={"y": np.nan}), "intercepts"),
])  # fmt: skip
def test_bad_rows_and_coefficients_are_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call()
