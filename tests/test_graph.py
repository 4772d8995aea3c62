"""Directed graphs and d-separation: against the definition, NetworkX, and random tables."""

import networkx as nx
import numpy as np
import pytest

import tractable
from rows.networks import random_network
from tractable.graph import (
    DirectedGraph,
    active_paths,
    d_separated,
    explain_separation,
    implied_independencies,
    minimal_separator,
    triples,
)

FORMS = [
    "A -> B <- C; B -> D",
    "C -> B\nA -> B, B -> D",
    {"B": ["A", "C"], "D": "B"},
    [("A", "B"), ("C", "B"), ("B", "D")],
    nx.DiGraph([("A", "B"), ("C", "B"), ("B", "D")]),
]


def random_graph(rng, most=8):
    """A random graph, its edges along a random order."""
    n, p = int(rng.integers(2, most)), rng.random()
    order = rng.permutation(n).tolist()
    edges = [(order[i], order[j]) for i in range(n) for j in range(i + 1, n) if rng.random() < p]
    return DirectedGraph(nodes=range(n), edges=edges)


def random_sets(graph, rng):
    """Three sets of nodes that do not overlap, the first two not empty; None where there are too few."""
    role = rng.integers(0, 4, len(graph.nodes))
    x, y, given = ({node for node, r in zip(graph.nodes, role, strict=True) if r == k} for k in range(3))
    return (x, y, given) if x and y else None


@pytest.mark.parametrize("given", FORMS, ids=["text", "lines", "mapping", "pairs", "networkx"])
def test_forms_are_read_alike(given):
    graph = DirectedGraph.of(given)
    assert set(graph.edges) == {("A", "B"), ("C", "B"), ("B", "D")}
    assert set(graph.parents("B")) == {"A", "C"}
    assert graph.children("B") == ("D",)
    assert graph.ancestors("D") == {"A", "B", "C"}
    assert graph.descendants(["A", "C"]) == {"B", "D"}
    assert graph.markov_blanket("A") == {"B", "C"}
    order = graph.topological_order
    assert all(order.index(a) < order.index(b) for a, b in graph.edges)
    assert set(DirectedGraph.of(str(graph)).edges) == set(graph.edges)
    assert nx.utils.graphs_equal(graph.to_networkx(), DirectedGraph.of(graph.to_networkx()).to_networkx())
    assert nx.utils.graphs_equal(graph.moralize(), nx.moral_graph(graph.to_networkx()))


