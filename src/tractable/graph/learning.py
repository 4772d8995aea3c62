"""Networks learned from a table: the most likely tree of its columns, and tables by relative frequencies."""

from typing import Any

import numpy as np

from tractable.distributions import ProbabilityTable
from tractable.distributions.checks import check_nonnegative, row_weights
from tractable.distributions.table.factor import MOST_CELLS
from tractable.distributions.table.rows import columns_of, levels_of, row_codes
from tractable.engines.chow_liu import mutual_informations, pair_counts, spanning_tree
from tractable.graph.directed import DirectedGraph
from tractable.graph.network import BayesianNetwork


def chow_liu_tree(
    X: Any, sample_weight: Any = None, *, root: str | None = None, pseudocounts: float = 0.0
) -> DirectedGraph:
    """Return the tree of greatest likelihood: the one of greatest sum of mutual informations (1968).

    Parameters
    ----------
    X : frame, mapping of names to columns, or array (n, d)
        Rows of levels; the columns of an array are called x0, x1, ….
    sample_weight : array (n,), optional
        How often each row counts.
    root : str, optional
        The column from which edges lead away, the first when not given; which it is changes no likelihood.
    pseudocounts : float
        Added to every cell of the tables of pairs.

    Examples
    --------
    >>> rows = {"a": [0, 0, 1, 1, 0, 1], "b": [0, 0, 1, 1, 1, 1], "c": [0, 0, 1, 1, 1, 0]}
    >>> print(chow_liu_tree(rows, root="b"))
    b -> a; b -> c
    """
    columns = columns_of(X, None)
    names = list(columns)
    if root is not None and root not in names:
        raise ValueError(f"root must be a column of X, got {root!r}; it has {', '.join(names)}")
    if np.ndim(pseudocounts):
        raise ValueError(f"pseudocounts must be one number, added to every cell, got {pseudocounts!r:.60}")
    check_nonnegative("pseudocounts", np.asarray(pseudocounts, dtype=np.float64))
    axes = [(name, levels_of(column)) for name, column in columns.items()]
    codes = np.stack([np.asarray(row_codes(axis, columns[axis[0]])) for axis in axes], axis=1)
    if not len(codes):
        raise ValueError("X must have at least one row")
    weights = np.asarray(row_weights(sample_weight, np.empty(len(codes))))
    sizes = [len(levels) for _, levels in axes]
    counts = pair_counts(codes, weights, sizes, MOST_CELLS)
    information = mutual_informations(counts + pseudocounts, sizes)
    parent = spanning_tree(information, 0 if root is None else names.index(root))
    return DirectedGraph(
        nodes=names, edges=[(names[i], name) for i, name in zip(parent, names, strict=True) if i >= 0]
    )


def fit_network(
    graph: Any, X: Any, sample_weight: Any = None, *, pseudocounts: float = 0.0, levels: Any = None
) -> BayesianNetwork:
    """Return the network over a graph whose tables are the (smoothed) relative frequencies of rows.

    It is the maximum likelihood estimate without pseudo-counts, and the posterior mean under a Dirichlet
    prior with them. Combinations of levels of the parents that no row has get a uniform table. Rows with
    missing entries are fitted by `BayesianNetworkDensity`.

    Parameters
    ----------
    graph : DirectedGraph or what `DirectedGraph.of` reads
        Its nodes are columns of X.
    X : frame, mapping of names to columns, or array (n, d)
        Rows of levels; the columns of an array are called x0, x1, ….
    sample_weight : array (n,), optional
        How often each row counts.
    pseudocounts : float
        Added to every cell of each table.
    levels : mapping of names to levels, optional
        Those of X where not given.

    Examples
    --------
    >>> rows = {"sky": ["clear", "rain", "rain", "clear"], "road": ["dry", "wet", "wet", "dry"]}
    >>> network = fit_network("sky -> road", rows, pseudocounts=1.0)
    >>> network.condition({"sky": "rain"}).marginal("road").probabilities
    array([0.25, 0.75])
    """
    graph = DirectedGraph.of(graph)
    columns = columns_of(X, None)
    lacking = [node for node in graph.nodes if node not in columns]
    if lacking:
        raise ValueError(
            f"X must have a column {lacking[0]!r}, a node of the graph; it has {', '.join(columns)}"
        )
    known = dict(levels or {})
    axes = {node: known[node] if node in known else levels_of(columns[node]) for node in graph.nodes}
    tables = []
    for node in graph.nodes:
        family = [*graph.parents(node), node]
        joint = ProbabilityTable.fit(
            {name: columns[name] for name in family},
            sample_weight,
            axes={name: axes[name] for name in family},
            pseudocounts=pseudocounts,
        )
        mass = np.asarray(joint.probabilities)
        total = mass.sum(axis=-1, keepdims=True)
        p = np.where(total > 0.0, mass / np.where(total > 0.0, total, 1.0), 1.0 / mass.shape[-1])
        given = {name: axes[name] for name in family[:-1]}
        tables.append(ProbabilityTable(probabilities=p, axes={node: axes[node]}, given=given))
    return BayesianNetwork(tables=tables)
