"""How many neighbours: every number judged by leave-one-out, in one search."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tractable.base import Rows, check_number
from tractable.base.stored_rows import check_enough, total_weight
from tractable.spatial.counted import Counted, nearest_counted
from tractable.spatial.index import Index
from tractable.value import value

__all__ = ["NeighborCurve", "judged", "most_neighbors", "one_more"]

#: Rows judged at a time.
BLOCK = 4096

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


def most_neighbors(limit: int | None, rows: Rows) -> int:
    """Return the largest number to try: the limit, or twice the square root of the number of rows."""
    if limit is not None:
        check_number("max_neighbors", limit, least=1, whole=True)
        return check_enough(limit, rows, spare=1)
    n = total_weight(rows)
    check_enough(1, rows, spare=1)
    return int(max(1, min(n - 1, np.ceil(2.0 * np.sqrt(n)))))


def judged(
    index: Index, rows: Rows, most: int, worths: Callable[[np.ndarray, Counted], Iterator[Any]], score: str
) -> NeighborCurve:
    """Judge 1, …, `most` neighbours of every row, itself left out, by one search.

    `worths(rows' numbers, their neighbours)` gives what each row is worth, one array for each number of
    neighbours. Of a row that counts several times one count is left out, as if equal rows had been given.
    """
    weights = np.ones(len(rows.data)) if rows.weights is None else rows.weights
    sums, squares = np.zeros(most), np.zeros(most)
    for start in range(0, len(weights), BLOCK):
        own = np.arange(start, min(start + BLOCK, len(weights)))
        near = nearest_counted(index, rows.data[own], most, rows.weights, own)
        steps, worth = worths(own, near), np.zeros(len(own))
        for k in range(most):
            worth = next(steps, worth)  # an approximate search may find no more neighbours
            sums[k] += weights[own] @ worth
            squares[k] += weights[own] @ worth**2
    total = weights.sum()
    mean = sums / total
    variance = np.maximum(squares / total - mean**2, 0.0)
    return NeighborCurve(
        n_neighbors=np.arange(1, most + 1),
        scores=mean,
        standard_errors=np.sqrt(variance / total),
        score=score,
    )


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
