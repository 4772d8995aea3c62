"""d-separation: which variables are independent given others in all distributions that a graph describes."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from tractable.graph.directed import DirectedGraph, Node
from tractable.value import value

#: Paths that an explanation tells of, at most.
MOST_PATHS = 12

_END = object()


@value
class Triple:
    """Three nodes in a row on a path, and whether dependence passes through the one in the middle.

    Parameters
    ----------
    left, middle, right : nodes
        In the order of the path.
    kind : {"chain", "fork", "collider"}
        a → b → c or a ← b ← c (head to tail), a ← b → c (tail to tail), a → b ← c (head to head).
    active : bool
        A chain or fork is active where its middle is not observed, a collider where its middle or a
        descendant of it is.
    """

    left: Node
    middle: Node
    right: Node
    kind: str
    active: bool


@value
class Path:
    """A path between two nodes, whichever way its edges lead, and its triples.

    Parameters
    ----------
    nodes : tuple
        From one end to the other.
    forward : tuple of bool
        Of each edge, whether it leads from the node before to the node behind.
    triples : tuple of Triple
        Of every node but the ends.
    """

    nodes: tuple[Node, ...]
    forward: tuple[bool, ...]
    triples: tuple[Triple, ...]

    @property
    def active(self) -> bool:
        """Whether all triples are active, as a single edge is: then it connects its ends."""
        return all(triple.active for triple in self.triples)

    def __str__(self) -> str:
        """The path with its arrows."""
        steps = zip(self.forward, self.nodes[1:], strict=True)
        return str(self.nodes[0]) + "".join(f" {'->' if right else '<-'} {node}" for right, node in steps)


@value
class Independence:
    """x ⟂ y | given: two sets of variables are independent given a third.

    Parameters
    ----------
    x, y : frozenset
        The two sets.
    given : frozenset
        The third.
    """

    x: frozenset
    y: frozenset
    given: frozenset

    def __str__(self) -> str:
        """The statement as it is written."""
        left, right = _joined(self.x), _joined(self.y)
        return f"{left} ⟂ {right}" + (f" | {_joined(self.given)}" if self.given else "")


@value
class Separation:
    """Why two sets of nodes are d-separated by a third, or are not: a result to read and to draw.

    Parameters
    ----------
    graph : DirectedGraph
        The graph.
    x, y : frozenset
        The two sets of nodes.
    given : frozenset
        The observed nodes.
    separated : bool
        Whether no path between x and y is active.
    paths : tuple of Path
        Paths between them, those that are active first, a dozen at most.
    """

    graph: DirectedGraph
    x: frozenset
    y: frozenset
    given: frozenset
    separated: bool
    paths: tuple[Path, ...]

    def __str__(self) -> str:
        """The explanation in words."""
        given = f" given {_joined(self.given)}" if self.given else ""
        verb = "is" if len(self.x) == 1 else "are"
        held = "independent of" if self.separated else "in general dependent on"
        lines = [f"{_joined(self.x)} {verb} {held} {_joined(self.y)}{given}."]
        if not self.paths:
            lines.append("No path connects them.")
        lines += [f"{path}: {self._status(path)}" for path in self.paths]
        return "\n".join(lines)

    def _status(self, path: Path) -> str:
        if not path.triples:
            return "active, as they are adjacent"
        blocked = [triple for triple in path.triples if not triple.active]
        reasons = [self._reason(triple) for triple in (blocked or path.triples)]
        return f"{'blocked' if blocked else 'active'}, as {'; '.join(reasons)}"

    def _reason(self, triple: Triple) -> str:
        where = f"{triple.middle} is a {triple.kind}"
        if triple.kind != "collider":
            return f"{where} that is {'not ' if triple.active else ''}given"
        if triple.middle in self.given:
            return f"{where} that is given"
        seen = self.graph.descendants(triple.middle) & self.given
        if seen:
            return f"{where} whose descendant {_joined(seen)} is given"
        return f"{where} of which neither it nor a descendant is given"


def d_separated(graph: Any, x: Any, y: Any, given: Any = (), *, method: str = "reachability") -> bool:
    """Return whether x and y are d-separated by `given`, and so independent given it.

    They are where no path between a node of x and one of y is active: every path has a chain or fork whose
    middle is given, or a collider of which neither it nor a descendant is. Adjacent nodes never are. Every
    distribution that factorises over the graph then has x ⟂ y | given.

    Parameters
    ----------
    graph : DirectedGraph or what `DirectedGraph.of` reads
        The graph.
    x, y : node or set of nodes
        Not overlapping.
    given : node or set of nodes
        Observed nodes, neither in x nor in y.
    method : {"reachability", "paths"}
        "reachability" (Bayes ball; Koller and Friedman 2009, algorithm 3.1) takes time in proportion to the
        edges; "paths" looks at every path, as the definition does, and is for small graphs.

    Examples
    --------
    >>> d_separated("A -> B -> C", "A", "C"), d_separated("A -> B -> C", "A", "C", "B")
    (False, True)
    >>> d_separated("A -> B <- C; B -> D", "A", "C"), d_separated("A -> B <- C; B -> D", "A", "C", {"D"})
    (True, False)
    """
    graph = DirectedGraph.of(graph)
    ends = _checked_sets(graph, x, y, given)
    if method == "reachability":
        return _unreached(graph, *ends)
    if method == "paths":
        return next(_paths(graph, *ends, active_only=True), None) is None
    raise ValueError(f"method must be 'reachability' or 'paths', got {method!r}")


def active_paths(graph: Any, x: Any, y: Any, given: Any = ()) -> Iterator[Path]:
    """Yield the paths between x and y along which dependence passes; there may be very many.

    Parameters
    ----------
    graph, x, y, given
        As in `d_separated`.

    Examples
    --------
    >>> [str(path) for path in active_paths("A -> B -> C; A -> C", "A", "C", given="B")]
    ['A -> C']
    """
    graph = DirectedGraph.of(graph)
    yield from _paths(graph, *_checked_sets(graph, x, y, given), active_only=True)


def triples(graph: Any, path: Sequence[Node], given: Any = ()) -> tuple[Triple, ...]:
    """Return the triples of a path, with their kind and whether they are active.

    Parameters
    ----------
    graph : DirectedGraph or what `DirectedGraph.of` reads
        The graph.
    path : sequence of nodes
        Each adjacent to the next, whichever way the edge leads.
    given : node or set of nodes
        Observed nodes.

    Examples
    --------
    >>> [(t.kind, t.active) for t in triples("A -> B <- C -> D", ["A", "B", "C", "D"], given="B")]
    [('collider', True), ('fork', True)]
    """
    graph = DirectedGraph.of(graph)
    observed = graph.as_nodes(given, "given")
    return _path_of(graph, list(path), observed, _opened(graph, observed)).triples


def explain_separation(graph: Any, x: Any, y: Any, given: Any = ()) -> Separation:
    """Return whether x and y are d-separated, and by which triples: in words by ``print``, drawn by `plot`.

    Parameters
    ----------
    graph, x, y, given
        As in `d_separated`.

    Examples
    --------
    >>> print(explain_separation("rain -> wet <- sprinkler; wet -> slippery", "rain", "sprinkler"))
    rain is independent of sprinkler.
    rain -> wet <- sprinkler: blocked, as wet is a collider of which neither it nor a descendant is given
    """
    graph = DirectedGraph.of(graph)
    ends = _checked_sets(graph, x, y, given)
    found: list[Path] = []
    for only in (True, False):
        for path in _paths(graph, *ends, active_only=only):
            if len(found) == MOST_PATHS:
                break
            if only or not path.active:
                found.append(path)
    a, b, observed = map(frozenset, ends)
    return Separation(
        graph=graph, x=a, y=b, given=observed, separated=_unreached(graph, *ends), paths=tuple(found)
    )


def minimal_separator(graph: Any, x: Any, y: Any) -> set[Node] | None:
    """Return nodes that d-separate x and y, none of which can be left out; None where nothing separates them.

    Nodes next to x in the moral graph of the ancestors of x and y, and of those the ones next to y (van der
    Zander and Liśkiewicz 2020).

    Parameters
    ----------
    graph, x, y
        As in `d_separated`.

    Examples
    --------
    >>> minimal_separator("A -> B -> C; A -> D -> C; C -> E", "A", "C") == {"B", "D"}
    True
    >>> minimal_separator("A -> B", "A", "B") is None
    True
    """
    graph = DirectedGraph.of(graph)
    a, b, _ = _checked_sets(graph, x, y, ())
    moral = graph.subgraph(a | b | graph.ancestors(a | b)).moralize()
    if any(moral.has_edge(i, j) for i in a for j in b):
        return None
    separator = set(moral) - a - b
    for end in (a, b):
        separator = _next_to(moral, end, separator)
    return separator


def _next_to(moral: Any, start: set[Node], blocked: set[Node]) -> set[Node]:
    """Return the nodes of `blocked` that a walk from `start` meets, which does not go through them."""
    met: set[Node] = set()
    seen, waiting = set(start), list(start)
    while waiting:
        for node in moral[waiting.pop()]:
            if node in blocked:
                met.add(node)
            elif node not in seen:
                seen.add(node)
                waiting.append(node)
    return met


def implied_independencies(graph: Any) -> tuple[Independence, ...]:
    """Return an independence for every pair of nodes that are not adjacent, with a minimal separator given.

    All others that the graph implies follow from these (together with those of sets of nodes).

    Parameters
    ----------
    graph : DirectedGraph or what `DirectedGraph.of` reads
        The graph.

    Examples
    --------
    >>> [str(one) for one in implied_independencies("A -> B -> C; B -> D")]
    ['A ⟂ C | B', 'A ⟂ D | B', 'C ⟂ D | B']
    """
    graph = DirectedGraph.of(graph)
    return tuple(
        Independence(
            x=frozenset([a]), y=frozenset([b]), given=frozenset(minimal_separator(graph, {a}, {b}) or ())
        )
        for a, b in combinations(graph.nodes, 2)
        if not (graph.has_edge(a, b) or graph.has_edge(b, a))
    )


def _checked_sets(graph: DirectedGraph, x: Any, y: Any, given: Any) -> tuple[set, set, set]:
    """Return the three sets of nodes, which must not overlap; x and y must not be empty."""
    sets = {name: graph.as_nodes(nodes, name) for name, nodes in (("x", x), ("y", y), ("given", given))}
    for name in ("x", "y"):
        if not sets[name]:
            raise ValueError(f"{name} must name at least one node")
    for a, b in combinations(sets, 2):
        both = sets[a] & sets[b]
        if both:
            raise ValueError(f"{a} and {b} must not overlap, and both have {_joined(both)}")
    return sets["x"], sets["y"], sets["given"]


def _unreached(graph: DirectedGraph, x: set[Node], y: set[Node], given: set[Node]) -> bool:
    """Return whether no active path leads from x to y, by a search over nodes and directions.

    A state is a node with the direction in which it was entered: along an edge (from a parent) or against it
    (from a child). From a child, the search goes on to parents and children unless the node is given; from a
    parent, on to children unless it is given, and back to parents if it or a descendant is.
    """
    n = len(graph.nodes)
    parents, children = graph.edge_positions.T
    ends, others, seen = ([graph.positions[node] for node in nodes] for nodes in (x, y, given))
    observed = np.zeros(n, dtype=bool)
    observed[seen] = True
    opened = _reached(n, children, parents, seen)
    up, down, back = (
        np.flatnonzero(mask) for mask in (~observed[children], ~observed[parents], opened[children])
    )
    # Nodes entered from a child have their own position, those entered from a parent n more.
    below, above = n + children[down], parents[down]
    sources = [children[up], above, n + above, n + children[back]]
    targets = [parents[up], below, below, parents[back]]
    found = _reached(2 * n, np.concatenate(sources), np.concatenate(targets), ends)
    return not (found[:n] | found[n:])[others].any()


def _reached(n: int, sources: np.ndarray, targets: np.ndarray, start: list[int]) -> np.ndarray:
    """Return which of n nodes edges lead to from a start, themselves included, (n,) of bool."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    found = np.zeros(n + 1, dtype=bool)
    if start:
        # One more node, with an edge to each of the start.
        a, b = np.concatenate([sources, np.full(len(start), n)]), np.concatenate([targets, start])
        steps = csr_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(n + 1, n + 1))
        found[breadth_first_order(steps, n, return_predecessors=False)] = True
    return found[:n]


