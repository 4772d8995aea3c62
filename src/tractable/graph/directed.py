"""Directed acyclic graphs: parents, ancestors, Markov blankets, and forms to read and write them in."""

import re
from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from tractable.arrays.namespace import freeze
from tractable.value import set_fields, value

if TYPE_CHECKING:
    import networkx as nx

#: A node, which anything hashable may be.
Node = Any

_ARROW = re.compile(r"\s*(->|<-)\s*")

#: Lines and heads of other arrows, as in A <-> B, A => B, A -- B and A - B; not the hyphen of a name.
_NO_NAME = re.compile(r"^>|<$|--|(?:^|\s)[-=]+>?(?:\s|$)")


@value
class DirectedGraph:
    """A directed acyclic graph, whose edges lead from causes or conditions to what depends on them.

    Parameters
    ----------
    edges : iterable of pairs
        (parent, child); repeated edges count once.
    nodes : iterable, optional
        Nodes, in their order; those of the edges are added behind them.

    Raises
    ------
    ValueError
        Where the edges have a cycle, which the message shows.

    Examples
    --------
    >>> graph = DirectedGraph.of("rain -> wet <- sprinkler; wet -> slippery")
    >>> graph.nodes
    ('rain', 'wet', 'sprinkler', 'slippery')
    >>> graph.parents("wet"), sorted(graph.descendants("rain"))
    (('rain', 'sprinkler'), ['slippery', 'wet'])
    >>> sorted(graph.markov_blanket("rain")), print(graph)
    rain -> wet; sprinkler -> wet; wet -> slippery
    (['sprinkler', 'wet'], None)
    """

    nodes: tuple[Node, ...]
    #: The edges as positions of parents and children among the nodes, (n_edges, 2).
    edge_positions: np.ndarray

    def __init__(self, *, edges: Iterable[tuple[Node, Node]] = (), nodes: Iterable[Node] = ()) -> None:
        pairs = _checked_edges(edges)
        found = dict.fromkeys(chain(_checked_nodes(nodes), chain.from_iterable(pairs)))
        numbers = _numbers(found, chain.from_iterable(pairs), 2 * len(pairs))
        set_fields(self, nodes=tuple(found), edge_positions=freeze(numbers.reshape(-1, 2)))
        self._check_acyclic()

    def _parameters(self) -> dict[str, Any]:
        return {"edges": self.edges, "nodes": self.nodes}

    @classmethod
    def of(cls, given: Any) -> "DirectedGraph":
        """Return a graph from any of the forms in which it may be written.

        Parameters
        ----------
        given : DirectedGraph, networkx.DiGraph, str, mapping or iterable of pairs
            Text has arrows between the names of nodes, ``"A -> B <- C"``, and semicolons, commas or new lines
            between statements; a name alone is a node without edges. A mapping gives the parents of each
            node, and pairs are (parent, child).

        Examples
        --------
        >>> print(DirectedGraph.of({"y": ["X", "w"]}))
        X -> y; w -> y
        >>> print(DirectedGraph.of([("A", "B"), ("C", "B")]))
        A -> B; C -> B
        """
        if isinstance(given, cls):
            return given
        if isinstance(given, str):
            return _parsed(given)
        if hasattr(given, "adjacency"):
            return _from_networkx(given)
        if isinstance(given, Mapping):
            rows = [(node, _names_of(parents, f"parents of {node!r}")) for node, parents in given.items()]
            return cls(nodes=[node for node, _ in rows], edges=[(p, node) for node, ps in rows for p in ps])
        if isinstance(given, Iterable):
            return cls(edges=given)
        raise ValueError(
            "graph must be a DirectedGraph, a networkx.DiGraph, text such as 'A -> B <- C', a mapping of "
            f"nodes to parents, or pairs (parent, child); got {type(given).__name__}"
        )

    def to_networkx(self) -> "nx.DiGraph":
        """Return the graph as NetworkX's."""
        import networkx as nx

        found = nx.DiGraph()
        found.add_nodes_from(self.nodes)
        found.add_edges_from(self.edges)
        return found

    def __str__(self) -> str:
        """The graph as text, which `of` reads."""
        tied = set(chain.from_iterable(self.edges))
        alone = [str(node) for node in self.nodes if node not in tied]
        return "; ".join([f"{a} -> {b}" for a, b in self.edges] + alone)

    # Relatives

    def parents(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes with an edge to a node."""
        return tuple(self._parents[self._known(node)])

    def children(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes to which a node has an edge."""
        return tuple(self._children[self._known(node)])

    def ancestors(self, nodes: Any) -> set[Node]:
        """Return all nodes with a directed path to a node, or to one of several; without themselves."""
        return _reached(self.as_nodes(nodes, "nodes"), self._parents)

    def descendants(self, nodes: Any) -> set[Node]:
        """Return all nodes to which a node, or one of several, has a directed path; without themselves."""
        return _reached(self.as_nodes(nodes, "nodes"), self._children)

    def markov_blanket(self, node: Node) -> set[Node]:
        """Return parents, children and the children's other parents: given them, no other node matters."""
        children = self.children(node)
        parents_of_children = chain.from_iterable(self._parents[child] for child in children)
        return {*self.parents(node), *children, *parents_of_children} - {node}

    def has_edge(self, parent: Node, child: Node) -> bool:
        """Whether there is an edge from one node to another."""
        return child in self._children[self._known(parent)]

    @cached_property
    def topological_order(self) -> tuple[Node, ...]:
        """The nodes in an order in which parents come before their children."""
        missing = {node: len(parents) for node, parents in self._parents.items()}
        ready = [node for node in self.nodes if not missing[node]]
        for node in ready:  # grows while it is read
            for child in self._children[node]:
                missing[child] -= 1
                if not missing[child]:
                    ready.append(child)
        return tuple(ready)

    def subgraph(self, nodes: Iterable[Node]) -> "DirectedGraph":
        """Return some of the nodes and the edges between them."""
        kept = self.as_nodes(nodes, "nodes")
        inside = [node for node in self.nodes if node in kept]
        return DirectedGraph(nodes=inside, edges=[(a, b) for a, b in self.edges if a in kept and b in kept])

    def moralize(self) -> "nx.Graph":
        """Return the moral graph: edges without direction, and one between the parents of each child.

        Separation in the moral graph of the ancestors of x, y and z is d-separation (Lauritzen 1990).
        """
        import networkx as nx

        found = nx.Graph(self.edges)
        found.add_nodes_from(self.nodes)
        for parents in self._parents.values():
            found.add_edges_from(combinations(parents, 2))
        return found

    def as_nodes(self, given: Any, name: str) -> set[Node]:
        """Return a node, or some of them, as a set of nodes of the graph."""
        if isinstance(given, Hashable) and given in self.positions:
            return {given}
        found = set(_names_of(given, name))
        unknown = [node for node in found if node not in self.positions]
        if unknown:
            raise ValueError(
                f"{name} must be nodes of the graph, got {unknown[0]!r}; it has {self._listed()}"
            )
        return found

    def _known(self, node: Node) -> Node:
        if not isinstance(node, Hashable) or node not in self.positions:
            raise ValueError(f"node must be one of the graph, got {node!r}; it has {self._listed()}")
        return node

    def _listed(self) -> str:
        shown = ", ".join(map(repr, self.nodes[:8])) or "no nodes"
        return shown if len(self.nodes) <= 8 else f"{shown}, …"

    @cached_property
    def edges(self) -> tuple[tuple[Node, Node], ...]:
        """The edges, (parent, child)."""
        return tuple((self.nodes[a], self.nodes[b]) for a, b in self.edge_positions.tolist())

    @cached_property
    def positions(self) -> dict[Node, int]:
        """The position of each node in `nodes`."""
        return {node: i for i, node in enumerate(self.nodes)}

    @cached_property
    def _parents(self) -> dict[Node, list[Node]]:
        return _grouped(self.nodes, ((b, a) for a, b in self.edges))

    @cached_property
    def _children(self) -> dict[Node, list[Node]]:
        return _grouped(self.nodes, self.edges)

    def _check_acyclic(self) -> None:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        a, b = self.edge_positions.T
        n = len(self.nodes)
        if not len(a):
            return
        matrix = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(n, n))
        count, label = connected_components(matrix, connection="strong")
        if count < n or bool(np.any(a == b)):
            raise ValueError(f"edges must have no cycle, and there is {' -> '.join(self._cycle(label))}")

    def _cycle(self, label: np.ndarray) -> list[str]:
        """Return a cycle: a walk inside a component that is strongly connected comes back to where it was."""
        loop = next((a for a, b in self.edges if a == b), None)
        if loop is not None:
            return [str(loop), str(loop)]
        large = int(np.argmax(np.bincount(label)))
        inside = {node for node, component in zip(self.nodes, label, strict=True) if component == large}
        walk = [next(node for node in self.nodes if node in inside)]
        while walk.count(walk[-1]) < 2:
            walk.append(next(child for child in self._children[walk[-1]] if child in inside))
        return [str(node) for node in walk[walk.index(walk[-1]) :]]


