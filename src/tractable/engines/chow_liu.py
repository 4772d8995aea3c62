"""The tree over columns of greatest likelihood (Chow and Liu 1968), by their mutual informations."""

from collections.abc import Sequence

import numpy as np

#: Cells of a table of two columns that are counted as they are; of more, the occupied ones are found first.
MOST_COUNTED = 2**18


def pair_counts(codes: np.ndarray, weights: np.ndarray, sizes: Sequence[int], most: int) -> np.ndarray:
    """Return how often levels of any two columns occur together, (Σ sizes, Σ sizes).

    Parameters
    ----------
    codes : array (n, d) of int
        Rows, -1 where an entry is missing, which counts in no pair.
    weights : array (n,)
        How often each counts.
    sizes : sequence of int
        Number of levels of each column.
    most : int
        Most cells of the result.
    """
    from scipy.sparse import csr_array

    total = sum(sizes)
    if total * total > most:
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


def corrected_information(x: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Return the mutual information of two columns of codes less its bias, (cells - rows - columns + 1) / 2n.

    Columns of many levels look dependent by chance; the correction (Miller 1955) counts the occupied cells of
    their table, its rows and its columns.

    Parameters
    ----------
    x, y : arrays (n,) of int
        Codes, -1 where an entry is missing.
    weights : array (n,), optional
        How often each row counts.

    Examples
    --------
    >>> x, y = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> round(corrected_information(x, x), 3), corrected_information(x, y)
    (0.818, 0.0)
    """
    both = (x >= 0) & (y >= 0)
    x, y, w = x[both], y[both], None if weights is None else weights[both]
    n = float(len(x) if w is None else w.sum())
    if not n > 0:
        return 0.0
    where = x.astype(np.int64) * (int(y.max()) + 1) + y
    if where.max() > MOST_COUNTED:
        where = np.unique(where, return_inverse=True)[1]
    total, entropy = 0, []
    for codes, sign in ((x, 1), (y, 1), (where, -1)):
        p = np.bincount(codes, w) / n
        p = p[p > 0]
        total -= sign * len(p)
        entropy.append(-sign * float(p @ np.log(p)))
    return max(sum(entropy) - (total + 1) / (2.0 * n), 0.0)
