"""A random sample of rows by their hashes: neither their order nor their place matters."""

from typing import Any

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.namespace import is_foreign_array, is_sparse, namespace_of, to_numpy
from tractable.arrays.random import row_hashes
from tractable.data.arrays import ArraySource
from tractable.data.blocks import stacked
from tractable.data.source import Batch, Source
from tractable.value import replace, value

#: Groups of rows by their hashes, whose weights tell whether a row counts for many.
GROUPS = 2**14

#: A group is likely to hold such a row if it has this part of the weight of all rows, and a single row of its
#: weight would be drawn so many times if rows were drawn one by one.
HEAVY, DRAWN_AS_OFTEN = 1 / 256, 8

#: How many times as many rows as are asked for pass the first look at rows in memory.
SPARE = 2.0


@value
class DrawnRows:
    """Distinct rows that were drawn by their hashes, in this order, with the weights of all their copies.

    They add: the n rows of the smallest keys stay. A row that is among them has been since its first copy was
    met, so that none of its copies is missed.

    Parameters
    ----------
    rows : array (m, d)
        Distinct rows, at most n, as float64; sparse if the rows of the source are.
    weights : array (m,)
        How often each row counts, with all its copies.
    hashes : array (m,)
        The hashes of the rows, increasing.
    keys : array (m,)
        The keys by which the rows were drawn.
    n : int
        The most rows.
    groups : array (GROUPS,)
        The weights of all rows of the source by groups of hashes.
    n_counted : int
        How many rows of the source have a weight.
    """

    rows: Any
    weights: np.ndarray
    hashes: np.ndarray
    keys: np.ndarray
    n: int
    groups: np.ndarray
    n_counted: int

    @property
    def most_rows(self) -> int:
        """How many rows a cluster may bring to one machine; the weights of groups take as much as some."""
        return self.n + GROUPS

    def __add__(self, other: "DrawnRows") -> "DrawnRows":
        weights = np.concatenate([self.weights, other.weights])
        hashes = np.concatenate([self.hashes, other.hashes])
        keys = np.concatenate([self.keys, other.keys])
        chosen, weights = _distinct(hashes, keys, weights, self.n)
        return DrawnRows(
            rows=stacked([self.rows, other.rows])[chosen],
            weights=weights,
            hashes=hashes[chosen],
            keys=keys[chosen],
            n=self.n,
            groups=self.groups + other.groups,
            n_counted=self.n_counted + other.n_counted,
        )


@value
class DrawRows:
    """The rows of a block that have the smallest keys, see `sample_rows`.

    A key is a uniform number u from the hash of the row; with the weights W of groups, -log(1 - u) / W: a row
    of a heavy group is then sure to be drawn.
    """

    n: int
    seed: int
    bound: float = np.inf  # rows with larger keys are left out
    groups: np.ndarray | None = None

    def __call__(self, batch: Batch) -> DrawnRows:
        given = batch.weights
        weights = np.ones(batch.n_rows) if given is None else to_numpy(given).astype(np.float64)
        hashes = row_hashes(batch.X, self.seed)
        group = (hashes >> np.uint64(50)).astype(np.int64)
        uniforms = (hashes >> np.uint64(11)) * 2.0**-53
        keys = uniforms
        if self.groups is not None:
            with np.errstate(divide="ignore", invalid="ignore"):  # of groups without a weight
                keys = -np.log1p(-uniforms) / self.groups[group]
        some = np.flatnonzero((keys <= self.bound) & (weights > 0))
        chosen, summed = _distinct(hashes[some], keys[some], weights[some], self.n)
        chosen = some[chosen]
        return DrawnRows(
            rows=_taken(batch.X, chosen),
            weights=summed,
            hashes=hashes[chosen],
            keys=keys[chosen],
            n=self.n,
            groups=np.bincount(group, weights, GROUPS),
            n_counted=int(np.count_nonzero(weights)),
        )


def draw_rows(source: Source, n: int, rng: np.random.Generator) -> DrawnRows:
    """Return at most n distinct rows of a source; see `sample_rows`.

    Parameters
    ----------
    source : Source
        The rows.
    n : int
        The most rows.
    rng : Generator
        Where the seed of the hashes comes from.

    Examples
    --------
    >>> from tractable.data import as_source
    >>> drawn = draw_rows(as_source(np.array([[1.0], [2.0], [1.0]])), 5, np.random.default_rng(0))
    >>> drawn.rows.tolist(), drawn.weights.tolist()
    ([[1.0], [2.0]], [2.0, 1.0])
    """
    seed = int(rng.integers(2**63))  # wherever the rows are, so that later draws are the same
    if isinstance(source, ArraySource) and source.n_rows <= n:
        drawn = _all_rows(source)
    else:
        drawn = _drawn(source.beside_model(None), n, seed)
    order, codes = lexicographic_order(drawn.rows)
    return _merged(drawn, order, codes[order])


