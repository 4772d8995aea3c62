"""Sums of any window that has an end, over points sorted by their first coordinate."""

from collections.abc import Callable, Iterator

import numpy as np

from tractable.value import value

__all__ = ["NearSums", "near_sums"]

#: Pairs of a query and a point that are held at a time.
_PAIRS = 2**20


@value
class NearSums:
    """Points sorted by their first coordinate, of which a query meets those within reach; see `near_sums`."""

    points: np.ndarray  # (n, d), sorted
    weights: np.ndarray  # (n,)
    scale: float
    reach: float  # in units of the scale

    def log_sums(self, queries: np.ndarray, log_profile: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return log Σ_i w_i k(|q - x_i|²/h²) of every query, (m,)."""
        out = np.zeros(len(queries))
        for index, row_of in self._pairs(queries):
            steps = (queries[row_of] - self.points[index]) / self.scale
            terms = np.exp(log_profile(np.sum(steps * steps, axis=1))) * self.weights[index]
            out += np.bincount(row_of, weights=terms, minlength=len(out))
        with np.errstate(divide="ignore"):
            return np.log(out)

    def shares(
        self, queries: np.ndarray, cdf: Callable[[np.ndarray], np.ndarray], *, upper: bool = False
    ) -> np.ndarray:
        """Return Σ_i w_i F((q - x_i)/h) / Σ_i w_i of numbers (m,), or of those above."""
        side, x = -1.0 if upper else 1.0, self.points[:, 0]
        low, high = self._ends(queries)
        whole = np.cumsum(self.weights[::-1])[::-1] if upper else np.cumsum(self.weights)
        running = np.append(whole, 0.0) if upper else np.append(0.0, whole)
        out = running[high if upper else low]
        for index, row_of in self._pairs(queries[:, None]):
            terms = cdf(side * (queries[row_of] - x[index]) / self.scale) * self.weights[index]
            out += np.bincount(row_of, weights=terms, minlength=len(out))
        return out / self.weights.sum()

    def _ends(self, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, away = self.points[:, 0], self.reach * self.scale
        return np.searchsorted(x, first - away), np.searchsorted(x, first + away, "right")

    def _pairs(self, queries: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Give the pairs that may meet, block by block: the place of the point, and that of the query."""
        low, high = self._ends(queries[:, 0])
        some = np.flatnonzero(high > low)
        blocks = np.cumsum((high - low)[some]) // _PAIRS
        for block in np.unique(blocks):
            rows = some[blocks == block]
            counts = high[rows] - low[rows]
            begins = np.cumsum(counts) - counts
            index = np.arange(counts.sum()) + np.repeat(low[rows] - begins, counts)
            yield index, np.repeat(rows, counts)


def near_sums(points: np.ndarray, weights: np.ndarray, scale: float, reach: float) -> NearSums:
    """Sort points (n, d) for sums of a window that ends at `reach` times `scale`.

    Examples
    --------
    >>> sums = near_sums(np.array([[0.0], [0.5], [9.0]]), np.ones(3), 1.0, 1.0)
    >>> np.exp(sums.log_sums(np.array([[0.0], [9.0]]), lambda s: np.log(1.0 - s)))
    array([1.75, 1.  ])
    """
    order = np.argsort(points[:, 0], kind="stable")
    return NearSums(points=points[order], weights=weights[order], scale=scale, reach=reach)
