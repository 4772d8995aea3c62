"""Networks learned from a table: the most likely tree of its columns, and tables by relative frequencies."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.distributions import ProbabilityTable
from tractable.distributions.checks import check_nonnegative, row_weights
from tractable.distributions.table.factor import MOST_CELLS
from tractable.distributions.table.rows import columns_of, levels_of, row_codes
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
    information = mutual_informations(pair_counts(codes, weights, sizes) + pseudocounts, sizes)
    parent = spanning_tree(information, 0 if root is None else names.index(root))
    return DirectedGraph(
        nodes=names, edges=[(names[i], name) for i, name in zip(parent, names, strict=True) if i >= 0]
    )


def pair_counts(codes: np.ndarray, weights: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Return how often levels of any two columns occur together, (Σ sizes, Σ sizes).

    Parameters
    ----------
    codes : array (n, d) of int
        Rows, -1 where an entry is missing, which counts in no pair.
    weights : array (n,)
        How often each counts.
    sizes : sequence of int
        Number of levels of each column.
    """
    from scipy.sparse import csr_array

    total = sum(sizes)
    if total * total > MOST_CELLS:
        raise ValueError(f"X must have fewer levels for a tree: its columns have {total} together")
    seen = codes >= 0
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    ends = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
    where = (codes + starts)[seen]
    ones = csr_array((np.ones(len(where)), where, ends), shape=(len(codes), total))
    weighted = csr_array((np.repeat(weights, seen.sum(axis=1)), where, ends), shape=ones.shape)
    return (ones.T @ weighted).toarray()


def mutual_informations(counts: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Return Σ p(a, b) log p(a, b) / p(a) p(b) of every two columns, from `pair_counts`, (d, d).

    Each is of the rows in which both were observed; 0 where there is none.
    """
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)

    def summed(x: np.ndarray) -> np.ndarray:
        return np.add.reduceat(np.add.reduceat(x, starts, axis=0), starts, axis=1)

    def spread(x: np.ndarray) -> np.ndarray:
        return np.repeat(np.repeat(x, sizes, axis=0), sizes, axis=1)

    total = spread(summed(counts))
    rows = np.repeat(np.add.reduceat(counts, starts, axis=1), sizes, axis=1)  # of a, where b was observed
    columns = np.repeat(np.add.reduceat(counts, starts, axis=0), sizes, axis=0)
    some = counts > 0.0
    ratio = np.where(some, counts, 1.0) * np.where(some, total, 1.0)
    ratio /= np.where(some, rows, 1.0) * np.where(some, columns, 1.0)
    share = np.where(some, counts / np.where(some, total, 1.0), 0.0)
    return np.maximum(summed(share * np.log(ratio)), 0.0)


def spanning_tree(information: np.ndarray, root: int) -> list[int]:
    """Return the parent of each column, -1 of the root, in the tree of greatest sum over its edges."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    tree = minimum_spanning_tree(csr_array(np.triu(-1.0 - information, 1)))  # zero would be no edge at all
    parent = breadth_first_order(tree, root, directed=False)[1]
    return [int(i) if i >= 0 else -1 for i in parent]


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
