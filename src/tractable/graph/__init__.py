"""Directed graphs of variables: conditional independence, d-separation and Bayesian networks."""

from tractable.graph.directed import DirectedGraph
from tractable.graph.elimination import EliminationOrder
from tractable.graph.estimator import BayesianNetworkDensity
from tractable.graph.learning import chow_liu_tree, fit_network
from tractable.graph.linear_gaussian import LinearGaussianNetwork
from tractable.graph.network import BayesianNetwork
from tractable.graph.separation import (
    Independence,
    Path,
    Separation,
    Triple,
    active_paths,
    d_separated,
    explain_separation,
    implied_independencies,
    minimal_separator,
    triples,
)

__all__ = [
    "BayesianNetwork",
    "BayesianNetworkDensity",
    "DirectedGraph",
    "EliminationOrder",
    "Independence",
    "LinearGaussianNetwork",
    "Path",
    "Separation",
    "Triple",
    "active_paths",
    "chow_liu_tree",
    "d_separated",
    "explain_separation",
    "fit_network",
    "implied_independencies",
    "minimal_separator",
    "triples",
]
