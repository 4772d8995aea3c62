"""The number of neighbours by leave-one-out: every number is scored by one search."""

from collections.abc import Callable, Iterator

import numpy as np

from tractable.base import Rows
from tractable.base.stored_rows import total_weight
from tractable.spatial.counted import Counted, nearest_counted
from tractable.spatial.index import Index
from tractable.value import value


@value
class CoincidentRows:
    """The groups of equal rows; groups with few rows come first."""

    number: np.ndarray  # (n,), the group of each row
    order: np.ndarray  # (n,), rows by group
    ends: np.ndarray  # (n_groups + 1,), where the rows of each group begin in that order
    heaviest: float  # the weight of the heaviest group

    def __len__(self) -> int:
        return len(self.ends) - 1

    @property
    def first(self) -> np.ndarray:
        """The first row of each group, (n_groups,)."""
        return self.order[self.ends[:-1]]

    @property
    def sizes(self) -> np.ndarray:
        """How many rows each group has, (n_groups,)."""
        return np.diff(self.ends)


def group_coincident(rows: Rows) -> CoincidentRows:
    """Group rows that coincide.

    Examples
    --------
    >>> found = group_coincident(Rows(data=np.array([[3.0], [1.0], [-0.0], [3.0], [0.0], [3.0]])))
    >>> found.number.tolist(), found.first.tolist(), found.heaviest
    ([2, 0, 1, 2, 1, 2], [1, 2, 0], 3.0)
    """
    x = np.ascontiguousarray(rows.data + 0.0)  # no zero is negative
    keys = x.view(f"V{x.itemsize * x.shape[1]}").ravel()
    _, first, which, sizes = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.lexsort((first, sizes))] = np.arange(len(first))
    number = rank[which.ravel()]
    weights = np.bincount(number, rows.weights)
    return CoincidentRows(
        number=number,
        order=np.argsort(number, kind="stable"),
        ends=np.concatenate([[0], np.cumsum(np.bincount(number))]),
        heaviest=float(weights.max()),
    )


#: Groups scored at a time, at most, and the neighbours of all of them.
BLOCK, ENTRIES = 4096, 2**22

#: Rows by which an index is tested.
PROBES = 256

#: How many numbers of neighbours are scored, at most: all of them, or so many, evenly in the logarithm.
MOST_SCORED = 2048

#: The largest number of neighbours that is tried: doubles count to it exactly.
LARGEST_COUNT = 2**53

#: What is left of a count when no more than rounding is left of it.
ROUNDING = 1e-9


@value
class NeighborCurve:
    """How well each number of neighbours predicts rows that were left out; the larger, the better.

    Parameters
    ----------
    n_neighbors : array (k,)
        The numbers of neighbours that were tried.
    scores : array (k,)
        The mean over rows of the score of each when it is left out: accuracy, or R².
    standard_errors : array (k,)
        Of the scores.
    score : str
        What the scores are.

    Examples
    --------
    >>> curve = NeighborCurve(
    ...     n_neighbors=np.array([1, 2, 3]),
    ...     scores=np.array([0.7, 0.9, 0.8]),
    ...     standard_errors=np.full(3, 0.1),
    ...     score="accuracy",
    ... )
    >>> curve.best_n_neighbors, curve.best_score
    (2, 0.9)
    """

    n_neighbors: np.ndarray
    scores: np.ndarray
    standard_errors: np.ndarray
    score: str

    @property
    def best(self) -> int:
        """Index of the largest score; of equal ones the first."""
        return int(np.argmax(self.scores))

    @property
    def best_n_neighbors(self) -> int:
        """The number of neighbours with the largest score."""
        return int(self.n_neighbors[self.best])

    @property
    def best_score(self) -> float:
        """Its score."""
        return float(self.scores[self.best])


@value
class Trial:
    """How a model is cross-validated.

    `predictions(neighbours, numbers)` yields the predictions from each of these numbers of neighbours, one
    after another, and `score_of(predictions, rows)` returns the score of each for rows of these numbers,
    larger for better.
    """

    predictions: Callable[[Counted, np.ndarray], Iterator[np.ndarray]]
    score_of: Callable[[np.ndarray, np.ndarray], np.ndarray]
    score: str


def most_neighbors(limit: int | None, rows: Rows, groups: CoincidentRows) -> int:
    """Return the largest number to try: the limit, or twice the square root of the number of rows."""
    total = total_weight(rows)
    left = total - groups.heaviest
    counted = f"n_samples = {len(rows.data)}, total weight = {total:g}"
    if left < 1.0:
        raise ValueError(
            'n_neighbors="loo" needs rows of X, of weight one at least, beside those at any one point: '
            f"{counted}, of which {groups.heaviest:g} at one point"
        )
    if limit is None:
        return int(max(1, min(left, np.ceil(2.0 * np.sqrt(total)), LARGEST_COUNT)))
    if limit > left * (1.0 + 1e-12):
        raise ValueError(
            f"max_neighbors must be at most {left:g}, what is left of the rows of X ({counted}) when those "
            f"at one point are left out; got max_neighbors = {limit}"
        )
    return int(limit)


