"""Centres that follow batches of rows: each is the running mean of the rows it was given."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tractable.data import as_source
from tractable.mixture.kmeans_frame import Frame
from tractable.mixture.kmeans_steps import Centers, StreamedRows
from tractable.value import replace, value

__all__ = ["OnlineCenters", "drawn_rows", "followed", "passes_over"]


@value
class OnlineCenters:
    """Centres in a frame, and the weight of the rows each has been given."""

    centers: np.ndarray  # (K, d)
    counts: np.ndarray  # (K,)
    n_steps: int = 0

    def after(self, x: np.ndarray, weights: Any, frame: Frame) -> "OnlineCenters":
        """Give the rows of a batch to the nearest centres and move each to its running mean.

        μ_k ← (n_k μ_k + Σ w x) / (n_k + Σ w) (MacQueen 1967; Sculley 2010). A centre that has never been
        given a row begins anew at the row of the batch that is farthest from the others.
        """
        rows = StreamedRows(x, weights, frame)
        batch = rows.expect(Centers(centers=self.centers))
        counts = self.counts + batch.counts
        merged = replace(batch, sums=self.counts[:, None] * self.centers + batch.sums, counts=counts)
        return OnlineCenters(centers=rows.maximize(merged).centers, counts=counts, n_steps=self.n_steps + 1)


def drawn_rows(weights: Any, total: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n rows drawn by weight, with replacement, one uniform a row."""
    u = rng.random(n)
    if weights is None:
        return (u * total).astype(np.int64)
    held = np.cumsum(weights)
    found = np.searchsorted(held, u * held[-1], side="right")
    return np.minimum(found, int(np.flatnonzero(weights)[-1]))


def passes_over(data: Any, weights: Any, size: int, rng: np.random.Generator) -> Iterator[Iterator[Any]]:
    """Give batches of `size` rows, pass after pass: drawn by weight from memory, in order from a stream."""
    if not isinstance(data, np.ndarray):
        while True:
            yield _cut(data, size)
    # As many batches as make one pass; a row of weight two is two rows.
    n_batches = int(np.ceil((len(data) if weights is None else float(np.sum(weights))) / size))
    while True:
        drawn = (drawn_rows(weights, len(data), size, rng) for _ in range(n_batches))
        yield ((data[rows], None) for rows in drawn)


def followed(
    start: OnlineCenters, passes: Iterator[Iterator[Any]], frame: Frame, *, max_iter: int, tol: float
) -> tuple[OnlineCenters, int, bool, bool]:
    """Follow batches until a whole pass moves the centres by less than `tol` of the variance.

    Returns the centres, the number of passes, and whether they settled or were interrupted.
    """
    state = start
    for number in range(1, max_iter + 1):
        before = state
        try:
            for x, weights in next(passes):
                state = state.after(x, weights, frame)
        except KeyboardInterrupt:
            return state, number, False, True
        if float(np.sum((state.centers - before.centers) ** 2)) <= tol * frame.variance:
            return state, number, True, False
    return state, max_iter, False, False


def _cut(data: Any, size: int) -> Iterator[Any]:
    for batch in as_source(data).batches():
        for start in range(0, len(batch.X), size):
            part = slice(start, start + size)
            yield batch.X[part], None if batch.weights is None else batch.weights[part]