def _reached(start: set[Node], neighbors: Mapping[Node, Iterable[Node]]) -> set[Node]:
    """Return what is reached along edges, without the start."""
    found, waiting = set(start), list(start)
    while waiting:
        for node in neighbors[waiting.pop()]:
            if node not in found:
                found.add(node)
                waiting.append(node)
    return found - start


def _parsed(text: str) -> DirectedGraph:
    nodes: list[str] = []
    edges: list[tuple[str, str]] = []
    for statement in re.split(r"[;,\n]", text):
        if not statement.strip():
            continue
        parts = _ARROW.split(statement.strip())
        if not all(part.strip() for part in parts):
            raise ValueError(f"graph must have a node on both sides of each arrow, got {statement.strip()!r}")
        names = parts[::2]
        if any(_NO_NAME.search(name) for name in names):
            raise ValueError(f"graph must have arrows -> or <- between nodes, got {statement.strip()!r}")
        nodes += names
        for left, arrow, right in zip(names[:-1], parts[1::2], names[1:], strict=True):
            edges.append((left, right) if arrow == "->" else (right, left))
    return DirectedGraph(nodes=nodes, edges=edges)


def _from_networkx(given: Any) -> DirectedGraph:
    if not given.is_directed():
        raise ValueError("graph must be directed, got an undirected one of NetworkX")
    links = dict(given.adjacency())
    counts = [len(children) for children in links.values()]
    children = _numbers(links, chain.from_iterable(links.values()), sum(counts))
    found = object.__new__(DirectedGraph)
    edges = np.stack([np.repeat(np.arange(len(links)), counts), children], axis=1)
    set_fields(found, nodes=tuple(links), edge_positions=freeze(edges))
    found._check_acyclic()
    return found