def usual_count(index: Index, rows: Rows, k: int, groups: CoincidentRows | None = None) -> int:
    """Return how many neighbours, up to k, an index finds for nine rows in ten, from a sample; one at least.

    With `groups`, rows leave out their own.
    """
    if index.exact:
        return k
    n = len(rows.data)
    some = np.unique(np.linspace(0, n - 1, PROBES).astype(np.int64))
    number = None if groups is None else groups.number
    own = None if number is None else number[some]
    near = nearest_counted(index, rows.data[some], k, rows.weights, own, groups=number, complete=False)
    few = np.quantile(near.total, 0.1, method="lower")
    return max(1, min(k, int(few + ROUNDING)))


def loo_curve(index: Index, rows: Rows, most: int, trial: Trial, groups: CoincidentRows) -> NeighborCurve:
    """Return the leave-one-out score of 1, …, `most` neighbours, by one search for every row.

    Of more than `MOST_SCORED` numbers so many are scored, evenly in the logarithm: weights are counts, so
    that few rows may have a billion neighbours.

    Rows that coincide with it are left out too, all their weight: a copy of a row would predict it. So a
    row of weight two scores as two equal rows do.
    """
    weights = rows.row_weights
    numbers, first = numbers_to_score(most), groups.first
    sums, squares = np.zeros(len(numbers)), np.zeros(len(numbers))
    for start, stop in _blocks(groups.sizes, most_rows(weights, most)):
        here, at = np.arange(start, stop), rows.data[first[start:stop]]
        near = nearest_counted(index, at, most, rows.weights, here, groups=groups.number)
        own = groups.order[groups.ends[start] : groups.ends[stop]]
        for k, predictions in enumerate(trial.predictions(near, numbers)):
            scores = trial.score_of(predictions[groups.number[own] - start], own)
            sums[k] += weights[own] @ scores
            squares[k] += weights[own] @ scores**2
    total = weights.sum()
    mean = sums / total
    if not np.all(np.isfinite(mean)):
        raise ValueError(
            "weights must be positive for a neighbour of every row, so that it can be scored: the score of "
            f"n_neighbors = {numbers[np.argmin(np.isfinite(mean))]} is not finite"
        )
    variance = np.maximum(squares / total - mean**2, 0.0)
    return NeighborCurve(
        n_neighbors=numbers,
        scores=mean,
        standard_errors=np.sqrt(variance / total),
        score=trial.score,
    )


def numbers_to_score(most: int) -> np.ndarray:
    """Return the numbers of neighbours to score: 1, …, most, or `MOST_SCORED` of them at most.

    Examples
    --------
    >>> numbers_to_score(4), numbers_to_score(10**12)[[0, -1]].tolist()
    (array([1, 2, 3, 4]), [1, 1000000000000])
    """
    if most <= MOST_SCORED:
        return np.arange(1, most + 1)
    spaced = np.geomspace(1.0, float(most), MOST_SCORED).astype(np.int64)
    spaced[-1] = most
    return np.unique(spaced)


def most_rows(weights: np.ndarray, count: int) -> int:
    """Return how many rows a number of neighbours can be at most: those of the least weights.

    Examples
    --------
    >>> most_rows(np.array([1e9, 2.0, 1.0, 1e9]), 4)
    3
    """
    reached = np.cumsum(np.sort(weights[weights > 0.0]))
    return min(len(reached), 1 + int(np.searchsorted(reached, count)))


def _blocks(sizes: np.ndarray, most: int) -> Iterator[tuple[int, int]]:
    """Yield runs of groups whose neighbours fit into memory; sizes increase."""
    start = 0
    while start < len(sizes):
        widest = most + int(sizes[min(start + BLOCK, len(sizes)) - 1])
        stop = min(start + BLOCK, start + max(1, ENTRIES // widest), len(sizes))
        yield start, stop
        start = stop


def steps_to(
    counts: np.ndarray, numbers: np.ndarray
) -> Iterator[list[tuple[np.ndarray, np.ndarray, np.ndarray]]]:
    """Walk along neighbours from each number to the next: each step is a list of (rows, columns, amounts).

    Examples
    --------
    >>> [[amount.tolist() for _, _, amount in step] for step in steps_to(np.array([[1.0, 0.5, 0.5]]), [1, 2])]
    [[[1.0]], [[0.5], [0.5]]]
    """
    m, k = counts.shape
    column, left = np.zeros(m, dtype=np.int64), counts[:, 0].copy()
    for size in np.diff(numbers, prepend=0):
        need, open_, step = np.full(m, float(size)), np.flatnonzero(column < k), []
        if not len(open_):
            return
        while len(open_):
            amount = np.minimum(need[open_], left[open_])
            step.append((open_, column[open_], amount))
            need[open_] -= amount
            left[open_] -= amount
            spent = open_[left[open_] <= ROUNDING]
            column[spent] += 1
            on = spent[column[spent] < k]
            left[on] = counts[on, column[on]]
            open_ = open_[(need[open_] > ROUNDING) & (column[open_] < k)]
        yield step
