"""Bayesian networks: chain, fork, collider, a diamond, and one of which something was observed."""

import numpy as np

from rows.row import Row
from tractable.distributions import ProbabilityTable
from tractable.graph import BayesianNetwork, DirectedGraph


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