def _drawn(source: Source, n: int, seed: int) -> DrawnRows:
    n_rows = source.n_rows or 0
    if source.in_memory and n_rows > 2 * SPARE * n:
        found = source.reduce(DrawRows(n=n, seed=seed, bound=SPARE * n / n_rows))
        if len(found.keys) < n:  # many rows are equal
            found = source.reduce(DrawRows(n=n, seed=seed))
    else:
        found = source.reduce(DrawRows(n=n, seed=seed))
    if not found.n_counted:
        raise ValueError("data has no rows that count")
    heavy_part = max(HEAVY, DRAWN_AS_OFTEN / n)
    if len(found.keys) < n or np.max(found.groups) <= heavy_part * np.sum(found.groups):
        return found
    heavy = source.reduce(DrawRows(n=n, seed=seed, groups=found.groups))
    drawn_with = -np.expm1(
        -np.max(heavy.keys) * heavy.groups[(heavy.hashes >> np.uint64(50)).astype(np.int64)]
    )
    return replace(heavy, weights=heavy.weights / drawn_with)


def lexicographic_order(rows: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of rows by the first column, of equal entries by the next, and so on.

    Shifts and positive units of columns leave it as it is. The second result is the rank of every row in this
    order, which equal rows share.

    Examples
    --------
    >>> order, ranks = lexicographic_order(np.array([[2.0, 1.0], [1.0, 5.0], [2.0, 0.0], [1.0, 5.0]]))
    >>> order.tolist(), ranks.tolist()
    ([1, 3, 2, 0], [2, 0, 1, 0])
    """
    n, columns = rows.shape[0], rows.tocsc() if is_sparse(rows) else rows
    order, ranks = np.arange(n), np.zeros(n, dtype=np.int64)  # rows of a rank are equal so far
    for j in range(rows.shape[1] if n > 1 else 0):
        column = columns[:, [j]].toarray()[:, 0] if is_sparse(rows) else columns[:, j]
        order = np.lexsort((column, ranks)) if j else np.argsort(column, kind="stable")
        entries, before = column[order], ranks[order]
        equal = (entries[1:] == entries[:-1]) | (np.isnan(entries[1:]) & np.isnan(entries[:-1]))
        ranks[order[1:]] = np.cumsum(~(equal & (before[1:] == before[:-1])))
        ranks[order[0]] = 0
        if ranks[order[-1]] == n - 1:
            break
    return order, ranks


def _all_rows(source: ArraySource) -> DrawnRows:
    """Return the rows in memory that count; hashes are not needed to choose them."""
    batch = source.collect()
    some = slice(None) if batch.weights is None else batch.weights > 0
    rows, weights = np.asarray(batch.X[some], dtype=np.float64), batch.row_weights[some]
    if not len(rows):
        raise ValueError("data has no rows that count")
    none = np.empty(0)
    common: dict[str, Any] = {"hashes": none, "keys": none, "groups": none}
    return DrawnRows(rows=rows, weights=weights, n=len(rows), n_counted=len(rows), **common)


def _merged(drawn: DrawnRows, order: np.ndarray, ranks: np.ndarray) -> DrawnRows:
    """Return rows in their order, with the weights of equal ones added."""
    weights = drawn.weights[order]
    if ranks[-1] < len(ranks) - 1:
        order = order[np.concatenate([[0], np.flatnonzero(np.diff(ranks)) + 1])]
        weights = np.bincount(ranks, weights)
    return replace(drawn, rows=drawn.rows[order], weights=weights)


def _distinct(
    hashes: np.ndarray, keys: np.ndarray, weights: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return where the n distinct rows of the smallest keys are, by hashes, and their weights."""
    _, first, copies = np.unique(hashes, return_index=True, return_inverse=True)
    weights = np.bincount(copies, weights, len(first))
    if len(first) > n:
        kept = np.sort(np.argpartition(keys[first], n)[:n])
        first, weights = first[kept], weights[kept]
    return first, weights


def _taken(X: Any, chosen: np.ndarray) -> Any:
    """Return some rows on the host, in double precision."""
    if is_sparse(X):
        return X[chosen].astype(np.float64)
    if is_foreign_array(X):
        return to_numpy(namespace_of(X).take(X, beside(chosen, X), axis=0)).astype(np.float64)
    return np.asarray(X[chosen], dtype=np.float64)
