"""Moments of rows with missing entries, one for each pattern of what was observed."""

from typing import Any, ClassVar

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.grouping import by_pattern
from tractable.arrays.linalg import diagonals
from tractable.arrays.namespace import Array, is_numpy_array, namespace_of, to_numpy
from tractable.primitives.linear import (
    class_moments,
    grouped_centred_rows,
    grouped_moments,
    sums_classes,
    sums_groups,
)
from tractable.statistics.moments import Moments
from tractable.statistics.rows import (
    SMALLEST_SQUARES,
    Statistic,
    as_rows,
    as_weights,
    check_squares,
    keeps_squares,
)
from tractable.value import made, value

#: Columns from which on scatters that are larger than the rows are held by these.
WIDE = 64

#: Rows of a pattern that are few, patterns that are worth a batch, and entries of one, at most.
FEW_ROWS, MANY_PATTERNS, MOST_ENTRIES = 64, 8, 2**20


@value
class IncompleteMoments(Statistic):
    """Everything a Gaussian needs to know about rows in which entries may be missing (NaN).

    The observed-data likelihood depends on the rows only through the moments of the observed columns, pattern
    by pattern. So the statistic of incomplete data is a monoid as well, and a Gaussian with missing values is
    fitted from one pass over the data, streamed or merged, without keeping a row.

    Parameters
    ----------
    dim : int
        Number of columns.
    parts : dict from tuple of int to Moments
        For each pattern, the indices of the observed columns, the moments of those columns.

    Examples
    --------
    >>> s = IncompleteMoments.of([[1.0, 2.0], [3.0, float("nan")], [5.0, 4.0]])
    >>> {observed: float(part.weight) for observed, part in s.parts.items()}
    {(0,): 1.0, (0, 1): 2.0}
    """

    _extensive: ClassVar = ("parts",)

    dim: int
    parts: dict[tuple[int, ...], Moments]

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "IncompleteMoments":
        """Summarise a block of rows."""
        x = as_rows(x)
        w = as_weights(weights, x)
        if w is not None and bool(namespace_of(x).any(w == 0)):
            x, w = x[w > 0], w[w > 0]  # a row that does not count has no pattern either
        everything = tuple(range(x.shape[1]))
        with np.errstate(invalid="ignore", over="ignore"):
            whole = Moments.of(x, w)
        xp = namespace_of(x)
        # A missing entry makes its mean NaN, so complete blocks need no look at the entries.
        if bool(xp.all(xp.isfinite(whole.mean))):
            check_squares(xp.linalg.diagonal(whole.scatter), x, whole.mean, w)
            return cls(dim=len(everything), parts={everything: whole} if x.shape[0] else {})
        with np.errstate(over="ignore"):
            return cls(dim=len(everything), parts=_parts(x, w))

    @staticmethod
    def least_rows(n_columns: int) -> int:
        """Return how many rows make a block worth a merge, which costs as much as n_columns of them."""
        return max(4 * n_columns, Moments.least_rows(n_columns))

    @classmethod
    def of_classes(cls, x: Array, codes: Array, n_classes: int, weights: Array | None) -> Moments | None:
        """Return the moments of the rows of each class as one batch; None of few rows, or as `of_groups`.

        Parameters
        ----------
        x : array (n, d)
            Rows.
        codes : array (n,)
            The class of each row, from 0 to n_classes - 1; every class has a row.
        n_classes : int
            How many classes there are.
        weights : array (n,), optional
            How often each row counts; positive.
        """
        if not sums_classes(x) or _few_rows(x, n_classes):
            return None
        found = class_moments(x, codes, n_classes, weights, SMALLEST_SQUARES)
        return None if found is None else _frozen_moments(*found)

    @classmethod
    def of_groups(cls, x: Array, edges: np.ndarray, weights: Array | None) -> Moments | None:
        """Return the moments of groups of few rows as one batch; None where each needs a look of its own.

        Parameters
        ----------
        x : array (n, d)
            Rows.
        edges : array (K + 1,)
            Group k has the rows from edge k to the next.
        weights : array (n,), optional
            How often each row counts; positive.
        """
        if type(x) is np.ndarray and x.dtype == np.float64 and _few_rows(x, len(edges) - 1):
            total, mean, rows = grouped_centred_rows(x, edges, weights)
            squares = np.add.reduceat(rows * rows, edges[:-1], axis=0)
            kept = keeps_squares(squares, x, mean, edges)
            return Moments.of_centred_rows(total, mean, rows, edges.tolist()) if kept else None
        return _grouped_moments(x, edges, weights) if sums_groups(x) else None

    @classmethod
    def each_of(cls, moments: Moments) -> "tuple[IncompleteMoments, ...]":
        """Return the statistics of complete rows whose moments are a batch."""
        dim = moments.dim
        everything = tuple(range(dim))
        return tuple([made(cls, dim=dim, parts={everything: part}) for part in moments.unstacked()])

    @property
    def complete(self) -> Moments | None:
        """The moments, where every row was observed in full; else None."""
        if not self.parts:
            return Moments.empty(self.dim)
        everything = tuple(range(self.dim))
        return self.parts[everything] if set(self.parts) == {everything} else None

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(sum(float(part.weight) for part in self.parts.values()))

    @property
    def unseen(self) -> float:
        """Weight of the rows in which nothing was observed."""
        return float(self.parts[()].weight) if () in self.parts else 0.0

    def _merged(self, other: "IncompleteMoments") -> "IncompleteMoments":
        """Merge pattern by pattern."""
        parts, shared = dict(self.parts), [observed for observed in other.parts if observed in self.parts]
        parts.update(other.parts)
        for some in _of_one_length(shared):
            first, second = ([each.parts[observed] for observed in some] for each in (self, other))
            parts.update(zip(some, _sums(first, second), strict=True))
        return IncompleteMoments(dim=self.dim, parts=parts)

    def moved(self, step: Array) -> "IncompleteMoments":
        """Return the statistic of the rows plus a step, (d,)."""
        parts = {observed: part.moved(step[list(observed)]) for observed, part in self.parts.items()}
        return IncompleteMoments(dim=self.dim, parts=parts)

    def columns(self) -> tuple[Array, Array, Array]:
        """Return the weight, mean and scatter of the observed entries of each column."""
        weight, mean, scatter = np.zeros(self.dim), np.zeros(self.dim), np.zeros(self.dim)
        for observed, part in self.parts.items():
            o = list(observed)
            both = weight[o] + part.weight
            fraction = part.weight / np.where(both > 0, both, 1.0)
            step = part.mean - mean[o]
            scatter[o] += np.diagonal(part.scatter) + weight[o] * fraction * step**2
            mean[o] += fraction * step
            weight[o] = both
        return weight, mean, scatter