def _opened(graph: DirectedGraph, given: set[Node]) -> set[Node]:
    """Return the colliders through which dependence passes: what is given, and its ancestors."""
    return given | graph.ancestors(given) if given else set()


def _paths(
    graph: DirectedGraph, x: set[Node], y: set[Node], given: set[Node], *, active_only: bool
) -> Iterator[Path]:
    """Yield the paths from x to y that meet neither on the way; all of them, or those that are active."""
    opened = _opened(graph, given)
    for start in sorted(x, key=graph.positions.__getitem__):
        trail: list[Node] = [start]
        waiting = [iter(_neighbors(graph, start))]
        while waiting:
            node = next(waiting[-1], _END)
            if node is _END:
                waiting.pop()
                trail.pop()
            elif node not in trail and node not in x:
                trail.append(node)
                passes = len(trail) < 3 or _triple(graph, trail[-3:], given, opened).active
                if passes or not active_only:
                    if node in y:
                        yield _path_of(graph, trail, given, opened)
                    else:
                        waiting.append(iter(_neighbors(graph, node)))
                        continue
                trail.pop()


def _neighbors(graph: DirectedGraph, node: Node) -> Iterable[Node]:
    return (*graph.children(node), *graph.parents(node))


def _path_of(graph: DirectedGraph, nodes: list[Node], given: set[Node], opened: set[Node]) -> Path:
    for a, b in pairwise(nodes):
        graph.as_nodes([a, b], "path")
        if not (graph.has_edge(a, b) or graph.has_edge(b, a)):
            raise ValueError(f"path must follow edges of the graph, and {a!r} and {b!r} are not adjacent")
    return Path(
        nodes=tuple(nodes),
        forward=tuple(graph.has_edge(a, b) for a, b in pairwise(nodes)),
        triples=tuple(_triple(graph, nodes[i : i + 3], given, opened) for i in range(len(nodes) - 2)),
    )


def _triple(graph: DirectedGraph, nodes: Sequence[Node], given: set[Node], opened: set[Node]) -> Triple:
    left, middle, right = nodes
    into, out = graph.has_edge(left, middle), graph.has_edge(middle, right)
    if into and not out:
        return Triple(left=left, middle=middle, right=right, kind="collider", active=middle in opened)
    kind = "fork" if out and not into else "chain"
    return Triple(left=left, middle=middle, right=right, kind=kind, active=middle not in given)


def _joined(nodes: Iterable[Node]) -> str:
    return ", ".join(sorted(map(str, nodes)))
