"""Bayesian networks: chain, fork, collider, a diamond, and one of which something was observed."""

from functools import partial

import numpy as np

from rows.row import Row
from tractable.data import as_source
from tractable.distributions import ProbabilityTable
from tractable.graph import BayesianNetwork, BayesianNetworkDensity, DirectedGraph
from tractable.graph.estimator import EventCodes, FamilyCounting, NetworkParameters, NetworkProblem
from tractable.graph.network import families_of
from tractable.testing.em_laws import EMCase


def random_network(graph, rng, sizes=None, labels=False):
    """A network over a graph with random tables, of two levels or as many as are given."""
    graph = DirectedGraph.of(graph)
    levels = {
        node: [f"{node}{i}" for i in range((sizes or {}).get(node, 2))]
        if labels
        else (sizes or {}).get(node, 2)
        for node in graph.nodes
    }
    tables = []
    for node in graph.nodes:
        parents = graph.parents(node)
        shape = [levels[n] if isinstance(levels[n], int) else len(levels[n]) for n in (*parents, node)]
        p = rng.dirichlet(np.ones(shape[-1]), size=tuple(shape[:-1]))
        given = {parent: levels[parent] for parent in parents}
        tables.append(ProbabilityTable(probabilities=p, axes={node: levels[node]}, given=given))
    return BayesianNetwork(tables=tables)


def made(graph, **options):
    return lambda: random_network(graph, np.random.default_rng(5), **options)


DIAMOND = "a -> b -> d <- c <- a; d -> e"
ROWS = [
    Row("BayesianNetwork", made(DIAMOND, sizes={"b": 3, "e": 4})),
    Row("BayesianNetwork-chain", made("a -> b -> c")),
    Row("BayesianNetwork-fork", made("a <- b -> c", labels=True)),
    Row("BayesianNetwork-collider", made("a -> b <- c", sizes={"a": 3})),
    Row("BayesianNetwork-one", made("a", sizes={"a": 3})),
    Row("BayesianNetwork-observed", lambda: made(DIAMOND, sizes={"b": 3})().condition({"e": 1})),
    Row("BayesianNetwork-barren", lambda: made(DIAMOND)().condition({"b": 0})),
]

FRACTIONS = {
    "check_sample_weight_equivalence_on_dense_data": "the check gives fractions, whatever the tags say"
}
ESTIMATORS = [
    Row("BayesianNetworkDensity", BayesianNetworkDensity, FRACTIONS),
    Row("BayesianNetworkDensity-rooted", lambda: BayesianNetworkDensity(root=0, alpha=0.5), FRACTIONS),
]


def network_problem(graph=DIAMOND, alpha=1.0, holes=0.4):
    """EM for the tables of a random network, from random tables."""
    rng = np.random.default_rng(3)
    truth, start = (random_network(graph, rng, sizes={"b": 3, "e": 4}) for _ in range(2))
    x = truth.sample(100, rng=rng)
    x[rng.random(x.shape) < holes] = np.nan
    families, cells = families_of(start.tables)
    coding = EventCodes(axes=truth.axes)
    problem = NetworkProblem(rows=None, levels=None, families=families, alpha=alpha, coding=coding)
    source = as_source(x, None, rng.uniform(0.5, 2.0, len(x)))
    return EMCase(
        expect=problem.expect,
        maximize=problem.maximize,
        data=source.prepare(FamilyCounting(coding=coding, families=families)),
        start=NetworkParameters(cells=cells),
        numbers=lambda params: params.cells,
    )


EM_ROWS = [
    Row("network, with holes", network_problem),
    Row("network, maximum likelihood", partial(network_problem, alpha=0.0)),
    Row("network, complete", partial(network_problem, holes=0.0)),
    Row("network, mostly missing", partial(network_problem, graph="a -> b -> c -> e; a -> d", holes=0.8)),
]
