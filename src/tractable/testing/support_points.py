"""The events of a discrete distribution, for laws that add up over all of them."""

from typing import Any

import numpy as np

__all__ = ["just_below", "total_mass"]

MOST_POINTS = 2_000_000


def total_mass(d: Any, draws: np.ndarray) -> float | None:
    """Return Σ p(x) over the events of one distribution; None where they are too many to list.

    The events are its `atoms` if it has them, else whole numbers, or vectors of them, within its support.
    """
    points = d.atoms if hasattr(d, "atoms") else _lattice(d, draws)
    return None if points is None else float(d.prob(points).sum())


def just_below(x: np.ndarray) -> np.ndarray:
    """Return the numbers before x."""
    return np.nextafter(x, -np.inf)


def _lattice(d: Any, draws: np.ndarray) -> np.ndarray | None:
    if d.support is None:
        return None
    reach = 60.0 * (1.0 + draws.std())
    low, high = (np.clip(np.min(bound), draws.min() - reach, draws.max() + reach) for bound in d.support)
    low, high, dim = np.ceil(low), np.floor(high), int(np.prod(d.event_shape))
    if (high - low + 1.0) ** dim > MOST_POINTS:
        return None
    grid = np.meshgrid(*[np.arange(low, high + 1.0)] * dim, indexing="ij")
    return np.stack(grid, axis=-1).reshape(-1, *d.event_shape)