@pytest.mark.spec("GRAPH-07", "E000-36")
@pytest.mark.parametrize("n_graphs", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_paths_reachability_and_networkx_agree(n_graphs, rng):
    separated = 0
    for _ in range(n_graphs):
        graph = random_graph(rng)
        sets = random_sets(graph, rng)
        if sets is None:
            continue
        found = d_separated(graph, *sets)
        assert found == nx.is_d_separator(graph.to_networkx(), *sets)
        assert found == d_separated(graph, *sets, method="paths")
        assert found == (next(active_paths(graph, *sets), None) is None)
        separated += found
    assert 0.1 * n_graphs < separated < 0.9 * n_graphs  # both answers occur


@pytest.mark.spec("GRAPH-05", "GRAPH-06", "GRAPH-07", "W-16")
def test_what_is_separated_is_independent_in_random_tables(rng):
    dependent = 0
    for _ in range(30):
        graph = random_graph(rng, most=6)
        named = DirectedGraph(
            nodes=[f"x{n}" for n in graph.nodes], edges=[(f"x{a}", f"x{b}") for a, b in graph.edges]
        )
        sets = random_sets(named, rng)
        if sets is None:
            continue
        joint = random_network(named, rng).joint()
        held = joint.is_independent(*(sorted(s) for s in sets), tol=1e-12)
        assert held == d_separated(named, *sets)  # random tables have no other independencies
        dependent += not held
    assert dependent > 5


@pytest.mark.spec("GRAPH-01", "GRAPH-02", "GRAPH-03", "GRAPH-04", "GRAPH-05", "W-16", "E000-35")
@pytest.mark.parametrize(("graph", "alone", "given_b"), [
    ("A -> B -> C", False, True),
    ("A <- B -> C", False, True),
    ("A -> B <- C", True, False),
])  # fmt: skip
def test_the_three_triples(graph, alone, given_b, rng):
    network = random_network(graph, rng, sizes={"B": 3})
    joint = network.joint()
    product = 1.0
    for table in network.tables:  # p(A) p(B | A) p(C | B), and the like
        product = product * table.factor if product != 1.0 else table.factor
    np.testing.assert_allclose(product.transpose(joint.names).values, joint.probabilities, rtol=1e-14)
    assert joint.is_independent("A", "C") == d_separated(graph, "A", "C") == alone
    assert joint.is_independent("A", "C", "B") == d_separated(graph, "A", "C", "B") == given_b
    (triple,) = triples(graph, "ABC")
    assert triple.active != alone
    # p(A | B, C) = p(A | B) is the right criterion, and p(B | A, C) = p(B | A) is another statement.
    right = np.abs(
        joint.conditional(["B", "C"]).probabilities
        - joint.conditional("B").marginal("A").probabilities[:, None]
    ).max()
    assert (right < 1e-12) == given_b
    if graph == "A -> B -> C":
        b = joint.marginal(["A", "B", "C"]).conditional(["A", "C"]).probabilities
        printed = np.abs(b - joint.marginal(["A", "B"]).conditional("A").probabilities[:, None]).max()
        assert printed > 1e-3


@pytest.mark.spec("GRAPH-06", "W-16")
def test_an_observed_descendant_opens_a_collider(rng):
    graph = "A -> B <- C; B -> D -> E"
    joint = random_network(graph, rng).joint()
    for given, open_ in [((), False), ("D", True), ("E", True)]:
        assert d_separated(graph, "A", "C", given) != open_
        assert joint.is_independent("A", "C", given) != open_
        (triple,) = triples(graph, ["A", "B", "C"], given)
        assert (triple.kind, triple.active) == ("collider", open_)


@pytest.mark.spec("GRAPH-08")
def test_adjacent_nodes_are_never_separated(rng):
    for _ in range(100):
        graph = random_graph(rng)
        for a, b in graph.edges:
            others = [n for n in graph.nodes if n not in {a, b}]
            given = {n for n in others if rng.random() < 0.5}
            assert not d_separated(graph, a, b, given)
            assert minimal_separator(graph, a, b) is None


@pytest.mark.spec("GRAPH-09")
def test_regression_as_a_graph():
    assert d_separated("X -> y <- w", "w", "X")
    assert not d_separated("X -> y <- w", "w", "X", "y")


@pytest.mark.spec("GRAPH-10")
def test_naive_bayes_as_a_graph(rng):
    graph = "age -> height; age -> vocabulary"
    assert not d_separated(graph, "height", "vocabulary")
    assert d_separated(graph, "height", "vocabulary", "age")
    joint = random_network(graph, rng, sizes={"age": 3}).joint()
    assert joint.is_independent("height", "vocabulary", "age")
    assert not joint.is_independent("height", "vocabulary")


def test_separators_are_minimal_and_implied_independencies_hold(rng):
    for _ in range(100):
        graph = random_graph(rng)
        sets = random_sets(graph, rng)
        if sets is None:
            continue
        found = minimal_separator(graph, *sets[:2])
        peer = nx.find_minimal_d_separator(graph.to_networkx(), *sets[:2])
        assert (found is None) == (peer is None)
        if found is not None:
            assert d_separated(graph, *sets[:2], found)
            assert all(not d_separated(graph, *sets[:2], found - {node}) for node in found)
        for one in implied_independencies(graph):
            assert d_separated(graph, one.x, one.y, one.given)


def test_explanations_say_why():
    graph = "rain -> wet <- sprinkler; wet -> slippery"
    assert str(explain_separation(graph, "rain", "sprinkler", "slippery")) == (
        "rain is in general dependent on sprinkler given slippery.\n"
        "rain -> wet <- sprinkler: active, as wet is a collider whose descendant slippery is given"
    )
    text = str(explain_separation(graph, "rain", "slippery", "wet"))
    assert "independent of slippery given wet" in text
    assert "wet is a chain that is given" in text
    assert "No path" in str(explain_separation("A; B", "A", "B"))
    assert "adjacent" in str(explain_separation("A -> B", "A", "B"))
    ax = tractable.plot(explain_separation(graph, "rain", "sprinkler", "slippery"))
    assert {text.get_text() for text in ax.texts} >= {"rain", "wet", "sprinkler", "slippery"}
    assert "dependent" in ax.get_title()
    tractable.plot(DirectedGraph.of(graph))


@pytest.mark.parametrize(("call", "match"), [
    (lambda: DirectedGraph.of("A -> B -> C -> A"), "no cycle, and there is A -> B -> C -> A"),
    (lambda: DirectedGraph.of([("A", "A")]), "A -> A"),
    (lambda: DirectedGraph.of("A -> "), "both sides"),
    (lambda: DirectedGraph.of(3), "graph must be"),
    (lambda: DirectedGraph.of(nx.Graph([(1, 2)])), "must be directed"),
    (lambda: DirectedGraph(edges=["AB", "C"]), "must be pairs"),
    (lambda: DirectedGraph.of("A - B"), "arrows -> or <-"),
    (lambda: DirectedGraph.of("A -- B"), "arrows -> or <-"),
    (lambda: DirectedGraph.of("A => B"), "arrows -> or <-"),
    (lambda: DirectedGraph.of("A <-> B"), "arrow"),
    (lambda: DirectedGraph(edges=[([1], [2])]), "must be pairs"),
    (lambda: DirectedGraph(nodes=[[1]]), "nodes must be hashable"),
    (lambda: DirectedGraph.of("A -> B").parents("C"), "node must be one of the graph"),
    (lambda: d_separated("A -> B", "A", "Z"), "y must be nodes of the graph, got 'Z'"),
    (lambda: d_separated("A -> B", "A", "B", "A"), "x and given must not overlap"),
    (lambda: d_separated("A -> B", "A", "A"), "x and y must not overlap"),
    (lambda: d_separated("A -> B", (), "A"), "x must name at least one node"),
    (lambda: d_separated("A -> B", "A", "B", method="guess"), "method must be"),
    (lambda: triples("A -> B -> C", ["A", "C", "B"]), "not adjacent"),
])  # fmt: skip
def test_bad_graphs_are_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call()
