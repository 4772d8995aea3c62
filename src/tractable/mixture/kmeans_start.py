"""Where k-means begins."""

from typing import Any

import numpy as np

from tractable.base import Rows
from tractable.data import sample_rows
from tractable.mixture.kmeans_search import random_rows, seeded_rows

__all__ = ["Starts", "check_init"]

CHOICES = {"k-means++": seeded_rows, "random": random_rows}

#: Seeds of a stream are chosen among so many rows, or so many a cluster.
SAMPLED_ROWS, SAMPLED_ROWS_A_CLUSTER = 20_000, 50


def check_init(init: Any) -> None:
    """Refuse what names no start; the shape of centres that are given is checked where columns are known."""
    if isinstance(init, str) and init not in CHOICES:
        raise ValueError(f"init must be one of {[*CHOICES]}, an array of centres or a callable, got {init!r}")


class Starts:
    """First centres, one set for each start."""

    def __init__(self, *, init: Any, n_clusters: int, rows: Rows, rng: np.random.Generator) -> None:
        self.init, self.n_clusters, self.rng = init, n_clusters, rng
        self.given = None if isinstance(init, str) or callable(init) else init
        if self.given is None:
            self.x, self.weights = self._candidates(rows)
        else:
            width = rows.data.n_features if hasattr(rows.data, "n_features") else rows.data.shape[1]
            self.given = _centers(self.given, n_clusters, width)

    def n_tries(self, n_init: Any) -> int:
        """Return how many starts are worth it."""
        if self.given is not None:
            return 1
        if n_init == "auto":
            return 10 if self.init == "random" else 1
        return int(n_init)

    def __call__(self, number: int) -> np.ndarray:
        """Return the first centres of a start."""
        if self.given is not None:
            return self.given
        if callable(self.init):
            found = self.init(self.x, self.n_clusters, random_state=self.rng)
            return _centers(found, self.n_clusters, self.x.shape[1])
        return self.x[CHOICES[self.init](self.x, self.weights, self.n_clusters, self.rng)]

    def _candidates(self, rows: Rows) -> tuple[np.ndarray, Any]:
        if isinstance(rows.data, np.ndarray):
            return rows.data, rows.weights
        most = max(SAMPLED_ROWS, SAMPLED_ROWS_A_CLUSTER * self.n_clusters)
        # A generator of its own: the starts are then those of the same rows in memory.
        x, weights = sample_rows(rows.data, rows.weights, most, self.rng.spawn(1)[0])
        if len(x) < self.n_clusters:
            raise ValueError(f"X has n_samples={len(x)} that count, fewer than n_clusters={self.n_clusters}")
        return x, weights


def _centers(given: Any, n_clusters: int, width: int) -> np.ndarray:
    try:
        centers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"init must be centres, as numbers: {error}") from None
    if centers.shape != (n_clusters, width):
        raise ValueError(f"init must have shape ({n_clusters}, {width}), got {centers.shape}")
    if not np.all(np.isfinite(centers)):
        raise ValueError("init contains NaN or infinity")
    return centers
