"""Whether two nodes of a large graph are d-separated."""

from types import SimpleNamespace

import networkx as nx
import numpy as np

import tractable
from benchmarks.row import Row, at_least

#: How many nodes are observed in the second question.
OBSERVED = 100


def setup(size, folder):  # noqa: ARG001  (no files)
    """Edges at random along a random order of the nodes, as NetworkX's graph."""
    n_nodes, n_edges = size
    rng = np.random.default_rng(0)
    pairs = rng.integers(n_nodes, size=(2 * n_edges, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    edges = rng.permutation(n_nodes)[rng.permutation(pairs)[:n_edges]]
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n_nodes))
    graph.add_edges_from(edges.tolist())
    x, y, *given = rng.choice(n_nodes, size=2 + min(OBSERVED, n_nodes // 4), replace=False).tolist()
    return SimpleNamespace(graph=graph, x={x}, y={y}, given=set(given))


def ours(data):
    return [tractable.d_separated(data.graph, data.x, data.y, given) for given in ((), data.given)]


def networkxs(data):
    return [nx.is_d_separator(data.graph, data.x, data.y, given) for given in (set(), data.given)]


def check(mine, theirs):
    assert mine == theirs


ROW = Row(
    name="d_separation",
    shows="Two nodes of 10,000 with 50,000 edges, given none and given 100 others, from a NetworkX graph.",
    setup=setup,
    size=(10_000, 50_000),
    dry_size=(50, 100),
    ours=ours,
    peers={"NetworkX": networkxs},
    check=check,
    targets={"NetworkX": at_least(3.0)},
    limit="reading the edges out of NetworkX's dictionaries.",
)
