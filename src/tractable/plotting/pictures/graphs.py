"""Directed graphs: nodes in layers, arrows, and what separates two of them."""

from typing import Any

import numpy as np

from tractable.density import LatentTreeDensity
from tractable.distributions import LatentTree
from tractable.graph import BayesianNetwork, BayesianNetworkDensity, DirectedGraph, Separation
from tractable.plotting.plot import picture
from tractable.plotting.style import COLOURS, title

#: Nodes of a graph that is drawn, at most.
MOST_NODES = 100


@picture.register
def _graph(x: DirectedGraph, ax: Any) -> Any:
    """Draw the nodes in layers, parents above their children."""
    return _drawn(ax, x, {}, set())


@picture.register
def _network(x: BayesianNetwork, ax: Any) -> Any:
    """Draw the graph of a network; what was observed is filled."""
    return _drawn(ax, x.graph, {name: "0.8" for name, _ in x.evidence}, set())


@picture.register
def _fitted(x: BayesianNetworkDensity, ax: Any, *, data: Any = None) -> Any:  # noqa: ARG001
    """Draw the graph of a fitted network; rows, of `data`, are not drawn."""
    return _network(x.distribution_, ax)


@picture.register
def _latent_tree(x: LatentTree, ax: Any) -> Any:
    """Draw the tree of hidden states, each called by the columns that it has; what is given is filled."""
    names = x.names or tuple(f"x{i}" for i in range(x.dim))
    owned = [[name for name, j in zip(names, x.nodes, strict=True) if j == k] for k in range(len(x.parents))]
    labels = [", ".join(own) or f"state {k}" for k, own in enumerate(owned)]
    edges = [(labels[p], labels[k]) for k, p in enumerate(x.parents) if p >= 0]
    evidence = np.asarray(x.evidence)
    given = [labels[k] for k in range(len(labels)) if np.ptp(evidence[..., k, :])]
    return _drawn(ax, DirectedGraph(nodes=labels, edges=edges), dict.fromkeys(given, "0.8"), set())


@picture.register
def _fitted_tree(x: LatentTreeDensity, ax: Any, *, data: Any = None) -> Any:  # noqa: ARG001
    """Draw the tree of a fitted density; rows, of `data`, are not drawn."""
    return _latent_tree(x.distribution_, ax)


@picture.register
def _separation(x: Separation, ax: Any) -> Any:
    """Draw the graph with the two sets, what is given, and the active paths, or that there is none."""
    filled = dict.fromkeys(x.given, "0.8")
    filled |= dict.fromkeys(x.x, COLOURS[0]) | dict.fromkeys(x.y, COLOURS[1])
    active = {
        edge
        for path in x.paths
        if path.active
        for a, b in zip(path.nodes[:-1], path.nodes[1:], strict=True)
        for edge in ((a, b), (b, a))
    }
    _drawn(ax, x.graph, filled, active)
    title(ax, str(x).partition("\n")[0].rstrip("."))
    return ax


def _drawn(ax: Any, graph: DirectedGraph, filled: dict[Any, Any], active: set[Any]) -> Any:
    if len(graph.nodes) > MOST_NODES:
        raise ValueError(f"x must have {MOST_NODES} nodes at most to be drawn, got {len(graph.nodes)}")
    places = _layout(graph)
    for a, b in graph.edges:
        on = (a, b) in active
        ax.annotate(
            "",
            xy=places[b],
            xytext=places[a],
            arrowprops={
                "arrowstyle": "-|>",
                "color": COLOURS[3] if on else "0.45",
                "linewidth": 2.2 if on else 1.2,
                "shrinkA": 16,
                "shrinkB": 16,
            },
        )
    for node, (across, up) in places.items():
        box = {"boxstyle": "round,pad=0.4", "facecolor": filled.get(node, "white"), "edgecolor": "0.3"}
        ink = "white" if filled.get(node) == COLOURS[0] else "black"
        ax.text(across, up, str(node), ha="center", va="center", color=ink, bbox=box)
    ends = np.array(list(places.values()) or [(0.0, 0.0)])
    ax.scatter(*ends.T, s=1.0, color="0.3")
    low, high = ends.min(axis=0) - 0.7, ends.max(axis=0) + 0.7
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.set(xticks=[], yticks=[], xlabel="arrows lead from parents to children", ylabel="depth")
    ax.spines[:].set_visible(False)
    return ax


def _layout(graph: DirectedGraph) -> dict[Any, tuple[float, float]]:
    """Return a place for each node: below all its parents, near the middle of them."""
    depth: dict[Any, int] = {}
    for node in graph.topological_order:
        depth[node] = 1 + max((depth[parent] for parent in graph.parents(node)), default=-1)
    places: dict[Any, tuple[float, float]] = {}
    for layer in range(1 + max(depth.values(), default=0)):
        members = [node for node in graph.nodes if depth[node] == layer]
        middle = {
            node: float(np.mean([places[parent][0] for parent in graph.parents(node)] or [0.0]))
            for node in members
        }
        members.sort(key=middle.__getitem__)
        for k, node in enumerate(members):
            places[node] = (1.6 * (k - (len(members) - 1) / 2), -1.0 * layer)
    return places