def _numbers(nodes: Iterable[Node], named: Iterable[Node], count: int) -> np.ndarray:
    """Return the positions of nodes that are named; of whole numbers without a look-up for each."""
    nodes = list(nodes)
    if nodes and set(map(type, nodes)) == {int} and min(nodes) >= 0 and max(nodes) < 4 * len(nodes):
        found = np.fromiter(named, dtype=np.int64, count=count)
        positions = np.zeros(4 * len(nodes), dtype=np.int64)
        positions[nodes] = np.arange(len(nodes))
        return positions[found]
    places = {node: i for i, node in enumerate(nodes)}
    return np.fromiter(map(places.__getitem__, named), dtype=np.int64, count=count)


def _grouped(nodes: Iterable[Node], pairs: Iterable[tuple[Node, Node]]) -> dict[Node, list[Node]]:
    found: dict[Node, list[Node]] = {node: [] for node in nodes}
    for a, b in pairs:
        found[a].append(b)
    return found


def _checked_nodes(nodes: Any) -> tuple[Node, ...]:
    found = _names_of(nodes, "nodes")
    if not all(isinstance(node, Hashable) for node in found):
        raise ValueError("nodes must be hashable, such as names or numbers")
    return found


def _checked_edges(edges: Any) -> tuple[tuple[Node, Node], ...]:
    if isinstance(edges, (str, bytes)) or not isinstance(edges, Iterable):
        raise ValueError(f"edges must be pairs (parent, child), got {edges!r:.60}")
    try:
        return tuple(dict.fromkeys((a, b) for a, b in edges))
    except (TypeError, ValueError):
        raise ValueError("edges of a graph must be pairs (parent, child) of names or numbers") from None


def _names_of(given: Any, name: str) -> tuple[Node, ...]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        return (given,)
    if isinstance(given, Mapping) and name != "nodes":
        raise ValueError(f"{name} must be a node or a set of nodes, got a mapping")
    return tuple(given)
