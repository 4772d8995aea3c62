"""Rows by place: those that coincide are left out together."""

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from tractable.base import Rows
from tractable.base.stored_rows import total_weight
from tractable.spatial.counted import Counted, nearest_counted
from tractable.spatial.index import Index
from tractable.value import value

__all__ = [
    "NeighborCurve",
    "RowPlaces",
    "Trial",
    "judged",
    "most_neighbors",
    "one_more",
    "places_of",
    "usually_found",
]


@value
class RowPlaces:
    """At which of the distinct places each row is; places with few rows come first."""

    number: np.ndarray  # (n,), the place of each row
    order: np.ndarray  # (n,), rows by place
    ends: np.ndarray  # (n_places + 1,), where the rows of each place begin in that order
    heaviest: float  # the weight of the place that has the most

    def __len__(self) -> int:
        return len(self.ends) - 1

    @property
    def first(self) -> np.ndarray:
        """The first row at each place, (n_places,)."""
        return self.order[self.ends[:-1]]

    @property
    def sizes(self) -> np.ndarray:
        """How many rows each place has, (n_places,)."""
        return np.diff(self.ends)


def places_of(rows: Rows) -> RowPlaces:
    """Group rows that coincide.

    Examples
    --------
    >>> found = places_of(Rows(data=np.array([[3.0], [1.0], [-0.0], [3.0], [0.0], [3.0]])))
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
    return RowPlaces(
        number=number,
        order=np.argsort(number, kind="stable"),
        ends=np.concatenate([[0], np.cumsum(np.bincount(number))]),
        heaviest=float(weights.max()),
    )


#: Places judged at a time, at most, and the neighbours of all of them.
BLOCK, ENTRIES = 4096, 2**22

#: Rows by which an index is tried.
PROBES = 256

#: What is left of a count when no more than rounding is left of it.
ROUNDING = 1e-9


@value
class NeighborCurve:
    """How well each number of neighbours predicts rows that were left out; the larger, the better.

    Parameters
    ----------
    n_neighbors : array (k,)
    scores : array (k,)
        The mean over rows of what each is worth when it is left out: accuracy, or R².
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
    """How answers are judged: `answers(neighbours)` gives those of 1, 2, … neighbours, one after another.

    `worth(answers, rows)` says what answers are worth for rows of these numbers, the more the better.
    """

    answers: Callable[[Counted], Iterator[np.ndarray]]
    worth: Callable[[np.ndarray, np.ndarray], np.ndarray]
    score: str


def most_neighbors(limit: int | None, rows: Rows, places: RowPlaces) -> int:
    """Return the largest number to try: the limit, or twice the square root of the number of rows."""
    total = total_weight(rows)
    left = total - places.heaviest
    counted = f"n_samples = {len(rows.data)}, total weight = {total:g}"
    if left < 1.0:
        raise ValueError(
            'n_neighbors="loo" needs rows of X, of weight one at least, beside those at any one place: '
            f"{counted}, of which {places.heaviest:g} at one place"
        )
    if limit is None:
        return int(max(1, min(left, np.ceil(2.0 * np.sqrt(total)))))
    if limit > left * (1.0 + 1e-12):
        raise ValueError(
            f"max_neighbors must be at most {left:g}, what is left of the rows of X ({counted}) when those "
            f"at one place are left out; got max_neighbors = {limit}"
        )
    return int(limit)


def usually_found(index: Index, rows: Rows, k: int, places: RowPlaces | None = None) -> int:
    """Return how many neighbours, up to k, an index finds of nine rows in ten, by some of them; one at least.

    With `places`, rows leave out their own.
    """
    if index.exact:
        return k
    n = len(rows.data)
    some = np.unique(np.linspace(0, n - 1, PROBES).astype(np.int64))
    number = None if places is None else places.number
    own = None if number is None else number[some]
    near = nearest_counted(index, rows.data[some], k, rows.weights, own, places=number, complete=False)
    few = np.quantile(near.total, 0.1, method="lower")
    return max(1, min(k, int(few + ROUNDING)))


def judged(index: Index, rows: Rows, most: int, trial: Trial, places: RowPlaces) -> NeighborCurve:
    """Judge 1, …, `most` neighbours of every row by one search, the row left out.

    Rows that coincide with it are left out too, all their weight: a copy of a row would answer for it. So a
    row of weight two is judged as two equal rows are.
    """
    weights = np.ones(len(rows.data)) if rows.weights is None else rows.weights
    sums, squares, first = np.zeros(most), np.zeros(most), places.first
    for start, stop in _blocks(places.sizes, most):
        here, at = np.arange(start, stop), rows.data[first[start:stop]]
        near = nearest_counted(index, at, most, rows.weights, here, places=places.number)
        own = places.order[places.ends[start] : places.ends[stop]]
        for k, answers in enumerate(islice(trial.answers(near), most)):
            worth = trial.worth(answers[places.number[own] - start], own)
            sums[k] += weights[own] @ worth
            squares[k] += weights[own] @ worth**2
    total = weights.sum()
    mean = sums / total
    if not np.all(np.isfinite(mean)):
        raise ValueError(
            "weights must let a neighbour of every row speak, so that it can be judged: the score of "
            f"n_neighbors = {1 + int(np.argmin(np.isfinite(mean)))} is not finite"
        )
    variance = np.maximum(squares / total - mean**2, 0.0)
    return NeighborCurve(
        n_neighbors=np.arange(1, most + 1),
        scores=mean,
        standard_errors=np.sqrt(variance / total),
        score=trial.score,
    )


def _blocks(sizes: np.ndarray, most: int) -> Iterator[tuple[int, int]]:
    """Yield runs of places whose neighbours fit into memory; sizes grow."""
    start = 0
    while start < len(sizes):
        widest = most + int(sizes[min(start + BLOCK, len(sizes)) - 1])
        stop = min(start + BLOCK, start + max(1, ENTRIES // widest), len(sizes))
        yield start, stop
        start = stop


def one_more(counts: np.ndarray) -> Iterator[list[tuple[np.ndarray, np.ndarray, np.ndarray]]]:
    """Walk along neighbours by steps of one count: each step is a list of (rows, places, amounts).

    Examples
    --------
    >>> [[amount.tolist() for _, _, amount in step] for step in one_more(np.array([[1.0, 0.5, 0.5]]))]
    [[[1.0]], [[0.5], [0.5]]]
    """
    m, k = counts.shape
    place, left = np.zeros(m, dtype=np.int64), counts[:, 0].copy()
    while np.any(place < k):
        need, open_, step = np.ones(m), np.flatnonzero(place < k), []
        while len(open_):
            amount = np.minimum(need[open_], left[open_])
            step.append((open_, place[open_], amount))
            need[open_] -= amount
            left[open_] -= amount
            spent = open_[left[open_] <= ROUNDING]
            place[spent] += 1
            on = spent[place[spent] < k]
            left[on] = counts[on, place[on]]
            open_ = open_[(need[open_] > ROUNDING) & (place[open_] < k)]
        yield step