def _few_rows(x: Array, n_groups: int) -> bool:
    """Return whether groups of rows are smaller than the products of their columns."""
    return x.shape[1] > WIDE and 0 < 2 * x.shape[0] <= n_groups * x.shape[1]


def _frozen_moments(weight: np.ndarray, mean: np.ndarray, scatter: np.ndarray) -> Moments:
    """Return moments of arrays that nothing else refers to."""
    for each in (weight, mean, scatter):
        each.setflags(write=False)
    return made(Moments, weight=weight, mean=mean, scatter=scatter)


def _grouped_moments(x: np.ndarray, edges: np.ndarray, weights: np.ndarray | None) -> Moments | None:
    """Return the moments of groups of rows as one batch.

    None where entries are missing, or squares were lost: `of` says what is wrong, if anything.
    """
    found = grouped_moments(x, edges, weights)
    return _frozen_moments(*found) if keeps_squares(diagonals(found[2]), x, found[1], edges) else None


def _of_one_length(patterns: list[tuple[int, ...]]) -> list[list[tuple[int, ...]]]:
    """Return patterns in lists of those that observe as many columns."""
    found: dict[int, list[tuple[int, ...]]] = {}
    for observed in patterns:
        found.setdefault(len(observed), []).append(observed)
    return list(found.values())


def _sums(first: list[Moments], second: list[Moments]) -> list[Moments]:
    """Return the sums of moments of as many columns, pair by pair; those of many pairs at once."""
    many = len(first) >= MANY_PATTERNS and len(first) * first[0].dim ** 2 <= MOST_ENTRIES
    plain = all(type(part.mean) is np.ndarray and part.centred_rows is None for part in first + second)
    if not (many and plain):
        return [a + b for a, b in zip(first, second, strict=True)]
    return (_batch(first) + _batch(second)).unstacked()


def _batch(parts: list[Moments]) -> Moments:
    """Return moments of as many columns as one batch."""
    weight = np.array([part.weight for part in parts], dtype=np.float64)
    mean, scatter = np.stack([part.mean for part in parts]), np.stack([part.scatter for part in parts])
    return _frozen_moments(weight, mean, scatter)


def _parts(x: Array, w: Array | None) -> dict[tuple[int, ...], Moments]:
    xp = namespace_of(x)
    if bool(xp.any(xp.isinf(x))):
        raise ValueError("X contains infinity; remove the rows or mark the entries as missing (NaN)")
    groups = by_pattern(~to_numpy(xp.isnan(x)))
    columns = [tuple(np.flatnonzero(pattern).tolist()) for pattern, _ in groups]
    few = [group for group in groups if len(group[1]) <= FEW_ROWS] if is_numpy_array(x) else []
    found: dict[tuple[int, ...], Moments] = {}
    step = MOST_ENTRIES // max(1, x.shape[1] ** 2)
    if min(step, len(few)) >= MANY_PATTERNS:
        for start in range(0, len(few), step):
            found |= _parts_of_few_rows(x, w, few[start : start + step])
    for observed, (_, members) in zip(columns, groups, strict=True):
        if observed not in found:
            rows, some = beside((members, np.array(observed, dtype=np.int64)), x)
            block = xp.take(xp.take(x, rows, axis=0), some, axis=1)
            own = None if w is None else xp.take(w, rows, axis=0)
            part = Moments.of(block, own)
            check_squares(xp.linalg.diagonal(part.scatter), block, part.mean, own)
            found[observed] = part
    return {observed: found[observed] for observed in columns}


def _parts_of_few_rows(
    x: np.ndarray, w: np.ndarray | None, groups: list[tuple[np.ndarray, np.ndarray]]
) -> dict[tuple[int, ...], Moments]:
    """Return the moments of patterns, from one batch; none where squares need a look of their own."""
    patterns = np.stack([pattern for pattern, _ in groups])
    order = np.concatenate([members for _, members in groups])
    sizes = np.array([len(members) for _, members in groups])
    edges = np.concatenate([[0], np.cumsum(sizes)])
    rows = np.where(patterns.repeat(sizes, axis=0), x[order], 0.0)
    every = _grouped_moments(rows, edges, None if w is None else w[order])
    found: dict[tuple[int, ...], Moments] = {}
    if every is None:
        return found
    observed = patterns.sum(axis=1)
    for m in np.unique(observed):
        k = np.flatnonzero(observed == m)[:, None]
        columns = np.nonzero(patterns[k[:, 0]])[1].reshape(len(k), m)
        scatter = every.scatter[k[:, :, None], columns[:, :, None], columns[:, None, :]]
        batch = _frozen_moments(every.weight[k[:, 0]], every.mean[k, columns], scatter)
        found.update(zip(map(tuple, columns.tolist()), batch.unstacked(), strict=True))
    return found
